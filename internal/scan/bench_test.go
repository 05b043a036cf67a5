package scan_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// BenchmarkScan scans 1,000 changed files of about 3 KB each, all lines added,
// with the default ruleset, reading not included.
func BenchmarkScan(b *testing.B) {
	rules, err := defaults.Load()
	require.NoError(b, err)
	data, err := os.ReadFile("rulesfile.go")
	require.NoError(b, err)
	text := string(data[:3000])
	p := &pull{}
	for i := range 1000 {
		p.files = append(p.files, file(fmt.Sprintf("internal/p%d/file%03d.go", i%10, i), text))
	}
	s := scan.NewScanner(p, scan.Options{})
	set, err := s.AddRules(rule.Digest(rules), rules)
	require.NoError(b, err)
	b.SetBytes(int64(1000 * len(text)))
	for b.Loop() {
		_, err := s.Scan(b.Context(), scan.Request{Target: scan.Target{Repo: "a/b"}, Rules: set, MaxFindings: 10_000}, func(scan.Progress) {})
		require.NoError(b, err)
	}
}
