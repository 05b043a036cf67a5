package scanner

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// Sizes in bytes, of messages as protobuf.
const (
	// MaxMessage is what a message of this interface can have. Batches are cut
	// well below it.
	MaxMessage = 4 << 20
	// maxAnswer is what a server takes of a scanner at once. The largest answer
	// has the rules of a rules file, 64 KiB of YAML. Decoded, a message can take
	// some hundred times its size.
	maxAnswer = 1 << 20
	// batchSize is the size at which a batch is sent.
	batchSize = 256 << 10
	// maxItem is what a finding or a skip can have. The largest are findings in
	// a path of 4,096 bytes by a rule with a message of 1,000 characters.
	maxItem = 16 << 10
)

func startOf(j review.Job) *scannerv1.ScanStart {
	selection := scannerv1.ScanStart_repository
	switch j.Ruleset {
	case rule.RulesetDefault:
		selection = scannerv1.ScanStart_default_ruleset
	case rule.RulesetCustom:
		selection = scannerv1.ScanStart_custom
	}
	speaks := protocolPlaces
	if j.Commits != (review.Commits{}) {
		speaks = protocolCommits
	}
	return &scannerv1.ScanStart{
		ReviewId:      j.ReviewID,
		Organization:  j.Organization,
		Repo:          j.Repo,
		PrNumber:      j.PRNumber,
		Selection:     selection,
		RulesDigest:   j.Rules.Digest,
		MaxFindings:   int32(j.MaxFindings),
		Protocol:      int32(speaks),
		HeadSha:       j.Commits.Head,
		BaseSha:       j.Commits.Base,
		BaseRef:       j.Commits.BaseRef,
		RequireReason: j.RequireReason,
		Today:         j.Today,
		Suppressions:  true,
	}
}

// send hides the io.EOF of a broken stream, whose real error Recv has.
func send(stream scannerv1.ScannerService_ScanClient, m *scannerv1.ScanRequest) error {
	if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func sendRules(stream scannerv1.ScannerService_ScanClient, rules []rule.Rule) error {
	parts := batches(toProtoRules(rules))
	if len(parts) == 0 {
		parts = [][]*scannerv1.ScanRule{nil}
	}
	for i, part := range parts {
		chunk := &scannerv1.RuleChunk{Rules: part, Last: i == len(parts)-1}
		if err := send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: chunk}}); err != nil {
			return err
		}
	}
	return nil
}

// batches cuts messages into runs of about batchSize bytes.
func batches[M proto.Message](all []M) [][]M {
	var parts [][]M
	size, first := 0, 0
	for i, m := range all {
		size += proto.Size(m)
		if size >= batchSize || i == len(all)-1 {
			parts = append(parts, all[first:i+1])
			size, first = 0, i+1
		}
	}
	return parts
}

// weight is what the findings and skips that a scanner has told so far take, as
// scans are truncated by it.
type weight int

// add adds a finding or skip, and fails when a scanner that keeps to the limits
// would not have sent it.
func (w *weight) add(m proto.Message, size int) error {
	if n := proto.Size(m); n > maxItem {
		return fmt.Errorf("a finding or skip of %d bytes", n)
	}
	if *w += weight(size); *w > scan.MaxSize {
		return fmt.Errorf("findings and skips of more than %d bytes in all", scan.MaxSize)
	}
	return nil
}

// addFindings adds findings, and those that are suppressed, of each of which a
// scan may have most.
func addFindings(o *review.Outcome, ps []*scannerv1.ScanFinding, most int, w *weight) error {
	for _, p := range ps {
		if err := w.add(p, sizeOf(p)); err != nil {
			return err
		}
		list := &o.Findings
		if p.GetSuppression() != nil {
			list = &o.Suppressed
		}
		if len(*list) == most {
			return fmt.Errorf("more than %d findings", most)
		}
		f, err := fromProtoFinding(p)
		if err != nil {
			return err
		}
		*list = append(*list, f)
	}
	return nil
}

// sizeOf is the size of a finding, as the scan of it has counted it.
func sizeOf(p *scannerv1.ScanFinding) int {
	f := scan.Finding{
		RuleID: p.GetRuleId(), Path: string(p.GetPath()), Message: p.GetMessage(), Snippet: p.GetSnippet(),
		Fingerprint: p.GetFingerprint(), LineHash: p.GetLineHash(),
	}
	if s := p.GetSuppression(); s != nil {
		f.Suppression = &scan.Suppression{Reason: s.GetReason(), Until: s.GetUntil()}
	}
	return f.Size()
}

func fromProtoFinding(p *scannerv1.ScanFinding) (review.Finding, error) {
	severity, ok := rule.ParseSeverity(p.GetSeverity())
	if !ok {
		return review.Finding{}, fmt.Errorf("finding of rule %q: unknown severity %q", p.GetRuleId(), p.GetSeverity())
	}
	f := review.Finding{
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
		f.Suppression = &review.Suppression{Reason: s.GetReason(), Until: s.GetUntil(), Line: int(s.GetLine())}
	}
	return f, nil
}

// addSkips adds skips, of which a scan may have most.
func addSkips(o *review.Outcome, ps []*scannerv1.ScanSkip, most int, w *weight) error {
	if len(o.Skipped)+len(ps) > most {
		return fmt.Errorf("more than %d skips", most)
	}
	for _, p := range ps {
		size := scan.Skip{Path: string(p.GetPath()), RuleID: p.GetRuleId(), Reason: p.GetReason()}.Size()
		if err := w.add(p, size); err != nil {
			return err
		}
		o.Skipped = append(o.Skipped, review.Skip{File: string(p.GetPath()), Line: int(p.GetLine()), RuleID: p.GetRuleId(), Reason: p.GetReason()})
	}
	return nil
}

func addResult(o *review.Outcome, p *scannerv1.ScanResult) error {
	o.HeadSHA = p.GetHeadSha()
	o.BaseSHA = p.GetBaseSha()
	o.RulesDigest = p.GetRulesDigest()
	o.Truncated = p.GetTruncated()
	o.FilesTotal = int(p.GetFilesTotal())
	o.Summary = review.Summary{}
	for word, n := range p.GetSummary() {
		severity, ok := rule.ParseSeverity(word)
		if !ok {
			return fmt.Errorf("summary: unknown severity %q", word)
		}
		o.Summary[severity] = int(n)
	}
	o.RulesFileKnown = p.GetRulesFileValid()
	var err error
	o.RulesFile, err = fromProtoRules(p.GetRulesFileRules())
	return err
}
