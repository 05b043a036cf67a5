package match_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// toMatch is rules of type regex as the engine takes them. The others have tests of their own.
func toMatch(rules []rule.Rule) (list []match.Rule) {
	for _, r := range rules {
		if r.Type != rule.TypeRegex {
			continue
		}
		list = append(list, match.Rule{
			Pattern: r.Pattern, Multiline: r.Multiline, Include: r.Paths.Include, Exclude: r.Paths.Exclude,
			Conditions: r.Conditions,
		})
	}

	return list
}

func BenchmarkCompile(b *testing.B) {
	rules := defaultRules()
	for b.Loop() {
		_, err := match.Compile(rules)
		require.NoError(b, err)
	}
}

// BenchmarkMatch matches rules on the source of this package, every line added.
func BenchmarkMatch(b *testing.B) {
	paths, err := filepath.Glob("*.go")
	require.NoError(b, err)
	var text []byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(b, err)
		text = append(text, data...)
	}

	loaded, err := defaults.Load()
	require.NoError(b, err)
	ofLanguages := toMatch(loaded)
	for i, r := range loaded {
		ofLanguages[i].Languages = r.Languages
	}

	for name, rules := range map[string][]match.Rule{"default": ofLanguages, "thousand": thousandRules()} {
		b.Run(name, func(b *testing.B) {
			m, err := match.Compile(rules)
			require.NoError(b, err)
			lines := match.SplitLines(text)
			s := m.NewSession(forever, nil)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, err := s.File("internal/scan/x.go", "go").Match(b.Context(), lines, all, 10_000)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkPlainSearch is the slowest searches that can't be stopped: they take
// as many steps as plainSteps allows (2 Mi). It has to stay under 50 ms.
func BenchmarkPlainSearch(b *testing.B) {
	for name, rule := range map[string]match.Rule{
		"alternatives": {Pattern: `(?s)(?:x.?.?.?.?.?.?.?){100}END`},
		"nested":       {Pattern: `(?:(?:x|y|xy|yx)+z?){60}END`},
		"folded":       {Pattern: `(?i)(?:[x-z]{1,10}\w?){70}END`},
	} {
		b.Run(name, func(b *testing.B) {
			require.NoError(b, match.CheckPattern(rule.Pattern))
			m, err := match.Compile([]match.Rule{rule})
			require.NoError(b, err)
			text := bytes.Repeat([]byte("xy"), 500)
			lines := match.SplitLines(append(text, "END"...))
			s := m.NewSession(forever, nil)
			for b.Loop() {
				_, err := s.File("x").Match(b.Context(), lines, all, 10)
				require.NoError(b, err)
			}
		})
	}
}
