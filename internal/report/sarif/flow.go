package sarif

import "github.com/prwarden/prwarden/internal/finding"

// codeFlow is the way of a value to a finding.
type codeFlow struct {
	ThreadFlows [1]threadFlow `json:"threadFlows"`
}

type threadFlow struct {
	Locations []flowLocation `json:"locations"`
}

type flowLocation struct {
	Location struct {
		location
		Message message `json:"message"`
	} `json:"location"`
}

// flowWords say what becomes of the value in a step.
var flowWords = map[finding.StepKind]string{
	finding.StepSource: "The value comes in.", finding.StepAssignment: "The value is passed on.",
	finding.StepSink: "The value arrives.",
}

// newCodeFlows returns nil for a finding without steps.
func newCodeFlows(f finding.Finding) []codeFlow {
	if len(f.Steps) == 0 {
		return nil
	}

	var flow codeFlow
	for _, s := range f.Steps {
		var at flowLocation
		place := &at.Location.PhysicalLocation
		place.ArtifactLocation.URI = relativeURI(f.File)
		place.Region = newRegion(finding.Finding{
			Line: s.Line, UTF16Column: s.UTF16Column, UTF16EndColumn: s.UTF16EndColumn,
		})
		place.ContextRegion = context(finding.Finding{Line: s.Line, Snippet: s.Snippet})
		at.Location.Message.Text = flowWords[s.Kind]
		flow.ThreadFlows[0].Locations = append(flow.ThreadFlows[0].Locations, at)
	}

	return []codeFlow{flow}
}
