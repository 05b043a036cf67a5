package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// source opens pull requests that are in memory.
type source func(context.Context, scan.Target) (scan.Change, error)

func (s source) Open(ctx context.Context, t scan.Target) (scan.Change, error) { return s(ctx, t) }

type change struct {
	files     []*scan.File
	rulesFile string
}

func (*change) HeadSHA() string { return "aaaa" }
func (*change) BaseSHA() string { return "bbbb" }
func (*change) Close() error    { return nil }

func (*change) HeadCommit() (subject, author string) { return "Add a cart", "Ann" }

func (*change) BaseFoundBy() finding.BaseFoundBy { return finding.BaseMergeRef }

func (c *change) ReadFile(_ context.Context, side scan.Side, _ string, _ int) ([]byte, bool, error) {
	return []byte(c.rulesFile), side == scan.Base && c.rulesFile != "", nil
}
func (c *change) FileCount() int { return len(c.files) }
func (c *change) Files(context.Context) iter.Seq2[*scan.File, error] {
	return func(yield func(*scan.File, error) bool) {
		for _, f := range c.files {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// Pairs makes each file one that is new.
func (c *change) Pairs(_ context.Context, paths []string, _ int64) iter.Seq2[*scan.Pair, error] {
	return func(yield func(*scan.Pair, error) bool) {
		for _, f := range c.files {
			place := slices.Index(paths, f.Path)
			pair := &scan.Pair{Place: place, Path: f.Path, Change: finding.FileAdded, New: f.Content, Added: f.Added}
			if place >= 0 && !yield(pair, nil) {
				return
			}
		}
	}
}

func added(path, content string) *scan.File {
	lines := strings.Count(content, "\n")
	return &scan.File{
		Path: path, Size: int64(len(content)), Content: []byte(content), Added: []scan.LineRange{{First: 1, Last: lines}},
	}
}

func jobWith(rules ...rule.Rule) review.Job {
	return review.Job{
		Claim: review.Claim{ReviewID: "rev_x", Organization: "acme", Repo: "acme/api", PRNumber: 1, Ruleset: "acme/api"},
		Rules: rule.Set{Rules: rules, Digest: rule.Digest(rules)}, MaxFindings: 10_000,
	}
}

func todo(id string, origin rule.Origin) rule.Rule {
	return rule.Rule{
		ID: id, Type: rule.TypeRegex, Pattern: "todo", Message: "Do it.", Severity: rule.High,
		Scope: rule.ScopeOrg, Origin: origin,
	}
}

func none(review.Progress) {}

func TestScan(t *testing.T) {
	t.Parallel()
	const file = "version: 1\npublish: {summary: none, comments_min: critical, comments_max: 0}\n" +
		"rules: [{id: from-file, type: regex, pattern: fixme, message: m, severity: low, cases: {match: [fixme]}}]\n"
	client, s := setup(t, func(_ context.Context, target scan.Target) (scan.Change, error) {
		assert.Equal(t, scan.Target{Organization: "acme", Repo: "acme/api", Number: 1}, target)
		return &change{rulesFile: file, files: []*scan.File{
			added("a\xff.go", "todo\nok\nfixme\n"), {Path: "big", Size: 2 << 20, TooLarge: true, Added: []scan.LineRange{{First: 1, Last: 1}}},
		}}, nil
	})

	// The digest, which the scanner computes again, covers all that a rule says.
	never := todo("never", rule.OriginRepository)
	never.Pattern, never.Multiline, never.Redact, never.Conditions.Checksum = "never", true, true, "github"
	never.Paths = rule.Paths{Include: []string{"**/*.go"}, Exclude: []string{"vendor/**"}}
	two := todo("two", rule.OriginCustom)
	two.Fix = new("done")
	job := jobWith(todo("x/one", rule.OriginDefault), two, never)
	var last review.Progress
	o, err := client.Scan(t.Context(), job, func(p review.Progress) { last = p })
	require.NoError(t, err)
	assert.Equal(t, review.Progress{FilesDone: 2, FilesTotal: 2}, last)
	assert.Equal(t, "aaaa", o.HeadSHA)
	assert.Equal(t, "bbbb", o.BaseSHA)
	assert.Len(t, o.RulesDigest, 64)
	assert.Equal(t, 2, o.FilesTotal)
	assert.False(t, o.Truncated)
	require.Len(t, o.Findings, 3)
	assert.NotEmpty(t, o.Findings[0].Fingerprint)
	o.Findings[0].Fingerprint = ""
	assert.Equal(t, finding.Finding{
		RuleID: "custom/two", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: "a\xff.go", Line: 1, EndLine: 1, Column: 1, EndColumn: 5,
		Message: "Do it.", Snippet: "todo", UTF16Column: 1, UTF16EndColumn: 5, LineHash: "a90a5f2394dc0572:1",
		Fix: &finding.Fix{StartLine: 1, EndLine: 1, Text: "done"},
	}, o.Findings[0])
	assert.Equal(t, 2, o.Summary[rule.High])
	assert.Equal(t, 1, o.Summary[rule.Low])
	assert.Equal(t, []finding.Skip{{File: "big", Reason: "file_too_large"}}, o.Skips)
	assert.True(t, o.RulesFileValid)
	require.Len(t, o.RulesFile, 1)
	assert.Equal(t, "from-file", o.RulesFile[0].ID)
	assert.Equal(t, rule.OriginRulesFile, o.RulesFile[0].Origin)
	assert.Equal(t, []string{"fixme"}, o.RulesFile[0].Cases.Match)
	assert.Equal(t, rule.Publish{NoSummary: true, CommentsMin: rule.Critical, CommentsMax: new(int)}, o.Publish)

	again := startMessage()
	again.GetStart().RulesDigest = job.Rules.Digest
	stream, err := stubOf(t, s).Scan(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(again))
	m, err := stream.Recv()
	require.NoError(t, err)
	assert.False(t, m.GetAccepted().GetNeedRules(), "the scanner has the rules now")

	for ruleset, want := range map[string]string{"default": "x/one", "custom": "custom/two"} {
		job.Ruleset = ruleset
		o, err := client.Scan(t.Context(), job, none)
		require.NoError(t, err)
		require.Len(t, o.Findings, 1)
		assert.Equal(t, want, o.Findings[0].RuleID)
	}
}

// What a repository is read from, and by what credential, is as the server said.
func TestScanSource(t *testing.T) {
	t.Parallel()
	source := review.Source{
		Host:       organization.Host{Kind: "git", URL: "https://h/{repo}", HeadRef: "refs/a", MergeRef: "refs/b"},
		Credential: codehost.Credential{Username: "me", Token: "t0k3n"}, Guarded: true,
	}
	client, _ := setup(t, func(_ context.Context, target scan.Target) (scan.Change, error) {
		assert.Equal(t, scan.Target{
			Organization: "acme", Repo: "acme/api", Number: 1,
			Host: source.Host, Credential: source.Credential, Guarded: source.Guarded,
		}, target)
		return &change{}, nil
	})
	job := jobWith()
	job.Source = source
	_, err := client.Scan(t.Context(), job, none)
	require.NoError(t, err)
}

// An observed rule is one at the scanner, and what it finds comes back as such.
func TestObservedFindings(t *testing.T) {
	t.Parallel()
	client, _ := setup(t, func(context.Context, scan.Target) (scan.Change, error) {
		return &change{files: []*scan.File{added("a.go", "todo\n")}}, nil
	})
	observed := todo("note", rule.OriginCustom)
	observed.Mode = rule.ModeObserve
	o, err := client.Scan(t.Context(), jobWith(observed), none)
	require.NoError(t, err)
	assert.Empty(t, o.Findings)
	require.Len(t, o.Observed, 1)
	assert.Equal(t, "custom/note", o.Observed[0].RuleID)
	assert.Equal(t, 0, o.Summary[rule.High])
}

// What a job asks for reaches the scan, and all of a finding comes back.
func TestCommitsAndSuppressions(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("a", 40)
	text := "é todo\n" +
		"// prwarden:ignore note -- known until 2026-06-15\ntodo\n" +
		"// prwarden:ignore note -- known until 2026-06-14\ntodo\n" +
		"// prwarden:ignore note\ntodo\n"
	client, _ := setup(t, func(_ context.Context, target scan.Target) (scan.Change, error) {
		assert.Equal(t, finding.Commits{Head: head, BaseRef: "main"}, target.Commits)
		return &change{files: []*scan.File{added("a.go", text)}}, nil
	})
	job := jobWith(todo("note", rule.OriginCustom))
	job.Commits = finding.Commits{Head: head, BaseRef: "main"}
	job.Today = "2026-06-15"
	job.Policy.Suppression = policy.Suppression{Allowed: true, UpTo: "high"}
	scanned := func() (o finding.Result, ids []string) {
		o, err := client.Scan(t.Context(), job, none)
		require.NoError(t, err)
		for _, f := range o.Findings {
			ids = append(ids, f.RuleID)
		}

		return o, ids
	}

	o, ids := scanned()
	assert.Equal(t, []string{"custom/note", "meta/suppression-expired", "custom/note"}, ids)
	require.Len(t, o.Suppressed, 2)
	assert.Equal(t, &finding.Suppression{Reason: "known", Until: "2026-06-15", Line: 2}, o.Suppressed[0].Suppression)
	assert.Equal(t, &finding.Suppression{Line: 6}, o.Suppressed[1].Suppression)
	assert.Equal(t, 2, o.Summary[rule.High], "without the suppressed ones")

	first := o.Findings[0]
	assert.Equal(t, []int{4, 8, 3, 7}, []int{first.Column, first.EndColumn, first.UTF16Column, first.UTF16EndColumn})

	job.Policy.Suppression.RequireReason = true
	o, ids = scanned()
	assert.Contains(t, ids, "meta/suppression-refused")
	assert.Len(t, o.Suppressed, 1)

	job.Policy.Suppression.RequireReason, job.Today, job.MaxFindings = false, "2026-06-01", 2
	o, _ = scanned()
	assert.Len(t, o.Suppressed, 2)
	assert.True(t, o.Truncated)
}

// Rules and findings are far larger than a message may be. Findings that are more
// than a result may have are truncated by the scan, so a server takes them.
func TestLargestResult(t *testing.T) {
	t.Parallel()
	const lines = 5_000
	path := strings.Repeat("d/", 2000) + "f"
	client, _ := setup(t, func(context.Context, scan.Target) (scan.Change, error) {
		return &change{files: []*scan.File{added(path, strings.Repeat("todo\n", lines))}}, nil
	})
	var rules []rule.Rule
	for i := range 1500 {
		r := todo(fmt.Sprintf("r%04d", i), rule.OriginCustom)
		r.Message = strings.Repeat("\U0001f41e", rule.MaxMessage)
		if i > 0 {
			r.Pattern = fmt.Sprintf("never%d", i)
		}
		rules = append(rules, r)
	}

	o, err := client.Scan(t.Context(), jobWith(rules...), none)
	require.NoError(t, err)
	assert.True(t, o.Truncated)
	assert.Less(t, len(o.Findings), lines)
	assert.Greater(t, len(o.Findings), lines/2)
	assert.Equal(t, lines, o.Summary[rule.High], "the summary counts all")
	assert.Equal(t, len(o.Findings), o.Findings[len(o.Findings)-1].Line, "the first ones are told")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		code    string
		lasting bool
	}{
		"lasting":    {&scan.Failure{Code: scan.CodeNoMergeBase, Message: "No.", Lasting: true}, "no_merge_base", true},
		"passing":    {&scan.Failure{Code: scan.CodeHostUnreachable, Message: "Away."}, "host_unreachable", false},
		"unexpected": {errors.New("secret detail"), "scan_failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := setup(t, func(context.Context, scan.Target) (scan.Change, error) { return nil, c.err })
			_, err := client.Scan(t.Context(), jobWith(), none)
			var e *review.ScanError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.code, e.Code)
			assert.Equal(t, c.lasting, e.Lasting)
			assert.NotContains(t, e.Message, "secret detail")
		})
	}
}

func TestCancelReachesTheScanner(t *testing.T) {
	t.Parallel()
	opened, ended := make(chan struct{}), make(chan struct{})
	client, _ := setup(t, func(ctx context.Context, _ scan.Target) (scan.Change, error) {
		close(opened)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-opened; cancel() }()
	_, err := client.Scan(ctx, jobWith(), none)
	require.Error(t, err)
	<-ended
}

// stubborn opens a pull request only when its context ends.
func stubborn(opened chan<- struct{}) func(context.Context, scan.Target) (scan.Change, error) {
	var once sync.Once
	return func(ctx context.Context, _ scan.Target) (scan.Change, error) {
		once.Do(func() { close(opened) })
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func TestHandBack(t *testing.T) {
	t.Parallel()
	opened := make(chan struct{})
	client, s := setup(t, stubborn(opened))
	go func() { <-opened; s.service.HandBack() }()
	_, err := client.Scan(t.Context(), jobWith(), none)
	var e *review.ScanError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "scanner_stopping", e.Code)
	assert.True(t, e.Uncounted)
}

// A client that breaks the protocol gets an error, and the digest of rules is
// checked, so that nobody can plant rules under another's digest.
func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	client, _ := setup(t, func(context.Context, scan.Target) (scan.Change, error) { return &change{}, nil })
	job := jobWith(todo("x", rule.OriginCustom))
	job.Rules.Digest = strings.Repeat("0", 64)
	_, err := client.Scan(t.Context(), job, none)
	var e *review.ScanError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "scanner_fault", e.Code)
}
