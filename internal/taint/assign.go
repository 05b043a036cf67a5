package taint

import (
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// pending is an assignment whose right side has not ended, or a lambda.
type pending struct {
	left     structure.Range
	right    int // where it, or its current part, begins
	isWeak   bool
	isLocal  bool
	isLambda bool
	many     bool    // several names on the left
	parts    []int32 // what the parts of the right side before this one have
}

// maxTargets bounds the names of an assignment.
const maxTargets = 64

// operator looks at an operator.
func (w *walker) operator(i int) {
	s := w.top()
	text := w.of(i)
	switch {
	case len(text) == 1 && text[0] == ';':
		w.endStatement(i)
	case len(text) == 1 && text[0] == ',':
		w.comma(i)
	case len(text) == 1 && text[0] == '=' || string(text) == ":=":
		isAllowed := s.kind != '[' && s.kind != syntax.Tag && s.kind != syntax.Hole && (s.kind != '(' || !w.keyed)
		if i >= w.until && (isAllowed || string(text) == ":=") {
			w.assign(i, false, string(text) == ":=" && !w.locals)
		}
	case compound.has(text), string(text) == "<<" && (w.language.Name == "Ruby" || w.language.Name == "C"):
		if s.kind != '[' && s.kind != '(' && i >= w.until {
			w.assign(i, true, false)
		}
	case len(text) == 1 && text[0] == ':':
		w.colon(i)
	case string(text) == "=>" || string(text) == "->":
		if s.isSwitch && (w.bars || w.language.Name == "Kotlin") {
			w.flush(i, int(s.pending), false)
			w.split(false)
			s.start, s.left = int32(i+1), int32(i+1)
		}
	case len(text) == 1 && text[0] == '|' && i == int(s.start) && w.language.Name == "Ruby":
		w.blockParams(i)
	case w.sigil && commands.has(text):
		w.flush(i, int(s.pending), false)
		if string(text) == ";;" {
			w.split(false)
		}
		s.start, s.left = int32(i+1), int32(i+1)
	}
}

// comma ends an argument, or a part of the right side of an assignment.
func (w *walker) comma(i int) {
	s := w.top()
	if s.kind == '(' || s.kind == '[' || !w.tuples {
		w.flush(i, int(s.pending), false)
		s.left = int32(i + 1)
		return
	}
	k := len(w.pending) - 1
	for k >= int(s.pending) && w.pending[k].isLambda && w.step(1) {
		w.endPending(i, false)
		k--
	}
	if k >= int(s.pending) && w.pending[k].many && len(w.pending[k].parts) < maxTargets {
		p := &w.pending[k]
		p.parts = append(p.parts, w.tainted(p.right))
		p.right = i + 1
	}
}

// colon looks at what ends a label, or stands between a name and what a loop goes over.
func (w *walker) colon(i int) {
	s := w.top()
	switch {
	case s.isFor && s.kind == '(' && !w.keyed:
		s.isFor = false
		w.assign(i, false, true)
	case w.language.Name == "Python" && s.control != always && (s.kind == 0 || s.kind == syntax.Indent):
		w.flush(i, int(s.pending), false)
		s.left = int32(i + 1)
	case labels.has(w.of(int(s.start))):
		s.start, s.left = int32(i+1), int32(i+1)
	}
}

// assign begins an assignment by an operator.
func (w *walker) assign(i int, isWeak, isLocal bool) {
	s := w.top()
	p := pending{left: structure.Range{From: int(s.left), To: i}, right: i + 1, isWeak: isWeak, isLocal: isLocal}
	if s.control != always && !isLocal {
		p.isWeak = true
	}
	if int(s.start) < i && w.declare.has(w.of(int(s.start))) {
		p.isLocal = true
	}
	if w.tuples {
		for k := p.left.From; k < min(p.left.To, p.left.From+maxTargets) && w.step(1); k = w.after(k) {
			p.many = p.many || w.is(k, ",")
		}
	}
	s.left = int32(i + 1)
	w.pending = append(w.pending, p)
}

// flush ends the assignments of a scope.
func (w *walker) flush(i, from int, isWeak bool) {
	for len(w.pending) > from && w.step(1) {
		w.endPending(i, isWeak)
	}
}

// flushHead ends the assignments in the head of a statement.
func (w *walker) flushHead(i int) {
	s := w.top()
	from := len(w.pending)
	for branching.has(w.of(int(s.start))) && from > int(s.pending) && w.step(1) &&
		w.pending[from-1].right > int(s.start) {
		from--
	}
	w.flush(i, from, false)
}

// endPending ends the innermost assignment or lambda before a token.
func (w *walker) endPending(i int, isWeak bool) {
	k := len(w.pending) - 1
	p := w.pending[k]
	w.pending = w.pending[:k]
	if p.isLambda {
		w.leave(!w.locals)
		return
	}
	if p.right == p.left.To && p.left.From >= p.left.To {
		return
	}

	p.parts = append(p.parts, w.tainted(p.right))
	values := p.parts
	targets := w.targets(p.left.From, p.left.To, p.many)
	isWeak = isWeak || p.isWeak || w.isDeep()
	var last, node int32
	isRange := len(targets) > 1 && len(values) == 1 && p.right < len(w.tokens) && w.is(p.right, "range")
	for n, t := range targets {
		from := values[min(n, len(values)-1)]
		if len(values) != len(targets) {
			from = firstOf(values)
		}
		if len(targets) > 1 && idle.has(w.of(t.at)) || isRange && n == 0 {
			from = 0
		}
		switch {
		case from == 0:
			node = 0
		case from != last || node == 0:
			node = w.addNode(w.lineOf(t.at, i), from)
			last = from
		}
		if p.isLocal {
			if f := w.function(); f.locals != nil {
				f.locals[t.path] = true
			}
		}
		w.set(t.path, node, isWeak || t.isPart)
	}
}

func firstOf(values []int32) int32 {
	for _, v := range values {
		if v != 0 {
			return v
		}
	}

	return 0
}

// lineOf is what a step shows of an assignment: from its name to its end, or its line's.
func (w *walker) lineOf(from, to int) structure.Range {
	return structure.Range{From: from, To: max(from+1, min(to, len(w.tokens)))}
}

// target is what is assigned to.
type target struct {
	path   path
	at     int  // its first token
	isPart bool // only a part of it is
}

// targets are what the tokens on the left of an assignment assign to: in each part the
// last name with what is joined to it, or the names in brackets.
func (w *walker) targets(from, to int, many bool) (all []target) {
	if k := w.typed(from, to); k >= 0 {
		to = k
	}
	isVar := w.language.Name == "Go" && from < to && w.is(from, "var")
	var last target
	found := false
	add := func() {
		if found && len(all) < maxTargets {
			all = append(all, last)
		}
		found = false
	}
	for k := from; k < to && w.step(1); k = w.after(k) {
		t := w.tokens[k]
		switch {
		case t.Kind == syntax.Name && (k == from || !w.isJoin(k-1)) && !w.isKeyword(k):
			if isVar && found {
				continue // a type
			}
			p, end := w.path(k, true)
			last, found = target{path: p, at: k, isPart: end > k+2*maxJoined}, true
		case t.Kind == syntax.Open && t.Pair >= 0 && found && t.Bracket == '[' && t.Start == w.tokens[k-1].End:
			last.isPart = true
		case t.Kind == syntax.Open && t.Pair >= 0 && t.Bracket != syntax.Tag && t.Bracket != syntax.Quote:
			if names := w.namesIn(k+1, int(t.Pair)); len(names) > 0 {
				found = false
				all = append(all, names...)
			}
		case many && w.is(k, ","):
			add()
		}
		if len(all) >= maxTargets {
			return all[:maxTargets]
		}
	}
	add()

	return all
}

// typed is where the type behind a name begins, in languages that have it there; -1 for
// none.
func (w *walker) typed(from, to int) int {
	switch w.language.Name {
	case "JavaScript", "TypeScript", "Kotlin", "Rust", "Python":
	default:
		return -1
	}
	for k := from; k < min(to, from+maxTargets) && w.step(1); k = w.after(k) {
		if k > from && w.is(k, ":") {
			return k
		}
	}

	return -1
}

// namesIn are the names in brackets that are assigned to, without keys.
func (w *walker) namesIn(from, to int) (all []target) {
	for k := from; k < min(to, from+maxTargets) && w.step(1); k++ {
		if w.tokens[k].Kind != syntax.Name || k+1 < to && (w.is(k+1, ":") || w.is(k+1, "=>")) || w.isJoin(k-1) {
			continue
		}
		if k > from && w.is(k-1, "=") || w.isKeyword(k) {
			continue // a default
		}
		all = append(all, target{path: w.makePath(0, w.name(k)), at: k})
	}

	return all
}
