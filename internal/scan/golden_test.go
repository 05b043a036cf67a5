package scan_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

var update = flag.Bool("update", false, "write the golden files")

// golden is a result as the golden files have it.
type golden struct {
	Findings       []finding.Finding
	Suppressed     []finding.Finding `json:",omitempty"`
	Skips          []finding.Skip
	Summary        map[string]int
	RulesDigest    string
	RulesFileRules int
	RulesFileValid bool
}

// TestGolden scans the pull requests in testdata/*.txt, whose sections are
// `rules` and `custom` (the default and the organization's rules), `base` and
// `head` (the rules file), and the changed files by their paths, with "+"
// before an added line and " " before any other. The results are in
// testdata/*.json; `go test ./internal/scan -run Golden -update` writes them.
func TestGolden(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)

	for _, input := range inputs {
		t.Run(filepath.Base(input), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(input)
			require.NoError(t, err)
			p, rules := readGolden(t, string(data))
			got, err := json.MarshalIndent(toGolden(run(t, p, rules...)), "", "  ")
			require.NoError(t, err)
			output := strings.TrimSuffix(input, ".txt") + ".json"
			if *update {
				require.NoError(t, os.WriteFile(output, append(got, '\n'), 0o600))
			}

			want, err := os.ReadFile(output)
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got))
		})
	}
}

func readGolden(t *testing.T, text string) (*pull, []rule.Rule) {
	t.Helper()
	p := &pull{sides: map[scan.Side]map[string]string{scan.Base: {}, scan.Head: {}, scan.MergeBase: {}}}
	var rules []rule.Rule
	heads := regexp.MustCompile(`(?m)^-- (.*) --\n`).FindAllStringSubmatchIndex(text, -1)

	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}

		name, body := text[h[2]:h[3]], text[h[1]:end]
		switch name {
		case "rules", "custom":
			parsed, err := rule.ParseDefaults([]byte(body))
			require.NoError(t, err)

			for _, r := range parsed {
				if name == "custom" {
					r.Origin = rule.OriginCustom
				}

				require.NoError(t, rule.Validate(t.Context(), r))
				rules = append(rules, r)
			}
		case "base":
			for _, side := range []scan.Side{scan.Base, scan.Head, scan.MergeBase} {
				p.sides[side][rule.FilePath] = body
			}
		case "head":
			p.sides[scan.Head][rule.FilePath] = body
			p.files = append(p.files, file(rule.FilePath, body))
		default:
			p.files = append(p.files, marked(name, body))
		}
	}

	return p, rules
}

func toGolden(r *scan.Result) golden {
	g := golden{
		Findings: r.Findings, Suppressed: r.Suppressed, Skips: r.Skips, Summary: map[string]int{},
		RulesDigest: r.RulesDigest, RulesFileRules: len(r.RulesFile), RulesFileValid: r.RulesFileValid,
	}
	for s, n := range r.Summary {
		g.Summary[s.String()] = n
	}

	return g
}
