package finding

// MaxSteps is how many steps a finding has at most.
const MaxSteps = 20

// MaxStepSnippet is the length of a step's snippet, in bytes.
const MaxStepSnippet = 200

// Step is a place that a value passes on its way to a finding, in the finding's file. Its
// JSON is that of the REST API.
type Step struct {
	Kind      StepKind `json:"kind"`
	Line      int      `json:"line"`       // of its start, from 1
	Column    int      `json:"column"`     // of its start, in bytes from 1
	EndColumn int      `json:"end_column"` // after its last byte, or the last of its line, in bytes from 1

	// UTF16Column and UTF16EndColumn are the columns in UTF-16 code units from 1.
	UTF16Column    int `json:"utf16_column"`
	UTF16EndColumn int `json:"utf16_end_column"`

	Snippet string `json:"snippet"` // the line, masked
}

// StepKind says what becomes of the value in a step.
type StepKind string

// The kinds of steps.
const (
	StepSource     StepKind = "source"     // it comes in
	StepAssignment StepKind = "assignment" // a name gets it
	StepSink       StepKind = "sink"       // it arrives
)
