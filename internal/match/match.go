// Package match finds the places in a file where rules match. It knows
// patterns, path globs and bytes, and nothing of git, reviews or severities.
//
// Rules are compiled once into a Matcher, which is immutable and safe for
// concurrent use; a Session matches one scan's files with it and counts the work of
// each rule. What a hit is, is defined by dev/matchtest.Reference,
// a slow and plain implementation that the engine is tested against.
package match

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/prwarden/prwarden/internal/match/confirm"
)

// Rule is what the engine needs of a rule. Hits refer to a rule by its index
// in the slice that was compiled.
type Rule struct {
	Pattern   string   // RE2, Go syntax, valid by CheckPattern
	Multiline bool     // match on the whole file instead of line by line
	Include   []string // doublestar globs, valid by CheckGlob; all files when empty
	Exclude   []string // doublestar globs, valid by CheckGlob
	Languages []string // of which the file must have one; any when empty
	Placed    bool     // a match counts only where the Reader of the file allows it

	// Structured says that Pattern matches in every text with a match, and that the Reader
	// of the file finds the matches. Such a rule is Multiline; a match counts when it
	// touches an added line, and stands on the first one.
	Structured bool

	// Finder finds the matches in place of Pattern, line by line; nil for a pattern. Such a
	// rule has no Entropy or Stopwords, and nothing that it matches can be masked: Spans and
	// Candidates know nothing of it.
	Finder Finder

	Conditions Conditions // that a match must meet to be a hit
	Supersedes []int      // indexes of rules that have no hit on a line on which this one has; not with Multiline alone
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

// Result is what Match finds in one file.
type Result struct {
	Hits    []Hit               // the first ones, by line, then by rule; one for each rule and line
	Counts  map[int]int         // of all hits, by rule
	Apart   [ApartLists]HitList // those that are apart; in no Counts
	Stopped []int               // rules that used up their work in this file, and went no further
}

// HitList is hits that are set apart.
type HitList struct {
	Hits  []Hit // the first ones, as in Result
	Count int   // of all
}

// ApartLists is how many lists there are of hits that are set apart.
const ApartLists = 2

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
// added line (or see Joined); the first on each line where matches start is the hit. added is
// ascending; lines that the file does not have are left out. At most limit hits
// are kept; all are counted.
//
// It fails only when ctx ends.
func (f *File) Match(ctx context.Context, lines Lines, added []LineRange, limit int) (Result, error) {
	return f.MatchApart(ctx, lines, added, limit, nil)
}

// Apart says in which list the hit of a rule on a line is set apart from the others,
// from 1 to ApartLists; 0 for none. before says whether a match of the rule starts
// on the line before as well, added or not.
type Apart func(rule, line int, before func() bool) (list int)

// MatchApart is Match, and apart is asked of each hit in any order; nil sets none
// apart. At most limit hits are kept in each list.
func (f *File) MatchApart(ctx context.Context, lines Lines, added []LineRange, limit int, apart Apart) (Result, error) {
	if !slices.Contains(f.groups, true) {
		return Result{}, ctx.Err() // no rule looks at the file
	}
	m := f.session.matcher
	w := m.workers.Get().(*worker)
	defer m.workers.Put(w)
	w.begin(ctx, f, lines, limit)
	w.apart = apart
	var result Result
	w.blocks = lines.blocks(added, w.blocks[:0])
	w.matchLines()
	w.matchFinders()
	if len(w.blocks) > 0 || len(f.seams) > 0 {
		w.matchFile()
	}
	w.finish(&result)

	return result, ctx.Err()
}

// matchFile runs the multiline rules that may match.
func (w *worker) matchFile() {
	text := w.text
	for _, rule := range w.candidates(w.file, &w.matcher.files, text) {
		if w.matcher.structured[rule] {
			w.structuredFile(rule)
			continue
		}
		w.guarded(rule, func(p *confirm.Program, g *confirm.Guard) {
			last := 0               // line of the start of the last hit
			started, before := 0, 0 // lines of the start of the last match, and of the last one on another line
			w.matcher.accepted(rule, p, w.text, g, func(span Span) {
				if !w.allows(rule, span) {
					return
				}
				h := Hit{Rule: int(rule)}
				h.Line, h.Column = w.lines.At(span.Start)
				if h.Line != started {
					started, before = h.Line, started
				}
				if h.Line == last || !w.touches(span) && !w.joined(h, span) {
					return
				}
				h.EndLine, h.EndColumn = w.lines.At(span.End - 1)
				h.EndColumn++
				last = h.Line
				if w.isApart(h, func() bool { return before > 0 && before == h.Line-1 }) {
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

// joined says whether lines were removed between those of a match that was not there
// before.
func (w *worker) joined(h Hit, span Span) bool {
	i, _ := slices.BinarySearch(w.file.seams, h.Line+1)
	if i == len(w.file.seams) {
		return false
	}
	end, _ := w.lines.At(span.End - 1)

	return w.file.seams[i] <= end && w.file.isNew(h.Rule, h.Line)
}

// finish gives the first hits their columns, and leaves the worker as it was
// before the file.
func (w *worker) finish(result *Result) {
	result.Hits = w.located(&w.first)
	for i := range w.aside {
		result.Apart[i] = HitList{Hits: w.located(&w.aside[i].first), Count: w.aside[i].count}
	}
	w.chargeVain()
	for _, rule := range w.touched {
		r := &w.rules[rule]
		w.file.session.work[rule].Add(r.work)
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

// located returns the first hits with their columns.
func (w *worker) located(first *first) []Hit {
	first.cut()
	for i := range first.hits {
		if h := &first.hits[i]; h.EndLine <= 0 && !w.over {
			w.locate(h)
		}
	}
	if len(first.hits) == 0 {
		return nil
	}

	return slices.Clone(first.hits)
}

// locate finds the columns of a hit on a line. They are those of the line when the rule
// is stopped before that: an automaton has said that it matches.
func (w *worker) locate(h *Hit) {
	line, from := w.text[h.Column:h.EndColumn], -h.EndLine // see hit
	h.Column, h.EndLine, h.EndColumn = 1, h.Line, len(line)+1
	w.guarded(uint32(h.Rule), func(p *confirm.Program, g *confirm.Guard) {
		if span, ok := p.Columns(line, from, g); ok {
			h.Column, h.EndColumn = span.Start+1, span.End+1
		}
	})
}

// Limit is the work that a rule may do in one file. It depends on nothing but the
// file, so that the same files have the same hits on each machine, however many are
// matched at the same time, and no file takes anything from another.
//
// Work is counted in bytes that automata look at, beside a few for each place where
// one is asked. A search by the standard library's regexp counts as its bytes times
// the instructions of the program and some more.
type Limit struct {
	File int64 // for a file of any size
	Byte int64 // for each byte of it more
}

func (l Limit) of(size int) int64 { return l.File + l.Byte*int64(size) }

// Session matches the files of one scan. It is safe for concurrent use.
type Session struct {
	matcher *Matcher
	limit   Limit
	off     []bool
	spares  []Spare
	work    []atomic.Int64 // by rule
}

// NewSession starts a scan. off says which rules take no part; nil for none.
func (m *Matcher) NewSession(limit Limit, off []bool) *Session {
	return &Session{matcher: m, limit: limit, off: off, work: make([]atomic.Int64, m.Len())}
}

// Work is what a rule did in the files that were matched.
func (s *Session) Work(rule int) int64 { return s.work[rule].Load() }

// Spare keeps a rule from files beside those that it excludes itself.
type Spare struct {
	Rule  int
	Files Globs
}

// Spare keeps rules from more files in this session. It is called before File.
func (s *Session) Spare(spares []Spare) { s.spares = spares }

// File is one file as the rules of a session look at it. It is for one goroutine at
// a time.
type File struct {
	session *Session
	limit   Limit
	groups  []bool        // by group of the selector
	off     []bool        // by rule; nil for none
	spans   map[int]int64 // by rule: the work of Spans
	seams   []int         // see Joined
	isNew   func(rule, line int) bool
	reader  Reader // nil allows everything
}

// File decides which rules look at the file at path, which has the given
// languages. See NeedsLanguages.
func (s *Session) File(path string, languages ...string) *File {
	f := &File{session: s, limit: s.limit, groups: s.matcher.selector.active(path, languages), off: s.off}
	own := false
	for _, spare := range s.spares {
		if !spare.Files.Match(path) {
			continue
		}
		if !own {
			own = true
			f.off = make([]bool, s.matcher.Len())
			copy(f.off, s.off)
		}
		f.off[spare.Rule] = true
	}

	return f
}

// NeedsLanguages says whether the languages of a file decide which rules look at it.
func (s *Session) NeedsLanguages() bool { return len(s.matcher.selector.languages) > 0 }

// Within replaces the limit of the session for this file.
func (f *File) Within(limit Limit) *File {
	f.limit = limit
	return f
}

// ReadBy sets what knows the places of the file.
func (f *File) ReadBy(r Reader) *File {
	f.reader = r
	return f
}

// Joined has matches of multiline rules count, too, between whose lines others were
// removed: seams are the lines, ascending, that stood behind them. isNew is asked
// whether a match of a rule that starts on a line was not there before.
func (f *File) Joined(seams []int, isNew func(rule, line int) bool) *File {
	f.seams, f.isNew = seams, isNew
	return f
}

// looks says whether a rule looks at the file.
func (f *File) looks(rule uint32) bool {
	return f.groups[f.session.matcher.selector.group[rule]] && (f.off == nil || !f.off[rule])
}

// Candidates returns those of the active rules, multiline ones or others, that
// may match in text, in order.
func (f *File) Candidates(text []byte, multiline bool) []int {
	w := f.session.matcher.workers.Get().(*worker)
	defer f.session.matcher.workers.Put(w)
	plan := &f.session.matcher.lines
	if multiline {
		plan = &f.session.matcher.files
	}
	var rules []int

	for _, r := range w.candidates(f, plan, text) {
		rules = append(rules, int(r))
	}
	slices.Sort(rules)
	w.vain[plan.kind].Reset()

	return rules
}
