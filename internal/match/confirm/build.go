package confirm

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

// mode is what an automaton is asked.
type mode int

const (
	matchHere     mode = iota // does a match begin at the start?
	matchAnywhere             // does one begin there or behind?
	firstMatch                // where does the one end that regexp chooses?
	longestMatch              // where does the longest from the start end?
)

// unanchored says whether matches may begin behind the start.
func (m mode) unanchored() bool { return m == matchAnywhere || m == firstMatch }

// exists says whether the first match that is sure is enough.
func (m mode) exists() bool { return m == matchHere || m == matchAnywhere }

// builder makes the states of an automaton. A state is the instructions at
// which the program may be, and what was before the next character when one of
// them is an assertion. It is a set, but a list for firstMatch: there the order
// is that of regexp's preference, and what comes after the end of a match is
// cut off.
type builder struct {
	mode   mode
	prog   *syntax.Prog
	stride uint32 // transitions of a state: one for each class
	room   *atomic.Int64

	mu    sync.Mutex        // for all that follows, and for writing the table
	ids   map[string]uint32 // states by key
	keys  []string          // by state
	used  int64             // memory
	full  bool
	work  []uint32 // instructions that a closure is yet to look at
	key   []byte
	seen  []uint32 // by instruction: the round that saw it last
	round uint32
}

// maxMemory bounds an automaton, in bytes. Few need a tenth of it; those that
// need more would need much more.
const maxMemory = 4 << 20

// freeMemory is what each automaton may have, in bytes, however much others
// took: it is enough for nearly all of them.
const freeMemory = 4 << 10

// buildStart builds the state in which matching starts.
func (d *DFA) buildStart(context before) uint32 {
	b := &d.builder
	b.mu.Lock()
	defer b.mu.Unlock()
	b.round++
	pcs, ends := b.begin(nil)
	s := uint32(accepting | dead)
	if !ends || !b.mode.exists() {
		s = d.state(pcs, context)
	}
	d.starts[context].Store(s)

	return s
}

// build adds the transition of state s on a class. It returns where it leads,
// noRoom when there is none for that, and the table as it now is.
func (d *DFA) build(s uint32, class uint8) (next uint32, t *table) {
	b := &d.builder
	b.mu.Lock()
	defer b.mu.Unlock()
	t = d.table.Load()
	if next = t.next[s+uint32(class)].Load(); next != unknown {
		return next, t
	}
	next = d.follow(b.keys[s/b.stride-1], class)
	t = d.table.Load() // a new state may have made it larger
	t.next[s+uint32(class)].Store(next)

	return next, t
}

// follow finds what follows a state, given by its key, on a class.
func (d *DFA) follow(key string, class uint8) uint32 {
	b, r := &d.builder, d.classes.runes[class]
	context, pcs := before(key[0]), key[1:]

	// What the assertions demand can be told now that the next character is
	// known.
	flags := syntax.EmptyNoWordBoundary
	if (context == beforeWord) != (class != endClass && syntax.IsWordChar(r)) {
		flags = syntax.EmptyWordBoundary
	}
	if context == beforeText {
		flags |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	if class == endClass {
		flags |= syntax.EmptyEndText | syntax.EmptyEndLine
	}
	b.round++
	var ready []uint32
	ended, again := false, false
	for ; len(pcs) > 0 && !(ended && b.mode == firstMatch); pcs = pcs[2:] {
		pc := uint32(pcs[0]) | uint32(pcs[1])<<8
		if pc == restart {
			again = true
			continue
		}
		var ends bool
		ready, ends = b.closure(ready, pc, true, flags)
		ended = ended || ends
	}
	accept := uint32(0)
	if ended {
		accept = accepting
	}
	if class == endClass || ended && b.mode.exists() {
		return accept | dead
	}

	b.round++
	var after []uint32
	for _, pc := range ready {
		inst := &b.prog.Inst[pc]
		if !inst.MatchRune(r) {
			continue
		}
		var ends bool
		after, ends = b.closure(after, inst.Out, false, 0)
		if ends && b.mode.exists() {
			return accepting | dead
		}
		if ends && b.mode == firstMatch {
			again = false
			break
		}
	}
	if again {
		after, _ = b.begin(after)
	}
	context = beforeOther
	if syntax.IsWordChar(r) {
		context = beforeWord
	}
	next := d.state(after, context)
	if next == noRoom {
		return noRoom
	}

	return accept | next
}

// restart stands in a state for "and a match may begin here", with the least
// preference. A match that ends cuts it off.
const restart = 1<<16 - 1

// begin appends where a match begins.
func (b *builder) begin(out []uint32) (pcs []uint32, ends bool) {
	out, ends = b.closure(out, uint32(b.prog.Start), false, 0)
	if b.mode.unanchored() && !(ends && b.mode == firstMatch) {
		out = append(out, restart)
	}

	return out, ends
}

// closure appends the instructions that pc leads to without a character, in the
// order of preference and without those that this round has seen. When resolve
// is set, flags say which assertions hold; else these are appended to be
// resolved later, and so is the end of the program. ends says that it was
// reached; for firstMatch nothing is appended behind it.
func (b *builder) closure(out []uint32, pc uint32, resolve bool, flags syntax.EmptyOp) (pcs []uint32, ends bool) {
	b.work = append(b.work[:0], pc)
	for len(b.work) > 0 {
		pc := b.work[len(b.work)-1]
		b.work = b.work[:len(b.work)-1]
		if b.seen[pc] == b.round {
			continue
		}
		b.seen[pc] = b.round
		inst := &b.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			b.work = append(b.work, inst.Arg, inst.Out)
		case syntax.InstNop, syntax.InstCapture:
			b.work = append(b.work, inst.Out)
		case syntax.InstEmptyWidth:
			if !resolve {
				out = append(out, pc)
			} else if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				b.work = append(b.work, inst.Out)
			}
		case syntax.InstMatch:
			ends = true
			if !resolve {
				out = append(out, pc)
			}
			if b.mode == firstMatch {
				return out, true
			}
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}

	return out, ends
}

// state returns the state of instructions, dead when there are none and noRoom
// when there is none for it.
func (d *DFA) state(pcs []uint32, context before) uint32 {
	if len(pcs) == 0 {
		return dead
	}
	b := &d.builder
	if b.mode != firstMatch {
		slices.Sort(pcs)
	}
	asserts := slices.ContainsFunc(pcs, func(pc uint32) bool {
		return pc != restart && b.prog.Inst[pc].Op == syntax.InstEmptyWidth
	})
	if !asserts {
		context = beforeOther // it doesn't matter
	}
	b.key = append(b.key[:0], byte(context))
	for _, pc := range pcs {
		b.key = binary.LittleEndian.AppendUint16(b.key, uint16(pc))
	}
	if s, ok := b.ids[string(b.key)]; ok {
		return s
	}
	if b.full = b.full || !d.grow(len(b.key)); b.full {
		return noRoom
	}
	key := string(b.key)
	b.keys = append(b.keys, key)
	s := uint32(len(b.keys)) * b.stride // the first row is not a state's
	b.ids[key] = s

	return s
}

// grow makes room for one more state.
func (d *DFA) grow(key int) bool {
	b := &d.builder
	old := d.table.Load().next
	cost := int64(key + 80)
	need := (len(b.keys) + 2) * int(b.stride)
	if need > len(old) {
		cost += int64(4 * len(old))
	}
	if b.used += cost; b.used > freeMemory && (b.used > maxMemory || b.room.Add(-cost) < 0) {
		return false
	}
	if need <= len(old) {
		return true
	}
	next := make([]atomic.Uint32, 2*len(old))
	for i := range old {
		next[i].Store(old[i].Load())
	}
	d.table.Store(&table{next: next})

	return true
}

// Sequence is byte sets around a place that the filter found. All of them have
// to hold before anything that costs more is asked.
type Sequence struct {
	sets []*byteset.Set
	from int // where the sequence begins, from the place
}

// Sets keeps one of each set that sequences use.
type Sets map[byteset.Set]*byteset.Set

// NewSequence prepares a sequence of which the filter finds byte at.
func NewSequence(seq []byteset.Set, at int, sets Sets) Sequence {
	s := Sequence{sets: make([]*byteset.Set, len(seq)), from: -at}
	for i, set := range seq {
		kept, ok := sets[set]
		if !ok {
			one := set
			kept = &one
			sets[set] = kept
		}
		s.sets[i] = kept
	}

	return s
}

// Holds says whether the sequence is in text around the place at.
func (s *Sequence) Holds(text []byte, at int) bool {
	from := at + s.from
	if from < 0 || from+len(s.sets) > len(text) {
		return false
	}
	for i, c := range text[from : from+len(s.sets)] {
		if !s.sets[i].Has(c) {
			return false
		}
	}

	return true
}

// Memory is what the sequence holds beside itself, in bytes.
func (s *Sequence) Memory() int64 { return 8 * int64(len(s.sets)) }
