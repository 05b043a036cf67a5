package structure

import (
	"bytes"
	"strings"

	"github.com/prwarden/prwarden/internal/syntax"
)

// matcher matches one pattern in a search.
type matcher struct {
	*pattern
	*search
	cut int16 // the group whose last run fits nowhere, or -1
	end int   // where a match must end; -1 for anywhere

	// Where a run at the top of the pattern ends that reaches a token; -1 where what is
	// behind it fits nowhere. Other matches would try the same again, when nothing is
	// bound before them.
	known map[reached]int
	memo  bool // known is of use
}

// reached is a run, by the index of its element, and a token that it reaches.
type reached struct{ element, token int }

// at returns the end of the match that begins with a token, and binds its metavariables.
func (m *matcher) at(i int) (end int, ok bool) {
	if !m.mayBegin(i) {
		return 0, false
	}
	m.cut, m.end, m.memo = -1, -1, !m.plain
	end, ok = m.match(m.fixed, i+m.fixed)

	return end, ok && end > i && !m.stopped
}

// fits says whether the tokens of a range match, with what is bound already, and binds
// the other metavariables.
func (m *matcher) fits(r Range) bool {
	if !m.mayBegin(r.From) {
		return false
	}
	m.cut, m.end, m.memo = -1, r.To, false
	_, ok := m.match(m.fixed, r.From+m.fixed)

	return ok && !m.stopped
}

// mayBegin says whether a match may begin with a token: the first elements match, and it
// does not begin within an operand.
func (m *matcher) mayBegin(i int) bool {
	first := &m.elements[0]
	t := m.tokens[i]
	if t.Kind == syntax.LineEnd || t.Kind == syntax.Close {
		return false
	}
	for k := range m.fixed {
		if k > 0 && !m.step(1) || m.one(&m.elements[k], i+k) < 0 {
			return false
		}
	}
	isName := first.kind == literal && first.is == syntax.Name
	if i == 0 || !isName && first.kind != operand {
		return true
	}

	before := m.file.Of(i - 1)
	if m.file.Language.Joins(string(before)) {
		return false
	}
	if first.kind != operand {
		return true
	}
	if (t.Kind == syntax.Open || t.Kind == syntax.Operator) && m.endsOperand(i-1) {
		return false
	}
	s := m.language.Strength(before)
	if s < 0 && m.tokens[i-1].Kind == syntax.Operator && m.language.IsUnary(before) {
		return false
	}

	return s < 0 || s < int(first.right) || first.right < 0 && s == 0
}

// endsOperand says whether a token may be the end of an operand.
func (m *matcher) endsOperand(i int) bool {
	switch t := m.tokens[i]; t.Kind {
	case syntax.Name:
		return !m.language.IsKeyword(m.file.Of(i))
	case syntax.Close:
		return t.Bracket == '(' || t.Bracket == '[' || t.Bracket == syntax.Quote
	case syntax.String, syntax.Number:
		return true
	}

	return false
}

// same says whether a token is that of an element.
func (m *matcher) same(e *element, i int) bool {
	if e.is != m.tokens[i].Kind {
		return false
	}
	text := m.file.Content(i)
	if m.language.FoldsCase() && e.is == syntax.Name {
		return strings.EqualFold(e.word, string(text))
	}

	return e.word == string(text)
}

// match matches the elements from e on at token i and returns the end of the match.
func (m *matcher) match(e, i int) (end int, ok bool) {
	for ; e < len(m.elements); e++ {
		if !m.step(1) {
			return 0, false
		}
		el := &m.elements[e]
		if el.kind == run {
			return m.run(e, i)
		}
		if el.kind == operand {
			return m.operand(e, i)
		}

		next := m.one(el, i)
		if next < 0 {
			return 0, false
		}
		i = next
	}

	return i, m.end < 0 || i == m.end
}

// one matches an element that matches in one way only, and returns where the next one
// begins; -1 when it does not match.
func (m *matcher) one(el *element, i int) int {
	if el.kind == ending {
		return m.ending(i)
	}
	if i >= len(m.tokens) {
		return -1
	}
	t := m.tokens[i]
	switch el.kind {
	case literal:
		if !m.same(el, i) {
			return -1
		}
	case open:
		if t.Kind != syntax.Open || t.Pair < 0 || t.Bracket != el.bracket {
			return -1
		}
	case closing:
		if i+1 < len(m.tokens) && m.isComma(i) && m.tokens[i+1].Kind == syntax.Close {
			i++
		}
		if m.tokens[i].Kind != syntax.Close {
			return -1
		}
	case name:
		if t.Kind != syntax.Name || !m.bind(int(el.slot), Range{i, i + 1}) {
			return -1
		}
	case argument:
		end := i
		for !m.isEnd(end) && !m.isComma(end) && m.step(1) {
			end = m.after(end)
		}
		if end == i || !m.bind(int(el.slot), Range{i, end}) {
			return -1
		}
		return end
	}

	return i + 1
}

// ending passes over the end of a statement, which braces and indented lines are too.
func (m *matcher) ending(i int) int {
	from := i
	for i < len(m.tokens) && (m.tokens[i].Kind == syntax.LineEnd || string(m.file.Of(i)) == ";") {
		i++
	}
	if i == from && (i == 0 || m.tokens[i-1].Kind != syntax.Close) {
		return -1
	}

	return i
}

func (m *matcher) isComma(i int) bool {
	return m.tokens[i].Kind == syntax.Operator && string(m.file.Of(i)) == ","
}

// isEnd says whether a statement or what is in brackets ends before a token.
func (m *matcher) isEnd(i int) bool {
	return i >= len(m.tokens) || m.tokens[i].Kind == syntax.Close || m.tokens[i].Kind == syntax.LineEnd ||
		m.tokens[i].Kind == syntax.Operator && string(m.file.Of(i)) == ";"
}

// bind has a metavariable stand for tokens: for the same ones everywhere.
func (m *matcher) bind(slot int, r Range) bool {
	if slot < 0 {
		return true
	}
	if m.bound[slot].From < 0 {
		m.bound[slot] = r
		m.trail = append(m.trail, slot)
		return true
	}

	return m.equal(m.bound[slot], r)
}

// equal says whether two runs of tokens are the same, whatever the space.
func (m *matcher) equal(a, b Range) bool {
	if a.To-a.From != b.To-b.From {
		return false
	}
	for i := range a.To - a.From {
		x, y := m.tokens[a.From+i], m.tokens[b.From+i]
		if !m.step(1) || x.Kind != y.Kind || !bytes.Equal(m.file.Content(a.From+i), m.file.Content(b.From+i)) {
			return false
		}
	}

	return true
}

// run matches a run of balanced tokens, the shortest that fits, and the elements behind
// it. When a later run of the same brackets fits nowhere, another end of this one would
// not help, since that one was tried from here on.
func (m *matcher) run(e, i int) (end int, ok bool) {
	el := &m.elements[e]
	top := el.group == 0
	last := e+1 == len(m.elements) || m.elements[e+1].kind == closing
	mark := len(m.trail)
	try := func(r Range, next int) bool {
		m.undo(mark)
		m.cut = -1
		if m.bind(int(el.slot), r) {
			end, ok = m.match(e+1, next)
		}
		return ok
	}

	if (el.before || el.after) && try(Range{i, i}, i) {
		return end, true
	}
	from := i
	if el.before {
		if i >= len(m.tokens) || !m.isComma(i) || m.cut == el.group {
			return 0, false
		}
		from++
	}
	memo := top && el.free && m.memo
	var seen []int
	note := func(at int) {
		if m.known == nil && len(seen) > 0 {
			m.known = map[reached]int{}
		}
		for _, j := range seen {
			m.known[reached{e, j}] = at
		}
	}
	for j := from; m.step(1); {
		isEnd := j >= len(m.tokens) || m.tokens[j].Kind == syntax.Close || top && m.isEnd(j)
		isComma := !isEnd && m.isComma(j)
		if memo {
			if at, ok := m.known[reached{e, j}]; ok && at < 0 {
				break
			} else if ok && at > j {
				j = at
				continue
			}
			seen = append(seen, j)
		}
		switch {
		case el.after && !isComma:
		case el.after:
			if try(Range{from, j}, j+1) {
				note(j)
				return end, true
			}
		case isEnd || !last:
			if try(Range{from, j}, j) {
				note(j)
				return end, true
			}
		}
		if isEnd || m.cut == el.group {
			break
		}
		j = m.after(j)
	}
	note(-1)
	m.undo(mark)
	m.cut = el.group

	return 0, false
}
