package syntax

import (
	"bytes"
	"strings"
)

// state is a string that is being read.
type state struct {
	quote
	token   int32
	part    int    // where the part begins that is read
	open    byte   // what begins a nested pair of its end, as in %w((a))
	depth   int    // of such
	tag     string // of a heredoc; "" for others
	loose   bool   // the tag may be indented
	doubled bool   // a hole's mark twice is none
}

// mark reads what begins with a byte that may begin a comment, a string or what else
// is special. It returns false when none does.
func (s *scanner) mark(c byte) bool {
	if s.commentAt() {
		return true
	}
	if s.special != 0 && s.specialAt(c) {
		return true
	}
	for i := range s.quotes {
		if q := &s.quotes[i]; s.has(q.begin) && s.quotable(q) && s.quoted(*q, s.pos, s.pos+len(q.begin)) {
			return true
		}
	}

	return c == '<' && s.heredoc != noHeredoc && s.heredocAt()
}

// quotable says whether a quote begins a string here.
func (s *scanner) quotable(q *quote) bool {
	if s.special&hasTags != 0 {
		return len(s.stack) > 0 && s.stack[len(s.stack)-1].kind == Tag
	}

	return !q.apart || s.pos == 0 || strings.IndexByte(" \t\r\n[{,(!", s.text[s.pos-1]) >= 0
}

// commentAt reads a comment at pos, if there is one.
func (s *scanner) commentAt() bool {
	for i := range s.blocks { // before those of lines: `--[[` is one of both
		b := &s.blocks[i]
		if !s.has(b.begin) || s.pos < s.endless[b.begin] {
			continue
		}
		if n, ok := s.blockEnd(b); ok || !s.loose {
			s.comment(n)
			return true
		}
		s.without(b.begin, len(s.text))
	}

	for _, mark := range s.lines {
		if !s.has(mark) {
			continue
		}
		if s.starting && !s.first || mark == "#" && s.special&isPHP != 0 && s.at(1) == '[' {
			continue
		}
		if s.spaced && s.pos > 0 && strings.IndexByte(" \t\r\n;", s.text[s.pos-1]) < 0 {
			continue
		}
		n := lineEnd(s.text[s.pos:])
		if s.special&isPHP != 0 {
			if k := bytes.Index(s.text[s.pos:s.pos+n], []byte("?>")); k >= 0 {
				n = k
			}
		}
		s.comment(n)

		return true
	}

	return false
}

// blockEnd is the length of a comment, and whether it has an end.
func (s *scanner) blockEnd(b *block) (n int, ok bool) {
	rest := s.text[s.pos:]
	n = len(b.begin)
	for depth := 1; ; {
		k := bytes.Index(rest[n:], []byte(b.end))
		if k < 0 {
			s.steps += len(rest)
			return len(rest), false
		}
		if b.nested {
			depth += bytes.Count(rest[n:n+k], []byte(b.begin))
		}
		n += k + len(b.end)
		if depth--; depth == 0 {
			return n, true
		}
	}
}

// without notes that what begins with a mark has no end up to an offset.
func (s *scanner) without(mark string, to int) {
	if s.endless == nil {
		s.endless = map[string]int{}
	}
	s.endless[mark] = to
}

// quoted reads a string whose content begins at an offset. It returns false when it
// must have an end and has none.
func (s *scanner) quoted(q quote, start, content int) bool {
	if q.hole || q.lines && !s.loose {
		s.begin(state{quote: q}, start, content, true)
		return true
	}
	if start < s.endless[q.begin] {
		return false
	}

	for i := content; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\' && !q.raw:
			i++
		case c == '\n' && !q.lines:
			s.steps += i - s.pos
			s.without(q.begin, i)
			return false
		case c == q.end[0] && (len(q.end) == 1 || bytes.HasPrefix(s.text[i:], []byte(q.end))):
			s.whole(start, content, i, i+len(q.end))
			return true
		}
	}
	s.steps += len(s.text) - s.pos
	s.without(q.begin, len(s.text))

	return false
}

// whole adds a string without holes.
func (s *scanner) whole(start, content, contentEnd, end int) {
	s.add(Token{
		Kind: String, Start: int32(start), End: int32(end), Pair: int32(content - start),
		Tail: uint16(min(end-contentEnd, 1<<16-1)),
	})
	s.steps += end - s.pos
	s.pos = end
}

// begin reads a string that may have holes and several lines. separate says that it
// may begin a statement.
func (s *scanner) begin(st state, start, content int, separate bool) {
	t := Token{Kind: Open, Bracket: Quote, Start: int32(start), End: int32(content), Pair: -1}
	if separate {
		s.add(t)
	} else {
		s.tokens = append(s.tokens, t)
	}
	st.token, st.part = int32(len(s.tokens)-1), content
	s.states = append(s.states, st)
	s.steps += content - s.pos
	s.pos = content
	s.read()
}

// read reads on in the innermost string, to its end or to a hole.
func (s *scanner) read() {
	st := &s.states[len(s.states)-1]
	if st.tag != "" && s.pos == st.part && s.pos == s.lineStart && s.heredocEnd(st) {
		return
	}
	for i := s.pos; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '\n':
			if st.tag == "" && !st.lines {
				s.endString(i, i)
				return
			}
			s.lineStart = i + 1
			if st.tag != "" {
				s.move(i + 1)
				if s.heredocEnd(st) {
					return
				}
			}
		case c == '\\' && !st.raw:
			i++
		case st.tag == "" && c == st.end[0] && bytes.HasPrefix(s.text[i:], []byte(st.end)):
			switch {
			case st.depth > 0:
				st.depth--
			case st.double && bytes.HasPrefix(s.text[i+len(st.end):], []byte(st.end)):
				i += 2*len(st.end) - 1
			default:
				s.endString(i, i+len(st.end))
				return
			}
		case st.open != 0 && c == st.open:
			st.depth++
		case st.hole:
			if n := s.holeAt(st, i); n > 0 {
				return
			} else if n < 0 {
				i -= n + 1
			}
		}
	}
	s.endString(len(s.text), len(s.text))
}

func (s *scanner) move(to int) {
	s.steps += max(to-s.pos, 0)
	s.pos = to
}

// endString ends the innermost string.
func (s *scanner) endString(contentEnd, end int) {
	contentEnd = min(contentEnd, len(s.text))
	k := len(s.states) - 1
	st := s.states[k]
	s.states = s.states[:k]
	s.move(min(end, len(s.text)))
	opening := s.tokens[st.token]
	if int(st.token) == len(s.tokens)-1 { // without holes
		s.tokens[st.token] = Token{
			Kind: String, Start: opening.Start, End: int32(s.pos), Pair: opening.End - opening.Start,
			Tail: uint16(min(s.pos-contentEnd, 1<<16-1)),
		}
		return
	}

	s.addPart(st.part, contentEnd)
	s.tokens[st.token].Pair = int32(len(s.tokens))
	s.tokens = append(s.tokens, Token{
		Kind: Close, Bracket: Quote, Start: int32(contentEnd), End: int32(s.pos), Pair: st.token,
	})
}

func (s *scanner) addPart(from, to int) {
	if from < to {
		s.tokens = append(s.tokens, Token{Kind: String, Start: int32(from), End: int32(to)})
	}
}

// holeAt reads the beginning of a hole in a string at an offset. It returns 1 when one
// begins, -n for n bytes that are to be passed over, and 0 for none.
func (s *scanner) holeAt(st *state, i int) int {
	c := s.text[i]
	if c != '{' && c != '$' && c != '#' && c != '%' && c != '\\' {
		return 0
	}
	rest := s.text[i:]
	for _, mark := range st.opens {
		if !bytes.HasPrefix(rest, []byte(mark)) {
			continue
		}
		if st.doubled && bytes.HasPrefix(rest[len(mark):], []byte(mark)) {
			return -2 * len(mark)
		}
		n := len(mark)
		if mark == "{$" {
			n = 1
		}
		end := byte('}')
		if mark == "$(" {
			end = ')'
		}
		s.addPart(st.part, i)
		s.tokens = append(s.tokens, Token{Kind: Open, Bracket: Hole, Start: int32(i), End: int32(i + n), Pair: -1})
		s.push(open{kind: Hole, end: end}, 0)
		s.newline = -1
		s.move(i + n)

		return 1
	}

	if c == '$' && len(rest) > 1 && rest[1] == '$' && s.Language == languageHCL {
		return -2
	}
	if st.names && c == '$' && len(rest) > 1 && isLetter(rest[1]) {
		n := 2
		for n < len(rest) && (isLetter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		s.addPart(st.part, i)
		s.tokens = append(s.tokens, Token{Kind: Name, Start: int32(i), End: int32(i + n), Pair: -1})
		st.part = i + n

		return -n
	}

	return 0
}

// prefixed reads the string whose prefix is the name of so many bytes at pos.
func (s *scanner) prefixed(n int) bool {
	name := strings.ToLower(string(s.text[s.pos : s.pos+n]))
	if !isOneOf(s.prefixes, []byte(name)) {
		return false
	}
	start, isRaw := s.pos, strings.Contains(name, "r")
	switch {
	case s.special&hasRustRaw != 0 && isRaw:
		hashes := 0
		for s.at(n+hashes) == '#' {
			hashes++
		}
		s.steps += hashes
		if s.at(n+hashes) != '"' {
			return false
		}
		q := quote{begin: `r"`, end: `"` + strings.Repeat("#", hashes), lines: true, raw: true}
		s.begin(state{quote: q}, start, s.pos+n+hashes+1, true)

		return true
	case s.special&hasCRaw != 0 && isRaw:
		return s.at(n) == '"' && s.rawOfC(n)
	case s.at(n) == '#':
		return false
	}

	for i := range s.quotes {
		q := s.quotes[i]
		if !bytes.HasPrefix(s.text[s.pos+n:], []byte(q.begin)) {
			continue
		}
		st := state{quote: q}
		if isOneOf(s.braces, []byte(name)) {
			st.hole, st.opens, st.doubled = true, []string{"{"}, true
			s.begin(st, start, s.pos+n+len(q.begin), true)
			return true
		}

		return s.quoted(q, start, s.pos+n+len(q.begin))
	}

	return false
}

// rawOfC reads R"x(…)x".
func (s *scanner) rawOfC(n int) bool {
	const most = 16
	for k := 0; k <= most; k++ {
		switch c := s.at(n + 1 + k); c {
		case '(':
			end := ")" + string(s.text[s.pos+n+1:s.pos+n+1+k]) + `"`
			q := quote{begin: `R"`, end: end, lines: true, raw: true}
			s.begin(state{quote: q}, s.pos, s.pos+n+k+2, true)

			return true
		case 0, ' ', ')', '\\', '\n', '"':
			return false
		}
	}

	return false
}
