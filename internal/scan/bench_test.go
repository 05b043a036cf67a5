package scan_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// BenchmarkScan scans 1,000 changed files of about 3 KB each, all lines added,
// with the default ruleset, reading not included: files in which nothing is found,
// with ten findings in each, and with ten that comments suppress.
func BenchmarkScan(b *testing.B) {
	data, err := os.ReadFile("plan.go")
	require.NoError(b, err)
	text := string(data[:3000])
	const finding = "\tpanic(eval(x)) // TODO: nothing"

	for name, line := range map[string]string{
		"clean":      "\tcount += len(x) * 2 + offset[n]",
		"findings":   finding,
		"suppressed": finding + " prwarden:ignore found -- measured",
	} {
		b.Run(name, func(b *testing.B) { benchmarkScan(b, text+strings.Repeat("\n\n\n"+line, 10)) })
	}
}

func benchmarkScan(b *testing.B, text string) {
	rules, err := defaults.Load()
	require.NoError(b, err)
	rules = append(rules, regex("found", `panic\(eval`))
	p := &pull{}

	for i := range 1000 {
		p.files = append(p.files, file(fmt.Sprintf("internal/p%d/file%03d.go", i%10, i), text))
	}

	s := scan.NewScanner(p, scan.Options{})
	set, err := s.AddRules(b.Context(), "", rule.Digest(rules), rules)
	require.NoError(b, err)
	b.SetBytes(int64(1000 * len(text)))
	found := 0

	for b.Loop() {
		r, err := s.Scan(
			b.Context(),
			scan.Request{Target: scan.Target{Repo: "a/b"}, Rules: set, MaxFindings: 10_000},
			func(scan.Progress) {},
		)
		require.NoError(b, err)
		found = len(r.Findings) + len(r.Suppressed)
	}

	b.ReportMetric(float64(found), "findings")
}
