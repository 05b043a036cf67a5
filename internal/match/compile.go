package match

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/match/choose"
	"github.com/prwarden/prwarden/internal/match/confirm"
	"github.com/prwarden/prwarden/internal/match/extract"
	"github.com/prwarden/prwarden/internal/match/filter"
	"github.com/prwarden/prwarden/internal/match/parse"
)

// Matcher is a list of rules, ready to match. It is immutable and safe for
// concurrent use.
type Matcher struct {
	programs   []*confirm.Program
	selector   selector
	lines      plan       // of the rules that are matched line by line
	files      plan       // of the multiline rules
	prefixed   []bool     // by rule: see FixedPrefix
	placed     []bool     // by rule: see Rule.Placed
	structured []bool     // by rule
	finders    []Finder   // by rule; nil for a rule with a pattern
	judges     []*judge   // by rule; nil for a rule without conditions
	better     [][]uint32 // by rule: those that supersede it; nil when no rule does
	size       int64
	workers    sync.Pool // of *worker
}

// plan is how rules of one kind are found.
type plan struct {
	kind     int // 0 or 1
	filter   *filter.Filter
	owners   []owner     // by id of the filter
	weak     []weakGroup // rules that nothing is known of, to be tried everywhere
	folds    []bool      // by rule: ſ and K stand for s and k
	anyFolds bool
	farthest []int32 // by rule: the most bytes from the begin of a match to the place that it is found by
}

// weakGroup is rules that are tried on every line: first all of them at once.
type weakGroup struct {
	rules []uint32
	group *confirm.Group // nil for a single rule
}

// owner is who is asked where the filter found something.
type owner struct {
	rules  []uint32       // at least one
	group  *confirm.Group // of the rules when they are several and begin is known
	begin  int16          // bytes from the begin of the match to the place, or unknownBegin
	inside int16          // from the place to a byte that is on the line of the match
}

const unknownBegin = -1 << 15

// roomFor is the memory for what is large of the automata and regexps of so many
// rules, in bytes. Most rules need one or two thousand, a few need megabytes.
func roomFor(rules int) int64 { return min(8<<20, 256<<10*int64(rules)) + 1<<10*int64(rules) }

// Compile prepares rules. It fails when a pattern is not a regular expression;
// the other demands of CheckPattern and CheckGlob are the caller's to check.
func Compile(rules []Rule) (*Matcher, error) { return CompileContext(context.Background(), rules) }

// CompileContext is Compile, and fails when ctx ends.
func CompileContext(ctx context.Context, rules []Rule) (*Matcher, error) {
	m := &Matcher{
		programs: make([]*confirm.Program, len(rules)), selector: newSelector(rules),
		prefixed: make([]bool, len(rules)), placed: make([]bool, len(rules)),
		structured: make([]bool, len(rules)), finders: make([]Finder, len(rules)),
		judges: make([]*judge, len(rules)), better: superseding(rules),
	}
	room := confirm.NewRoom(roomFor(len(rules)))
	b := builder{
		matcher:  m,
		patterns: make([]parse.Pattern, len(rules)),
		sizes:    make([]int, len(rules)),
		ranges:   make([]int, len(rules)),
		needles:  map[*plan][]filter.Needle{},
		owners:   map[string]uint32{},
	}
	i := uint32(0)

	for some := range slices.Chunk(rules, maxStudied) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k, s := range studyAll(some) {
			if s.err != nil {
				return nil, fmt.Errorf("rule %d: %w", i, s.err)
			}
			b.add(i, some[k], s, room)
			i++
		}
	}

	m.files.kind = 1
	for _, p := range []*plan{&m.lines, &m.files} {
		p.filter = filter.New(b.needles[p])
		m.size += p.memory()
	}
	b.group(&m.lines, room) // multiline rules are only collected
	room.Settle()
	m.size += b.size + roomFor(len(rules))
	m.workers.New = func() any { return newWorker(m) }

	return m, nil
}

// builder collects what the filters of a matcher look for.
type builder struct {
	matcher  *Matcher
	patterns []parse.Pattern // lean
	sizes    []int           // by rule: estimate of its instructions
	ranges   []int           // by rule, of its classes
	needles  map[*plan][]filter.Needle
	owners   map[string]uint32 // by what they are found by
	key      []byte            // of owners
	grams    int               // that the filters look for
	size     int64
}

// study is what is found out of a rule by itself.
type study struct {
	pattern parse.Pattern
	folds   bool
	choice  choose.Choice
	judge   *judge
	err     error
}

// maxStudied bounds the rules that are studied before they are added, and so the
// memory for their trees and what was found out.
const maxStudied = 64

// studyAll studies rules on all processors: that is most of the work of
// compiling.
func studyAll(rules []Rule) []study {
	all := make([]study, len(rules))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(background.Processors(), len(rules)) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(rules)); i = next.Add(1) - 1 {
				all[i] = studyOne(rules[i])
			}
		})
	}
	group.Wait()

	return all
}

func studyOne(r Rule) study {
	if r.Finder != nil {
		r.Pattern = noPattern
	}
	p, err := parse.Parse(r.Pattern, r.Multiline)
	if err != nil || p.Never {
		return study{pattern: p, err: err}
	}
	j, err := newJudge(r.Conditions, atGroups(r))
	if err != nil {
		return study{err: err}
	}
	facts := extract.Extract(p.Tree, choose.Cost)

	return study{pattern: p, folds: facts.Folds, choice: choose.Best(facts.Clauses), judge: j}
}

func (b *builder) add(index uint32, r Rule, s study, room *confirm.Room) {
	m, p := b.matcher, s.pattern
	known, _ := prefixOf(p.Source)
	m.prefixed[index], m.placed[index] = known >= fixedPrefix, r.Placed
	m.structured[index], m.finders[index] = r.Structured, r.Finder
	m.judges[index] = s.judge
	size := programSize(p.Source)
	m.programs[index] = confirm.NewProgram(p, size, room)
	b.size += m.programs[index].Size() + int64(len(r.Pattern)) + s.judge.size()

	for _, globs := range [][]string{r.Include, r.Exclude, r.Languages} {
		for _, g := range globs {
			b.size += 8 + int64(len(g))
		}
	}
	plan := &m.lines
	if r.Multiline {
		plan = &m.files
	}
	b.patterns[index], b.sizes[index], b.ranges[index] = p.Lean(), size, confirm.RangesOf(p.Source).Tree
	if plan.folds == nil {
		plan.folds = make([]bool, len(m.programs))
		plan.farthest = make([]int32, len(m.programs))
	}
	if p.Never {
		return
	}
	grams := s.choice.Grams()
	if s.choice.Windows == nil || b.grams+grams > maxGrams {
		b.addWeak(plan, index)

		return
	}
	b.grams += grams
	plan.folds[index] = s.folds
	plan.anyFolds = plan.anyFolds || s.folds

	for _, w := range s.choice.Windows {
		b.own(plan, w, index)
	}
}

// maxGrams bounds what the filter of a matcher looks for, and so its memory, to
// six times what 5,000 ordinary rules have. Rules that go over it are tried on
// every line.
const maxGrams = 1 << 18

// maxWeakGroup bounds the weak rules that are asked about together. With more of
// them, lines on which none matches are rarer and automata larger.
const maxWeakGroup = 12

// addWeak puts a rule into the last group that looks at the same files.
func (b *builder) addWeak(p *plan, rule uint32) {
	group := b.matcher.selector.group
	for i := range p.weak {
		if w := &p.weak[i]; len(w.rules) < maxWeakGroup && group[w.rules[0]] == group[rule] {
			w.rules = append(w.rules, rule)
			return
		}
	}
	p.weak = append(p.weak, weakGroup{rules: []uint32{rule}})
}

// own makes a rule one of those that are asked where a window stands.
func (b *builder) own(plan *plan, w choose.Window, rule uint32) {
	begin := int16(unknownBegin)
	if w.Kind != filter.Run && w.Alt.Start != extract.Unknown {
		begin = int16(w.At + w.Alt.Start)
	}
	b.setKey(plan == &b.matcher.lines, w, begin)
	if begin == unknownBegin {
		plan.farthest[rule] = math.MaxInt32
	}
	plan.farthest[rule] = max(plan.farthest[rule], int32(begin))
	if id, ok := b.owners[string(b.key)]; ok {
		plan.owners[id].rules = append(plan.owners[id].rules, rule)
		return
	}
	id := uint32(len(plan.owners))
	b.owners[string(b.key)] = id
	b.needles[plan] = append(b.needles[plan], needle(w, id))
	o := owner{rules: []uint32{rule}, begin: begin}
	if w.Sets()[0] == choose.AnyByte {
		o.inside = 1
	}
	plan.owners = append(plan.owners, o)
}

// setKey makes key the same for windows at which the same is found.
func (b *builder) setKey(lines bool, w choose.Window, begin int16) {
	b.key = append(b.key[:0], 0, byte(w.Kind), byte(w.At), byte(w.Len), byte(begin), byte(begin>>8))
	if lines {
		b.key[0] = 1
	}

	for _, set := range w.Alt.Seq {
		for _, word := range set {
			b.key = binary.LittleEndian.AppendUint64(b.key, word)
		}
	}
}

// maxGroup bounds the rules that are asked about together, and so the size of
// their automaton.
const maxGroup = 64

// group makes groups of the rules that are found at the same places, and of
// those that are tried everywhere.
func (b *builder) group(p *plan, room *confirm.Room) {
	for i := range p.owners {
		if o := &p.owners[i]; len(o.rules) <= maxGroup && o.begin != unknownBegin {
			o.group = b.groupOf(o.rules, room)
		}
	}

	for i := range p.weak {
		p.weak[i].group = b.groupOf(p.weak[i].rules, room)
	}
}

func (b *builder) groupOf(rules []uint32, room *confirm.Room) *confirm.Group {
	if len(rules) < 2 {
		return nil
	}
	var patterns []parse.Pattern
	size, ranges := 0, 0

	for _, r := range rules {
		patterns = append(patterns, b.patterns[r])
		size += b.sizes[r]
		ranges += b.ranges[r]
	}

	return confirm.NewGroup(patterns, size, ranges, room)
}

// needle is a window as the filter looks for it, with the byte behind it when
// that is known.
func needle(w choose.Window, id uint32) filter.Needle {
	sets := w.Sets()
	if behind := w.At + w.Len; w.Kind != filter.Run && behind < len(w.Alt.Seq) {
		sets = append(sets[:len(sets):len(sets)], w.Alt.Seq[behind])
	}

	return filter.Needle{Kind: w.Kind, Sets: sets, Around: w.Alt.Seq, At: w.At, ID: id}
}

func (p *plan) memory() int64 {
	return p.filter.Size() + 48*int64(len(p.owners)) + 5*int64(len(p.folds)) + 64*int64(len(p.weak))
}

// Len is the number of rules.
func (m *Matcher) Len() int { return len(m.programs) }

// Size estimates the memory that the matcher holds once all its rules have
// been used, in bytes.
func (m *Matcher) Size() int64 { return m.size }

// programSize estimates from above the number of instructions that re compiles
// to, without compiling it: that would take memory in proportion.
func programSize(re *syntax.Regexp) int { return min(2+exprSize(re), math.MaxInt32) }

func exprSize(re *syntax.Regexp) int {
	sum := 0
	for _, sub := range re.Sub {
		sum = min(sum+exprSize(sub), math.MaxInt32)
	}

	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture:
		return sum + 2
	case syntax.OpRepeat:
		size := max(re.Min, 1)*sum + 1 // x{n,} is n-1 copies and x+
		if re.Max >= 0 {
			size = max(re.Min*sum+(re.Max-re.Min)*(sum+1), 1) // n copies and m-n times x?
		}

		return min(size, math.MaxInt32)
	case syntax.OpAlternate:
		return sum + len(re.Sub)
	case syntax.OpConcat:
		return sum
	}

	return sum + 1
}
