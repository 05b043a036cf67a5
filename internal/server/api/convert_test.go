package api

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/structure"
)

var day = time.Date(2026, 11, 20, 9, 30, 0, 123456000, time.UTC)

// full is a review with a value other than zero in every field.
func full() review.Review {
	found := finding.Finding{
		RuleID: "a/b", Severity: rule.High, Confidence: rule.ConfidenceHigh, File: "x\xff", Line: 1, EndLine: 2, Column: 3, Message: "m", Snippet: "s",
		Fingerprint: "f",
		EndColumn:   4, UTF16Column: 5, UTF16EndColumn: 6, LineHash: "h:1", State: finding.StateExisting,
		Suppression: &finding.Suppression{Reason: "why", Until: "2027-01-31", Line: 7},
		Steps: []finding.Step{{
			Kind: finding.StepAssignment, Line: 8, Column: 9, EndColumn: 10, UTF16Column: 11, UTF16EndColumn: 12, Snippet: "x",
		}},
		Fix: &finding.Fix{StartLine: 13, EndLine: 14, Text: "y"},
		Triage: &finding.Triage{
			Decision: finding.WontFix, Reason: "old", Until: "2027-02-28", By: "key:key_2", At: day, Scope: finding.InRepository,
		},
	}

	suppressed, fixed := found, found
	suppressed.State, fixed.State = finding.StateNew, finding.StateFixed
	return review.Review{
		ID: "rev_1", Organization: "acme", Repo: "acme/shop", PRNumber: 42, Ruleset: "custom", Status: review.Complete,
		HeadSHA: "aa", BaseSHA: "bb", CreatedAt: day, StartedAt: day.Add(time.Second), CompletedAt: day.Add(time.Minute),
		Findings: []finding.Finding{found}, Suppressed: []finding.Finding{suppressed}, Fixed: []finding.Finding{fixed},
		Observed:   []finding.Finding{found},
		PreviousID: "rev_0", CreatedBy: "key:key_1", Commits: finding.Commits{BaseRef: "main"}, FailOn: rule.Medium, Priority: review.Low,
		Summary: finding.Summary{rule.Critical: 1, rule.High: 2, rule.Medium: 3, rule.Warning: 4, rule.Low: 5, rule.Info: 6},
		Failure: &review.Failure{Code: "scan_timeout", Message: "too slow"},
		Skips: []finding.Skip{{
			File: "y\xfe", Line: 9, RuleID: "c/d", Reason: "rule_stopped", Severity: rule.Low, Tolerated: true,
		}},
		Truncated: true, BaseFoundBy: finding.BaseDefaultBranch,
		Exclusions: finding.Exclusions{Files: 12, By: rule.FilePath},
		SwitchedOff: []finding.SwitchedOff{
			{RuleID: "a/b", By: finding.ByOrganization, How: finding.HowDisable},
			{RuleID: "c/d", By: finding.ByRepository, How: finding.HowOverride},
			{RuleID: "e/f", By: finding.ByRepository, How: finding.HowExclude},
		},
		LookedAt:    finding.LookedAt{Files: 1, AddedLines: 2, Rules: 3, Generated: 5, Minified: 6, Vendored: 7},
		Verdict:     &finding.Verdict{Outcome: finding.Fail, Threshold: rule.Medium, NotLookedAt: 4},
		RulesDigest: "dd", Attempt: 3, Progress: review.Progress{FilesDone: 5, FilesTotal: 8},
		CheckURL:  "https://github.com/acme/shop/pull/42/checks",
		HeadTitle: "Add a cart", HeadAuthor: "ann", NewTotal: 1, FixedTotal: 2, SuppressedTotal: 3,
		Open: finding.Summary{rule.Critical: 1, rule.High: 1, rule.Medium: 1, rule.Warning: 1, rule.Low: 1, rule.Info: 1},
	}
}

func TestGoldenReview(t *testing.T) {
	t.Parallel()
	m := toReview(full())
	assertFilled(t, m.ProtoReflect())
	want, err := os.ReadFile("testdata/review.json")
	require.NoError(t, err)
	got, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))

	listed := toListed(full())
	assertFilled(t, listed.ProtoReflect())
	for i := range listed.ProtoReflect().Descriptor().Fields().Len() {
		fd := listed.ProtoReflect().Descriptor().Fields().Get(i)
		if strings.HasPrefix(string(fd.Name()), "files_") {
			continue // of one review WatchReview tells the progress
		}
		same := m.ProtoReflect().Descriptor().Fields().ByName(fd.Name())
		require.NotNil(t, same, "a listed review has only fields of a review")
		assert.True(t, listed.ProtoReflect().Get(fd).Equal(m.ProtoReflect().Get(same)), fd.Name())
	}
}

// assertFilled fails for a field that a converter forgot.
func assertFilled(t *testing.T, m protoreflect.Message) {
	t.Helper()
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		if !assert.True(t, m.Has(fd), "%s is not filled", fd.FullName()) || fd.Kind() != protoreflect.MessageKind {
			continue
		}

		if fd.IsMap() || fd.Message().FullName() == "prwarden.v1.Condition" { // see TestConditionThereAndBack
			continue
		}
		if fd.IsList() {
			assertFilled(t, m.Get(fd).List().Get(0).Message())
		} else {
			assertFilled(t, m.Get(fd).Message())
		}
	}
}

func TestWhatIsNotKnownIsAbsent(t *testing.T) {
	t.Parallel()
	data, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(
		toReview(review.Review{ID: "rev_1", Status: review.Queued, Repo: "a/b", PRNumber: 1, Ruleset: "a/b", CreatedAt: day}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"review_id":"rev_1","status":"queued","pr_number":1,"repo":"a/b","ruleset":"a/b","findings":[],
		"suppressed":[],"fixed":[],"observed":[],"skipped":[],"switched_off":[],
		"summary":{"critical":0,"high":0,"medium":0,"warning":0,"low":0,"info":0},
		"created_at":"2026-11-20T09:30:00.123456Z","truncated":false,"priority":"normal","created_by":""}`, string(data))
}

func TestEveryWordHasItsEnumValue(t *testing.T) {
	t.Parallel()
	for _, s := range []finding.State{finding.StateNew, finding.StateExisting, finding.StateFixed} {
		require.NotNil(t, toState(s), s)
		assert.Equal(t, string(s), toState(s).String())
	}

	for kind, n := range map[finding.Kind]prwardenv1.ListFindingsRequest_Kind{
		finding.KindReported:   prwardenv1.ListFindingsRequest_reported,
		finding.KindSuppressed: prwardenv1.ListFindingsRequest_suppressed,
		finding.KindFixed:      prwardenv1.ListFindingsRequest_fixed,
	} {
		assert.Equal(t, string(kind), word(n))
	}

	assert.Nil(t, toState("unspecified"))
	for _, s := range []review.Status{review.Queued, review.InProgress, review.Complete, review.Failed, review.Canceled} {
		require.NotNil(t, toStatus(s), s)
		assert.Equal(t, string(s), toStatus(s).String())
	}

	for _, d := range finding.Decisions() {
		assert.Contains(t, prwardenv1.Decision_Kind_value, string(d))
	}
	for _, s := range []finding.Scope{finding.InPullRequest, finding.InRepository} {
		assert.Equal(t, string(s), toTriage(&finding.Triage{Scope: s}).GetScope().String())
	}

	for _, s := range rule.Severities() {
		require.NotNil(t, toSeverity(s), s)
		assert.Equal(t, s.String(), toSeverity(s).String())
	}

	for _, s := range []rule.Scope{rule.ScopeOrg, rule.ScopeRepo} {
		require.NotNil(t, toScope(s), s)
	}

	for _, outcome := range []finding.Outcome{finding.Pass, finding.Fail, finding.Incomplete} {
		assert.Equal(t, string(outcome), toVerdict(&finding.Verdict{Outcome: outcome}).GetOutcome().String())
	}

	for _, by := range []finding.BaseFoundBy{
		finding.BaseMergeRef, finding.BaseRequested, finding.BaseMergeCommit, finding.BaseDefaultBranch,
		finding.BaseCodeHost,
	} {
		assert.Equal(t, string(by), toReview(review.Review{BaseFoundBy: by}).GetBaseFoundBy().String())
	}

	for _, reason := range []string{
		"binary", "file_too_large", "rule_stopped", "submodule", "undecodable", "rules_file_invalid",
	} {
		assert.Equal(t, reason, toSkip(finding.Skip{Reason: reason}).GetReason().String())
	}

	assert.Nil(t, toStatus("unspecified"))
	assert.Nil(t, toStatus("other"))
	assert.Nil(t, toSeverity(0))
	assert.Nil(t, toSkip(finding.Skip{Reason: "unspecified"}).Reason)
}

func TestRuleThereAndBack(t *testing.T) {
	t.Parallel()
	in := rule.Rule{
		ID: "a/b", Type: rule.TypeRegex, Pattern: "x", Message: "m", Severity: rule.Low, Scope: rule.ScopeRepo,
		Repo:  "acme/shop",
		Paths: rule.Paths{Include: []string{"a"}, Exclude: []string{"b"}}, Multiline: true, Redact: true,
		Conditions: match.Conditions{
			Entropy: &match.Entropy{Min: 3.5, Group: 1}, Checksum: "github", Stopwords: []string{"s"}, Allow: []string{"w"},
		},
		Supersedes: []string{"other"}, Fix: new("z"),
		Confidence: rule.ConfidenceLow,
		Cases:      rule.Cases{Match: []string{"x"}, NoMatch: []string{"y"}}, References: []string{"https://example.com"},
		Languages: []string{"go"}, In: []rule.Place{rule.InCode}, Skip: []string{"test"},
		Mode: rule.ModeObserve, Disabled: true, Structure: fullCondition(),
		Taint: rule.Taint{
			Sources: []structure.Condition{{Pattern: "s"}}, Sinks: []structure.Condition{fullCondition()},
			Sanitizers: []structure.Condition{{Pattern: "c"}},
		},
		Words:     map[string]string{"doesnt": "doesn't"},
		CreatedAt: day, CreatedBy: "key:key_a", UpdatedAt: day, UpdatedBy: "key:key_b",
	}

	m := toPricedRule(in)
	m.Feedback = toFeedback(stats.RulesPage{
		Since: "2026-10-22", Until: "2026-11-20", Rules: []stats.Rule{{Found: 9, Accepted: 1, FalsePositive: 2, WontFix: 4}},
	})
	assert.EqualValues(t, 7, m.GetFeedback().GetDecided())
	assertFilled(t, m.ProtoReflect())
	want := in
	// Set by the server.
	want.CreatedAt, want.CreatedBy, want.UpdatedAt, want.UpdatedBy = time.Time{}, "", time.Time{}, ""
	assert.Equal(t, want, fromRule(m))
	assert.Equal(t, rule.Rule{}, fromRule(nil))
	assert.Equal(t, "99", fromRule(&prwardenv1.Rule{Type: prwardenv1.Rule_Type(99).Enum()}).Type,
		"left for validation to refuse")
	assert.Empty(t, fromRule(&prwardenv1.Rule{Type: prwardenv1.Rule_unspecified.Enum()}).Type)
}

func TestWhatARuleCosts(t *testing.T) {
	t.Parallel()
	for pattern, advised := range map[string]bool{`frobnicate\(`: false, `\d+\s`: true, `[a-z]+$`: true} {
		r := rule.Rule{ID: "a/b", Pattern: pattern, Multiline: true}
		want, err := r.Cost()
		require.NoError(t, err)
		got := toPricedRule(r).GetMatchingCost()
		assert.InDelta(t, want.PerMiB.Microseconds(), got.GetMicrosecondsPerMib(), 1)
		assert.Equal(t, want.Weak, got.GetWeak(), pattern)
		assert.Equal(t, want.Advice, got.GetAdvice(), pattern)
		assert.Equal(t, advised, got.Advice != nil, pattern)
	}

	assert.Nil(t, toMatchingCost(rule.Rule{Pattern: `a(?<=b)`}), "it can be read all the same")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	failed := full()
	failed.Status = review.Failed
	m := toUpdate(review.Update{Review: failed, KeepAlive: true})
	assert.Nil(t, m.GetSummary(), "a failed review has none")
	assert.Equal(t, int32(5), m.GetFilesDone())
	assert.Equal(t, int32(8), m.GetFilesTotal())
	assert.Equal(t, "scan_timeout", m.GetError().GetCode())
	assert.True(t, m.GetKeepAlive())
	assert.Equal(t, int32(2), toUpdate(review.Update{Review: full()}).GetSummary().GetHigh())
	assert.Nil(t, toUpdate(review.Update{}).FilesTotal)
}

func TestKey(t *testing.T) {
	t.Parallel()
	m := toKey(auth.Key{ID: "key_1", Organization: "acme", Name: "ci", Hash: "secret", Scopes: auth.Scopes(),
		CreatedAt: day, ExpiresAt: day, LastUsedAt: day, RevokedAt: day, CreatedBy: "key:key_0", Parent: "key_0",
		RateLimit: 7}, day)
	assertFilled(t, m.ProtoReflect())
	assert.NotContains(t, m.String(), "secret")
}

func FuzzReviewConverters(f *testing.F) {
	f.Add("rev_1", "a/b", "src/x.go", "snippet", "message", 3, int64(1))
	f.Add("", "\xff", "a\xffb\xfe", "\xc3", "\x00", -1, int64(-1<<40))
	f.Fuzz(func(t *testing.T, id, repo, file, snippet, message string, n int, at int64) {
		r := full()
		r.ID, r.Repo = strings.ToValidUTF8(id, ""), repo
		r.CreatedAt = time.UnixMilli(at % 1e14).UTC()
		r.Findings[0].File, r.Findings[0].Snippet, r.Findings[0].Message, r.Findings[0].Line = file, snippet, message, n
		r.Skips[0].File = file
		m := toReview(r)
		wire, err := proto.Marshal(m)
		require.NoError(t, err, "every review can be sent")
		var back prwardenv1.Review
		require.NoError(t, proto.Unmarshal(wire, &back))
		found := back.GetFindings()[0]
		if raw := found.GetFileBytes(); raw != nil {
			assert.Equal(t, file, string(raw), "no byte of a path is lost")
		} else {
			assert.Equal(t, file, found.GetFile())
		}

		assert.True(t, utf8.ValidString(m.GetFindings()[0].GetSnippet()))
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			assert.EqualValues(t, n, found.GetLine())
		}

		_, err = protojson.Marshal(m)
		require.NoError(t, err)
	})
}

// fullCondition has all that a condition can have, but a pattern.
func fullCondition() structure.Condition {
	is := func(pattern string) *structure.Condition { return &structure.Condition{Pattern: pattern} }
	test := structure.Test{
		Regex: "a", Any: []structure.Test{{Is: "string"}}, Not: &structure.Test{Regex: "b"}, Has: is("c"), Depth: "direct",
		Is: "constant", Entropy: &structure.Entropy{Min: 3.5},
	}

	return structure.Condition{
		Any: []structure.Condition{*is("d")}, All: []structure.Condition{*is("e")}, Not: is("f"), Inside: is("g"),
		NotInside: is("h"), Has: is("i"), Depth: "direct", Where: map[string]structure.Test{"X": test}, Focus: "X",
	}
}

func TestConditionThereAndBack(t *testing.T) {
	t.Parallel()
	in := fullCondition()
	in.Pattern = "f($X)"
	m := toCondition(&in)
	for _, filled := range []protoreflect.Message{m.ProtoReflect(), m.GetWhere()["X"].ProtoReflect()} {
		for i := range filled.Descriptor().Fields().Len() {
			fd := filled.Descriptor().Fields().Get(i)
			assert.True(t, filled.Has(fd), "%s is not filled", fd.FullName())
		}
	}
	assert.Equal(t, &in, fromCondition(m))
}
