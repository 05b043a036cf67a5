package scanner

import (
	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
)

func toProtoStep(s finding.Step) *scannerv1.ScanStep {
	return &scannerv1.ScanStep{
		Kind: string(s.Kind), Line: int32(s.Line), Column: int32(s.Column), EndColumn: int32(s.EndColumn),
		Utf16Column: int32(s.UTF16Column), Utf16EndColumn: int32(s.UTF16EndColumn), Snippet: s.Snippet,
	}
}

func fromProtoStep(p *scannerv1.ScanStep) finding.Step {
	return finding.Step{
		Kind: finding.StepKind(p.GetKind()), Line: int(p.GetLine()), Column: int(p.GetColumn()),
		EndColumn: int(p.GetEndColumn()), UTF16Column: int(p.GetUtf16Column()),
		UTF16EndColumn: int(p.GetUtf16EndColumn()), Snippet: p.GetSnippet(),
	}
}
