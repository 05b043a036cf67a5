package match

import (
	"bytes"
	"sort"
)

// Lines is a text divided into its lines, as git counts them: a line ends
// after "\n", and what follows the last "\n" is a line unless it is empty.
type Lines struct {
	text   []byte
	starts []int32 // offset of each line, then the length of the text
}

// SplitLines divides text, which must be under 2 GiB and stay unchanged while
// the result is used.
func SplitLines(text []byte) Lines {
	starts := make([]int32, 0, bytes.Count(text, []byte{'\n'})+2)
	for pos := 0; pos < len(text); {
		starts = append(starts, int32(pos))
		n := bytes.IndexByte(text[pos:], '\n')
		if n < 0 {
			break
		}
		pos += n + 1
	}
	return Lines{text: text, starts: append(starts, int32(len(text)))}
}

// Count is the number of lines.
func (l Lines) Count() int { return max(len(l.starts)-1, 0) }

// Text is the whole text.
func (l Lines) Text() []byte { return l.text }

// Line returns line n, from 1 to Count, without its ending: one "\n" and one
// "\r" before it. A "\r" that no "\n" follows belongs to the line.
func (l Lines) Line(n int) []byte {
	line := l.text[l.starts[n-1]:l.starts[n]]
	if k := len(line) - 1; k >= 0 && line[k] == '\n' {
		line = line[:k]
		if k > 0 && line[k-1] == '\r' {
			line = line[:k-1]
		}
	}
	return line
}

// Start is the offset of line n, from 1 to Count.
func (l Lines) Start(n int) int { return int(l.starts[n-1]) }

// at returns the line, from 1, that holds the byte at offset, and its column,
// from 1.
func (l Lines) at(offset int) (line, column int) {
	n := sort.Search(l.Count(), func(i int) bool { return int(l.starts[i+1]) > offset })
	return n + 1, offset - int(l.starts[n]) + 1
}
