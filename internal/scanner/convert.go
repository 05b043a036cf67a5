package scanner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func converted[T any, M proto.Message](all []T, convert func(T) M) []M {
	out := make([]M, len(all))
	for i, one := range all {
		out[i] = convert(one)
	}

	return out
}

// rulesets are those of a scan by their numbers on the wire, where 0 is none.
var rulesets = [...]string{
	scannerv1.ScanStart_repository:      "",
	scannerv1.ScanStart_default_ruleset: rule.RulesetDefault,
	scannerv1.ScanStart_custom:          rule.RulesetCustom,
}

func startOf(j review.Job) *scannerv1.ScanStart {
	selection := max(slices.Index(rulesets[:], j.Ruleset), int(scannerv1.ScanStart_repository))
	host, credential := j.Source.Host, j.Source.Credential

	return &scannerv1.ScanStart{
		ReviewId:     j.ReviewID,
		Organization: j.Organization,
		Repo:         j.Repo,
		PrNumber:     j.PRNumber,
		Selection:    scannerv1.ScanStart_Selection(selection),
		RulesDigest:  j.Rules.Digest,
		MaxFindings:  int32(j.MaxFindings),
		HeadSha:      j.Commits.Head,
		BaseSha:      j.Commits.Base,
		BaseRef:      j.Commits.BaseRef,
		Policy:       string(j.Policy.JSON()),
		Today:        j.Today,
		RequireBase:  j.RequireBase,
		Host: &scannerv1.CodeHost{
			Kind: host.Kind, Url: host.URL, HeadRef: host.HeadRef, MergeRef: host.MergeRef,
			Username: credential.Username, Token: credential.Token, Guarded: j.Source.Guarded,
		},
	}
}

// requestOf is what a client wants scanned, but for the rules. Commits and branches
// are checked where they are used.
func requestOf(p *scannerv1.ScanStart) (scan.Request, error) {
	selection, host := int(p.GetSelection()), p.GetHost()
	switch {
	case p.GetOrganization() == "" || p.GetRepo() == "" || p.GetPrNumber() < 1:
		return scan.Request{}, status.Error(codes.InvalidArgument,
			"the first message must be `start` with an organization, a repository and a pull request number")
	case selection < 1 || selection >= len(rulesets):
		return scan.Request{}, status.Errorf(codes.InvalidArgument, "selection: unknown value %d", selection)
	}

	by, err := policy.FromJSON([]byte(cmp.Or(p.GetPolicy(), "{}")))
	if err != nil {
		return scan.Request{}, status.Error(codes.InvalidArgument, err.Error())
	}

	return scan.Request{
		Target: scan.Target{
			Organization: p.GetOrganization(),
			Host: organization.Host{
				Kind: host.GetKind(), URL: host.GetUrl(), HeadRef: host.GetHeadRef(), MergeRef: host.GetMergeRef(),
			},
			Credential: codehost.Credential{Username: host.GetUsername(), Token: host.GetToken()},
			Guarded:    host.GetGuarded(),
			Repo:       p.GetRepo(),
			Number:     p.GetPrNumber(),
			Commits:    finding.Commits{Head: p.GetHeadSha(), Base: p.GetBaseSha(), BaseRef: p.GetBaseRef()},

			RequireBase: p.GetRequireBase(),
		},
		Ruleset:     rulesets[selection],
		MaxFindings: int(p.GetMaxFindings()),
		Policy:      &by,
		Today:       p.GetToday(),
	}, nil
}

// received is what a scanner sent so far of what a scan found. It fails when a
// scanner that keeps to the limits would not have sent something, so that one
// that was taken over can't make a server hold more than a result may have.
type received struct {
	finding.Result
	most int // findings of each list, and skips
	size int // of all that came, as scans are truncated by it
}

func (r *received) addFindings(ps []*scannerv1.ScanFinding) error {
	for _, p := range ps {
		f, err := fromProtoFinding(p)
		if err != nil {
			return err
		}

		list := &r.Findings
		switch {
		case f.Suppression != nil:
			list = &r.Suppressed
		case p.GetObserved():
			list = &r.Observed
		}
		*list = append(*list, f)
		r.size += f.Size()
	}

	return r.check()
}

func (r *received) addSkips(ps []*scannerv1.ScanSkip) error {
	for _, p := range ps {
		skip := finding.Skip{File: string(p.GetPath()), Line: int(p.GetLine()), RuleID: p.GetRuleId(), Reason: p.GetReason()}
		skip.Observed = p.GetObserved()
		skip.Severity, _ = rule.ParseSeverity(p.GetSeverity())
		r.Skips = append(r.Skips, skip)
		r.size += skip.Size()
	}

	return r.check()
}

// check is made after each message, whose size is bounded.
func (r *received) check() error {
	switch {
	case max(len(r.Findings), len(r.Suppressed), len(r.Observed), len(r.Skips)) > r.most:
		return fmt.Errorf("more than %d findings or skips", r.most)
	case r.size > scan.MaxSize:
		return fmt.Errorf("findings and skips of more than %d bytes in all", scan.MaxSize)
	}

	return nil
}

func (r *received) addResult(p *scannerv1.ScanResult) (err error) {
	r.HeadSHA = p.GetHeadSha()
	r.BaseSHA = p.GetBaseSha()
	r.HeadTitle = finding.Line(p.GetHeadTitle(), finding.MaxTitle)
	r.HeadAuthor = finding.Line(p.GetHeadAuthor(), finding.MaxAuthor)
	r.RulesDigest = p.GetRulesDigest()
	r.Truncated = p.GetTruncated()
	r.FilesTotal = int(p.GetFilesTotal())
	r.RulesFileValid = p.GetRulesFileValid()
	r.Exclusions = finding.Exclusions{Files: int(p.GetExclusions().GetFiles()), By: p.GetExclusions().GetBy()}
	for _, off := range p.GetSwitchedOff() {
		r.SwitchedOff = append(r.SwitchedOff, fromProtoSwitchedOff(off))
	}
	if text := p.GetPublish(); text != "" {
		if err := json.Unmarshal([]byte(text), &r.Publish); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	r.Bytes = max(p.GetBytes(), 0)
	r.RulesFile, err = fromProtoRules(p.GetRulesFileRules())
	r.BaseFoundBy = finding.BaseFoundBy(p.GetBaseFoundBy())
	r.LookedAt = finding.LookedAt{
		Files: int(p.GetLookedAtFiles()), AddedLines: int(p.GetAddedLines()), Rules: int(p.GetRuleCount()),
		Generated: int(p.GetGeneratedFiles()), Minified: int(p.GetMinifiedFiles()), Vendored: int(p.GetVendoredFiles()),
	}

	r.RuleCosts = fromProtoRuleCosts(p.GetRuleCosts())
	r.SkipCounts = finding.SkipCounts{}
	for _, c := range p.GetSkipCounts() {
		severity, _ := rule.ParseSeverity(c.GetSeverity())
		kind := finding.SkipKind{Reason: c.GetReason(), Severity: severity, Observed: c.GetObserved()}
		r.SkipCounts[kind] += int(c.GetCount())
	}

	r.Summary = finding.Summary{}
	for word, n := range p.GetSummary() {
		severity, ok := rule.ParseSeverity(word)
		if !ok {
			return fmt.Errorf("summary: unknown severity %q", word)
		}
		r.Summary[severity] = int(n)
	}

	return err
}

func toProtoResult(r *scan.Result) *scannerv1.ScanResult {
	summary := make(map[string]int32, len(r.Summary))
	for severity, n := range r.Summary {
		summary[severity.String()] = int32(n)
	}
	var counts []*scannerv1.SkipCount
	for kind, n := range r.SkipCounts {
		counts = append(counts, &scannerv1.SkipCount{
			Reason: kind.Reason, Severity: kind.Severity.String(), Count: int32(n), Observed: kind.Observed,
		})
	}

	return &scannerv1.ScanResult{
		HeadSha:        r.HeadSHA,
		BaseSha:        r.BaseSHA,
		HeadTitle:      r.HeadTitle,
		HeadAuthor:     r.HeadAuthor,
		RulesDigest:    r.RulesDigest,
		Summary:        summary,
		Truncated:      r.Truncated,
		FilesTotal:     int32(r.FilesTotal),
		RulesFileRules: converted(r.RulesFile, toProtoRule),
		RulesFileValid: r.RulesFileValid,
		BaseFoundBy:    string(r.BaseFoundBy),
		LookedAtFiles:  int32(r.LookedAt.Files),
		AddedLines:     int32(r.LookedAt.AddedLines),
		RuleCount:      int32(r.LookedAt.Rules),
		GeneratedFiles: int32(r.LookedAt.Generated),
		MinifiedFiles:  int32(r.LookedAt.Minified),
		VendoredFiles:  int32(r.LookedAt.Vendored),
		SkipCounts:     counts,
		Exclusions:     toProtoExclusions(r.Exclusions),
		SwitchedOff:    converted(r.SwitchedOff, toProtoSwitchedOff),
		Bytes:          r.Bytes,
		RuleCosts:      converted(r.RuleCosts, toProtoRuleCost),
		Publish:        toProtoPublish(r.Publish),
	}
}

func toProtoPublish(p rule.Publish) string {
	if p == (rule.Publish{}) {
		return ""
	}

	return string(rule.CompactJSON(p))
}

func toProtoExclusions(e finding.Exclusions) *scannerv1.ScanExclusions {
	if e.Files == 0 {
		return nil
	}

	return &scannerv1.ScanExclusions{Files: int32(e.Files), By: e.By}
}

func toProtoSwitchedOff(s finding.SwitchedOff) *scannerv1.ScanSwitchedOff {
	return &scannerv1.ScanSwitchedOff{RuleId: s.RuleID, By: s.By, How: s.How}
}

func fromProtoSwitchedOff(p *scannerv1.ScanSwitchedOff) finding.SwitchedOff {
	return finding.SwitchedOff{RuleID: p.GetRuleId(), By: p.GetBy(), How: p.GetHow()}
}

func toProtoObserved(f finding.Finding) *scannerv1.ScanFinding {
	p := toProtoFinding(f)
	p.Observed = true

	return p
}

func toProtoFinding(f finding.Finding) *scannerv1.ScanFinding {
	p := &scannerv1.ScanFinding{
		RuleId:         f.RuleID,
		Severity:       f.Severity.String(),
		Path:           []byte(f.File),
		Line:           int32(f.Line),
		EndLine:        int32(f.EndLine),
		Column:         int32(f.Column),
		Message:        f.Message,
		Snippet:        f.Snippet,
		Fingerprint:    f.Fingerprint,
		EndColumn:      int32(f.EndColumn),
		Utf16Column:    int32(f.UTF16Column),
		Utf16EndColumn: int32(f.UTF16EndColumn),
		LineHash:       f.LineHash,
		Steps:          converted(f.Steps, toProtoStep),
		Confidence:     string(f.Confidence),
	}

	if x := f.Fix; x != nil {
		p.Fix = &scannerv1.ScanFix{StartLine: int32(x.StartLine), EndLine: int32(x.EndLine), Text: x.Text}
	}
	if s := f.Suppression; s != nil {
		p.Suppression = &scannerv1.ScanSuppression{Reason: s.Reason, Until: s.Until, Line: int32(s.Line)}
	}

	return p
}

func fromProtoFinding(p *scannerv1.ScanFinding) (finding.Finding, error) {
	severity, ok := rule.ParseSeverity(p.GetSeverity())
	if !ok {
		return finding.Finding{}, fmt.Errorf("finding of rule %q: unknown severity %q", p.GetRuleId(), p.GetSeverity())
	}
	f := finding.Finding{
		RuleID:         p.GetRuleId(),
		Severity:       severity,
		File:           string(p.GetPath()),
		Line:           int(p.GetLine()),
		EndLine:        int(p.GetEndLine()),
		Column:         int(p.GetColumn()),
		EndColumn:      int(p.GetEndColumn()),
		Message:        p.GetMessage(),
		Snippet:        p.GetSnippet(),
		Fingerprint:    p.GetFingerprint(),
		UTF16Column:    int(p.GetUtf16Column()),
		UTF16EndColumn: int(p.GetUtf16EndColumn()),
		LineHash:       p.GetLineHash(),
		Confidence:     cmp.Or(rule.Confidence(p.GetConfidence()), rule.ConfidenceMedium),
	}
	if len(p.GetSteps()) > finding.MaxSteps {
		return finding.Finding{}, fmt.Errorf("finding of rule %q: more than %d steps", p.GetRuleId(), finding.MaxSteps)
	}
	for _, s := range p.GetSteps() {
		f.Steps = append(f.Steps, fromProtoStep(s))
	}

	if x := p.GetFix(); x != nil {
		if len(x.GetText()) > rule.MaxEdit {
			return finding.Finding{}, fmt.Errorf("finding of rule %q: a fix of more than %d bytes", p.GetRuleId(), rule.MaxEdit)
		}
		f.Fix = &finding.Fix{StartLine: int(x.GetStartLine()), EndLine: int(x.GetEndLine()), Text: x.GetText()}
	}
	if s := p.GetSuppression(); s != nil {
		f.Suppression = &finding.Suppression{Reason: s.GetReason(), Until: s.GetUntil(), Line: int(s.GetLine())}
	}

	return f, nil
}

func toProtoSkip(k finding.Skip) *scannerv1.ScanSkip {
	return &scannerv1.ScanSkip{
		Path: []byte(k.File), Line: int32(k.Line), RuleId: k.RuleID, Reason: k.Reason, Severity: k.Severity.String(),
		Observed: k.Observed,
	}
}
