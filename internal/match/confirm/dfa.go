package confirm

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
)

// What a transition leads to. Other values are states.
const (
	unknown = 0 // it was not taken yet
	dead    = 1 // no match can come
	noRoom  = 2 // there was no room to build it, and won't be
	// firstState is above all other values.
	firstState = 3
	// accepting is where a match is sure, whatever follows.
	accepting = 1 << 31
)

// before is what stands before the place at which an automaton starts.
type before uint8

const (
	beforeText  before = iota // nothing: it is the begin of the line
	beforeWord                // a word character, as \b has it
	beforeOther               // another character
	contexts
)

// contextOf is what a character is to the place behind it.
func contextOf(c byte) before {
	if c == '\n' {
		return beforeText
	}
	if syntax.IsWordChar(rune(c)) {
		return beforeWord
	}

	return beforeOther
}

// DFA is the program of a pattern as an automaton that is in one state at a
// time. A state is the instructions at which the program may be, and what was
// before the next character when one of them is an assertion. It is built while
// it runs: states and transitions are added when a text needs them for the first
// time, and stay, so that a byte then costs two loads.
//
// It is safe for concurrent use. Readers take the table as they find it, by
// atomic loads, and lock only to add to it. A table that is full is replaced by
// a larger copy; readers of the old one find out at their next gap.
type DFA struct {
	anywhere bool // whether matches may begin behind the start
	prog     *syntax.Prog
	classes  *classes
	starts   [contexts]uint32
	table    atomic.Pointer[table]
	stride   uint32 // transitions of a state: one for each class
	room     *atomic.Int64

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

// table is transitions by state and class. A state is the index of its first.
type table []atomic.Uint32

const (
	// maxMemory bounds an automaton, in bytes. Few need a tenth of it; those that
	// need more would need much more.
	maxMemory = 4 << 20
	// freeMemory is what each automaton may have, in bytes, however much others
	// took: it is enough for nearly all of them.
	freeMemory = 4 << 10
)

// maxProgram bounds the instructions of a program with an automaton; they are
// numbered by 16 bits.
const maxProgram = 20_000

// automata are nil where there is none of a sensible size.
type automata struct{ here, anywhere *DFA }

func newAutomata(tree *syntax.Regexp, size int, room *atomic.Int64) (a automata) {
	if size > maxProgram || !take(room, progSize(size, RangesOf(tree))) {
		return a
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return a
	}
	c, ok := newClasses(prog)
	if !ok {
		return a
	}
	a.here = newDFA(prog, c, false, room)
	if a.anywhere = a.here; prog.StartCond()&syntax.EmptyBeginText == 0 {
		a.anywhere = newDFA(prog, c, true, room)
	}

	return a
}

// newDFA makes an automaton of a program and its classes. room is the memory that
// it shares with others, in bytes.
func newDFA(prog *syntax.Prog, c *classes, anywhere bool, room *atomic.Int64) *DFA {
	stride := max(len(c.runes), firstState)
	d := &DFA{
		anywhere: anywhere,
		prog:     prog,
		classes:  c,
		stride:   uint32(stride),
		room:     room,
		ids:      map[string]uint32{},
		seen:     make([]uint32, len(prog.Inst)),
	}
	t := make(table, 8*stride)
	d.table.Store(&t)

	for context := range contexts {
		d.round++
		d.starts[context] = accepting
		if pcs, ends := d.closure(nil, uint32(prog.Start), false, 0); !ends {
			d.starts[context] = d.state(pcs, context)
		}
	}

	return d
}

// startAt is the state in which matching starts at text[at].
func (d *DFA) startAt(text []byte, at int) uint32 {
	if at == 0 {
		return d.starts[beforeText]
	}

	return d.starts[contextOf(text[at-1])]
}

// Match says whether the program matches a line from text[at] on: there, or
// anywhere behind when the automaton is not anchored. The line goes on to its
// ending or the end of the text, and text[at-1], if any, is before it or of it.
// steps is how many bytes it looked at, and stepsOfBuild for each transition
// that it built. ok is false when there is no automaton, or it has become too
// large to say.
func (d *DFA) Match(text []byte, at int) (match bool, steps int, ok bool) {
	if d == nil {
		return false, 0, false
	}
	s := d.startAt(text, at)
	t := *d.table.Load()
	i := at

	for isState(s) {
		// Most bytes go through this loop.
		for class := d.classes; i < len(text); i++ {
			c := class.bytes[text[i]]
			if c == wide {
				break
			}
			next := t[s+uint32(c)].Load()
			if !isState(next) {
				break
			}
			s = next
		}
		var built int
		s, i, t, built = d.step(t, s, text, i)
		steps += built
	}

	return s == accepting, steps + i - at, s != noRoom
}

// groupLooks is how many bytes MayMatch looks at, about: what it does not tell by
// then the programs of a group are asked themselves.
const groupLooks = 64

// MayMatch says whether a match may begin at text[at]: false is sure. steps is
// how many bytes it looked at.
func (d *DFA) MayMatch(text []byte, at int) (may bool, steps int) {
	if d == nil || at+groupLooks >= len(text) {
		match, steps, ok := d.Match(text, at)
		return match || !ok, steps
	}
	s := d.startAt(text, at)
	t := *d.table.Load()
	i := at

	for end := at + groupLooks; isState(s) && i < end; {
		var built int
		s, i, t, built = d.step(t, s, text, i)
		steps += built
	}

	return s != dead, steps + i - at
}

// stepsOfBuild is how many bytes it counts as to build a transition: about as long
// as it takes.
const stepsOfBuild = 1500

// step takes one transition, whatever it is. built is what it counts as to have
// built it.
func (d *DFA) step(t table, s uint32, text []byte, i int) (state uint32, next int, _ table, built int) {
	class, width := uint8(endClass), 0
	if i < len(text) {
		if class, width = d.classes.bytes[text[i]], 1; class == wide {
			class, width = d.classes.at(text, i)
		}
	}
	state = t[s+uint32(class)].Load()
	if state == unknown {
		state, t = d.build(s, class)
		built = stepsOfBuild
	}

	return state, i + width, t, built
}

// isState says whether a value is a state.
func isState(s uint32) bool { return s-firstState < accepting-firstState }

// build adds the transition of state s on a class. It returns where it leads,
// noRoom when there is none for that, and the table as it now is.
func (d *DFA) build(s uint32, class uint8) (next uint32, t table) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t = *d.table.Load()
	if next = t[s+uint32(class)].Load(); next != unknown {
		return next, t
	}
	next = d.follow(d.keys[s/d.stride-1], class)
	t = *d.table.Load() // a new state may have made it larger
	t[s+uint32(class)].Store(next)

	return next, t
}

// follow finds what follows a state, given by its key, on a class.
func (d *DFA) follow(key string, class uint8) uint32 {
	r := d.classes.runes[class]
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
	d.round++
	var ready []uint32

	for ; len(pcs) > 0; pcs = pcs[2:] {
		var ends bool
		if ready, ends = d.closure(ready, uint32(pcs[0])|uint32(pcs[1])<<8, true, flags); ends {
			return accepting
		}
	}
	if class == endClass {
		return dead
	}

	d.round++
	var after []uint32
	for _, pc := range ready {
		inst := &d.prog.Inst[pc]
		if !inst.MatchRune(r) {
			continue
		}
		var ends bool
		if after, ends = d.closure(after, inst.Out, false, 0); ends {
			return accepting
		}
	}
	if d.anywhere {
		after, _ = d.closure(after, uint32(d.prog.Start), false, 0)
	}
	context = beforeOther
	if syntax.IsWordChar(r) {
		context = beforeWord
	}

	return d.state(after, context)
}

// closure appends the instructions that pc leads to without a character, without
// those that this round has seen. When resolve is set, flags say which assertions
// hold; else these are appended to be resolved later. ends says that the end of
// the program was reached, and that all else is of no meaning.
func (d *DFA) closure(out []uint32, pc uint32, resolve bool, flags syntax.EmptyOp) (pcs []uint32, ends bool) {
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
			if !resolve {
				out = append(out, pc)
			} else if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				d.work = append(d.work, inst.Out)
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

// state returns the state of instructions, dead when there are none and noRoom
// when there is none for it.
func (d *DFA) state(pcs []uint32, context before) uint32 {
	if len(pcs) == 0 {
		return dead
	}
	slices.Sort(pcs)
	asserts := slices.ContainsFunc(pcs, func(pc uint32) bool { return d.prog.Inst[pc].Op == syntax.InstEmptyWidth })
	if !asserts {
		context = beforeOther // it doesn't matter
	}
	d.key = append(d.key[:0], byte(context))

	for _, pc := range pcs {
		d.key = binary.LittleEndian.AppendUint16(d.key, uint16(pc))
	}
	if s, ok := d.ids[string(d.key)]; ok {
		return s
	}
	if d.full = d.full || !d.grow(len(d.key)); d.full {
		return noRoom
	}
	key := string(d.key)
	d.keys = append(d.keys, key)
	s := uint32(len(d.keys)) * d.stride // the first row is not a state's
	d.ids[key] = s

	return s
}

// grow makes room for one more state.
func (d *DFA) grow(key int) bool {
	old := *d.table.Load()
	cost := int64(key + 80)
	need := (len(d.keys) + 2) * int(d.stride)
	if need > len(old) {
		cost += int64(4 * len(old))
	}
	if d.used += cost; d.used > freeMemory && (d.used > maxMemory || d.room.Add(-cost) < 0) {
		return false
	}
	if need <= len(old) {
		return true
	}
	next := make(table, 2*len(old))

	for i := range old {
		next[i].Store(old[i].Load())
	}
	d.table.Store(&next)

	return true
}
