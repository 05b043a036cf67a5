package structure

import "github.com/prwarden/prwarden/internal/syntax"

// operand matches an operand, the longest that fits, and the elements behind it.
func (m *matcher) operand(e, i int) (end int, ok bool) {
	el := &m.elements[e]
	first := len(m.ends)
	defer func() { m.ends = m.ends[:first] }()
	m.operands(el, i)
	mark := len(m.trail)
	for k := len(m.ends) - 1; k >= first && m.step(1); k-- {
		m.undo(mark)
		if m.bind(int(el.slot), Range{i, m.ends[k]}) {
			if end, ok = m.match(e+1, m.ends[k]); ok {
				return end, true
			}
		}
		if el.last {
			break // it is taken whole
		}
	}
	m.undo(mark)

	return 0, false
}

// operands notes where an operand that begins with a token may end: unary operators, a
// name, a literal or a group, what is joined to it, and operators that bind tightly enough
// with their operands.
func (m *matcher) operands(el *element, i int) {
	l := m.language
	for {
		for i < len(m.tokens) && m.step(1) && m.tokens[i].Kind <= syntax.Operator && l.IsUnary(m.file.Of(i)) {
			i++
		}
		if i = m.primary(i); i < 0 {
			return
		}
		m.ends = append(m.ends, i)
		for next := m.joined(i); next > i && m.step(1); next = m.joined(i) {
			i = next
			m.ends = append(m.ends, i)
		}

		if i >= len(m.tokens) || m.tokens[i].Kind != syntax.Operator && m.tokens[i].Kind != syntax.Name {
			return
		}
		s := l.Strength(m.file.Of(i))
		if s <= int(max(el.left, 0)) || s < int(el.right) || m.stopped {
			return
		}
		i++
	}
}

// primary is the end of the name, literal or group that begins with a token; -1 for none.
func (m *matcher) primary(i int) int {
	if i >= len(m.tokens) {
		return -1
	}
	switch t := m.tokens[i]; {
	case t.Kind == syntax.Name && !m.language.IsKeyword(m.file.Of(i)), t.Kind == syntax.Number,
		t.Kind == syntax.String:
		return i + 1
	case t.Kind == syntax.Open && t.Pair >= 0 && t.Bracket != syntax.Indent && t.Bracket != syntax.Tag:
		end := int(t.Pair) + 1
		if t.Bracket == '[' && end < len(m.tokens) && m.tokens[end].Kind == syntax.Name && m.adjacent(end) {
			return end + 1 // []T
		}
		return end
	}

	return -1
}

// adjacent says whether there is no space before a token.
func (m *matcher) adjacent(i int) bool { return i > 0 && m.tokens[i].Start == m.tokens[i-1].End }

// joined is the end of what is joined to an operand that ends before a token; 0 for
// nothing.
func (m *matcher) joined(i int) int {
	if i >= len(m.tokens) {
		return 0
	}
	t, text := m.tokens[i], string(m.file.Of(i))
	switch {
	case t.Kind == syntax.Open && t.Pair >= 0 && (t.Bracket == '(' || t.Bracket == '['):
		return int(t.Pair) + 1
	case t.Kind == syntax.Open && t.Pair >= 0 && t.Bracket == '{' && m.adjacent(i) && m.language.JoinsBraces(),
		t.Kind == syntax.Open && t.Pair >= 0 && t.Bracket == syntax.Quote && m.adjacent(i):
		return int(t.Pair) + 1
	case t.Kind == syntax.Operator && m.adjacent(i) && m.language.IsSuffix(text):
		return i + 1
	case t.Kind == syntax.Operator && m.file.Language.Joins(text) && i+1 < len(m.tokens):
		if next := m.tokens[i+1]; next.Kind == syntax.Name || next.Kind == syntax.Number {
			return i + 2
		} else if next.Kind == syntax.Open && next.Pair >= 0 {
			return int(next.Pair) + 1
		}
	}

	return 0
}
