package confirm

import (
	"regexp/syntax"
	"slices"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// What a transition leads to. Other values are states.
const (
	unknown = 0 // it was not taken yet
	dead    = 1 // no match can come, or none but what was found
	noRoom  = 2 // there was no room to build it, and won't be
	// firstState is above all other values.
	firstState = 3
	// accepting is set when a match ends before the character of the transition.
	// (An automaton that asks only whether there is a match sets it as soon as
	// that is sure.)
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
// time. It is built while it runs: states and transitions are added when a text
// needs them for the first time, and stay, so that a byte then costs two loads.
//
// It is safe for concurrent use. Readers take the table as they find it, by
// atomic loads, and lock only to add to it. A table that is full is replaced by
// a larger copy; readers of the old one find out at their next gap.
type DFA struct {
	classes *classes
	table   atomic.Pointer[table]
	starts  [contexts]atomic.Uint32 // unknown when not built yet
	builder builder
}

// table is transitions by state and class. A state is the index of its first.
type table struct{ next []atomic.Uint32 }

// newDFA makes an automaton, or nil when there is none of a sensible size. room
// is the memory that it shares with others, in bytes.
func newDFA(prog *syntax.Prog, m mode, room *atomic.Int64) *DFA {
	c, ok := newClasses(prog)
	if !ok {
		return nil
	}
	d := &DFA{classes: c}
	stride := max(len(c.runes), firstState)
	d.table.Store(&table{next: make([]atomic.Uint32, 8*stride)})
	d.builder = builder{
		mode:   m,
		prog:   prog,
		stride: uint32(stride),
		room:   room,
		ids:    map[string]uint32{},
		seen:   make([]uint32, len(prog.Inst)),
	}

	return d
}

// start returns the state in which matching starts.
func (d *DFA) start(context before) uint32 {
	s := d.starts[context].Load()
	if s == unknown {
		s = d.buildStart(context)
	}

	return s
}

// startAt is the state in which matching starts at text[at].
func (d *DFA) startAt(text []byte, at int) uint32 {
	if at == 0 {
		return d.start(beforeText)
	}

	return d.start(contextOf(text[at-1]))
}

// Match says whether the program matches a line from text[at] on: there, or
// anywhere behind when the automaton is not anchored. The line goes on to its
// ending or the end of the text, and text[at-1], if any, is before it or of it.
// steps is how many bytes it looked at, and stepsOfBuild for each transition
// that it built. ok is false when the automaton has become too large to say.
func (d *DFA) Match(text []byte, at int) (match bool, steps int, ok bool) {
	s := d.startAt(text, at)
	t := d.table.Load()
	i := at
	for isState(s) {
		// Most bytes go through this loop.
		for class := d.classes; i < len(text); i++ {
			c := class.bytes[text[i]]
			if c == wide {
				break
			}
			next := t.next[s+uint32(c)].Load()
			if !isState(next) {
				break
			}
			s = next
		}
		var built int
		s, i, t, built = d.step(t, s, text, i)
		steps += built
	}

	return s >= accepting, steps + i - at, s != noRoom
}

// stepsOfBuild is how many bytes it counts as to build a transition: about as long
// as it takes.
const stepsOfBuild = 1500

// step takes one transition, whatever it is. built is what it counts as to have
// built it.
func (d *DFA) step(t *table, s uint32, text []byte, i int) (state uint32, next int, _ *table, built int) {
	class, width := uint8(endClass), 0
	if i < len(text) {
		if class, width = d.classes.bytes[text[i]], 1; class == wide {
			class, width = d.classes.forward(text, i)
		}
	}
	state = t.next[s+uint32(class)].Load()
	if state == unknown {
		state, t = d.build(s, class)
		built = stepsOfBuild
	}

	return state, i + width, t, built
}

// MayMatch says whether a match may begin at text[at]: false is sure. It looks
// at limit bytes or a few more, and steps is how many.
func (d *DFA) MayMatch(text []byte, at, limit int) (may bool, steps int) {
	if at+limit >= len(text) {
		match, steps, ok := d.Match(text, at)
		return match || !ok, steps
	}
	s := d.startAt(text, at)
	t := d.table.Load()
	i := at
	for end := at + limit; isState(s) && i < end; {
		var built int
		s, i, t, built = d.step(t, s, text, i)
		steps += built
	}

	return s != dead, steps + i - at
}

// isState says whether a value is a state, and nothing was accepted.
func isState(s uint32) bool { return s-firstState < accepting-firstState }

// End returns where the match ends that regexp would choose on a line, which
// is without its ending, of those that begin at an offset or behind. ok is false
// when there is none, or when the automaton has become too large to say.
func (d *DFA) End(line []byte, from int) (end int, ok bool) {
	return d.last(line, d.startAt(line, from), from, +1)
}

// Begin returns where the longest match begins that ends at an offset of a
// line. The automaton is that of the pattern backwards.
func (d *DFA) Begin(line []byte, end int) (begin int, ok bool) {
	context := beforeText
	if end < len(line) {
		context = contextOf(line[end])
	}

	return d.last(line, d.start(context), end, -1)
}

// last runs over a line from an offset on in one direction, and returns where
// it was when it accepted for the last time.
func (d *DFA) last(line []byte, s uint32, at, direction int) (found int, ok bool) {
	t := d.table.Load()
	for s >= firstState {
		class, width := uint8(endClass), 0
		switch {
		case direction > 0 && at < len(line):
			if class, width = d.classes.bytes[line[at]], 1; class == wide {
				class, width = d.classes.forward(line, at)
			}
		case direction < 0 && at > 0:
			if class, width = d.classes.bytes[line[at-1]], 1; class == wide {
				class, width = d.classes.back(line, at)
			}
		}
		next := t.next[s+uint32(class)].Load()
		if next == unknown {
			next, t = d.build(s, class)
		}
		if next >= accepting {
			found, ok = at, true
		}
		s = next &^ accepting
		at += direction * width
	}

	return found, ok && s == dead
}

const (
	// endClass is the class of the end of the text.
	endClass = 0
	// wide stands in the table of bytes for those that do not tell the class by
	// themselves: "\r", and the bytes of characters beyond ASCII.
	wide = 0xFF
	// maxClasses bounds the classes of a pattern; few have more than 30.
	maxClasses = 200
)

// classes divides the characters into those that a program can't tell apart.
type classes struct {
	bytes  [256]uint8 // class of an ASCII character, or wide
	cr     uint8      // class of "\r", which may be of the line's ending instead
	bounds []rune     // first characters of the ranges beyond ASCII, ascending
	of     []uint8    // class of each of these ranges
	runes  []rune     // by class: one of its characters
}

// newClasses finds the classes of a program; ok is false when they are too many.
func newClasses(prog *syntax.Prog) (c *classes, ok bool) {
	bounds := []rune{0, utf8.RuneSelf}
	var consuming []*syntax.Inst
	words := false
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
			consuming = append(consuming, inst)
			bounds = appendBounds(bounds, inst)
		case syntax.InstRuneAny:
			consuming = append(consuming, inst)
		case syntax.InstRuneAnyNotNL:
			consuming = append(consuming, inst)
			bounds = append(bounds, '\n', '\n'+1)
		case syntax.InstEmptyWidth:
			words = words || syntax.EmptyOp(inst.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
	}
	if words {
		bounds = append(bounds, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)

	c = &classes{runes: []rune{-1}}
	known := map[string]uint8{}
	signature := make([]byte, (len(consuming)+8)/8)
	for i, r := range bounds {
		if r > unicode.MaxRune {
			break
		}
		clear(signature)
		for k, inst := range consuming {
			if inst.MatchRune(r) {
				signature[k/8] |= 1 << (k % 8)
			}
		}
		if words && syntax.IsWordChar(r) {
			signature[len(consuming)/8] |= 1 << (len(consuming) % 8)
		}
		class, found := known[string(signature)]
		if !found {
			if len(c.runes) == maxClasses {
				return nil, false
			}
			class = uint8(len(c.runes))
			known[string(signature)] = class
			c.runes = append(c.runes, r)
		}
		if r >= utf8.RuneSelf {
			c.bounds, c.of = append(c.bounds, r), append(c.of, class)
			continue
		}
		end := rune(utf8.RuneSelf)
		if i+1 < len(bounds) {
			end = min(end, bounds[i+1])
		}
		for ; r < end; r++ {
			c.bytes[r] = class
		}
	}
	for b := utf8.RuneSelf; b < 256; b++ {
		c.bytes[b] = wide
	}
	c.bytes['\n'] = endClass
	c.cr, c.bytes['\r'] = c.bytes['\r'], wide

	return c, true
}

// appendBounds adds the places between characters at which an instruction may
// change its mind.
func appendBounds(bounds []rune, inst *syntax.Inst) []rune {
	if len(inst.Rune) == 1 {
		r := inst.Rune[0]
		bounds = append(bounds, r, r+1)
		if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				bounds = append(bounds, f, f+1)
			}
		}

		return bounds
	}
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		bounds = append(bounds, inst.Rune[i], inst.Rune[i+1]+1)
	}

	return bounds
}

// forward is the class of what is at text[i], where the class of the byte is
// wide, and the number of its bytes.
func (c *classes) forward(text []byte, i int) (class uint8, width int) {
	if text[i] == '\r' {
		if i+1 < len(text) && text[i+1] == '\n' {
			return endClass, 0
		}

		return c.cr, 1
	}
	r, width := utf8.DecodeRune(text[i:])

	return c.beyond(r), width
}

// back is the same for what ends before text[i].
func (c *classes) back(text []byte, i int) (class uint8, width int) {
	if text[i-1] == '\r' {
		return c.cr, 1
	}
	r, width := utf8.DecodeLastRune(text[:i])

	return c.beyond(r), width
}

// beyond is the class of a character beyond ASCII.
func (c *classes) beyond(r rune) uint8 {
	i, found := slices.BinarySearch(c.bounds, r)
	if !found {
		i--
	}

	return c.of[i]
}
