package ruleset

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

func thousand(t *testing.T) []Rule {
	t.Helper()
	data, err := os.ReadFile("../../../match/testdata/rules-1000.tsv")
	require.NoError(t, err)
	rules, err := ParseTSV(bytes.NewReader(data))
	require.NoError(t, err)
	require.Len(t, rules, 1000)
	assert.Equal(t, string(data), string(FormatTSV(rules)))
	return rules
}

// texts is the source of this package and the engine: names that the rules have
// are not among them, others are.
func texts(t *testing.T) [][]byte {
	t.Helper()
	files, err := filepath.Glob("../../../*/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var list [][]byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		list = append(list, text)
	}
	return list
}

func TestParseTSVSaysWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\tx\nb": "line 2: no id",
		"\tx":     "line 1: no id",
		"a\t(":    "line 1: ",
		"a\tx*":   "line 1: can match the empty string",
	} {
		_, err := ParseTSV(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

func TestGenerateKeepsProportions(t *testing.T) {
	t.Parallel()
	model := thousand(t)
	v := NewVocabulary(texts(t)...)
	rules, err := Generate(model, 5000, v)
	require.NoError(t, err)
	require.Len(t, rules, 5000)

	want, err := Shapes(model)
	require.NoError(t, err)
	weak := 0
	for name := range want {
		if strings.HasPrefix(name, "weak") {
			weak += want[name]
		}
		want[name] *= 5
	}
	assert.Equal(t, 11, weak)
	got, err := Shapes(rules)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	ids, patterns := map[string]bool{}, map[string]bool{}
	for _, r := range rules {
		require.NoError(t, match.CheckPattern(r.Pattern), r.Pattern)
		ids[r.ID], patterns[r.Pattern] = true, true
	}
	assert.Len(t, ids, 5000)
	assert.Greater(t, len(patterns), 4900, "few patterns are the same")

	again, err := Generate(model, 5000, NewVocabulary(texts(t)...))
	require.NoError(t, err)
	assert.Equal(t, rules, again, "the same arguments make the same rules")
}

// TestGenerateKeepsAlternativesTogether matches rules on one of their names alone
// and on a call of it.
func TestGenerateKeepsAlternativesTogether(t *testing.T) {
	t.Parallel()
	rules, err := Generate(thousand(t), 1000, NewVocabulary(texts(t)...))
	require.NoError(t, err)
	known, seen := shapes(), 0
	for _, r := range rules {
		rule, err := takeApart(known, r)
		require.NoError(t, err)
		if rule.shape.name != "alternative calls" {
			continue
		}
		seen++
		for _, name := range expand(rule.parts[0]) {
			assert.Regexp(t, r.Pattern, name+" (", r.Pattern)
			assert.NotRegexp(t, r.Pattern, name, r.Pattern)
		}
	}
	assert.Equal(t, 81, seen)
}

func TestGenerateRefusesUnknownShapes(t *testing.T) {
	t.Parallel()
	_, err := Generate([]Rule{{ID: "a", Pattern: "^something new$"}}, 1, NewVocabulary())
	assert.ErrorContains(t, err, "rule a has an unknown shape")
}

func TestNamesResembleTheirModels(t *testing.T) {
	t.Parallel()
	v := NewVocabulary([]byte("fetchNode(x) fetchNode(y) readLine(z) readLine(a) big.NewInt(1) url.Parse(2) CONST other"))
	g, err := newGenerator([]Rule{{ID: "a", Pattern: `\bSeldomSeen[\t\f\r ]*\(`}}, v)
	require.NoError(t, err)
	for old, form := range map[string]string{
		"acmeFraud12":     `^[a-z]+[A-Z][a-z]+\d+$`,
		"VAULT_KYC":       `^[A-Z]+_[A-Z]+$`,
		"vault_kyc_flag":  `^[a-z]+_[a-z]+_[a-z]+$`,
		"fetchNode":       `^(fetchNode|readLine)$`,
		"big.NewInt":      `^(big\.NewInt|url\.Parse)$`,
		"x24a9":           `^x[0-9a-f]{4}$`,
		"GetSomething_12": `^([A-Z][a-z]+)+_\d+$`,
	} {
		made := map[string]bool{}
		for range 50 {
			name := g.namer.like(old, false)
			assert.Regexp(t, form, name, old)
			made[name] = true
		}
		assert.Greater(t, len(made), 1, old)
	}
	for range 50 {
		name := g.namer.like("SeldomSeen", false)
		assert.Zero(t, v.use(name, false), "a name that the text doesn't have stays one: %s", name)
	}
}

func TestVocabularyCounts(t *testing.T) {
	t.Parallel()
	v := NewVocabulary([]byte("a.b(c) a.b a . b\nfmt.Println (1x) fmt.println"))
	for name, want := range map[string]use{
		"a.b": {all: 2, calls: 1}, "a": {all: 3}, "b": {all: 3, calls: 1}, "fmt.Println": {all: 1, calls: 1}, "x": {}, "1x": {},
	} {
		assert.Equal(t, want, v.use(name, false), name)
	}
	assert.Equal(t, use{all: 2, calls: 1}, v.use("PRINTLN", true))
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"parseHTTPRequest": {"parse", "HTTP", "Request"},
		"SYS_UTIME":        {"SYS", "_", "UTIME"},
		"member2":          {"member", "2"},
		"__asm":            {"__", "asm"},
		"x":                {"x"},
		"":                 nil,
	} {
		assert.Equal(t, want, pieces(name), name)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		`(?:a(?:uthorized|nnounced)|b)`: {"announced", "authorized", "b"},
		`c(?:a[rt]|ow)`:                 {"car", "cat", "cow"},
		`one(?:Two)?`:                   {"one", "oneTwo"},
		`a*`:                            nil,
	} {
		assert.Equal(t, want, slices.Sorted(slices.Values(expand(expression))), expression)
	}
}

func TestParseGitleaks(t *testing.T) {
	t.Parallel()
	rules, refused, err := parseGitleaks(strings.NewReader(`
title = "x"
[allowlist]
regex = '''not a rule'''
[[rules]]
id = "one"
regex = '''\bone-[a-z]{3}\b'''
keywords = ["one"]
[[rules.allowlists]]
regex = '''not a rule either'''
[[rules]]
id = "path-only"
path = '''x'''
[[rules]]
id = "empty"
regex = '''a*'''
`))
	require.NoError(t, err)
	assert.Equal(t, []Rule{{ID: "one", Pattern: `\bone-[a-z]{3}\b`}}, rules)
	assert.Equal(t, []string{"empty"}, slices.Collect(maps.Keys(refused)))

	_, _, err = parseGitleaks(strings.NewReader("[[rules]]\nid = \"a\"\nregex = \"\"\"x\"\"\"\n"))
	assert.Error(t, err)
}

func TestSample(t *testing.T) {
	t.Parallel()
	all := thousand(t)
	two := Sample(all, 200)
	assert.Len(t, two, 200)
	assert.Equal(t, all[0], two[0])
	assert.Equal(t, all[5], two[1])
	assert.Equal(t, all, Sample(all, 2000))
}
