package folder_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// BenchmarkScan scans all of Go's sources, or SCAN_FOLDER. One rule that is
// nowhere shows what is around the matching.
func BenchmarkScan(b *testing.B) {
	root := os.Getenv("SCAN_FOLDER")
	if root == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		require.NoError(b, err)
		root = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	for name, patterns := range map[string][]string{"rules=1": {"n0where-to-be-seen"}, "rules=1000": patterns(b)} {
		b.Run(name, func(b *testing.B) {
			var list []rule.Rule
			for i, p := range patterns {
				list = append(list, needle(fmt.Sprintf("r%d", i), p, rule.Low))
			}
			loaded := folder.Loaded{File: &rule.File{Rules: list}}
			rules, err := loaded.Compile(scan.SelectRepository)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				sum, err := folder.Scan(b.Context(), root, rules, folder.Options{
					Format: report.JSONLines, Out: io.Discard,
				})
				require.NoError(b, err)
				b.SetBytes(sum.Scanned.Bytes)
				b.ReportMetric(float64(sum.Scanned.Count), "files")
				b.ReportMetric(float64(sum.Findings[rule.Low]), "findings")
			}
		})
	}
}

// patterns are those of a thousand rules of an organization.
func patterns(b *testing.B) (list []string) {
	b.Helper()
	data, err := os.ReadFile("../../match/testdata/rules-1000.tsv")
	require.NoError(b, err)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		_, pattern, _ := strings.Cut(line, "\t")
		list = append(list, pattern)
	}
	return list
}

// BenchmarkLoad measures the start with 5,000 rules.
func BenchmarkLoad(b *testing.B) {
	patterns := patterns(b)
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	for i := range rule.MaxLocalFileRules {
		pattern := patterns[i%len(patterns)]
		fmt.Fprintf(
			&text,
			"  - id: r%d\n    type: regex\n    pattern: '%s'\n    message: Use something else.\n    severity: warning\n",
			i,
			strings.ReplaceAll(pattern, "'", "''"),
		)
	}
	file := filepath.Join(b.TempDir(), "rules.yml")
	require.NoError(b, os.WriteFile(file, []byte(text.String()), 0o644))
	b.ReportAllocs()
	for b.Loop() {
		loaded, err := folder.Load(b.Context(), folder.Sources{File: file, NoDefaults: true})
		require.NoError(b, err)
		_, err = loaded.Compile(scan.SelectRepository)
		require.NoError(b, err)
	}
}
