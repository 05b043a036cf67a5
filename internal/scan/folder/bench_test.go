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

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// BenchmarkScan measures what is around the matching: one rule that is nowhere,
// on all of Go's sources. SCAN_FOLDER names another folder.
func BenchmarkScan(b *testing.B) {
	root := os.Getenv("SCAN_FOLDER")
	if root == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		require.NoError(b, err)
		root = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	rules, err := folder.Compile([]rule.Rule{{ID: "n", Type: rule.TypeRegex, Pattern: "n0where-to-be-seen", Message: "m", Severity: rule.Low}}, nil)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		sum, err := folder.Scan(b.Context(), root, rules, folder.Options{Format: plainly(rules), Out: io.Discard})
		require.NoError(b, err)
		b.SetBytes(sum.Scanned.Bytes)
		b.ReportMetric(float64(sum.Scanned.Count), "files")
	}
}

// BenchmarkLoad measures the start with 5,000 rules.
func BenchmarkLoad(b *testing.B) {
	data, err := os.ReadFile("../match/testdata/rules-1000.tsv")
	require.NoError(b, err)
	patterns := strings.Split(strings.TrimSpace(string(data)), "\n")
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	for i := range rule.MaxOwnFileRules {
		_, pattern, _ := strings.Cut(patterns[i%len(patterns)], "\t")
		fmt.Fprintf(&text, "  - id: r%d\n    type: regex\n    pattern: '%s'\n    message: Use something else.\n    severity: warning\n",
			i, strings.ReplaceAll(pattern, "'", "''"))
	}
	file := filepath.Join(b.TempDir(), "rules.yml")
	require.NoError(b, os.WriteFile(file, []byte(text.String()), 0o644))
	b.ReportAllocs()
	for b.Loop() {
		_, err := folder.Load(b.Context(), folder.Sources{File: file, NoDefaults: true})
		require.NoError(b, err)
	}
}
