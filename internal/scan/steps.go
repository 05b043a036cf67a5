package scan

import (
	"context"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/taint"
)

// stepKinds are the words of kinds of steps.
var stepKinds = [...]finding.StepKind{
	taint.Source: finding.StepSource, taint.Assignment: finding.StepAssignment, taint.Sink: finding.StepSink,
}

// steps are those of a hit of a taint rule; nil for others.
func (s *fileScan) steps(ctx context.Context, h hit) (all []finding.Step) {
	if s.plan.placesOnly || len(s.readers) <= h.group {
		return nil
	}
	at := s.lines.Start(h.Line) + h.Column - 1
	for _, x := range s.readers[h.group].Steps(s.lines.Text(), h.Rule, at) {
		step := finding.Step{Kind: stepKinds[x.Kind]}
		step.Line, step.Column = s.lines.At(x.Start)
		length := len(s.lines.Line(step.Line))
		step.Column = min(step.Column, length+1)
		step.EndColumn = min(step.Column+x.End-x.Start, length+1)
		step.UTF16Column = s.utf16Column(step.Line, step.Column)
		step.UTF16EndColumn = s.utf16Column(step.Line, step.EndColumn)
		text := s.masker.line(ctx, step.Line).snippet(step.Column - 1)
		step.Snippet = printable([]byte(text), finding.MaxStepSnippet)
		all = append(all, step)
	}

	return all
}

// fix is what a rule has in place of what it found; nil for nothing that can be offered.
func (s *fileScan) fix(ctx context.Context, h hit) *finding.Fix {
	if s.plan.placesOnly || s.isBytes || s.isDecoded || len(s.readers) <= h.group {
		return nil
	}
	e, ok := s.readers[h.group].Edit(s.lines, h.Rule, h.Hit)
	if !ok || s.masker.hides(ctx, e.StartLine, e.EndLine) {
		return nil
	}
	for n := e.StartLine; n <= e.EndLine; n++ {
		if !s.isAdded(n) {
			return nil
		}
	}

	return &finding.Fix{StartLine: e.StartLine, EndLine: e.EndLine, Text: e.Text}
}
