package match

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// Matcher is a list of rules, ready to match. It is immutable and safe for
// concurrent use.
type Matcher struct {
	programs []*program
	selector selector
	lines    plan // of the rules that are matched line by line
	files    plan // of the multiline rules
	size     int64
}

// plan is how rules of one kind are found: by literals that they need, or,
// where no such literals are known, by trying.
type plan struct {
	index  index
	always []int32
}

// Compile prepares rules. It fails when a pattern is not a regular expression;
// the other demands of CheckPattern and CheckGlob are the caller's to check.
func Compile(rules []Rule) (*Matcher, error) {
	m := &Matcher{programs: make([]*program, len(rules)), selector: newSelector(rules), size: 32 << 10}
	for i, r := range rules {
		p, re, err := newProgram(r)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		m.programs[i] = p
		plan := &m.lines
		if r.Multiline {
			plan = &m.files
		}
		needed := required(re)
		if needed == nil {
			plan.always = append(plan.always, int32(i))
		}
		for _, literal := range needed {
			plan.index.add(literal, int32(i))
			m.size += 96 + int64(len(literal))
		}
		m.size += 1500 + int64(len(r.Pattern)) + 120*int64(p.size)
		for _, g := range slices.Concat(r.Include, r.Exclude) {
			m.size += 8 + int64(len(g))
		}
	}
	return m, nil
}

// Len is the number of rules.
func (m *Matcher) Len() int { return len(m.programs) }

// Size estimates the memory that the matcher holds once all its rules have
// been used, in bytes: measured, one to two and a half times what it is.
func (m *Matcher) Size() int64 { return m.size }

// Session matches the files of one scan. It is safe for concurrent use.
type Session struct {
	matcher *Matcher
	budget  time.Duration
	off     []bool
	used    []atomic.Int64 // ns by rule
	stopped []atomic.Bool  // by rule
}

// NewSession starts a scan in which each rule may match for budget, in wall
// time over all files. off says which rules take no part; nil for none.
func (m *Matcher) NewSession(budget time.Duration, off []bool) *Session {
	return &Session{
		matcher: m,
		budget:  budget,
		off:     off,
		used:    make([]atomic.Int64, m.Len()),
		stopped: make([]atomic.Bool, m.Len()),
	}
}

// File is one file as the rules of a session look at it.
type File struct {
	session *Session
	active  []bool
}

// File decides which rules look at the file at path.
func (s *Session) File(path string) *File {
	f := &File{session: s, active: s.matcher.selector.active(path)}
	for i := range s.off {
		f.active[i] = f.active[i] && !s.off[i]
	}
	return f
}

// Result is what Match finds in one file.
type Result struct {
	Hits      []Hit       // the first ones, by line, then by rule; one for each rule and line
	Counts    map[int]int // of all hits, by rule
	LongLines []int       // added lines over MaxLine, which no rule looked at
	Stopped   []int       // rules that used up their time in this file

	limit  int // of Hits; they may grow to twice as many before they are cut
	behind int // line after which hits are counted only; 0 when there is none yet
}

// add counts a hit and keeps it if it may be among the first.
func (r *Result) add(h Hit) {
	r.Counts[h.Rule]++
	if r.behind > 0 && h.Line > r.behind {
		return
	}
	r.Hits = append(r.Hits, h)
	if len(r.Hits) > 2*r.limit {
		r.cut()
	}
}

// cut sorts the hits and keeps the first.
func (r *Result) cut() {
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	if len(r.Hits) > r.limit {
		r.Hits = r.Hits[:r.limit]
		if r.behind = 1; r.limit > 0 {
			r.behind = r.Hits[r.limit-1].Line
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
	result := Result{Counts: map[int]int{}, limit: limit}
	var numbers []int32 // of the added lines to look at
	for _, r := range added {
		for n := max(r.First, 1); n <= min(r.Last, lines.Count()); n++ {
			if len(lines.Line(n)) > MaxLine {
				result.LongLines = append(result.LongLines, n)
			} else {
				numbers = append(numbers, int32(n))
			}
		}
	}
	if len(numbers) == 0 {
		return result, ctx.Err()
	}
	f.matchLines(ctx, lines, numbers, &result)
	f.matchFile(ctx, lines, numbers, &result)
	result.cut()
	return result, ctx.Err()
}

// maxPending bounds, in rules times lines, what the index found and is yet to be
// matched. Matching rule by rule lets a rule's clock be read seldom.
const maxPending = 1 << 16

// matchLines runs each rule on the lines that have one of its literals.
func (f *File) matchLines(ctx context.Context, lines Lines, numbers []int32, result *Result) {
	m := f.session.matcher
	var pending []uint64 // rule and line
	last := make([]int32, m.Len())
	for i, n := range numbers {
		m.lines.index.scan(lines.Line(int(n)), func(rules []int32) {
			for _, r := range rules {
				if f.active[r] && last[r] != n {
					last[r] = n
					pending = append(pending, uint64(r)<<32|uint64(n))
				}
			}
		})
		if len(pending) >= maxPending || i == len(numbers)-1 {
			if ctx.Err() != nil {
				return
			}
			f.matchPending(ctx, lines, pending, result)
			pending = pending[:0]
		}
	}
	for _, r := range m.lines.always {
		if f.active[r] {
			f.matchRule(ctx, int(r), lines, numbers, result)
		}
	}
}

// matchPending runs rules on lines, given as pairs.
func (f *File) matchPending(ctx context.Context, lines Lines, pairs []uint64, result *Result) {
	slices.Sort(pairs)
	for len(pairs) > 0 {
		rule := pairs[0] >> 32
		var candidates []int32
		for len(pairs) > 0 && pairs[0]>>32 == rule {
			candidates = append(candidates, int32(pairs[0])) // the lower half
			pairs = pairs[1:]
		}
		f.matchRule(ctx, int(rule), lines, candidates, result)
	}
}

// matchRule runs one rule on lines by their numbers.
func (f *File) matchRule(ctx context.Context, rule int, lines Lines, numbers []int32, result *Result) {
	f.session.timed(ctx, rule, result, func(p *program, g *guard) {
		for _, n := range numbers {
			line := lines.Line(int(n))
			if g.step((len(line) + 1) * p.size) {
				return
			}
			span, ok := p.find(line, 0, g)
			if ok {
				result.add(Hit{Rule: rule, Line: int(n), Column: span.Start + 1, EndLine: int(n), EndColumn: span.End + 1})
			}
		}
	})
}

// matchFile runs the multiline rules.
func (f *File) matchFile(ctx context.Context, lines Lines, numbers []int32, result *Result) {
	for _, rule := range f.candidates(&f.session.matcher.files, lines.Text()) {
		f.session.timed(ctx, rule, result, func(p *program, g *guard) {
			last := 0 // line of the start of the last hit
			p.all(lines.Text(), g, func(span Span) {
				h := Hit{Rule: rule}
				h.Line, h.Column = lines.at(span.Start)
				h.EndLine, h.EndColumn = lines.at(span.End - 1)
				h.EndColumn++
				i, _ := slices.BinarySearch(numbers, int32(h.Line))
				if h.Line != last && i < len(numbers) && int(numbers[i]) <= h.EndLine {
					last = h.Line
					result.add(h)
				}
			})
		})
	}
}

// candidates returns the active rules of a plan that may match somewhere in
// text, in order.
func (f *File) candidates(p *plan, text []byte) []int {
	seen := map[int32]bool{}
	var list []int
	add := func(rules []int32) {
		for _, r := range rules {
			if f.active[r] && !seen[r] {
				seen[r] = true
				list = append(list, int(r))
			}
		}
	}
	add(p.always)
	p.index.scan(text, add)
	slices.Sort(list)
	return list
}

// all calls found with each match in text, from left to right, none
// overlapping the one before, until the guard says stop.
func (p *program) all(text []byte, g *guard, found func(Span)) {
	for from := 0; from < len(text) && !g.step((len(text)-from)*p.size); {
		span, ok := p.find(text, from, g)
		if !ok {
			return
		}
		found(span)
		from = span.End
	}
}

// SpanResult is what Spans finds.
type SpanResult struct {
	Spans   []Span // by rule and then from left to right, those of one rule apart from each other
	Unknown []int  // rules that had no time left to say
	Stopped []int  // those of them that used up their time in this call
}

// Spans finds where the rules with the given indexes match in a text, whether
// or not they look at a file: every match, not only the first on a line. A
// multiline rule takes text as a file, another rule takes it as a line. It
// fails only when ctx ends.
func (s *Session) Spans(ctx context.Context, text []byte, rules []int) (SpanResult, error) {
	var found SpanResult
	for _, rule := range rules {
		var r Result
		s.timed(ctx, rule, &r, func(p *program, g *guard) {
			p.all(text, g, func(span Span) { found.Spans = append(found.Spans, span) })
		})
		found.Stopped = append(found.Stopped, r.Stopped...)
		if s.stopped[rule].Load() {
			found.Unknown = append(found.Unknown, rule)
		}
	}
	return found, ctx.Err()
}

// Candidates returns those of the active rules, multiline ones or others, that
// may match in text, in order.
func (f *File) Candidates(text []byte, multiline bool) []int {
	if multiline {
		return f.candidates(&f.session.matcher.files, text)
	}
	return f.candidates(&f.session.matcher.lines, text)
}

// timed runs work for a rule on the rule's time. When the time is used up,
// before or by that, the rule is stopped for the rest of the session and named
// in result, once.
func (s *Session) timed(ctx context.Context, rule int, result *Result, work func(p *program, g *guard)) {
	if s.stopped[rule].Load() {
		return
	}
	g := &guard{ctx: ctx, used: &s.used[rule], budget: s.budget, started: time.Now()}
	if !g.check() {
		work(s.matcher.programs[rule], g)
	}
	s.used[rule].Add(int64(g.spent()))
	if g.stopped && ctx.Err() == nil && s.stopped[rule].CompareAndSwap(false, true) {
		result.Stopped = append(result.Stopped, rule)
	}
}
