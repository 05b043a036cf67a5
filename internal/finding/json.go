package finding

import (
	"encoding/json"
	"unicode/utf8"
)

// exact stands beside a path that is not UTF-8.
type exact struct {
	FileBytes []byte `json:"file_bytes,omitempty"`
}

func exactly(path string) (e exact) {
	if !utf8.ValidString(path) {
		e.FileBytes = []byte(path)
	}
	return e
}

// decode reads JSON into a struct whose path is at file.
func decode(text []byte, into any, file *string) error {
	var e exact
	if err := json.Unmarshal(text, into); err != nil {
		return err
	}
	err := json.Unmarshal(text, &e)
	if e.FileBytes != nil {
		*file = string(e.FileBytes)
	}
	return err
}

type (
	plainFinding Finding
	plainSkip    Skip
)

// MarshalJSON writes a finding as the REST API answers it.
func (f Finding) MarshalJSON() ([]byte, error) {
	e := exactly(f.File)
	f.File = Shown(f.File)
	return json.Marshal(struct {
		plainFinding
		exact
	}{plainFinding(f), e})
}

// UnmarshalJSON reads a finding as the REST API answers it.
func (f *Finding) UnmarshalJSON(text []byte) error { return decode(text, (*plainFinding)(f), &f.File) }

// MarshalJSON writes a skip as the REST API answers it.
func (s Skip) MarshalJSON() ([]byte, error) {
	e := exactly(s.File)
	s.File = Shown(s.File)
	return json.Marshal(struct {
		plainSkip
		exact
	}{plainSkip(s), e})
}

// UnmarshalJSON reads a skip as the REST API answers it.
func (s *Skip) UnmarshalJSON(text []byte) error { return decode(text, (*plainSkip)(s), &s.File) }
