package confirm

import "regexp/syntax"

// scratch is what it takes to find what follows a state.
type scratch struct {
	from  []uint32 // instructions before a character
	ready []uint32 // those that look at the character
	after []uint32 // instructions behind it
	work  []uint32 // those that a closure is yet to look at
	seen  []uint32 // by instruction: the round that saw it last
	round uint32
	key   []byte
}

func newScratch(prog *syntax.Prog) *scratch { return &scratch{seen: make([]uint32, len(prog.Inst))} }

// begin begins a round, in which a closure looks at each instruction once.
func (s *scratch) begin() {
	if s.round++; s.round == 0 {
		clear(s.seen)
		s.round = 1
	}
}

// read puts the instructions of a state into from.
func (s *scratch) read(key string) before {
	s.from = s.from[:0]
	for pcs := key[1:]; len(pcs) > 0; pcs = pcs[2:] {
		s.from = append(s.from, uint32(pcs[0])|uint32(pcs[1])<<8)
	}

	return before(key[0])
}

// closure appends the instructions that pc leads to without a character, without
// those that this round has seen. When resolve is set, flags say which assertions
// hold; else these are appended to be resolved later. ends says that the end of
// the program was reached, and that all else is of no meaning.
func (s *scratch) closure(
	prog *syntax.Prog, out []uint32, pc uint32, resolve bool, flags syntax.EmptyOp,
) (pcs []uint32, ends bool) {
	s.work = append(s.work[:0], pc)
	for len(s.work) > 0 {
		pc := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		if s.seen[pc] == s.round {
			continue
		}
		s.seen[pc] = s.round
		inst := &prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			s.work = append(s.work, inst.Arg, inst.Out)
		case syntax.InstNop, syntax.InstCapture:
			s.work = append(s.work, inst.Out)
		case syntax.InstEmptyWidth:
			if !resolve {
				out = append(out, pc)
			} else if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				s.work = append(s.work, inst.Out)
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

// walk is a way through a text without keeping states.
type walk struct {
	text  []byte
	until int // where it may end
	done  <-chan struct{}
}

// walkSteps is after how many characters a walk looks whether it has come to a
// state that is there, and whether it is to end.
const walkSteps = 256

// walk goes on from a state at text[i], or from the start when state is noRoom,
// until it knows the answer, comes to a state that is there, or to the walk's end,
// where it returns noRoom.
func (d *DFA) walk(w walk, state uint32, i int) (next uint32, at int) {
	s := d.spare.Get().(*scratch)
	defer d.spare.Put(s)
	context := d.contextAt(w.text, i)
	if state == noRoom {
		s.from = append(s.from[:0], d.start...)
	} else {
		d.mu.Lock()
		key := d.keys[state/d.stride-1]
		d.mu.Unlock()
		context = s.read(key)
	}

	for n := 1; ; n++ {
		class, width := d.classAt(w.text, i)
		end, behind := d.follow(s, context, class)
		if i += width; end != unknown {
			return end, i
		}
		s.from, s.after = s.after, s.from
		if context = behind; i >= w.until {
			return noRoom, i
		}
		if n%walkSteps > 0 {
			continue
		}

		select {
		case <-w.done:
			return dead, i
		default:
		}
		d.setKey(s, s.from, context)
		d.mu.Lock()
		known, ok := d.ids[string(s.key)]
		d.mu.Unlock()
		if ok {
			return known, i
		}
	}
}
