package taint

import (
	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
)

// word looks at a name.
func (w *walker) word(i int) {
	if i > 0 && w.isJoin(i-1) {
		return
	}
	text := w.of(i)
	if w.isKeyword(i) {
		w.keyword(i, text)
		return
	}
	if i == int(w.top().start) && exitCalls.has(text) {
		w.noteExit(i)
	}

	p, end := w.path(i, false)
	w.read(i, end, w.get(p))
}

// isKeyword says whether a name is a word of the language here.
func (w *walker) isKeyword(i int) bool {
	if !w.language.IsKeyword(w.of(i)) || w.text.Language != w.language && !branching.has(w.of(i)) {
		return false
	}
	if w.is(i, "match") && w.language.Name == "Python" {
		next := i + 1
		return i == int(w.top().start) && next < len(w.tokens) && w.tokens[next].Kind == syntax.Name
	}
	isColon := func(k int) bool { return k >= 0 && k < len(w.tokens) && w.is(k, ":") }
	if w.words && (isColon(i-1) && w.tokens[i-1].End == w.tokens[i].Start ||
		isColon(i+1) && w.tokens[i+1].Start == w.tokens[i].End) {
		return false // a symbol of Ruby
	}

	return true
}

// keyword looks at a word of the language.
func (w *walker) keyword(i int, text []byte) {
	s := w.top()
	isStart := i == int(s.start)
	if forWords.has(text) {
		s.isFor = true
	}
	switch {
	case inWords.has(text) && s.isFor:
		s.isFor = false
		w.assign(i, false, true)
		return
	case string(text) == "as":
		w.as(i)
		return
	}
	if w.words && w.block(i, text) {
		return
	}
	if isStart && exiting.has(text) {
		w.noteExit(i)
	}
	if s.isSwitch && isStart && labels.has(text) {
		w.split(string(text) == "default")
		return
	}
	if !branching.has(text) || s.kind == '(' || s.kind == '[' {
		return
	}
	isAfterElse := i > 0 && (w.is(i-1, "else") || w.is(i-1, "async"))
	if !isStart && !isAfterElse && !w.bars && w.language.Name != "Kotlin" {
		return
	}
	s.control = controlOf(text)
}

func controlOf(text []byte) control {
	switch {
	case switching.has(text):
		return choosing
	case string(text) == "else":
		return otherwise
	}

	return sometimes
}

// noteExit notes that the statement leaves the branch, when it is in one directly.
func (w *walker) noteExit(int) {
	if s := w.top(); s.frame == ofBranch && s.control == always {
		s.exits = true
	}
}

// path is the path that begins with a name, without the name of a method, and the token
// behind it. It is 0 when it is not known, unless it is to be made.
func (w *walker) path(i int, isMade bool) (p path, end int) {
	add := w.pathOf
	if isMade {
		add = w.makePath
	}
	p = add(0, w.name(i))
	end = i + 1
	isKnown := true
	for n := 1; end+1 < len(w.tokens) && w.tokens[end].Kind == syntax.Operator && w.isJoin(end) &&
		w.tokens[end+1].Kind == syntax.Name && w.step(1); n++ {
		if end+2 < len(w.tokens) && w.tokens[end+2].Kind == syntax.Open && w.tokens[end+2].Bracket == '(' {
			break
		}
		if isKnown = isKnown && p != 0 && n < maxJoined; isKnown {
			next := add(p, w.of(end+1))
			if isKnown = next != 0; isKnown {
				p = next
			}
		}
		end += 2
		if n >= maxChain {
			break
		}
	}

	return p, end
}

// maxChain bounds how far what is joined to a value is looked at.
const maxChain = 32

// read looks at a value and at what is joined to it.
func (w *walker) read(i, end int, node int32) {
	receiver := path(0)
	k := end
	for n := 0; k < len(w.tokens) && n < maxChain && w.step(1); n++ {
		t := w.tokens[k]
		switch {
		case t.Kind == syntax.Open && t.Pair >= 0 && (t.Bracket == '(' || t.Bracket == '['):
			if node != 0 {
				w.called[int32(k)] = node
			}
			k = int(t.Pair) + 1
			continue
		case t.Kind == syntax.Operator && w.isJoin(k) && k+1 < len(w.tokens) && w.tokens[k+1].Kind == syntax.Name:
			if k+2 < len(w.tokens) && w.tokens[k+2].Kind == syntax.Open && builders.has(w.of(k+1)) {
				if receiver == 0 && w.tokens[i].Kind == syntax.Name {
					receiver, _ = w.path(i, true)
				}
				w.builds[int32(k+2)] = receiver
			}
			k += 2
			continue
		case t.Kind == syntax.Operator && w.tokens[k-1].End == t.Start && w.language.IsSuffix(string(w.of(k))):
			k++
			continue
		case node != 0 && (t.Kind == syntax.Open && t.Bracket == '{' || w.words && w.is(k, "do")):
			w.called[int32(k)] = node
		}
		break
	}
	if node != 0 && w.passes(i, end, k) {
		w.hit(i, node)
	}
}

// passes says whether an expression gets something of the value in its tokens, which
// ends before one and with what is joined to it before another.
func (w *walker) passes(i, end, joined int) bool {
	is := func(k int, list *wordList) bool { return k >= 0 && k < len(w.tokens) && list.has(w.of(k)) }
	isText := func(k int, text string) bool { return k >= 0 && k < len(w.tokens) && w.is(k, text) }
	isFirst := i > 0 && w.tokens[i-1].Kind == syntax.Open && w.tokens[i-1].Bracket != '[' &&
		w.tokens[i-1].Bracket != syntax.Hole
	isLabel := w.tokens[i].Kind == syntax.Name && end == i+1 && joined == end && (isFirst || isText(i-1, ","))
	switch {
	case isLabel && isText(end, ":"), isLabel && w.keyed && w.top().kind == '(' && isText(end, "="):
		return false
	case is(joined, comparisons) && !(isText(joined, "in") && w.top().isFor):
		return false
	case is(i-1, negations) && w.tokens[i-1].Kind != syntax.String:
		return false
	case is(i-1, beforeCompared):
		return false
	case isText(joined, "?") && w.language.Name != "Rust" && !is(joined+1, behindElvis):
		return false
	case w.chosen != "" && isText(i-1, w.chosen):
		return false
	}

	return true
}

// as looks at what gets the value before `as`.
func (w *walker) as(i int) {
	s := w.top()
	isLoop := s.isFor && w.language.Name == "PHP"
	isWith := w.language.Name == "Python" && (w.is(int(s.start), "with") || w.is(int(s.start), "async"))
	if !isLoop && !isWith {
		return
	}
	from := w.tainted(int(s.left))
	s.left, s.isFor = int32(i+1), false
	k := i + 1
	for n := 0; n < maxJoined && k+2 < len(w.tokens) && w.is(k+1, "=>"); n++ {
		k += 2 // the key
	}
	if k >= len(w.tokens) {
		return
	}
	node := int32(0)
	if from != 0 {
		node = w.addNode(structure.Range{From: k, To: w.after(k)}, from)
	}
	for _, t := range w.targets(k, w.after(k), false) {
		w.set(t.path, node, t.isPart || w.isDeep())
	}
}
