package finding

// Fix is whole lines that take the place of others in the file of a finding. Its JSON is that
// of the REST API.
type Fix struct {
	StartLine int    `json:"start_line"` // the first line that is replaced, from 1
	EndLine   int    `json:"end_line"`   // the last one
	Text      string `json:"text"`       // the new lines, joined by "\n", without the last ending; "" removes the lines
}
