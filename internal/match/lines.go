package match

import (
	"bytes"
	"sort"
	"sync"
)

// Lines is a text divided into its lines, as git counts them: a line ends
// after "\n", and what follows the last "\n" is a line unless it is empty. It
// is safe for concurrent use.
type Lines struct {
	text  []byte
	index *lineIndex
}

// lineIndex knows how many lines there are and where they begin, once somebody
// asks.
type lineIndex struct {
	counted, indexed sync.Once
	count            int
	starts           []int32 // offset of each line, then the length of the text
}

// SplitLines divides text, which must be under 2 GiB and stay unchanged while
// the result is used.
func SplitLines(text []byte) Lines { return Lines{text: text, index: &lineIndex{}} }

func (l Lines) starts() []int32 {
	l.index.indexed.Do(func() {
		starts := make([]int32, 0, l.Count()+1)
		for pos := 0; pos < len(l.text); {
			starts = append(starts, int32(pos))
			n := bytes.IndexByte(l.text[pos:], '\n')
			if n < 0 {
				break
			}
			pos += n + 1
		}
		starts = append(starts, int32(len(l.text)))
		l.index.starts = starts
	})
	return l.index.starts
}

// Count is the number of lines.
func (l Lines) Count() int {
	if len(l.text) == 0 {
		return 0
	}
	l.index.counted.Do(func() {
		l.index.count = bytes.Count(l.text, []byte{'\n'})
		if l.text[len(l.text)-1] != '\n' {
			l.index.count++
		}
	})
	return l.index.count
}

// Text is the whole text.
func (l Lines) Text() []byte { return l.text }

// Line returns line n, from 1 to Count, without its ending: one "\n" and one
// "\r" before it. A "\r" that no "\n" follows belongs to the line.
func (l Lines) Line(n int) []byte {
	starts := l.starts()
	return trimEnding(l.text[starts[n-1]:starts[n]])
}

// trimEnding removes the ending of a line.
func trimEnding(line []byte) []byte {
	if k := len(line) - 1; k >= 0 && line[k] == '\n' {
		line = line[:k]
		if k > 0 && line[k-1] == '\r' {
			line = line[:k-1]
		}
	}
	return line
}

// Start is the offset of line n, from 1 to Count.
func (l Lines) Start(n int) int { return int(l.starts()[n-1]) }

// At returns the line, from 1, that holds the byte at offset, and its column,
// from 1. The text has such a byte.
func (l Lines) At(offset int) (line, column int) {
	starts := l.starts()
	n := sort.Search(len(starts)-1, func(i int) bool { return int(starts[i+1]) > offset })
	return n + 1, offset - int(starts[n]) + 1
}

// block is a run of lines that rules look at.
type block struct {
	from, to int // bytes
	line     int // number of the first line
}

// blocks returns the added lines as blocks, without those over MaxLine, and the
// numbers of these. added is ascending; what the text does not have is left out.
func (l Lines) blocks(added []LineRange, blocks []block) (_ []block, long []int) {
	for _, r := range added {
		b := block{from: 0, to: len(l.text), line: max(r.First, 1)}
		last := min(r.Last, l.Count())
		if last < b.line {
			continue
		}
		if b.line > 1 || last < l.Count() { // else it is the whole text
			b.from, b.to = l.Start(b.line), int(l.starts()[last])
		}
		blocks, long = l.short(b, blocks, long)
	}
	return blocks, long
}

// short appends a block without its lines over MaxLine. It looks for them in
// leaps: where a line ends within the next MaxLine bytes, no line up to there is
// too long.
func (l Lines) short(b block, blocks []block, long []int) ([]block, []int) {
	for pos := b.from; pos < b.to; {
		reach := min(pos+MaxLine+1, b.to)
		if reach == b.to && reach-pos <= MaxLine {
			break
		}
		if k := bytes.LastIndexByte(l.text[pos:reach], '\n'); k >= 0 {
			pos += k + 1
			continue
		}
		end := b.to
		if k := bytes.IndexByte(l.text[reach:b.to], '\n'); k >= 0 {
			end = reach + k + 1
		}
		if len(trimEnding(l.text[pos:end])) <= MaxLine {
			pos = end
			continue
		}
		n := b.line + bytes.Count(l.text[b.from:pos], []byte{'\n'})
		long = append(long, n)
		if b.from < pos {
			blocks = append(blocks, block{from: b.from, to: pos, line: b.line})
		}
		b.from, b.line, pos = end, n+1, end
	}
	if b.from < b.to {
		blocks = append(blocks, b)
	}
	return blocks, long
}
