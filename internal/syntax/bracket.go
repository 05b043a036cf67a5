package syntax

// countOf is the index of a bracket in scanner.counts.
func countOf(kind byte) int {
	switch kind {
	case '(', ')':
		return 0
	case '[', ']':
		return 1
	}

	return 2
}

// open reads what opens a bracket.
func (s *scanner) open(c byte, n int) {
	s.add(Token{Kind: Open, Bracket: c, Start: int32(s.pos), End: int32(s.pos + n), Pair: -1})
	s.push(open{kind: c}, 0)
	s.skip(n)
}

// push notes that the last token opens a bracket; column is that of an Indent. What
// closes a round or a square bracket does not close one outside of braces, a hole, a tag
// or an indented block.
func (s *scanner) push(o open, column int) {
	if o.token == 0 {
		o.token = int32(len(s.tokens) - 1)
	}
	s.stack = append(s.stack, o)
	if o.kind == '(' || o.kind == '[' {
		s.counts[countOf(o.kind)]++
		return
	}
	s.around = append(s.around, around{column: int32(column), hole: int32(s.hole), counts: s.counts})
	switch o.kind {
	case '{':
		s.counts[0], s.counts[1] = 0, 0
		s.counts[2]++
	default:
		s.counts = [3]int32{}
	}
	if o.kind == Hole {
		s.hole = len(s.stack) - 1
	}
}

// pop takes the innermost bracket away.
func (s *scanner) pop() open {
	k := len(s.stack) - 1
	o := s.stack[k]
	s.stack = s.stack[:k]
	s.steps++
	if o.kind == '(' || o.kind == '[' {
		s.counts[countOf(o.kind)]--
		return o
	}
	last := len(s.around) - 1
	s.counts, s.hole = s.around[last].counts, int(s.around[last].hole)
	s.around = s.around[:last]

	return o
}

// close reads what closes a bracket, and leaves those open that were opened since.
func (s *scanner) close(c byte) {
	k := countOf(c)
	if s.newline >= 0 { // while what is around it is open
		s.separate(Token{Kind: Close, Bracket: "([{"[k], Start: int32(s.pos), End: int32(s.pos + 1)})
	}
	switch {
	case s.counts[k] > 0:
		for want := "([{"[k]; ; {
			if o := s.pop(); o.kind == want {
				s.pair(o, c, 1)
				return
			}
		}
	case s.hole >= 0 && s.stack[s.hole].end == c:
		o := s.pop()
		for o.kind != Hole {
			o = s.pop()
		}
		n := 1 // as many as opened it: $$"{{x}}"
		for t := s.tokens[o.token]; s.text[t.Start] == '{' && n < int(t.End-t.Start) && s.at(n) == c; {
			n++
		}
		s.pair(o, Hole, n)
		s.states[len(s.states)-1].part = s.pos
		s.read()
	default:
		s.add(Token{Kind: Close, Bracket: "([{"[k], Start: int32(s.pos), End: int32(s.pos + 1), Pair: -1})
		s.skip(1)
	}
}

// pair adds what closes a bracket.
func (s *scanner) pair(o open, c byte, n int) {
	if c == ')' || c == ']' || c == '}' {
		c = "([{"[countOf(c)]
	}
	s.add(Token{Kind: Close, Bracket: c, Start: int32(s.pos), End: int32(s.pos + n), Pair: o.token})
	s.tokens[o.token].Pair = int32(len(s.tokens) - 1)
	s.skip(n)
}

// separate adds what the end of a line means before a token.
func (s *scanner) separate(next Token) {
	at, k := s.newline, len(s.tokens)-1
	s.newline = -1
	if k < 0 {
		s.base = s.column(next)
		return
	}
	if top := len(s.stack) - 1; top >= 0 {
		kind := s.stack[top].kind
		inside := kind == '(' || kind == '[' || kind == Hole || kind == Tag || s.ends == endsIndent && kind == '{'
		if inside && (s.special&noLinesInside != 0 || s.ends == endsNever) {
			return
		}
	}
	if s.ends == endsIndent {
		s.indentation(at, next)
		return
	}

	last := s.tokens[k]
	if last.Kind == Open || last.Kind == LineEnd || next.Kind == Close && next.Bracket != Quote {
		return
	}
	ended := false
	switch s.ends {
	case endsBefore:
		ended = s.endsLine(last)
	case endsBoth:
		ended = s.endsLine(last) && !isOneOf(s.continues, s.text[next.Start:next.End])
	case endsAlways:
		ended = true
	}
	if ended {
		s.tokens = append(s.tokens, Token{Kind: LineEnd, Start: int32(at), End: int32(at + 1), Pair: -1})
	}
}

// endsLine says whether a statement may end with a token.
func (s *scanner) endsLine(t Token) bool {
	text := s.text[t.Start:t.End]
	switch t.Kind {
	case Operator:
		if s.joins != "" {
			return !isOneOf(s.joins, text)
		}
		return isOneOf(s.tails, text)
	case Name:
		return s.Language != languageGo || !isOneOf(s.words.keywords, text) ||
			isOneOf("break continue fallthrough return", text)
	}

	return true
}

// indentation closes and opens blocks of indented lines, or ends a statement.
func (s *scanner) indentation(at int, next Token) {
	column := s.column(next)
	end := s.tokens[len(s.tokens)-1].End
	for k := len(s.stack) - 1; k >= 0 && s.stack[k].kind == Indent && s.innerColumn() > column; k-- {
		s.dedent(end)
	}
	current := s.base
	if k := len(s.stack) - 1; k >= 0 && s.stack[k].kind == Indent {
		current = s.innerColumn()
	}
	if column > current {
		s.indent(int(next.Start), column)
		return
	}
	s.tokens = append(s.tokens, Token{Kind: LineEnd, Start: int32(at), End: int32(at + 1), Pair: -1})
}

func (s *scanner) indent(at, column int) {
	s.tokens = append(s.tokens, Token{Kind: Open, Bracket: Indent, Start: int32(at), End: int32(at), Pair: -1})
	s.push(open{kind: Indent}, column)
}

// innerColumn is that of the innermost bracket, which is an Indent.
func (s *scanner) innerColumn() int { return int(s.around[len(s.around)-1].column) }

func (s *scanner) dedent(at int32) {
	o := s.pop()
	s.tokens = append(s.tokens, Token{Kind: Close, Bracket: Indent, Start: at, End: at, Pair: o.token})
	s.tokens[o.token].Pair = int32(len(s.tokens) - 1)
}

// column is that of a token, the first of its line or behind a dash. The dash of an
// item is deeper than the key that it belongs to, in the same column.
func (s *scanner) column(t Token) int {
	if s.special&hasScalars != 0 {
		column := 2 * (int(t.Start) - s.lineStart)
		if t.Kind == Operator && s.text[t.Start] == '-' && t.End == t.Start+1 {
			column++
		}
		return column
	}

	column := 0
	for i := s.lineStart; i < int(t.Start) && (s.text[i] == ' ' || s.text[i] == '\t'); i++ {
		if column++; s.text[i] == '\t' {
			column = (column + 7) / 8 * 8
		}
	}
	s.steps += column

	return column
}

// finish closes what ends with the text.
func (s *scanner) finish() {
	if len(s.tokens) == 0 {
		return
	}
	end := s.tokens[len(s.tokens)-1].End
	for len(s.stack) > 0 {
		if s.stack[len(s.stack)-1].kind == Indent {
			s.dedent(end)
		} else {
			s.pop()
		}
	}
}
