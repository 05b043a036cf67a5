package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

func TestTimestamp(t *testing.T) {
	t.Parallel()
	paris := time.FixedZone("CET", 3600)
	cases := map[string]struct{ in, out time.Time }{
		"zero":      {time.Time{}, time.Time{}},
		"epoch":     {time.Unix(0, 0), time.Unix(0, 0).UTC()},
		"before it": {time.Unix(-1, 999_999_999), time.Unix(-1, 999_999_000).UTC()},
		"truncated": {time.Date(2026, 11, 20, 1, 2, 3, 999_999_999, paris), time.Date(2026, 11, 20, 0, 2, 3, 999_999_000,
			time.UTC)},
		"far away":     {time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		"a wall clock": {time.Unix(1_700_000_000, 1), time.Unix(1_700_000_000, 0).UTC()},
	}
	for name, c := range cases {
		v, err := at(c.in).Value()
		require.NoError(t, err, name)
		var s timestamp
		require.NoError(t, s.Scan(v), name)
		assert.Equal(t, c.out, s.Time, name)
	}
	require.Error(t, new(timestamp).Scan("2026-11-20"))
}

// FuzzTexts holds that lists come back as they were, save for bytes that are
// not UTF-8, which come back as U+FFFD.
func FuzzTexts(f *testing.F) {
	f.Add("a", "b")
	f.Add("", "\x00<&>\"\\\u2028")
	f.Add("\xff", "ü🙂\xf0\x9f")
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := texts{a, b}.Value()
		require.NoError(t, err)
		var got texts
		require.NoError(t, got.Scan(v))
		require.Equal(t, texts{string([]rune(a)), string([]rune(b))}, got)
		require.NoError(t, got.Scan([]byte(v.(string))), "as another driver gives it")
		require.Error(t, got.Scan(1))
	})
}

// FuzzStoredJSON gives the decoders of stored JSON anything: an error or a
// value that encodes to the same again, never a panic.
func FuzzStoredJSON(f *testing.F) {
	f.Add(`[{"id":"a","type":"regex","pattern":"x","message":"m","severity":"low","include":["*"],"match":["x"]}]`)
	f.Add(`[{"id":"a","severity":"none"}]`)
	f.Add(`{"high":3}`)
	f.Add(`{"":1}`)
	f.Add(`null`)
	f.Add(`[null]`)
	f.Fuzz(func(t *testing.T, text string) {
		if rules, err := decodeRulesFile("acme/shop", text); err == nil {
			again, err := encodeRulesFile(rules)
			require.NoError(t, err)
			second, err := decodeRulesFile("acme/shop", again)
			require.NoError(t, err)
			require.Equal(t, normal(rules), normal(second))
		}
		if summary, err := decodeSummary(text); err == nil {
			again, err := encodeSummary(summary)
			require.NoError(t, err)
			second, err := decodeSummary(again)
			require.NoError(t, err)
			require.Equal(t, summary, second)
		}
	})
}

// normal makes empty lists nil, which the stored form does not tell apart.
func normal(rules []rule.Rule) []rule.Rule {
	for i := range rules {
		r := &rules[i]
		for _, list := range []*[]string{&r.Paths.Include, &r.Paths.Exclude, &r.Cases.Match, &r.Cases.NoMatch,
			&r.References} {
			if len(*list) == 0 {
				*list = nil
			}
		}
	}

	return rules
}

func TestSummaryTakesOnlySeverities(t *testing.T) {
	t.Parallel()
	_, err := encodeSummary(finding.Summary{0: 1})
	require.Error(t, err)
	_, err = decodeSummary(`{"worst":1}`)
	require.Error(t, err)
}
