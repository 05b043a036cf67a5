package sarif_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gosarif "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/sariftest"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

func evil() finding.Finding {
	return finding.Finding{
		RuleID: "security/no-eval", Severity: rule.High, Confidence: rule.ConfidenceHigh, File: "src/cart.js", Line: 17, EndLine: 17, Column: 9, EndColumn: 14,
		UTF16Column: 9, UTF16EndColumn: 14,
		Message: "Parse the value instead of running it, with JSON.parse for data or a map of functions for choices.",
		Snippet: "  return eval(query)", Fingerprint: "5f2b8c0e9d714a63b1f0c2d3e4a59687", LineHash: "8c2f6b1d0a9e4573:1",
		State: finding.StateNew, Fix: &finding.Fix{StartLine: 2, EndLine: 2},
	}
}

// full has everything that a review can have.
func full() review.Review {
	secret := finding.Finding{
		RuleID: "secrets/aws-access-key-id", Severity: rule.Critical, Confidence: rule.ConfidenceHigh, File: "déploy/a b:c#?.py", Line: 3, EndLine: 5,
		Column: 12, EndColumn: 3,
		UTF16Column: 11, UTF16EndColumn: 3, Message: "Remove this AWS access key id.", Snippet: "aws = '****'",
		Fingerprint: "00000000000000000000000000000001", State: finding.StateExisting,
	}

	custom := finding.Finding{
		RuleID: "custom/no-print", Severity: rule.Info, Confidence: rule.ConfidenceLow, File: "caf\xe9/\x1b[2J\"\n.go", Line: 1, EndLine: 1, Column: 1,
		EndColumn:   2,
		UTF16Column: 1, UTF16EndColumn: 2, Message: "Use the [logger](https://example.com); not <b>`print`</b>.",
		Fingerprint: "00000000000000000000000000000002", State: finding.StateNew,
		Steps: []finding.Step{
			{Kind: finding.StepSource, Line: 3, Column: 2, EndColumn: 9, UTF16Column: 2, UTF16EndColumn: 9, Snippet: "x = args"},
			{Kind: finding.StepAssignment, Line: 4, Column: 1, EndColumn: 2, UTF16Column: 1, UTF16EndColumn: 2, Snippet: "y = [a](b)"},
			{Kind: finding.StepSink, Line: 1, Column: 1, EndColumn: 2, UTF16Column: 1, UTF16EndColumn: 2},
		},
		Fix: &finding.Fix{StartLine: 1, EndLine: 3, Text: "\ta(\n\t\"b\")"},
	}

	meta := finding.Finding{
		RuleID: "meta/rules-file-invalid", Severity: rule.High, Confidence: rule.ConfidenceHigh, File: ".prwarden/rules.yml", Line: 2, EndLine: 2, Column: 1,
		EndColumn:   1,
		UTF16Column: 1, UTF16EndColumn: 1, Message: "Line 2 is wrong.", Fingerprint: "00000000000000000000000000000003",
		State: finding.StateNew,
	}

	accepted := evil()
	accepted.Line, accepted.EndLine, accepted.Fingerprint = 40, 40, "00000000000000000000000000000004"
	accepted.Suppression = &finding.Suppression{Reason: "only our own text", Until: "2027-01-31", Line: 39}
	trial := evil()
	trial.Line, trial.EndLine, trial.Fingerprint = 50, 50, "00000000000000000000000000000006"
	unsure := trial
	unsure.Confidence, unsure.Message = rule.ConfidenceLow, "It is in no log."
	gone := evil()
	gone.State, gone.Fingerprint = finding.StateFixed, "00000000000000000000000000000005"
	return review.Review{
		ID: "rev_01k9w3t5zq8h4m2x7d6c0b1a", Repo: "acme/shop", PRNumber: 42, Ruleset: "acme/shop", Status: review.Complete,
		HeadSHA: "8f1d3c5b7a9e0f2d4c6b8a0e1f3d5c7b9a1e0f2d", BaseSHA: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
		StartedAt: time.Date(2026, 11, 20, 9, 41, 3, 120e6,
			time.UTC), CompletedAt: time.Date(2026, 11, 20, 9, 41, 7, 0, time.UTC),
		Findings: []finding.Finding{
			meta, custom, secret, evil(),
		}, Suppressed: []finding.Finding{accepted}, Fixed: []finding.Finding{gone},
		Observed: []finding.Finding{trial, unsure},
		Skips: []finding.Skip{
			{File: "logo.png", Reason: "binary"},
			{File: "data.json", Reason: "file_too_large"},
			{File: "min.js", Line: 7, Reason: "undecodable"},
			{File: "vendor/lib", Reason: "submodule"},
			{File: "big.txt", RuleID: "custom/slow", Reason: "rule_stopped"},
			{File: "new", Reason: "reason_of_tomorrow"},
		},
		Truncated: true, PreviousID: "rev_previous",
	}
}

func write(t testing.TB, in sarif.Input) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, sarif.Write(&b, in))
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	for name, in := range map[string]sarif.Input{
		"full":    {Review: full(), Rules: rule.ByID(rules), Version: "v1.2.3"},
		"omitted": {Review: full(), Rules: rule.ByID(rules), Version: "(devel)", OmitSuppressed: true},
		"nothing": {Review: review.Review{ID: "rev_1", Repo: "acme/shop", Ruleset: "default"}, Version: "v1.2.3"},
		"local":   {Review: review.Review{Findings: []finding.Finding{evil()}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := write(t, in)
			sariftest.Valid(t, log)
			var pretty bytes.Buffer
			require.NoError(t, json.Indent(&pretty, log, "", "  "))
			path := filepath.Join("testdata", name+".sarif")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, pretty.Bytes(), 0o644))
			}

			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), pretty.String())
		})
	}
}

// A file's name comes back byte for byte, and is never taken for more.
func TestURIs(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for i := 1; i < 256; i++ {
		all.WriteByte(byte(i))
	}

	for _, file := range []string{
		"a.go", "a b/c", "c:/x", "http://x/y", "a?b#c", "a%2Fb", "[x](y)", "日本", "caf\xe9", "-a", "~", all.String(),
	} {
		f := evil()
		f.File = file
		log := sariftest.Valid(t, write(t, sarif.Input{Review: review.Review{Findings: []finding.Finding{f}}}))
		got := *log.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI
		u, err := url.Parse(got)
		require.NoError(t, err)
		assert.False(t, u.IsAbs() || u.Host != "" || u.RawQuery != "" || u.Fragment != "", got)
		assert.Equal(t, file, u.Path)
	}
}

// GitHub rejects logs with more than 25,000 results.
func TestMostSevere(t *testing.T) {
	t.Parallel()
	const each = 9000
	var r review.Review

	for i := range each {
		for _, s := range []rule.Severity{rule.Info, rule.Critical, rule.Medium} {
			f := finding.Finding{
				RuleID:   "custom/" + s.String(),
				Severity: s,
				File:     fmt.Sprintf("f%04d", i),
				Line:     1,
				EndLine:  1,
				Message:  "m",
			}
			r.Findings = append(r.Findings, f)
		}
	}

	f := evil()
	f.Suppression = &finding.Suppression{Line: 1}
	r.Suppressed = []finding.Finding{f}

	log, err := gosarif.FromBytes(write(t, sarif.Input{Review: r}))
	require.NoError(t, err)
	counts := map[string]int{}
	for _, r := range log.Runs[0].Results {
		counts[*r.RuleID]++
		assert.Empty(t, r.Suppressions, "suppressed ones go first")
	}

	assert.Equal(t,
		map[string]int{"custom/critical": each, "custom/medium": each, "custom/info": sarif.MaxResults - 2*each}, counts)
	assert.Equal(t, "This log has the 25000 most severe of 27001 findings.",
		*log.Runs[0].Invocations[0].ToolExecutionNotifications[0].Message.Text)
}

// Every default rule has a description that GitHub takes.
func TestDefaultRules(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	var r review.Review

	for _, d := range rules {
		r.Findings = append(r.Findings,
			finding.Finding{RuleID: d.FullID(), Severity: d.Severity, File: "a", Line: 1, EndLine: 1, Message: d.Message})
	}

	log := sariftest.Valid(t, write(t, sarif.Input{Review: r, Rules: rule.ByID(rules)}))
	require.Len(t, log.Runs[0].Tool.Driver.Rules, len(rules))
	for _, d := range log.Runs[0].Tool.Driver.Rules {
		for _, text := range []*string{d.ShortDescription.Text, d.FullDescription.Text, d.Help.Text, d.HelpURI} {
			assert.NotEmpty(t, *text, *d.ID)
		}
		assert.LessOrEqual(t, utf8.RuneCountInString(*d.FullDescription.Text), 1024)
		assert.LessOrEqual(t, len(d.Properties.Tags), 10)
	}

	for _, r := range log.Runs[0].Results {
		assert.Equal(t, *r.RuleID, *log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID)
	}
}

// Whatever a repository holds, the log is one of the standard.
func FuzzWrite(f *testing.F) {
	f.Add("a/b.go", "security/x", "A message. More.", "  code", "reason", 3, 1)
	f.Add("caf\xe9:\x00", "x", "[a](b) `c` {0}", "\xff\u2028", "-- until", -1, 0)
	f.Fuzz(func(t *testing.T, file, id, text, snippet, reason string, line, column int) {
		if file == "" || id == "" || line > 1<<30 || column > 1<<30 {
			return
		}
		found := finding.Finding{
			RuleID: strings.ToValidUTF8(id,
				""), Severity: rule.Low, File: file, Line: line, EndLine: line, UTF16Column: column, UTF16EndColumn: column,
			Message: text, Snippet: snippet, Suppression: &finding.Suppression{Reason: reason, Line: line},
		}

		sariftest.Valid(t, write(t, sarif.Input{Review: review.Review{
			ID: "rev_1", Suppressed: []finding.Finding{found},
			Skips: []finding.Skip{{File: file, Line: line, RuleID: id, Reason: reason}},
		}}))
	})
}
