package match_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// hostileTexts are texts of some KiB that a rule nearly matches at as many places as
// there can be: samples of its pattern, and what is left when they are cut or one of
// their bytes is another, with and without ends of lines.
func hostileTexts(t *testing.T, r match.Rule, size int) [][]byte {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 1))
	var pieces []string
	for range 6 {
		random := make([]byte, 4<<10)
		for i := range random {
			random[i] = byte(rnd.Uint32())
		}
		w := newWriter(&choices{random}, []match.Rule{r}, nil)
		sample := string(w.sample(w.trees[0], nil))
		for _, part := range []int{4, 6, 7, 8} {
			pieces = append(pieces, sample[:len(sample)*part/8])
		}
		if n := len(sample); n > 2 {
			pieces = append(pieces, sample[:n-1], sample[:n-1]+"!", sample[:n/2]+"!"+sample[n/2+1:])
		}
	}

	var texts [][]byte
	for _, p := range pieces {
		for _, end := range []string{"", "\n", "'"} {
			if len(p) > 0 {
				texts = append(texts, bytes.Repeat([]byte(p+end), size/(len(p)+1)+1))
			}
		}
	}

	return texts
}

// No pull request can stop a critical rule of the default ruleset by texts that nearly
// match it. Work is in proportion to the text, and so is its limit, so a text of some
// KiB says it for 64 MiB.
func TestNothingStopsCriticalRules(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	rules = slices.DeleteFunc(rules, func(r rule.Rule) bool { return r.Type != rule.TypeRegex }) // as toMatch has them
	const key = "-----BEGIN RSA PRIVATE KEY-----"
	known := [][]byte{ // what did stop secrets/private-key
		[]byte(strings.Repeat(key+`"'`+strings.Repeat("A", 39), 900)), []byte(strings.Repeat(key+`\n`, 2000)),
		[]byte(strings.Repeat(key+strings.Repeat(`"`, 2000)+strings.Repeat("A", 39), 30)),
		[]byte(strings.Repeat(key+"\n", 2000)),
	}

	for i, r := range toMatch(rules) {
		if rules[i].Severity != rule.Critical {
			continue
		}
		t.Run(rules[i].ID, func(t *testing.T) {
			t.Parallel()
			r.Include, r.Exclude = nil, nil
			m, err := match.Compile([]match.Rule{r})
			require.NoError(t, err)
			worst := 0.0
			for _, text := range append(hostileTexts(t, r, 48<<10), known...) {
				s := m.NewSession(forever, nil)
				got, err := s.File("a").Match(t.Context(), match.SplitLines(text), all, 1<<20)
				require.NoError(t, err)
				byByte := float64(s.Work(0)) / float64(len(text))
				limit := rule.LateWorkLimit()
				judged := r.Conditions.Entropy != nil || r.Conditions.Checksum != "" ||
					len(r.Conditions.Stopwords)+len(r.Conditions.Allow) > 0
				if len(got.Hits) > 0 || judged { // then the columns of matches are work
					limit = rule.WorkLimit()
				} else {
					worst = max(worst, byByte)
				}
				assert.Less(t, byByte, 0.8*float64(limit.Byte), "%.100q", text)

				late, err := m.NewSession(rule.LateWorkLimit(), nil).File("a").Match(t.Context(), match.SplitLines(text), all, 1)
				require.NoError(t, err)
				if len(late.Stopped) == 0 || !judged { // what could not be judged is a hit
					assert.Equal(t, min(len(got.Hits), 1), len(late.Hits), "late in a scan: %.100q", text)
				} else {
					assert.Len(t, late.Hits, 1, "late in a scan: %.100q", text)
				}
			}
			t.Logf("%.1f for each byte", worst)
		})
	}
}
