package scannergrpc

import (
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

// tell sends a result, in messages of bounded size.
func tell(v *voice, r *scan.Result) error {
	err := sendBatches(v, r.Findings, toProtoFinding, func(part []*scannerv1.ScanFinding) *scannerv1.ScanResponse {
		return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{Findings: &scannerv1.FindingBatch{Findings: part}}}
	})
	if err != nil {
		return err
	}
	err = sendBatches(v, r.Skips, toProtoSkip, func(part []*scannerv1.ScanSkip) *scannerv1.ScanResponse {
		return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Skips{Skips: &scannerv1.SkipBatch{Skips: part}}}
	})
	if err != nil {
		return err
	}
	summary := make(map[string]int32, len(r.Summary))
	for severity, n := range r.Summary {
		summary[severity.String()] = int32(n)
	}
	return v.say(&scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Result{Result: &scannerv1.ScanResult{
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

func sendBatches[T any, P proto.Message](v *voice, all []T, convert func(T) P, wrap func([]P) *scannerv1.ScanResponse) error {
	converted := make([]P, 0, len(all))
	for _, one := range all {
		converted = append(converted, convert(one))
	}
	for _, part := range batches(converted) {
		if err := v.say(wrap(part)); err != nil {
			return err
		}
	}
	return nil
}

func toProtoFinding(f scan.Finding) *scannerv1.ScanFinding {
	return &scannerv1.ScanFinding{
		RuleId:      f.RuleID,
		Severity:    f.Severity.String(),
		Path:        []byte(f.Path),
		Line:        int32(f.Line),
		EndLine:     int32(f.EndLine),
		Column:      int32(f.Column),
		Message:     f.Message,
		Snippet:     f.Snippet,
		Fingerprint: f.Fingerprint,
	}
}

func toProtoSkip(k scan.Skip) *scannerv1.ScanSkip {
	return &scannerv1.ScanSkip{Path: []byte(k.Path), Line: int32(k.Line), RuleId: k.RuleID, Reason: k.Reason}
}
