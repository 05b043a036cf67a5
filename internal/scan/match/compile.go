package match

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/prwarden/prwarden/internal/scan/match/internal/byteset"
	"github.com/prwarden/prwarden/internal/scan/match/internal/choose"
	"github.com/prwarden/prwarden/internal/scan/match/internal/confirm"
	"github.com/prwarden/prwarden/internal/scan/match/internal/extract"
	"github.com/prwarden/prwarden/internal/scan/match/internal/filter"
	"github.com/prwarden/prwarden/internal/scan/match/internal/parse"
)

// Matcher is a list of rules, ready to match. It is immutable and safe for
// concurrent use.
type Matcher struct {
	programs []*confirm.Program
	selector selector
	lines    plan // of the rules that are matched line by line
	files    plan // of the multiline rules
	size     int64
	workers  sync.Pool // of *worker
}

// plan is how rules of one kind are found.
type plan struct {
	filter   *filter.Filter
	owners   []owner  // by id of the filter
	weak     []uint32 // rules that nothing is known of, to be tried everywhere
	folds    []bool   // by rule: ſ and K stand for s and k
	anyFolds bool
}

// owner is who is asked where the filter found something.
type owner struct {
	sequence confirm.Sequence
	rule     uint32
	begin    int32 // where the match begins, before the place; unknownBegin
}

const unknownBegin = -1

// Memory for the automata of a matcher, in bytes: of each rule, and in all.
const (
	roomPerRule = 2 << 10
	roomBase    = 4 << 20
)

// Compile prepares rules. It fails when a pattern is not a regular expression;
// the other demands of CheckPattern and CheckGlob are the caller's to check.
func Compile(rules []Rule) (*Matcher, error) {
	m := &Matcher{programs: make([]*confirm.Program, len(rules)), selector: newSelector(rules)}
	room := new(atomic.Int64)
	room.Store(roomBase + roomPerRule*int64(len(rules)))
	b := builder{sets: confirm.Sets{}}
	for i, r := range rules {
		if err := b.add(m, uint32(i), r, room); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
	}
	m.lines.filter = filter.New(b.lines)
	m.files.filter = filter.New(b.files)
	m.size = b.size + m.lines.memory() + m.files.memory() + int64(len(b.sets))*72
	m.workers.New = func() any { return newWorker(m) }
	return m, nil
}

// builder collects what the filters of a matcher look for.
type builder struct {
	lines, files []filter.Needle
	sets         confirm.Sets
	size         int64
}

func (b *builder) add(m *Matcher, index uint32, r Rule, room *atomic.Int64) error {
	p, err := parse.Parse(r.Pattern, r.Multiline)
	if err != nil {
		return err
	}
	size := programSize(p.Source)
	m.programs[index] = confirm.NewProgram(r.Pattern, p, size, room)
	b.size += 400 + int64(len(r.Pattern)) + 40*int64(size)
	for _, globs := range [][]string{r.Include, r.Exclude} {
		for _, g := range globs {
			b.size += 8 + int64(len(g))
		}
	}
	plan, needles := &m.lines, &b.lines
	if r.Multiline {
		plan, needles = &m.files, &b.files
	}
	if plan.folds == nil {
		plan.folds = make([]bool, len(m.programs))
	}
	if p.Never {
		return nil
	}
	facts := extract.Extract(p.Tree, choose.Cost)
	choice := choose.Best(facts.Clauses)
	if choice.Windows == nil {
		plan.weak = append(plan.weak, index)
		return nil
	}
	plan.folds[index] = facts.Folds
	plan.anyFolds = plan.anyFolds || facts.Folds
	for _, w := range choice.Windows {
		*needles = append(*needles, needle(w, uint32(len(plan.owners))))
		o := owner{sequence: confirm.NewSequence(w.Alt.Seq, w.At, b.sets), rule: index, begin: unknownBegin}
		if w.Kind != choose.Run && w.Alt.Start != extract.Unknown {
			o.begin = int32(w.At + w.Alt.Start)
		}
		plan.owners = append(plan.owners, o)
	}
	return nil
}

// needle is a window as the filter looks for it, with the byte behind it when
// that is known.
func needle(w choose.Window, id uint32) filter.Needle {
	sets := []byteset.Set(w.Sets())
	kind := filter.Grams
	switch w.Kind {
	case choose.Pair:
		kind = filter.Pair
	case choose.Run:
		kind = filter.Run
	}
	if behind := w.At + w.Len; kind != filter.Run && behind < len(w.Alt.Seq) {
		sets = append(sets[:len(sets):len(sets)], w.Alt.Seq[behind])
	}
	return filter.Needle{Kind: kind, Sets: sets, ID: id}
}

func (p *plan) memory() int64 {
	n := p.filter.Size() + int64(len(p.folds)) + 4*int64(len(p.weak))
	for i := range p.owners {
		n += 48 + p.owners[i].sequence.Memory()
	}
	return n
}

// Len is the number of rules.
func (m *Matcher) Len() int { return len(m.programs) }

// Size estimates the memory that the matcher holds once all its rules have
// been used, in bytes.
func (m *Matcher) Size() int64 { return m.size }
