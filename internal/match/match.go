// Package match finds the places in a file where rules match. It knows
// patterns, path globs and bytes, and nothing of git, reviews or severities.
//
// Rules are compiled once into a Matcher, which is immutable and safe for
// concurrent use; a Session matches one scan's files with it and holds the
// time that each rule may still spend. What a hit is, is defined by Reference,
// a slow and plain implementation that the engine is tested against.
package match

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// Rule is what the engine needs of a rule. Hits refer to a rule by its index
// in the slice that was compiled.
type Rule struct {
	Pattern   string   // RE2, Go syntax, valid by CheckPattern
	Multiline bool     // match on the whole file instead of line by line
	Include   []string // doublestar globs, valid by CheckGlob; all files when empty
	Exclude   []string // doublestar globs, valid by CheckGlob
}

// Hit is one match. Lines and columns count from 1, columns in bytes.
type Hit struct {
	Rule      int // index of the rule
	Line      int // line of the first byte
	Column    int // of the first byte
	EndLine   int // line of the last byte
	EndColumn int // after the last byte
}

// LineRange is a run of lines, First to Last, counted from 1, both included.
type LineRange struct{ First, Last int }

// Span is a run of bytes, Start included, End not.
type Span = confirm.Span

// MaxLine is the length of a line, in bytes without its ending, over which it
// is not looked at.
const MaxLine = 16 << 10

// Result is what Match finds in one file.
type Result struct {
	Hits       []Hit       // the first ones, by line, then by rule; one for each rule and line
	Counts     map[int]int // of all hits, by rule
	Apart      []Hit       // the first ones that are apart, likewise; in no Counts
	ApartCount int         // of all that are apart
	LongLines  []int       // added lines over MaxLine, which no rule looked at
	Stopped    []int       // rules that used up their time in this file
}

// first keeps the first of many hits, by line and then by rule, in any order
// that they come in. It holds at most twice as many as it is to keep.
type first struct {
	hits   []Hit
	limit  int
	behind int // line after which hits are not among the first; 0 when not known
}

func (f *first) add(h Hit) {
	if f.behind > 0 && h.Line > f.behind {
		return
	}
	f.hits = append(f.hits, h)
	if len(f.hits) > 2*f.limit {
		f.cut()
	}
}

// cut sorts the hits and keeps the first.
func (f *first) cut() {
	slices.SortFunc(f.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	if len(f.hits) > f.limit {
		f.hits = f.hits[:f.limit]
		if f.behind = 1; f.limit > 0 {
			f.behind = f.hits[f.limit-1].Line
		}
	}
}

// Match matches the active rules on the added lines of a file. Rules that are
// matched line by line see each added line on its own, without its ending. A
// multiline rule sees the whole file, and a match counts when it touches an
// added line; the first on each line where matches start is the hit. added is
// ascending; lines that the file does not have are left out. At most limit hits
// are kept; all are counted.
//
// It fails only when ctx ends.
func (f *File) Match(ctx context.Context, lines Lines, added []LineRange, limit int) (Result, error) {
	return f.MatchApart(ctx, lines, added, limit, nil)
}

// Apart says whether the hit of a rule on a line is set apart from the others.
// before says whether a match of the rule starts on the line before as well,
// added or not.
type Apart func(rule, line int, before func() bool) bool

// MatchApart is Match, and apart is asked of each hit in any order; nil sets none
// apart. At most limit hits that are apart are kept, in their own list.
func (f *File) MatchApart(ctx context.Context, lines Lines, added []LineRange, limit int, apart Apart) (Result, error) {
	m := f.session.matcher
	w := m.workers.Get().(*worker)
	defer m.workers.Put(w)
	w.begin(ctx, f, lines, limit)
	w.apart = apart
	var result Result
	w.blocks, result.LongLines = lines.blocks(added, w.blocks[:0])
	if len(w.blocks) > 0 {
		w.matchLines()
		w.matchFile()
	}
	w.finish(&result)

	return result, ctx.Err()
}

// matchFile runs the multiline rules that may match.
func (w *worker) matchFile() {
	s, text := w.file.session, w.text
	for _, rule := range w.candidates(w.file, &s.matcher.files, text) {
		s.timed(w.ctx, int(rule), &w.stopped, func(p *confirm.Program, g *confirm.Guard) {
			last := 0               // line of the start of the last hit
			started, before := 0, 0 // lines of the start of the last match, and of the last one on another line
			p.All(text, g, func(span Span) {
				h := Hit{Rule: int(rule)}
				h.Line, h.Column = w.lines.At(span.Start)
				if h.Line != started {
					started, before = h.Line, started
				}
				if h.Line == last || !w.touches(span) {
					return
				}
				h.EndLine, h.EndColumn = w.lines.At(span.End - 1)
				h.EndColumn++
				last = h.Line
				if w.apart != nil && w.apart(h.Rule, h.Line, func() bool { return before > 0 && before == h.Line-1 }) {
					w.asideHit(h)
					return
				}
				w.count(rule)
				w.first.add(h)
			})
		})
	}
}

// touches says whether one of the lines that are looked at has a byte of span.
func (w *worker) touches(span Span) bool {
	i, _ := slices.BinarySearchFunc(w.blocks, span.Start, func(b block, at int) int {
		if b.to <= at {
			return -1
		}

		return 1
	})

	return i < len(w.blocks) && w.blocks[i].from < span.End
}

// finish gives the first hits their columns, and leaves the worker as it was
// before the file.
func (w *worker) finish(result *Result) {
	result.Hits = w.located(&w.first, func(rule int) { w.rules[rule].count-- })
	result.Apart = w.located(&w.aside, func(int) { w.asides-- })
	result.ApartCount = w.asides
	for _, rule := range w.touched {
		r := &w.rules[rule]
		w.settle(rule, r)
		if r.count > 0 {
			if result.Counts == nil {
				result.Counts = map[int]int{}
			}
			result.Counts[int(rule)] = int(r.count)
		}
		*r = ruleState{}
	}
	result.Stopped = w.stopped
	w.end()
}

// located returns the first hits with their columns. missed hears of the rule of
// each whose time is used up by finding them.
func (w *worker) located(first *first, missed func(rule int)) []Hit {
	first.cut()
	if len(first.hits) == 0 {
		return nil
	}
	hits := make([]Hit, 0, len(first.hits))
	for _, h := range first.hits {
		if w.over {
			break // nobody wants the result
		}
		if h.EndLine > 0 || w.locate(&h) {
			hits = append(hits, h)
		} else {
			missed(h.Rule)
		}
	}

	return hits
}

// locate finds the columns of a hit on a line. It fails when the rule's time is
// used up by that.
func (w *worker) locate(h *Hit) (ok bool) {
	rule := uint32(h.Rule)
	if !w.ended(rule) {
		var span Span
		line, from := w.text[h.Column:h.EndColumn], -h.EndLine // see hit
		start := time.Now()
		span, ok = w.matcher.programs[rule].Columns(line, from)
		r := w.state(rule)
		r.steps += uint32(min(time.Since(start), time.Second))
		w.charge(rule, r, 0)
		if !ok {
			w.file.session.timed(w.ctx, h.Rule, &w.stopped, func(p *confirm.Program, g *confirm.Guard) {
				span, ok = p.Find(line, 0, g)
			})
		}
		h.Column, h.EndLine, h.EndColumn = span.Start+1, h.Line, span.End+1
	}

	return ok
}

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
