package confirm

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// What a transition leads to, other than a state.
const (
	unknown = 0 // it was not taken yet
	dead    = 1 // no match can come
	matched = 2
	// special is the first value that is a state.
	special = 3
)

// before is what stands before the place at which a match begins.
type before uint8

const (
	beforeText  before = iota // nothing: it begins at the begin of the line
	beforeWord                // a word character, as \b has it
	beforeOther               // another character
	contexts
)

// DFA is the program of a pattern as an automaton that is in one state at a
// time. It is built while it runs: states and transitions are added when a text
// needs them for the first time, and stay, so that a byte then costs two loads.
//
// It is safe for concurrent use. Readers take the table as they find it, by
// atomic loads, and lock only to add to it. A table that is full is replaced by
// a larger copy; readers of the old one find out at their next gap.
type DFA struct {
	prog       *syntax.Prog
	classes    *classes
	stride     uint32 // transitions of a state: one for each class
	unanchored bool   // matches may begin anywhere, not only at the first byte
	room       *atomic.Int64

	table  atomic.Pointer[table]
	starts [contexts]atomic.Uint32 // unknown when not built yet

	mu    sync.Mutex // for what follows, and for writing
	ids   map[string]uint32
	sets  [][]byte // by state: its key
	full  bool
	work  []uint32 // instructions that a closure is yet to look at
	seen  []uint32 // by instruction: the closure that saw it last
	round uint32
}

// table is transitions by state and class. A state is the index of its first.
type table struct{ next []atomic.Uint32 }

// newDFA makes an automaton, or says that there is none of a sensible size.
// room is the memory that it shares with others, in bytes.
func newDFA(prog *syntax.Prog, unanchored bool, room *atomic.Int64) (*DFA, bool) {
	c, ok := newClasses(prog)
	if !ok {
		return nil, false
	}
	d := &DFA{
		prog:       prog,
		classes:    c,
		stride:     max(uint32(len(c.runes)), special),
		unanchored: unanchored,
		room:       room,
		ids:        map[string]uint32{},
		seen:       make([]uint32, len(prog.Inst)),
	}
	d.table.Store(&table{next: make([]atomic.Uint32, 8*d.stride)})
	return d, room.Add(-int64(4*8*d.stride)-1024) > 0
}

// Match says whether the program matches text from at on: there, or anywhere
// behind when the automaton is not anchored. steps is how many bytes it looked
// at. ok is false when the automaton has become too large to say.
func (d *DFA) Match(text []byte, at int) (match bool, steps int, ok bool) {
	context := beforeText
	if at > 0 {
		context = beforeOther
		if syntax.IsWordChar(rune(text[at-1])) {
			context = beforeWord
		}
	}
	s := d.starts[context].Load()
	if s == unknown {
		s = d.start(context)
	}
	t := d.table.Load()
	i := at
	for s >= special && i < len(text) {
		class := d.classes.bytes[text[i]]
		if class != wide {
			i++
		} else {
			r, width := utf8.DecodeRune(text[i:])
			class = d.classes.beyond(r)
			i += width
		}
		next := t.next[s+uint32(class)].Load()
		if next == unknown {
			next, t = d.build(s, class)
		}
		s = next
	}
	if s >= special {
		next := t.next[s+endClass].Load()
		if next == unknown {
			next, _ = d.build(s, endClass)
		}
		s = next
	}
	return s == matched, i - at, s != unknown
}

// start builds the state in which matching begins.
func (d *DFA) start(context before) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.round++
	pcs, match := d.closure(nil, uint32(d.prog.Start), 0)
	s := uint32(matched)
	if !match {
		s = d.state(pcs, context)
	}
	d.starts[context].Store(s)
	return s
}

// build adds the transition of state s on a class. It returns where it leads,
// unknown when there is no room for that, and the table as it now is.
func (d *DFA) build(s uint32, class uint8) (next uint32, t *table) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t = d.table.Load()
	if next = t.next[s+uint32(class)].Load(); next != unknown {
		return next, t
	}
	next = d.step(d.sets[s/d.stride-1], class)
	t = d.table.Load() // a new state may have made it larger
	t.next[s+uint32(class)].Store(next)
	return next, t
}

// step finds the state that follows another, given by its key, on a class.
func (d *DFA) step(key []byte, class uint8) uint32 {
	r := d.classes.runes[class]
	context, pcs := before(key[0]), key[1:]

	// What the assertions demand can be told now that the next character is
	// known.
	flags := syntax.EmptyOp(0)
	switch {
	case context == beforeText:
		flags |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	if class == endClass {
		flags |= syntax.EmptyEndText | syntax.EmptyEndLine
	}
	if (context == beforeWord) != (class != endClass && syntax.IsWordChar(r)) {
		flags |= syntax.EmptyWordBoundary
	} else {
		flags |= syntax.EmptyNoWordBoundary
	}
	d.round++
	var ready []uint32
	for len(pcs) > 0 {
		var match bool
		if ready, match = d.closure(ready, binary.LittleEndian.Uint32(pcs), flags); match {
			return matched
		}
		pcs = pcs[4:]
	}
	if class == endClass {
		return dead
	}

	d.round++
	var after []uint32
	for _, pc := range ready {
		inst := &d.prog.Inst[pc]
		if !consumes(inst) || !inst.MatchRune(r) {
			continue
		}
		var match bool
		if after, match = d.closure(after, inst.Out, 0); match {
			return matched
		}
	}
	if d.unanchored {
		after, _ = d.closure(after, uint32(d.prog.Start), 0)
	}
	context = beforeOther
	if syntax.IsWordChar(r) {
		context = beforeWord
	}
	return d.state(after, context)
}

func consumes(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// closure appends the instructions that pc leads to without a character, other
// than those that this round has seen: characters, and assertions that flags
// don't grant. match says that the program's end is one of them.
func (d *DFA) closure(out []uint32, pc uint32, flags syntax.EmptyOp) (pcs []uint32, match bool) {
	d.work = append(d.work[:0], pc)
	for len(d.work) > 0 {
		pc := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		if d.seen[pc] == d.round {
			continue
		}
		d.seen[pc] = d.round
		inst := &d.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.work = append(d.work, inst.Arg, inst.Out)
		case syntax.InstNop, syntax.InstCapture:
			d.work = append(d.work, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				d.work = append(d.work, inst.Out)
			} else if flags == 0 {
				out = append(out, pc) // to be decided when the next character is known
			}
		case syntax.InstMatch:
			return out, true
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}
	return out, false
}

// state returns the state of a set of instructions, dead when there are none
// and unknown when there is no room for it.
func (d *DFA) state(pcs []uint32, context before) uint32 {
	if len(pcs) == 0 {
		return dead
	}
	slices.Sort(pcs)
	asserts := slices.ContainsFunc(pcs, func(pc uint32) bool { return d.prog.Inst[pc].Op == syntax.InstEmptyWidth })
	if !asserts {
		context = beforeOther // it doesn't matter
	}
	key := make([]byte, 1, 1+4*len(pcs))
	key[0] = byte(context)
	for _, pc := range pcs {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if s, ok := d.ids[string(key)]; ok {
		return s
	}
	if d.full || !d.grow(len(key)) {
		d.full = true
		return unknown
	}
	d.sets = append(d.sets, key)
	s := uint32(len(d.sets)) * d.stride // the first row is not a state's: it holds special
	d.ids[string(key)] = s
	return s
}

// grow makes room for one more state.
func (d *DFA) grow(key int) bool {
	old := d.table.Load().next
	cost := int64(2*key + 100)
	need := (len(d.sets) + 2) * int(d.stride)
	if need > len(old) {
		cost += int64(4 * len(old))
	}
	if len(d.sets) >= maxStates || d.room.Add(-cost) < 0 {
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

// maxStates bounds an automaton.
const maxStates = 4000
