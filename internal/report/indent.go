package report

import (
	"encoding/json"
	"io"
)

// jsonWriter writes JSON that comes in pieces as json.Indent would write all of
// it, guarded.
type jsonWriter struct {
	to      *guard
	out     []byte // of the piece
	depth   int
	opened  bool // what was last was the begin of an object or an array
	quoted  bool // within a string
	escaped bool // behind a backslash in it
}

func newJSONWriter(w io.Writer) *jsonWriter { return &jsonWriter{to: newGuard(w)} }

// Write takes a piece of valid JSON.
func (j *jsonWriter) Write(p []byte) (int, error) {
	j.out = j.out[:0]
	for rest := p; len(rest) > 0; {
		if j.quoted {
			rest = rest[j.text(rest):]
			continue
		}
		j.mark(rest[0])
		rest = rest[1:]
	}
	if _, err := j.to.Write(j.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// text takes what is within a string, and returns how much that is.
func (j *jsonWriter) text(p []byte) int {
	n := 0
	for j.quoted && n < len(p) {
		switch c := p[n]; {
		case j.escaped:
			j.escaped = false
		case c == '\\':
			j.escaped = true
		case c == '"':
			j.quoted = false
		}
		n++
	}
	j.out = append(j.out, p[:n]...)
	return n
}

// mark takes a character that is in no string.
func (j *jsonWriter) mark(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
		return
	case '}', ']':
		j.depth--
		if !j.opened {
			j.line()
		}
		j.opened = false
		j.out = append(j.out, c)
		return
	}
	if j.opened {
		j.line()
	}
	j.opened = c == '{' || c == '['
	j.out = append(j.out, c)
	switch c {
	case '{', '[':
		j.depth++
	case ',':
		j.line()
	case ':':
		j.out = append(j.out, ' ')
	case '"':
		j.quoted = true
	}
}

// line begins a line.
func (j *jsonWriter) line() {
	j.out = append(j.out, '\n')
	for range j.depth {
		j.out = append(j.out, "  "...)
	}
}

// end ends the last line.
func (j *jsonWriter) end() error {
	if _, err := io.WriteString(j.to, "\n"); err != nil {
		return err
	}
	return j.to.Flush()
}

// writeArray writes a list as an array, an item at a time.
func writeArray[T, U any](w io.Writer, list []T, encode func(T) U) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	before := ""
	for _, item := range list {
		text, err := json.Marshal(encode(item))
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		before = ","
	}
	_, err := io.WriteString(w, "]")
	return err
}
