package rule

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// source is the text of a rules file, to find places in.
type source struct {
	text   []byte
	lines  int
	starts []int // offset of each line; only where columns are wanted
	// broken is the line of each line as YAML counts them, which also breaks lines
	// at a lone CR and at some characters that are not ASCII: less than 0 for one
	// that begins within a line. It is nil when both count alike.
	broken []int
}

func newSource(text []byte, columns bool) source {
	s := source{text: text, lines: bytes.Count(text, []byte{'\n'}) + 1}
	for _, br := range []string{"\r", "\u0085", "\u2028", "\u2029"} { // one by one takes less than bytes.ContainsAny
		if bytes.Contains(text, []byte(br)) {
			s.broken = brokenLines(text)
			break
		}
	}
	if columns {
		s.starts = append(s.starts, 0)
		for i, c := range text {
			if c == '\n' {
				s.starts = append(s.starts, i+1)
			}
		}
	}
	return s
}

// brokenLines is source.broken.
func brokenLines(text []byte) []int {
	lines, line := []int{1}, 1
	for i, r := range string(text) {
		switch {
		case r == '\n':
			line++
			lines = append(lines, line)
		case r == '\r' && i+1 < len(text) && text[i+1] != '\n', r == '\u0085', r == '\u2028', r == '\u2029':
			lines = append(lines, -line)
		}
	}
	return lines
}

// real is the line of a line as YAML counts them.
func (s source) real(n int) int {
	if s.broken != nil && n >= 1 && n <= len(s.broken) {
		n = max(s.broken[n-1], -s.broken[n-1])
	}
	return max(min(n, s.lines), 1)
}

// count is the number of lines.
func (s source) count() int { return s.lines }

// line returns a line, from 1, without its ending; "" for one that there is not.
func (s source) line(n int) string {
	if n < 1 || n > s.lines {
		return ""
	}
	rest := s.text
	if s.starts != nil {
		rest = rest[s.starts[n-1]:]
	} else {
		for range n - 1 {
			rest = rest[bytes.IndexByte(rest, '\n')+1:]
		}
	}
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	return string(bytes.TrimSuffix(line, []byte{'\r'}))
}

// column is the column of a node, in bytes, or 0 when columns are not wanted.
func (s source) column(n *yaml.Node) int {
	if s.starts == nil || n.Column < 1 || n.Line < 1 || s.broken != nil && (n.Line > len(s.broken) ||
		s.broken[n.Line-1] < 0) {
		return 0
	}
	left := n.Column - 1 // YAML counts characters
	line := s.line(s.real(n.Line))
	for i := range line {
		if left == 0 {
			return i + 1
		}
		left--
	}
	return len(line) + 1
}

// columnWithin is the column of the byte of a text that a description of what is
// wrong with it names, when it is on the text's first line as it is in the text;
// else that of the text.
func (s source) columnWithin(n *yaml.Node, description string) int {
	column := s.column(n)
	var at int
	if _, err := fmt.Sscanf(description, "at byte %d:", &at); err != nil || column == 0 || at > len(n.Value) {
		return column
	}
	from := column
	if n.Style == yaml.SingleQuotedStyle || n.Style == yaml.DoubleQuotedStyle {
		from++
	}
	if line := s.line(s.real(n.Line)); from > len(line) || !strings.HasPrefix(line[from-1:], n.Value[:at]) {
		return column
	}
	return from + at - 1
}
