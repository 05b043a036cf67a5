package api

import (
	"cmp"
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func toReview(r review.Review) *prwardenv1.Review {
	out := &prwardenv1.Review{
		ReviewId: r.ID, Status: toStatus(r.Status), PrNumber: r.PRNumber, Repo: text(r.Repo),
		CompletedAt: toTime(r.CompletedAt), Summary: toSummary(r.Summary), Ruleset: text(r.Ruleset),
		HeadSha: given(r.HeadSHA), BaseSha: given(r.BaseSHA),
		CreatedAt: toTime(r.CreatedAt), StartedAt: toTime(r.StartedAt),
		Error: toFailure(r.Failure), Truncated: r.Truncated, RulesDigest: given(r.RulesDigest),
		Findings: each(r.Findings, toFinding), Suppressed: each(r.Suppressed, toFinding), Fixed: each(r.Fixed, toFinding),
		Observed:         each(r.Observed, toFinding),
		Skipped:          each(r.Skips, toSkip),
		PreviousReviewId: given(r.PreviousID), BaseRef: given(r.Commits.BaseRef),
		Verdict:     toVerdict(r.Verdict),
		BaseFoundBy: enum[prwardenv1.Base_FoundBy](string(r.BaseFoundBy), prwardenv1.Base_FoundBy_value),
		Priority:    toPriority(r.Priority),
		CreatedBy:   text(r.CreatedBy),
		CheckUrl:    given(text(r.CheckURL)),
		HeadTitle:   given(text(r.HeadTitle)), HeadAuthor: given(text(r.HeadAuthor)),
	}
	if r.Status == review.Complete {
		out.Open, out.NewTotal = toSummary(r.Open), count(r.NewTotal)
		out.FixedTotal, out.SuppressedTotal = count(r.FixedTotal), count(r.SuppressedTotal)
		out.Exclusions, out.SwitchedOff = toExclusions(r.Exclusions), each(r.SwitchedOff, toSwitchedOff)
		out.LookedAt = &prwardenv1.LookedAt{
			Files: clamp(r.LookedAt.Files), AddedLines: clamp(r.LookedAt.AddedLines), Rules: clamp(r.LookedAt.Rules),
			Generated: clamp(r.LookedAt.Generated), Minified: clamp(r.LookedAt.Minified),
			Vendored: clamp(r.LookedAt.Vendored),
		}
	}

	return out
}

func toListed(r review.Review) *prwardenv1.ListedReview {
	out := &prwardenv1.ListedReview{
		ReviewId: r.ID, Status: toStatus(r.Status), PrNumber: r.PRNumber, Repo: text(r.Repo),
		CompletedAt: toTime(r.CompletedAt), Summary: toSummary(r.Summary), Ruleset: text(r.Ruleset),
		HeadSha: given(r.HeadSHA), BaseSha: given(r.BaseSHA),
		CreatedAt: toTime(r.CreatedAt), StartedAt: toTime(r.StartedAt),
		Error: toFailure(r.Failure), Truncated: r.Truncated, Verdict: toVerdict(r.Verdict),
		Priority:  toPriority(r.Priority),
		CreatedBy: text(r.CreatedBy),
		HeadTitle: given(text(r.HeadTitle)), HeadAuthor: given(text(r.HeadAuthor)),
	}
	if r.Status == review.Complete {
		out.Open, out.NewTotal = toSummary(r.Open), count(r.NewTotal)
		out.FixedTotal, out.SuppressedTotal = count(r.FixedTotal), count(r.SuppressedTotal)
	}
	if r.Progress.FilesTotal > 0 {
		out.FilesDone, out.FilesTotal = count(r.Progress.FilesDone), count(r.Progress.FilesTotal)
	}

	return out
}

// count is a number that is there, also when it is 0.
func count(n int) *int32 { return new(clamp(n)) }

func toPriority(p review.Priority) *prwardenv1.Priority_Level {
	if p == review.Low {
		return prwardenv1.Priority_low.Enum()
	}

	return prwardenv1.Priority_normal.Enum()
}

func toUpdate(u review.Update) *prwardenv1.WatchReviewResponse {
	r := u.Review
	out := &prwardenv1.WatchReviewResponse{
		ReviewId: r.ID, Status: toStatus(r.Status), FilesDone: clamp(r.Progress.FilesDone),
		Error: toFailure(r.Failure), KeepAlive: u.KeepAlive,
	}
	if r.Progress.FilesTotal > 0 {
		total := clamp(r.Progress.FilesTotal)
		out.FilesTotal = &total
	}

	if r.Status == review.Complete {
		out.Summary = toSummary(r.Summary)
	}
	if u.Stranded {
		out.ScannerAvailable = new(bool)
	}
	return out
}

func toVerdict(v *finding.Verdict) *prwardenv1.Verdict {
	if v == nil {
		return nil
	}

	return &prwardenv1.Verdict{
		Outcome:   enum[prwardenv1.Verdict_Outcome](string(v.Outcome), prwardenv1.Verdict_Outcome_value),
		Threshold: toSeverity(v.Threshold), NotLookedAt: clamp(v.NotLookedAt),
	}
}

// each converts a list.
func each[T, P any](list []T, convert func(T) P) []P {
	out := make([]P, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}

	return out
}

func toFinding(f finding.Finding) *prwardenv1.Finding {
	out := &prwardenv1.Finding{
		RuleId: text(f.RuleID), Severity: toSeverity(f.Severity), File: text(f.File), FileBytes: rawPath(f.File),
		Line: clamp(f.Line), EndLine: clamp(f.EndLine), Column: clamp(f.Column),
		Message: text(f.Message), Snippet: text(f.Snippet), Fingerprint: text(f.Fingerprint),
		Confidence: toConfidence(f.Confidence),
		State:      toState(f.State), EndColumn: clamp(f.EndColumn), Utf16Column: clamp(f.UTF16Column),
		Utf16EndColumn: clamp(f.UTF16EndColumn), LineHash: given(f.LineHash),
		Triage: toTriage(f.Triage), Steps: each(f.Steps, toStep),
	}
	if x := f.Fix; x != nil {
		out.Fix = &prwardenv1.Fix{StartLine: clamp(x.StartLine), EndLine: clamp(x.EndLine), Text: text(x.Text)}
	}
	if s := f.Suppression; s != nil {
		out.Suppression = &prwardenv1.Suppression{Reason: text(s.Reason), Until: given(s.Until), Line: clamp(s.Line)}
	}
	return out
}

func toStep(s finding.Step) *prwardenv1.FindingStep {
	return &prwardenv1.FindingStep{
		Kind: enum[prwardenv1.FindingStep_Kind](string(s.Kind), prwardenv1.FindingStep_Kind_value),
		Line: clamp(s.Line), Column: clamp(s.Column), EndColumn: clamp(s.EndColumn),
		Utf16Column: clamp(s.UTF16Column), Utf16EndColumn: clamp(s.UTF16EndColumn), Snippet: text(s.Snippet),
	}
}

func toSkip(s finding.Skip) *prwardenv1.Skip {
	out := &prwardenv1.Skip{
		File: text(s.File), FileBytes: rawPath(s.File), RuleId: given(text(s.RuleID)),
		Severity: toSeverity(s.Severity), Tolerated: s.Tolerated,
	}
	if s.Line > 0 {
		line := clamp(s.Line)
		out.Line = &line
	}

	out.Reason = enum[prwardenv1.Skip_Reason](s.Reason, prwardenv1.Skip_Reason_value)
	return out
}

// enum returns the value of an enum with that word; nil for none, and for the
// word of zero, which stands for what is not known.
func enum[E ~int32](word string, values map[string]int32) *E {
	n, ok := values[word]
	if !ok || n == 0 {
		return nil
	}
	value := E(n)
	return &value
}

func toState(s finding.State) *prwardenv1.Finding_State {
	return enum[prwardenv1.Finding_State](string(s), prwardenv1.Finding_State_value)
}

func toStatus(s review.Status) *prwardenv1.Review_Status {
	return enum[prwardenv1.Review_Status](string(s), prwardenv1.Review_Status_value)
}

func toSeverity(s rule.Severity) *prwardenv1.Severity_Level {
	return enum[prwardenv1.Severity_Level](s.String(), prwardenv1.Severity_Level_value)
}

func toConfidence(c rule.Confidence) *prwardenv1.Confidence_Level {
	return enum[prwardenv1.Confidence_Level](string(c), prwardenv1.Confidence_Level_value)
}

func toScope(s rule.Scope) *prwardenv1.Ruleset_Scope {
	return enum[prwardenv1.Ruleset_Scope](string(s), prwardenv1.Ruleset_Scope_value)
}

func toSummary(s finding.Summary) *prwardenv1.SeveritySummary {
	return &prwardenv1.SeveritySummary{
		Critical: clamp(s[rule.Critical]), High: clamp(s[rule.High]), Medium: clamp(s[rule.Medium]),
		Warning: clamp(s[rule.Warning]), Low: clamp(s[rule.Low]), Info: clamp(s[rule.Info]),
	}
}

func toFailure(f *review.Failure) *prwardenv1.ReviewError {
	if f == nil {
		return nil
	}
	return &prwardenv1.ReviewError{Code: text(f.Code), Message: text(f.Message)}
}

func toRuleset(s rule.Ruleset) *prwardenv1.Ruleset {
	return &prwardenv1.Ruleset{
		Id: text(rule.RulesetIDPrefix + s.Name), Name: text(s.Name), RuleCount: clamp(s.RuleCount), Scope: toScope(s.Scope),
	}
}

func toRule(r rule.Rule) *prwardenv1.Rule {
	out := &prwardenv1.Rule{
		Id: text(r.ID), Pattern: text(r.Pattern), Message: text(r.Message), Severity: toSeverity(r.Severity),
		Scope: toScope(r.Scope), Repo: given(r.Repo), Multiline: r.Multiline, Redact: r.Redact,
		References: each(r.References, text), Languages: each(r.Languages, text), In: rule.WordsOf(r.In),
		Entropy: toEntropy(r.Conditions.Entropy), Checksum: given(r.Conditions.Checksum),
		Stopwords: each(r.Conditions.Stopwords, text), Allow: each(r.Conditions.Allow, text),
		Supersedes: each(r.Supersedes, text),
		Skip:       each(r.Skip, text), Confidence: toConfidence(r.Sureness()), Fix: r.Fix, Words: toWords(r.Words),
		Enabled: new(!r.Disabled), Etag: r.Etag,
		CreatedAt: toTime(r.CreatedAt), CreatedBy: given(r.CreatedBy),
		UpdatedAt: toTime(r.UpdatedAt), UpdatedBy: given(r.UpdatedBy),
	}
	setStructure(out, r)
	setTaint(out, r.Taint)
	if out.Etag == "" {
		out.Etag = r.Document().Etag()
	}
	out.Type = enum[prwardenv1.Rule_Type](r.Type, prwardenv1.Rule_Type_value)
	out.Mode = enum[prwardenv1.Rule_Mode](string(cmp.Or(r.Mode, rule.ModeEnforce)), prwardenv1.Rule_Mode_value)
	if len(r.Paths.Include)+len(r.Paths.Exclude) > 0 {
		out.Paths = &prwardenv1.Rule_Paths{Include: each(r.Paths.Include, text), Exclude: each(r.Paths.Exclude, text)}
	}
	if len(r.Cases.Match)+len(r.Cases.NoMatch) > 0 {
		out.Cases = &prwardenv1.Rule_Cases{Match: each(r.Cases.Match, text), NoMatch: each(r.Cases.NoMatch, text)}
	}
	return out
}

// toWords returns the words of a spelling rule as text that can be sent.
func toWords(words map[string]string) map[string]string {
	if len(words) == 0 {
		return nil
	}
	all := make(map[string]string, len(words))
	for wrong, right := range words {
		all[text(wrong)] = text(right)
	}
	return all
}

func toEntropy(e *match.Entropy) *prwardenv1.Rule_Entropy {
	if e == nil {
		return nil
	}
	return &prwardenv1.Rule_Entropy{Min: e.Min, Group: clamp(e.Group)}
}

// conditioned is a message that says what decides about the matches of a rule.
type conditioned interface {
	GetEntropy() *prwardenv1.Rule_Entropy
	GetChecksum() string
	GetStopwords() []string
	GetAllow() []string
}

// fromConditions reads what decides about the matches of a rule.
func fromConditions(m conditioned) match.Conditions {
	c := match.Conditions{Checksum: m.GetChecksum(), Stopwords: m.GetStopwords(), Allow: m.GetAllow()}
	if e := m.GetEntropy(); e != nil {
		c.Entropy = &match.Entropy{Min: e.GetMin(), Group: int(e.GetGroup())}
	}
	return c
}

// toPricedRule is toRule with what the rule costs.
func toPricedRule(r rule.Rule) *prwardenv1.Rule {
	out := toRule(r)
	out.MatchingCost = toMatchingCost(r)
	return out
}

// toMatchingCost returns nil for a pattern that can't be estimated: its rule can
// be read all the same.
func toMatchingCost(r rule.Rule) *prwardenv1.MatchingCost {
	c, err := r.Cost()
	if err != nil {
		return nil
	}
	micros := (c.PerMiB + time.Microsecond - 1) / time.Microsecond
	return &prwardenv1.MatchingCost{MicrosecondsPerMib: clamp(int(micros)), Weak: c.Weak, Advice: given(c.Advice)}
}

// fromRule reads a rule as a caller sent it. What is not given, or not known,
// is left for the validation of rules to name.
func fromRule(r *prwardenv1.Rule) rule.Rule {
	out := rule.Rule{
		ID: r.GetId(), Type: word(r.GetType()), Pattern: r.GetPattern(), Message: r.GetMessage(),
		Scope: rule.Scope(word(r.GetScope())), Repo: r.GetRepo(),
		Multiline: r.GetMultiline(), Redact: r.GetRedact(), References: r.GetReferences(),
		Paths:     rule.Paths{Include: r.GetPaths().GetInclude(), Exclude: r.GetPaths().GetExclude()},
		Languages: r.GetLanguages(), In: rule.PlacesOf(r.GetIn()),
		Skip:     r.GetSkip(),
		Cases:    rule.Cases{Match: r.GetCases().GetMatch(), NoMatch: r.GetCases().GetNoMatch()},
		Disabled: r != nil && r.Enabled != nil && !r.GetEnabled(),
		Mode:     rule.Mode(word(r.GetMode())),

		Conditions: fromConditions(r),
		Supersedes: r.GetSupersedes(),
		Confidence: rule.Confidence(word(r.GetConfidence())),
		Structure:  fromStructure(r), Taint: fromTaint(r), Words: r.GetWords(),
	}
	out.Severity = fromSeverity(r.GetSeverity())
	if r != nil {
		out.Fix = r.Fix
	}
	return out
}

func toHit(h match.Hit) *prwardenv1.TestRuleResponse_Hit {
	return &prwardenv1.TestRuleResponse_Hit{
		Line: clamp(h.Line), Column: clamp(h.Column), EndLine: clamp(h.EndLine), EndColumn: clamp(h.EndColumn),
	}
}

func toKey(k auth.Key, now time.Time) *prwardenv1.Key {
	return &prwardenv1.Key{
		KeyId: k.ID, Name: text(k.Name), Scopes: toScopes(k.Scopes),
		CreatedAt: toTime(k.CreatedAt), ExpiresAt: toTime(k.ExpiresAt), LastUsedAt: toTime(k.LastUsedAt),
		RevokedAt: toTime(k.RevokedAt), CreatedBy: text(k.CreatedBy), ParentKeyId: given(k.Parent),
		RateLimit: clamp(k.Limit()), State: enum[prwardenv1.Key_State](string(k.State(now)), prwardenv1.Key_State_value),
	}
}

func toScopes(scopes []auth.Scope) []string {
	return each(scopes, func(s auth.Scope) string { return string(s) })
}

// toTime returns nil for the zero time, which is what is not known yet.
func toTime(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// given returns nil for "", which is what is not known or not set.
func given(s string) *string {
	if s == "" {
		return nil
	}
	s = text(s)
	return &s
}

// text makes s fit for a protobuf string.
func text(s string) string { return finding.Shown(s) }

// rawPath returns the bytes of a path that text would change.
func rawPath(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

// clamp fits a count into the int32 of the API.
func clamp(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func toExclusions(e finding.Exclusions) *prwardenv1.Exclusions {
	if e.Files == 0 {
		return nil
	}

	return &prwardenv1.Exclusions{Files: clamp(e.Files), By: text(e.By)}
}

func toSwitchedOff(s finding.SwitchedOff) *prwardenv1.SwitchedOff {
	return &prwardenv1.SwitchedOff{
		RuleId: text(s.RuleID), By: enum[prwardenv1.SwitchedOff_Side](s.By, prwardenv1.SwitchedOff_Side_value),
		How: enum[prwardenv1.SwitchedOff_Way](s.How, prwardenv1.SwitchedOff_Way_value),
	}
}
