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
	noRoom  = 2 // there was no room to keep it, and won't be
	// firstState is above all other values.
	firstState = 3
	// accepting is where a match is sure, whatever follows.
	accepting = 1 << 31
)

// before is what stands before the place at which an automaton starts.
type before uint8

const (
	beforeText  before = iota // nothing: it is the begin of the line, or of the text
	beforeLine                // the end of a line, in a text that has several
	beforeWord                // a word character, as \b has it
	beforeOther               // another character
	contexts
)

// DFA is the program of a pattern as an automaton that is in one state at a
// time. A state is the instructions at which the program may be, and what was
// before the next character when one of them is an assertion. It is built while
// it runs: states and transitions are added when a text needs them for the first
// time, and stay, so that a byte then costs two loads.
//
// What it says, and in how many steps, depends on the program and the text alone:
// where there is no room for another state, it goes on without keeping states.
//
// It is safe for concurrent use. Readers take the table as they find it, by
// atomic loads, and lock only to add to it. A table that is full is replaced by
// a larger copy; readers of the old one find out at their next gap.
type DFA struct {
	anywhere bool // whether matches may begin behind the start
	text     bool // whether it looks at a text of several lines, else at one line
	prog     *syntax.Prog
	classes  *classes
	starts   [contexts]uint32
	table    atomic.Pointer[table]
	stride   uint32 // transitions of a state: one for each class
	room     *Room
	start    []uint32  // instructions at the start
	spare    sync.Pool // of *scratch, for those who go on without states

	mu    sync.Mutex        // for all that follows, and for writing the table
	ids   map[string]uint32 // states by key
	keys  []string          // by state
	used  int64             // memory
	full  bool
	build *scratch
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

// hasAutomata says whether a program of so many instructions and ranges has automata,
// and keeps the room for it. It is asked for programs in their order, so that it says
// the same each time that they are compiled.
func hasAutomata(size, ranges int, room *Room) bool {
	return size <= maxProgram && take(&room.programs, progSize(size, ranges))
}

// automata are nil where there is none of a sensible size.
type automata struct{ here, anywhere *DFA }

// newAutomata makes automata for single lines, or one for whole texts.
func newAutomata(tree *syntax.Regexp, text bool, room *Room) (a automata) {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return a
	}
	c, ok := newClasses(prog, text)
	if !ok {
		return a
	}
	if text {
		a.anywhere = newDFA(prog, c, true, room)
		return a
	}

	a.here = newDFA(prog, c, false, room)
	if a.anywhere = a.here; prog.StartCond()&syntax.EmptyBeginText == 0 {
		a.anywhere = newDFA(prog, c, true, room)
	}

	return a
}

// newDFA makes an automaton of a program and its classes. room is the memory that
// it shares with others.
func newDFA(prog *syntax.Prog, c *classes, anywhere bool, room *Room) *DFA {
	stride := max(len(c.runes), firstState)
	d := &DFA{
		anywhere: anywhere,
		text:     c.text,
		prog:     prog,
		classes:  c,
		stride:   uint32(stride),
		room:     room,
		ids:      map[string]uint32{},
		build:    newScratch(prog),
	}
	d.spare.New = func() any { return newScratch(prog) }
	t := make(table, 8*stride)
	d.table.Store(&t)

	d.build.begin()
	pcs, ends := d.build.closure(prog, nil, uint32(prog.Start), false, 0)
	d.start = pcs
	for context := range contexts {
		d.starts[context] = accepting
		if !ends {
			d.starts[context] = d.state(slices.Clone(pcs), context)
		}
	}

	return d
}

// contextAt is what stands before text[at].
func (d *DFA) contextAt(text []byte, at int) before {
	switch {
	case at == 0 || !d.text && text[at-1] == '\n':
		return beforeText
	case text[at-1] == '\n':
		return beforeLine
	case syntax.IsWordChar(rune(text[at-1])):
		return beforeWord
	}

	return beforeOther
}

// Match says whether the program matches from text[at] on: there, or anywhere
// behind when the automaton is not anchored. An automaton for lines takes text[at]
// as part of a line, which goes on to its ending or the end of the text, and
// text[at-1], if any, is before it or of it. steps is how many bytes it looked at.
// ok is false when there is no automaton. When done is closed, the answer may be
// wrong.
func (d *DFA) Match(text []byte, at int, done <-chan struct{}) (match bool, steps int, ok bool) {
	if d == nil {
		return false, 0, false
	}
	s, i := d.starts[d.contextAt(text, at)], at
	if s == noRoom {
		s, i = d.walk(walk{text: text, until: len(text) + 1, done: done}, s, i)
	}
	t := *d.table.Load()

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
		last, from := s, i
		if s, i, t = d.step(t, s, text, i); s == noRoom {
			s, i = d.walk(walk{text: text, until: len(text) + 1, done: done}, last, from)
			t = *d.table.Load()
		}
	}

	return s == accepting, i - at, true
}

// groupLooks is how many bytes MayMatch looks at, about: what it does not tell by
// then the programs of a group are asked themselves.
const groupLooks = 64

// MayMatch says whether a match may begin at text[at]: false is sure. steps is
// how many bytes it looked at.
func (d *DFA) MayMatch(text []byte, at int) (may bool, steps int) {
	if d == nil || at+groupLooks >= len(text) {
		match, steps, ok := d.Match(text, at, nil)
		return match || !ok, steps
	}
	end := at + groupLooks
	s, i := d.starts[d.contextAt(text, at)], at
	if s == noRoom {
		s, i = d.walk(walk{text: text, until: end}, s, i)
	}
	t := *d.table.Load()

	for isState(s) && i < end {
		last, from := s, i
		if s, i, t = d.step(t, s, text, i); s == noRoom {
			s, i = d.walk(walk{text: text, until: end}, last, from)
			t = *d.table.Load()
		}
	}

	return s != dead, i - at
}

// classAt is the class of what is at text[i], and the number of its bytes.
func (d *DFA) classAt(text []byte, i int) (class uint8, width int) {
	if i >= len(text) {
		return endClass, 0
	}
	if class = d.classes.bytes[text[i]]; class != wide {
		return class, 1
	}

	return d.classes.at(text, i)
}

// step takes one transition, whatever it is.
func (d *DFA) step(t table, s uint32, text []byte, i int) (state uint32, next int, _ table) {
	class, width := d.classAt(text, i)
	if state = t[s+uint32(class)].Load(); state == unknown {
		state, t = d.add(s, class)
	}

	return state, i + width, t
}

// isState says whether a value is a state.
func isState(s uint32) bool { return s-firstState < accepting-firstState }

// add adds the transition of state s on a class. It returns where it leads,
// noRoom when there is none for that, and the table as it now is.
func (d *DFA) add(s uint32, class uint8) (next uint32, t table) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t = *d.table.Load()
	if next = t[s+uint32(class)].Load(); next != unknown {
		return next, t
	}

	context := d.build.read(d.keys[s/d.stride-1])
	if next, context = d.follow(d.build, context, class); next == unknown {
		next = d.state(d.build.after, context)
	}
	t = *d.table.Load() // a new state may have made it larger
	t[s+uint32(class)].Store(next)

	return next, t
}

// follow puts what follows the instructions in s.from on a class into s.after.
// end is unknown, or accepting or dead where nothing follows.
func (d *DFA) follow(s *scratch, context before, class uint8) (end uint32, next before) {
	r := d.classes.runes[class]
	word := class != endClass && syntax.IsWordChar(r)

	// What the assertions demand can be told now that the next character is
	// known.
	flags := syntax.EmptyNoWordBoundary
	if (context == beforeWord) != word {
		flags = syntax.EmptyWordBoundary
	}
	switch context {
	case beforeText:
		flags |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	case beforeLine:
		flags |= syntax.EmptyBeginLine
	}
	switch {
	case class == endClass:
		flags |= syntax.EmptyEndText | syntax.EmptyEndLine
	case d.text && r == '\n':
		flags |= syntax.EmptyEndLine
	}

	s.begin()
	s.ready, s.after = s.ready[:0], s.after[:0]
	ends := false
	for _, pc := range s.from {
		if s.ready, ends = s.closure(d.prog, s.ready, pc, true, flags); ends {
			return accepting, 0
		}
	}
	if class == endClass {
		return dead, 0
	}

	s.begin()
	for _, pc := range s.ready {
		inst := &d.prog.Inst[pc]
		if !inst.MatchRune(r) {
			continue
		}
		if s.after, ends = s.closure(d.prog, s.after, inst.Out, false, 0); ends {
			return accepting, 0
		}
	}
	if d.anywhere {
		s.after, _ = s.closure(d.prog, s.after, uint32(d.prog.Start), false, 0)
	}

	switch {
	case len(s.after) == 0:
		return dead, 0
	case word:
		return unknown, beforeWord
	case d.text && r == '\n':
		return unknown, beforeLine
	}

	return unknown, beforeOther
}

// setKey makes the key of the state of instructions, which it sorts.
func (d *DFA) setKey(s *scratch, pcs []uint32, context before) {
	slices.Sort(pcs)
	asserts := slices.ContainsFunc(pcs, func(pc uint32) bool { return d.prog.Inst[pc].Op == syntax.InstEmptyWidth })
	if !asserts {
		context = beforeOther // it doesn't matter
	}

	s.key = append(s.key[:0], byte(context))
	for _, pc := range pcs {
		s.key = binary.LittleEndian.AppendUint16(s.key, uint16(pc))
	}
}

// state returns the state of instructions, dead when there are none and noRoom
// when there is none for it.
func (d *DFA) state(pcs []uint32, context before) uint32 {
	if len(pcs) == 0 {
		return dead
	}
	d.setKey(d.build, pcs, context)
	if s, ok := d.ids[string(d.build.key)]; ok {
		return s
	}
	if d.full = d.full || !d.grow(len(d.build.key)); d.full {
		return noRoom
	}
	key := string(d.build.key)
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
	if d.used += cost; d.used > freeMemory && (d.used > maxMemory || d.room.left.Add(-cost) < 0) {
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
