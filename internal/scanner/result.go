package scanner

import (
	"context"

	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/scan"
)

func progressMessage(p scan.Progress) *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Progress{
		Progress: &scannerv1.ScanProgress{FilesDone: int32(p.Done), FilesTotal: int32(p.Total)},
	}}
}

func waitingMessage(ahead, places int) *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Waiting{
		Waiting: &scannerv1.ScanWaiting{Ahead: int32(ahead), Places: int32(places)},
	}}
}

// tell sends a result, in messages of bounded size. In all it has what a server
// takes: a scan is truncated by that.
func tell(ctx context.Context, v *voice, r *scan.Result) error {
	findings, suppressed := converted(r.Findings, toProtoFinding), converted(r.Suppressed, toProtoFinding)
	for _, part := range append(batches(findings), batches(suppressed)...) {
		if err := v.say(ctx, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{Findings: &scannerv1.FindingBatch{Findings: part}}}); err != nil {
			return err
		}
	}
	for _, part := range batches(converted(r.Skips, toProtoSkip)) {
		if err := v.say(ctx, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Skips{Skips: &scannerv1.SkipBatch{Skips: part}}}); err != nil {
			return err
		}
	}
	summary := make(map[string]int32, len(r.Summary))
	for severity, n := range r.Summary {
		summary[severity.String()] = int32(n)
	}
	return v.say(ctx, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Result{Result: &scannerv1.ScanResult{
		HeadSha:        r.HeadSHA,
		BaseSha:        r.BaseSHA,
		RulesDigest:    r.RulesDigest,
		Summary:        summary,
		Truncated:      r.Truncated,
		FilesTotal:     int32(r.FilesTotal),
		RulesFileRules: toProtoRules(r.RulesFile),
		RulesFileValid: r.RulesFileValid,
	}}})
}

func converted[T any, M proto.Message](all []T, convert func(T) M) []M {
	out := make([]M, len(all))
	for i, one := range all {
		out[i] = convert(one)
	}
	return out
}

func toProtoFinding(f scan.Finding) *scannerv1.ScanFinding {
	p := &scannerv1.ScanFinding{
		RuleId:         f.RuleID,
		Severity:       f.Severity.String(),
		Path:           []byte(f.Path),
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

func toProtoSkip(k scan.Skip) *scannerv1.ScanSkip {
	return &scannerv1.ScanSkip{Path: []byte(k.Path), Line: int32(k.Line), RuleId: k.RuleID, Reason: k.Reason}
}
