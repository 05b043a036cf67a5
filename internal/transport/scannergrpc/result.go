package scannergrpc

import (
	"context"

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

// tell sends a result, in messages of bounded size, and truncates it where it is
// more than a server takes.
func tell(ctx context.Context, v *voice, r *scan.Result) error {
	findings, suppressed := fitting(r.Findings, toProtoFinding), fitting(r.Suppressed, toProtoFinding)
	skips := fitting(r.Skips, toProtoSkip)
	for _, part := range append(batches(findings), batches(suppressed)...) {
		if err := v.say(ctx, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{Findings: &scannerv1.FindingBatch{Findings: part}}}); err != nil {
			return err
		}
	}
	for _, part := range batches(skips) {
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
		Truncated:      r.Truncated || len(findings) < len(r.Findings) || len(suppressed) < len(r.Suppressed) || len(skips) < len(r.Skips),
		FilesTotal:     int32(r.FilesTotal),
		RulesFileRules: toProtoRules(r.RulesFile),
		RulesFileValid: r.RulesFileValid,
	}}})
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
