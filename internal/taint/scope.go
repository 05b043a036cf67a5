package taint

import "github.com/prwarden/prwarden/internal/syntax"

// beginBody begins a function that is not between brackets.
func (w *walker) beginBody(i int, h header) {
	switch {
	case h.isExpr:
		w.pending = append(w.pending, pending{isLambda: true})
		w.scopes = append(w.scopes, scope{open: int32(i), start: int32(i), left: int32(i), kind: byWords, waiting: -1,
			pending: int32(len(w.pending)), frame: ofFunction})
		w.enter(h)
		s := *w.top()
		w.scopes = w.scopes[:len(w.scopes)-1]
		w.pending[len(w.pending)-1].isLambda = s.frame == ofFunction
	case h.word:
		w.pushScope(i, byWords)
		w.top().frame = ofFunction
		w.enter(h)
	}
}

func (w *walker) pushScope(i int, kind byte) *scope {
	w.scopes = append(w.scopes, scope{
		open: int32(i), start: int32(i + 1), left: int32(i + 1), kind: kind, waiting: -1, pending: int32(len(w.pending)),
	})

	return w.top()
}

// open begins what is in brackets.
func (w *walker) open(i int) {
	t := w.tokens[i]
	outer := w.top()
	h, isBody := w.bodies[i]
	isBody = isBody && w.lastBody >= i && !h.isExpr && !h.word
	isBlock := t.Bracket == syntax.Indent || t.Bracket == '{' && w.isBlock(i)
	control := outer.control
	if isBlock && control != always && (w.bare || t.Bracket == syntax.Indent) {
		w.flushHead(i)
	}
	waiting := outer.waiting
	s := w.pushScope(i, t.Bracket)
	s.isFor = t.Bracket == '(' && i > 0 && loopHeads.has(w.of(i-1))

	switch {
	case isBody:
		s.frame = ofFunction
		w.enter(h)
	case isBlock && control != always:
		w.scopes[len(w.scopes)-2].waiting = -1
		w.branch(control, waiting)
	}
}

// isBlock says whether a brace may open statements.
func (w *walker) isBlock(i int) bool {
	return i == 0 || w.tokens[i-1].Kind != syntax.Operator || w.is(i-1, "=>") || w.is(i-1, "->")
}

// branch has the innermost scope be a branch, the next one of those that wait if there are any.
func (w *walker) branch(c control, waiting int32) {
	f := frame{isSwitch: c == choosing}
	if waiting >= 0 {
		f = w.waits[waiting]
		w.waits = w.waits[:waiting]
	}
	f.isWhole = f.isWhole || c == otherwise || f.isSwitch && w.bars
	s := w.top()
	s.isSwitch = f.isSwitch
	if w.push(f) {
		s.frame = ofBranch
	}
}

// split ends one branch of a choice and begins another.
func (w *walker) split(isWhole bool) {
	s := w.top()
	if s.frame != ofBranch {
		return
	}
	w.leaveBranch(s)
	f := &w.frames[len(w.frames)-1]
	if f.isSwitch && f.branches == 1 && len(f.deltas) == 0 && !s.exits {
		f.branches = 0 // nothing is before the first one
	}
	f.isWhole = f.isWhole || isWhole
	s.exits = false
}

func (w *walker) leaveBranch(s *scope) {
	w.settle(s)
	w.frames[len(w.frames)-1].exits = s.exits
	w.endBranch()
}

// settle has the branches count that nothing goes on with.
func (w *walker) settle(s *scope) {
	if s.waiting >= 0 {
		f := w.waits[s.waiting]
		w.waits = w.waits[:s.waiting]
		s.waiting = -1
		w.merge(f)
	}
}

// close ends what is in brackets.
func (w *walker) close(i int) {
	for len(w.scopes) > 1 && w.top().kind == byWords && w.step(1) {
		w.pop(i)
	}
	if len(w.scopes) == 1 || w.top().open != w.tokens[i].Pair {
		return
	}
	w.pop(i)
	s := w.top()
	if t := w.tokens[i]; t.Bracket == syntax.Indent || t.Bracket == '{' && !w.isJoined(i+1) {
		if s.waiting < 0 || !w.goesOn(i+1) {
			w.settle(s)
		}
		s.start, s.left, s.control, s.exits = int32(i+1), int32(i+1), always, false
	}
}

// isJoined says whether the token behind a brace goes on with what the brace is of.
func (w *walker) isJoined(i int) bool {
	return i < len(w.tokens) && w.tokens[i].Kind == syntax.Operator && (w.is(i, "=") || w.is(i, ":") || w.is(i, ","))
}

// goesOn says whether a statement goes on with another branch, behind the end of a line too.
func (w *walker) goesOn(i int) bool {
	for k := i; k < min(i+2, len(w.tokens)); k++ {
		if w.tokens[k].Kind == syntax.Name {
			return continuing.has(w.of(k))
		}
		if w.tokens[k].Kind != syntax.LineEnd {
			break
		}
	}

	return false
}

// pop ends the innermost scope before a token.
func (w *walker) pop(i int) {
	s := w.top()
	w.flush(i, int(s.pending), false)
	switch s.frame {
	case ofFunction:
		w.settle(s)
		w.hits = w.hits[:w.function().hits]
		w.leave(!w.locals)
	case ofBranch:
		w.leaveBranch(s)
		f := w.drop()
		if !f.isSwitch && w.goesOn(i+1) && len(w.scopes) > 1 {
			w.waits = append(w.waits, f)
			w.scopes[len(w.scopes)-2].waiting = int32(len(w.waits) - 1)
		} else {
			w.merge(f)
		}
	default:
		w.settle(s)
	}
	if p := w.built(s); p != 0 {
		if from := w.tainted(int(s.open) + 1); from != 0 {
			w.set(p, w.addNode(w.lineOf(int(s.open)-1, i), from), true)
		}
	}
	w.scopes = w.scopes[:len(w.scopes)-1]
}

// built is what the arguments of a method are added to; 0 for none.
func (w *walker) built(s *scope) path {
	if s.kind != '(' || len(w.builds) == 0 {
		return 0
	}

	return w.builds[s.open]
}

// endStatement ends a statement with a token.
func (w *walker) endStatement(i int) {
	s := w.top()
	w.flush(i, int(s.pending), false)
	if w.tokens[i].Kind == syntax.LineEnd && w.isHead(i-1) {
		s.start, s.left = int32(i+1), int32(i+1)
		return // its statement is on the next line
	}
	if !w.goesOn(i + 1) {
		w.settle(s)
	}
	if s.frame == ofBranch && s.start < int32(i) && exiting.has(w.of(int(s.start))) && s.control == always {
		s.exits = true
	}
	s.start, s.left, s.control, s.isFor = int32(i+1), int32(i+1), always, s.isFor && s.kind == '('
}

// isHead says whether a token ends the head of a statement as `if (x)`.
func (w *walker) isHead(i int) bool {
	if w.words || w.bare || i < 1 {
		return false
	}
	t := w.tokens[i]
	if t.Kind == syntax.Close && t.Bracket == '(' && t.Pair > 0 {
		return heads.has(w.of(int(t.Pair) - 1))
	}

	return t.Kind == syntax.Name && w.is(i, "else")
}
