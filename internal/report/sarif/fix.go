package sarif

import "github.com/prwarden/prwarden/internal/finding"

// fix is what a result may be replaced by.
type fix struct {
	Changes [1]change `json:"artifactChanges"`
}

// change is what a fix changes in one file.
type change struct {
	Location struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Replacements [1]replacement `json:"replacements"`
}

type replacement struct {
	Deleted  region   `json:"deletedRegion"`
	Inserted *message `json:"insertedContent,omitempty"`
}

// newFixes returns nil for a finding without a fix. A region without columns is of whole
// lines without the ending of the last one (section 3.30.2 of the standard). Lines that are
// removed go with it, so their region ends where the next line begins.
func newFixes(f finding.Finding) []fix {
	if f.Fix == nil {
		return nil
	}

	var x fix
	x.Changes[0].Location.URI = relativeURI(f.File)
	r := &x.Changes[0].Replacements[0]
	r.Deleted = region{StartLine: f.Fix.StartLine, EndLine: f.Fix.EndLine}
	if f.Fix.Text == "" {
		r.Deleted = region{StartLine: f.Fix.StartLine, StartColumn: 1, EndLine: f.Fix.EndLine + 1, EndColumn: 1}
	} else {
		r.Inserted = &message{Text: f.Fix.Text}
	}

	return []fix{x}
}
