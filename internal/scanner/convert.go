package scanner

import (
	"fmt"
	"regexp"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/organization"
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

func startOf(j review.Job) *scannerv1.ScanStart {
	selection := scannerv1.ScanStart_repository
	switch j.Ruleset {
	case rule.RulesetDefault:
		selection = scannerv1.ScanStart_default_ruleset
	case rule.RulesetCustom:
		selection = scannerv1.ScanStart_custom
	}
	return &scannerv1.ScanStart{
		ReviewId:      j.ReviewID,
		Organization:  j.Organization,
		Repo:          j.Repo,
		PrNumber:      j.PRNumber,
		Selection:     selection,
		RulesDigest:   j.Rules.Digest,
		MaxFindings:   int32(j.MaxFindings),
		HeadSha:       j.Commits.Head,
		BaseSha:       j.Commits.Base,
		BaseRef:       j.Commits.BaseRef,
		RequireReason: j.RequireReason,
		Today:         j.Today,
		Host: &scannerv1.CodeHost{
			Kind: j.Host.Kind, Url: j.Host.URL, TokenEnv: j.Host.TokenEnv, Username: j.Host.Username,
			HeadRef: j.Host.HeadRef, MergeRef: j.Host.MergeRef,
		},
	}
}

// requestOf is what a client wants scanned, but for the rules. Branch names are
// checked where they are used.
func requestOf(p *scannerv1.ScanStart) (scan.Request, error) {
	if p.GetOrganization() == "" || p.GetRepo() == "" || p.GetPrNumber() < 1 {
		return scan.Request{}, status.Error(codes.InvalidArgument,
			"the first message must be `start` with an organization, a repository and a pull request number")
	}
	r := scan.Request{
		Target: scan.Target{
			Organization: p.GetOrganization(),
			Host: organization.Host{
				Kind: p.GetHost().GetKind(), URL: p.GetHost().GetUrl(), TokenEnv: p.GetHost().GetTokenEnv(),
				Username: p.GetHost().GetUsername(), HeadRef: p.GetHost().GetHeadRef(), MergeRef: p.GetHost().GetMergeRef(),
			},
			Repo:    p.GetRepo(),
			Number:  p.GetPrNumber(),
			Commits: finding.Commits{Head: p.GetHeadSha(), Base: p.GetBaseSha(), BaseRef: p.GetBaseRef()},
		},
		MaxFindings:   int(p.GetMaxFindings()),
		RequireReason: p.GetRequireReason(),
		Today:         p.GetToday(),
	}

	switch p.GetSelection() {
	case scannerv1.ScanStart_repository:
		r.Selection = scan.SelectRepository
	case scannerv1.ScanStart_default_ruleset:
		r.Selection = scan.SelectDefault
	case scannerv1.ScanStart_custom:
		r.Selection = scan.SelectCustom
	default:
		return scan.Request{}, status.Errorf(codes.InvalidArgument, "selection: unknown value %d", p.GetSelection())
	}
	if err := checkCommits(r.Commits); err != nil {
		return scan.Request{}, err
	}
	if r.Today != "" {
		if _, err := time.Parse(time.DateOnly, r.Today); err != nil {
			return scan.Request{}, status.Error(codes.InvalidArgument, "today: must be a day as YYYY-MM-DD")
		}
	}

	return r, nil
}

var sha = regexp.MustCompile(`^[0-9a-f]{40}$`)

func checkCommits(c finding.Commits) error {
	switch {
	case c == finding.Commits{}:
		return nil
	case !sha.MatchString(c.Head):
		return status.Error(codes.InvalidArgument, "head_sha: must be 40 hexadecimal digits")
	case (c.Base == "") == (c.BaseRef == ""):
		return status.Error(codes.InvalidArgument, "base_sha: head_sha needs either base_sha or base_ref")
	case c.Base != "" && !sha.MatchString(c.Base):
		return status.Error(codes.InvalidArgument, "base_sha: must be 40 hexadecimal digits")
	}
	return nil
}

// outcome is what a scanner sent so far of what a scan found. It fails when a
// scanner that keeps to the limits would not have sent something, so that one
// that was taken over can't make a server hold more than a result may have.
type outcome struct {
	finding.Result
	most int // findings, and likewise suppressed ones and skips
	size int // of all that came, as scans are truncated by it
}

// count counts a finding or skip by its message and its size in answers.
func (o *outcome) count(m proto.Message, size int) error {
	if n := proto.Size(m); n > maxItem {
		return fmt.Errorf("a finding or skip of %d bytes", n)
	}
	if o.size += size; o.size > scan.MaxSize {
		return fmt.Errorf("findings and skips of more than %d bytes in all", scan.MaxSize)
	}

	return nil
}

func (o *outcome) addFindings(ps []*scannerv1.ScanFinding) error {
	for _, p := range ps {
		list := &o.Findings
		if p.GetSuppression() != nil {
			list = &o.Suppressed
		}
		if len(*list) == o.most {
			return fmt.Errorf("more than %d findings", o.most)
		}

		f, err := fromProtoFinding(p)
		if err != nil {
			return err
		}
		if err := o.count(p, f.Size()); err != nil {
			return err
		}

		*list = append(*list, f)
	}

	return nil
}

func (o *outcome) addSkips(ps []*scannerv1.ScanSkip) error {
	if len(o.Skips)+len(ps) > o.most {
		return fmt.Errorf("more than %d skips", o.most)
	}
	for _, p := range ps {
		skip := fromProtoSkip(p)
		if err := o.count(p, skip.Size()); err != nil {
			return err
		}
		o.Skips = append(o.Skips, skip)
	}

	return nil
}

func (o *outcome) addResult(p *scannerv1.ScanResult) error {
	o.HeadSHA = p.GetHeadSha()
	o.BaseSHA = p.GetBaseSha()
	o.RulesDigest = p.GetRulesDigest()
	o.Truncated = p.GetTruncated()
	o.FilesTotal = int(p.GetFilesTotal())
	o.Summary = finding.Summary{}
	for word, n := range p.GetSummary() {
		severity, ok := rule.ParseSeverity(word)
		if !ok {
			return fmt.Errorf("summary: unknown severity %q", word)
		}
		o.Summary[severity] = int(n)
	}

	o.RulesFileValid = p.GetRulesFileValid()
	var err error
	o.RulesFile, err = fromProtoRules(p.GetRulesFileRules())
	return err
}

func toProtoResult(r *scan.Result) *scannerv1.ScanResult {
	summary := make(map[string]int32, len(r.Summary))
	for severity, n := range r.Summary {
		summary[severity.String()] = int32(n)
	}

	return &scannerv1.ScanResult{
		HeadSha:        r.HeadSHA,
		BaseSha:        r.BaseSHA,
		RulesDigest:    r.RulesDigest,
		Summary:        summary,
		Truncated:      r.Truncated,
		FilesTotal:     int32(r.FilesTotal),
		RulesFileRules: converted(r.RulesFile, toProtoRule),
		RulesFileValid: r.RulesFileValid,
	}
}

func progressMessage(p scan.Progress) *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Progress{
		Progress: &scannerv1.ScanProgress{FilesDone: int32(p.Done), FilesTotal: int32(p.Total)},
	}}
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
	}

	if s := p.GetSuppression(); s != nil {
		f.Suppression = &finding.Suppression{Reason: s.GetReason(), Until: s.GetUntil(), Line: int(s.GetLine())}
	}

	return f, nil
}

func toProtoSkip(k finding.Skip) *scannerv1.ScanSkip {
	return &scannerv1.ScanSkip{Path: []byte(k.File), Line: int32(k.Line), RuleId: k.RuleID, Reason: k.Reason}
}

func fromProtoSkip(p *scannerv1.ScanSkip) finding.Skip {
	return finding.Skip{File: string(p.GetPath()), Line: int(p.GetLine()), RuleID: p.GetRuleId(), Reason: p.GetReason()}
}

var origins = []struct {
	domain rule.Origin
	proto  scannerv1.ScanRule_Origin
}{
	{rule.OriginDefault, scannerv1.ScanRule_default_ruleset},
	{rule.OriginCustom, scannerv1.ScanRule_custom},
	{rule.OriginRepository, scannerv1.ScanRule_repository},
	{rule.OriginRulesFile, scannerv1.ScanRule_rules_file},
}

func toProtoRule(r rule.Rule) *scannerv1.ScanRule {
	p := &scannerv1.ScanRule{
		Id:          r.ID,
		Type:        r.Type,
		Pattern:     r.Pattern,
		Message:     r.Message,
		Severity:    r.Severity.String(),
		Include:     r.Paths.Include,
		Exclude:     r.Paths.Exclude,
		Multiline:   r.Multiline,
		Redact:      r.Redact,
		CaseMatch:   r.Cases.Match,
		CaseNoMatch: r.Cases.NoMatch,
		References:  r.References,
	}

	for _, o := range origins {
		if o.domain == r.Origin {
			p.Origin = o.proto
		}
	}

	return p
}

func fromProtoRule(p *scannerv1.ScanRule) (rule.Rule, error) {
	severity, ok := rule.ParseSeverity(p.GetSeverity())
	if !ok {
		return rule.Rule{}, fmt.Errorf("rule %q: unknown severity %q", p.GetId(), p.GetSeverity())
	}
	r := rule.Rule{
		ID:         p.GetId(),
		Type:       p.GetType(),
		Pattern:    p.GetPattern(),
		Message:    p.GetMessage(),
		Severity:   severity,
		Paths:      rule.Paths{Include: p.GetInclude(), Exclude: p.GetExclude()},
		Multiline:  p.GetMultiline(),
		Redact:     p.GetRedact(),
		Cases:      rule.Cases{Match: p.GetCaseMatch(), NoMatch: p.GetCaseNoMatch()},
		References: p.GetReferences(),
	}

	for _, o := range origins {
		if o.proto == p.GetOrigin() {
			r.Origin = o.domain
		}
	}

	if r.Origin == 0 {
		return rule.Rule{}, fmt.Errorf("rule %q: unknown origin %v", p.GetId(), p.GetOrigin())
	}

	return r, nil
}

func fromProtoRules(ps []*scannerv1.ScanRule) ([]rule.Rule, error) {
	rules := make([]rule.Rule, 0, len(ps))
	for _, p := range ps {
		r, err := fromProtoRule(p)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}

	return rules, nil
}
