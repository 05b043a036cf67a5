package scan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

const marker = "prwarden:ignore"

// suppressed are "path:line rule" of suppressed findings.
func suppressed(r *scan.Result) []string {
	return places(&scan.Result{Result: finding.Result{Findings: r.Suppressed}})
}

func requiresReason() *policy.Policy {
	p := lenient
	p.Suppression.RequireReason = true

	return &p
}

func TestSuppression(t *testing.T) {
	t.Parallel()
	evil := regex("s/eval", `eval\(`)
	long := strings.Repeat("-", 16<<10)

	for name, tt := range map[string]struct {
		text       string
		rules      []rule.Rule
		request    scan.Request
		ruleset    string
		found      []string
		suppressed []string
	}{
		"a reason is required": {
			text:    "+eval( // prwarden:ignore s/eval\n+eval( // prwarden:ignore s/eval -- why\n",
			request: scan.Request{Policy: requiresReason()},
			found:   []string{"a:1 meta/suppression-refused", "a:1 s/eval"}, suppressed: []string{"a:2 s/eval"},
		},
		"a rule that there may be elsewhere": {
			text: "+// prwarden:ignore s/other, s/eval -- why\n+x\n", request: scan.Request{OtherRules: true},
			found: []string{"a:1 meta/suppression-unused"},
		},
		"two lines on": {
			text:  "+// prwarden:ignore s/eval -- why\n+\n+eval(\n",
			found: []string{"a:1 meta/suppression-unused", "a:3 s/eval"},
		},
		"the line before": {
			text:  "+eval(\n+// prwarden:ignore s/eval -- why\n",
			found: []string{"a:1 s/eval", "a:2 meta/suppression-unused"},
		},
		"one that terminals conceal, and one that they overwrite": {
			text:  "+eval( // \x1b[8m prwarden:ignore s/eval -- why\n+eval( /* prwarden:ignore s/eval -- why */ \rok(\n",
			found: []string{"a:1 meta/suppression-malformed", "a:1 s/eval", "a:2 meta/suppression-malformed", "a:2 s/eval"},
		},
		"one that is shown reversed": {
			text:  "+eval( /* \u202e prwarden:ignore s/eval -- why */\n",
			found: []string{"a:1 meta/suppression-malformed", "a:1 s/eval"},
		},
		"in a long line": {
			text:  "+" + long + " prwarden:ignore s/eval\n+eval(\n",
			found: []string{"a:1 meta/suppression-malformed", "a:2 s/eval"},
		},
		"before a long line": {
			text: "+// prwarden:ignore s/eval -- why\n+" + long + " eval(\n", suppressed: []string{"a:2 s/eval"},
		},
		"a rule that is not selected": {
			text:    "+// prwarden:ignore s/eval -- why\n+eval(\n",
			rules:   []rule.Rule{regex("s/eval", `eval\(`, origin(rule.OriginDefault))},
			ruleset: rule.RulesetCustom,
		},
		"a default rule that an organization's shadows": {
			text:  "+// prwarden:ignore s/eval -- why\n+eval(\n",
			rules: []rule.Rule{regex("s/eval", `eval\(`, origin(rule.OriginDefault)), regex("s/eval", "never")},
			found: []string{"a:1 meta/suppression-unused"},
		},
		"a multiline rule, by its first line": {
			text: "+// prwarden:ignore s/block -- why\n+{ // prwarden:ignore s/block -- why\n" +
				"+\n+} // prwarden:ignore s/block -- why\n",
			rules:      []rule.Rule{regex("s/block", `(?s)\{.*\}`, multiline)},
			suppressed: []string{"a:2 s/block"}, found: []string{"a:1 meta/suppression-unused", "a:4 meta/suppression-unused"},
		},
		"a multiline rule that starts on an old line": {
			text: " x // prwarden:ignore s/block -- why\n {\n+}\n", rules: []rule.Rule{regex("s/block", `(?s)\{.*\}`, multiline)},
			suppressed: []string{"a:2 s/block"},
		},
		"a multiline rule that matches on the old line before": {
			text:  " x{} // prwarden:ignore s/block -- why\n+{}\n",
			rules: []rule.Rule{regex("s/block", `(?s)\{.*?\}`, multiline)},
			found: []string{"a:2 s/block"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := tt.rules
			if rules == nil {
				rules = []rule.Rule{evil}
			}

			got, err := try(t, &pull{files: []scan.File{marked("a", tt.text)}}, rules,
				setup{request: tt.request, ruleset: tt.ruleset})
			require.NoError(t, err)
			assert.Equal(t, append([]string{}, tt.found...), places(got))
			assert.Equal(t, append([]string{}, tt.suppressed...), suppressed(got))
			sum := 0

			for _, n := range got.Summary {
				sum += n
			}

			assert.Equal(t, len(tt.found), sum, "suppressed ones don't count")
		})
	}
}

// A comment on the line before changes no fingerprint, whether or not it
// suppresses.
func TestSuppressionKeepsFingerprints(t *testing.T) {
	t.Parallel()
	scanned := func(text string) *scan.Result {
		return run(t, &pull{files: []scan.File{file("a", text)}}, regex("eval", `eval\(`))
	}

	all := scanned("eval(\neval(\nx eval(\neval(\n").Findings
	got := scanned("eval(\n# prwarden:ignore eval -- why\neval(\nx eval(\neval(\n")
	require.Len(t, all, 4)
	require.Len(t, got.Suppressed, 1)
	require.Len(t, got.Findings, 3)
	assert.Equal(t, all[1].Fingerprint, got.Suppressed[0].Fingerprint)

	for i, n := range []int{0, 2, 3} {
		assert.Equal(t, all[n].Fingerprint, got.Findings[i].Fingerprint)
	}
}

func TestReasonIsMaskedAndCut(t *testing.T) {
	t.Parallel()
	rules := []rule.Rule{regex("eval", `eval\(`), regex("s", `tok_\w+`, redact)}
	reason := func(comment string) string {
		got := run(t, &pull{files: []scan.File{file("a", comment+"\neval(\n")}}, rules...)
		require.NotEmpty(t, got.Suppressed)
		return got.Suppressed[len(got.Suppressed)-1].Suppression.Reason
	}

	assert.Equal(t, "not ****, but ****", reason("# prwarden:ignore eval -- not tok_a, but tok_b"))
	assert.Equal(t, "a\ufffd", reason("# prwarden:ignore eval -- a\xff"))
	assert.Equal(t, strings.Repeat("é", 250), reason("# prwarden:ignore eval -- "+strings.Repeat("é", 400)))

	// What is not an id is not repeated: it may be a secret.
	secret := regex("s", `[0-9a-f]{32}`, redact)
	got := run(t, &pull{files: []scan.File{file("a", "# prwarden:ignore x, "+strings.Repeat("0f", 16)+"\n")}},
		secret, regex("x", `y`))
	require.Len(t, got.Findings, 2)
	assert.NotContains(t, fmt.Sprintf("%+v", got.Findings), "0f0f0f")
	assert.Equal(t, "This `prwarden:ignore` names an id, and there is no such rule: correct the id or remove it.",
		got.Findings[1].Message)
}

// A pull request can't bury what else is found under comments that are wrong.
func TestSuppressionsBuryNothing(t *testing.T) {
	t.Parallel()
	p := &pull{}

	for _, path := range []string{"a", "b", "c"} {
		p.files = append(p.files, file(path, strings.Repeat("// prwarden:ignore\n", 100)+
			strings.Repeat("// prwarden:ignore low -- x until 2020-01-01\n", 100)+
			strings.Repeat("// prwarden:ignore low\n", 100)+"low!\n"))
	}

	got := run(t, p, regex("low", "low!", severity(rule.Info)))
	counts, prints := map[string]int{}, map[string]bool{}

	for _, f := range got.Findings {
		counts[f.RuleID]++
		prints[f.Fingerprint] = true
	}

	assert.Equal(t, map[string]int{
		"meta/suppression-malformed": 20, "meta/suppression-expired": 20, "meta/suppression-unused": 20,
	}, counts)

	assert.Len(t, got.Suppressed, 3)
	assert.Len(t, prints, len(got.Findings))
	assert.True(t, got.Truncated)
	assert.Equal(t, 600, got.Summary[rule.Warning], "all are counted")
	assert.Equal(t, 297, got.Summary[rule.Low])
}

// FuzzSuppression compares a scan of a file with comments with a scan of the same
// file without them: nothing may be lost, and nothing moved.
func FuzzSuppression(f *testing.F) {
	f.Add([]byte("eval( // prwarden:ignore eval -- why\n\nprwarden:ignore a/todo, eval\ntodo eval(\n"), uint16(0xFFFF))
	f.Add([]byte("{\n// prwarden:ignore block -- x until 2030-01-01\n{\n}\r\n}\n"), uint16(0x5))
	f.Add([]byte("# prwarden:ignore todo\ntok_a prwarden:ignore s -- tok_a\n"), uint16(0xFF))
	rules := []rule.Rule{
		regex(
			"eval",
			`eval\(`,
			severity(rule.High),
		),
		regex("a/todo", "(?i)todo", severity(rule.Low)),
		regex("block", `(?s)\{.*?\}`, multiline),
		regex("s", `tok_\w+`, redact, severity(rule.Critical)),
		regex("weak", `[ \t]+$`, severity(rule.Info)),
	}

	f.Fuzz(func(t *testing.T, text []byte, added uint16) {
		if len(text) > 4<<10 {
			return
		}

		all := file("a", string(text))
		if added != 0xFFFF && len(all.Added) > 0 && all.Added[0].Last > 0 {
			last := all.Added[0].Last
			all.Added = nil

			for n := 1; n <= last; n++ {
				if k := len(all.Added) - 1; added>>(n%16)&1 == 0 {
					continue
				} else if k >= 0 && all.Added[k].Last == n-1 {
					all.Added[k].Last = n
				} else {
					all.Added = append(all.Added, scan.LineRange{First: n, Last: n})
				}
			}
		}

		without := all
		without.Content = bytes.ReplaceAll(all.Content, []byte(marker), []byte(strings.ToUpper(marker)))
		plain, err := try(t, &pull{files: []scan.File{without}}, rules, setup{})
		require.NoError(t, err)
		got, err := try(t, &pull{files: []scan.File{all}}, rules, setup{})
		require.NoError(t, err)
		want := map[string]finding.Finding{}
		key := func(f finding.Finding) string { return fmt.Sprint(f.RuleID, f.Line) }
		place := func(f finding.Finding) finding.Finding { // the texts have the comments in them
			f.Suppression, f.Snippet, f.Fingerprint, f.LineHash = nil, "", "", ""
			return f
		}

		for _, f := range plain.Findings {
			want[key(f)] = place(f)
		}

		lines := match.SplitLines(text)
		check := func(f finding.Finding) {
			by := f.Suppression
			require.Equal(t, want[key(f)], place(f))
			delete(want, key(f))
			if by == nil {
				return
			}

			require.True(t, by.Line == f.Line || by.Line == f.Line-1)
			require.Contains(t, string(lines.Line(by.Line)), marker)
			require.Contains(t, string(lines.Line(by.Line)), strings.TrimPrefix(f.RuleID, "custom/"))
			require.NotRegexp(t, `tok_\w`, by.Reason)
		}

		for _, f := range got.Findings {
			if !strings.HasPrefix(f.RuleID, "meta/") {
				check(f)
				continue
			}

			require.True(t, bytes.HasPrefix(lines.Line(f.Line)[f.Column-1:], []byte(marker)))
			require.LessOrEqual(t, f.EndColumn, len(lines.Line(f.Line))+1)
		}

		for _, f := range got.Suppressed {
			require.NotNil(t, f.Suppression)
			check(f)
		}

		require.Empty(t, want, "findings that are nowhere")
	})
}
