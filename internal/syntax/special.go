package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// specialAt reads what only some languages have. It returns false when there is
// nothing of that at pos.
func (s *scanner) specialAt(c byte) bool {
	is := func(f special) bool { return s.special&f != 0 }
	switch {
	case c == '\\' && is(hasBackslash|hasEscape):
		return s.backslash()
	case c == '<' && s.endEmbed():
		return true
	case c == '?' && is(isPHP):
		return s.endEmbed()
	case c == '/' && is(hasRegexps):
		k := len(s.stack) - 1
		if k >= 0 && s.stack[k].kind == Tag {
			return false
		}
		return s.regexp()
	case c == '<' && is(hasJSX):
		return s.tagInCode()
	case c == '<' && is(hasTags):
		return s.tag()
	case c == '\'' && is(hasLifetimes):
		return s.lifetime()
	case is(hasSharp) && (c == '"' || c == '$' || c == '@'):
		return s.sharp()
	case c == '$' && is(hasDollars):
		return s.dollars()
	case is(hasPercent) && (c == '%' || c == '?' || c == '='):
		return s.percent(c)
	case is(hasScalars) && (c == '|' || c == '>'):
		return s.scalar()
	}

	return false
}

func (s *scanner) backslash() bool {
	n := 1
	if s.at(n) == '\r' {
		n++
	}
	if s.at(n) == '\n' {
		s.skip(n + 1)
		return true
	}
	if s.special&hasEscape != 0 {
		s.token(Operator, min(2, len(s.text)-s.pos))
		return true
	}

	return false
}

// regexp reads a regular expression between slashes.
func (s *scanner) regexp() bool {
	if s.at(1) == '/' || s.at(1) == '*' || s.pos < s.endless["/"] {
		return false
	}
	if !s.wantsOperand() && !(s.special&hasPercent != 0 && s.looksLiteral()) {
		return false
	}
	class := false
	i := s.pos + 1
	for ; i < len(s.text) && s.text[i] != '\n'; i++ {
		switch c := s.text[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			end := i + 1
			for end < len(s.text) && s.text[end] >= 'a' && s.text[end] <= 'z' {
				end++
			}
			s.whole(s.pos, s.pos+1, i, end)

			return true
		}
	}
	s.steps += i - s.pos
	s.without("/", i)

	return false
}

// looksLiteral says whether what follows a name in Ruby is rather its argument than an
// operator: a blank stands before it and none behind it.
func (s *scanner) looksLiteral() bool {
	return s.pos > 0 && (s.text[s.pos-1] == ' ' || s.text[s.pos-1] == '\n') && s.at(1) > ' ' && s.at(1) != '='
}

// lifetime reads a character or a lifetime of Rust.
func (s *scanner) lifetime() bool {
	if s.at(1) == '\\' {
		return s.quoted(quote{begin: "'", end: "'"}, s.pos, s.pos+1)
	}
	if _, n := utf8.DecodeRune(s.text[min(s.pos+1, len(s.text)):]); s.at(1) != '\n' && s.at(1+n) == '\'' && n > 0 {
		s.whole(s.pos, s.pos+1, s.pos+1+n, s.pos+2+n)
		return true
	}

	n := 1
	for s.pos+n < len(s.text) && s.isNameByte(s.text[s.pos+n]) {
		n++
	}
	if n == 1 {
		return false
	}
	s.token(Name, n)

	return true
}

// sharp reads a string of C#.
func (s *scanner) sharp() bool {
	const most = 8
	n, dollars, verbatim := 0, 0, false
	for ; n < most && (s.at(n) == '$' || s.at(n) == '@'); n++ {
		if s.at(n) == '@' {
			verbatim = true
		} else {
			dollars++
		}
	}
	quotes := 0
	for s.at(n+quotes) == '"' {
		quotes++
	}
	s.steps += n + quotes
	opens := []string{strings.Repeat("{", max(dollars, 1))}
	q := quote{begin: `"`, end: `"`, lines: verbatim, raw: verbatim, double: verbatim, hole: dollars > 0, opens: opens}
	st := state{quote: q, doubled: true}

	switch {
	case quotes == 0:
		return false
	case quotes >= 3 && !verbatim:
		st.end, st.lines, st.raw, st.doubled = strings.Repeat(`"`, quotes), true, true, false
		s.begin(st, s.pos, s.pos+n+quotes, true)
	case dollars == 0 && !verbatim:
		return s.quoted(q, s.pos, s.pos+1)
	default:
		s.begin(st, s.pos, s.pos+n+1, true)
	}

	return true
}

// dollars reads a string of SQL between $tag$ and $tag$.
func (s *scanner) dollars() bool {
	const most = 64
	for n := 1; n < most; n++ {
		switch c := s.at(n); {
		case c == '$':
			tag := string(s.text[s.pos : s.pos+n+1])
			s.begin(state{quote: quote{begin: tag, end: tag, lines: true, raw: true}}, s.pos, s.pos+n+1, true)

			return true
		case c == 0 || !s.isNameByte(c) || n == 1 && c >= '0' && c <= '9':
			return false
		}
	}

	return false
}

// percent reads %w(…), ?c and comments between =begin and =end.
func (s *scanner) percent(c byte) bool {
	switch c {
	case '=':
		if s.pos != s.lineStart || !s.has("=begin") {
			return false
		}
		n := bytes.Index(s.text[s.pos:], []byte("\n=end"))
		if n < 0 {
			n = len(s.text) - s.pos
		} else {
			n += 1 + lineEnd(s.text[s.pos+n+1:])
		}
		s.comment(n)

		return true
	case '?':
		if next := s.at(1); next > ' ' && !s.isNameByte(s.at(2)) && s.wantsOperand() {
			s.whole(s.pos, s.pos+1, s.pos+2, s.pos+2)
			return true
		}
		return false
	}

	n := 1
	kind := s.at(1)
	if strings.IndexByte("wWiIqQrxs", kind) >= 0 {
		n++
	}
	begin := s.at(n)
	if begin <= ' ' || begin >= 0x80 || s.isNameByte(begin) || begin == '=' || !s.wantsOperand() && !s.looksLiteral() {
		return false
	}
	st := state{quote: quote{begin: "%", end: string(begin), lines: true, hole: true, opens: []string{"#{"}}}
	if k := strings.IndexByte("([{<", begin); k >= 0 {
		st.open, st.end = begin, ")]}>"[k:k+1]
	}
	if n == 2 && strings.IndexByte("wiqs", kind) >= 0 {
		st.hole = false
	}
	s.begin(st, s.pos, s.pos+n+1, true)

	return true
}

// scalar reads a block scalar of YAML: the lines that are deeper than its key.
func (s *scanner) scalar() bool {
	if k := len(s.tokens) - 1; k < 0 || s.first || s.text[s.pos-1] != ' ' || s.tokens[k].Kind != Operator && !s.dash {
		return false
	}
	if k := len(s.stack) - 1; k >= 0 && s.stack[k].kind != Indent {
		return false
	}
	n := 1
	for strings.IndexByte("+-0123456789", s.at(n)) >= 0 && s.at(n) != 0 {
		n++
	}
	rest := s.text[s.pos+n:]
	end := lineEnd(rest)
	s.steps += n + end
	if line := bytes.TrimLeft(rest[:end], " \t"); len(line) > 0 && (line[0] != '#' || len(line) == end) {
		return false
	}
	parent := s.base
	if k := len(s.stack) - 1; k >= 0 {
		if parent = 0; s.stack[k].kind == Indent {
			parent = s.innerColumn()
		}
	}

	content := min(s.pos+n+end, len(s.text))
	last := content
	for i := content; i < len(s.text); {
		if s.text[i] == '\r' {
			i++
		}
		line := i + 1
		stop := len(s.text)
		if line < len(s.text) {
			stop = line + lineEnd(s.text[line:])
		}
		k := min(line, stop)
		for k < stop && s.text[k] == ' ' {
			k++
		}
		if k < stop {
			if k-line <= parent/2 {
				break
			}
			last = stop
		}
		i = stop
	}
	s.whole(s.pos, content, last, last)

	return true
}

// heredocAt reads the mark of a heredoc.
func (s *scanner) heredocAt() bool {
	n, st := 2, state{quote: quote{lines: true}}
	if s.heredoc == heredocPHP {
		n = 3
	}
	if !s.has("<<<"[:n]) || s.at(n) == '<' {
		return false
	}
	if k := len(s.stack) - 2; s.heredoc == heredocShell && k >= 0 && s.stack[k].kind == '(' && s.stack[k+1].kind == '(' {
		return false // a shift in arithmetic
	}
	for s.heredoc == heredocPHP && s.at(n) == ' ' && n < 16 {
		n++
	}
	if s.heredoc != heredocPHP && (s.at(n) == '-' || s.at(n) == '~') {
		st.loose = true
		n++
	}
	for s.heredoc == heredocShell && s.at(n) == ' ' && n < 16 {
		n++
	}
	quote := s.at(n)
	if quote == '\'' || quote == '"' || quote == '`' || quote == '\\' {
		n++
	} else {
		quote = 0
	}
	from := n
	for c := s.at(n); isLetter(c) || c >= '0' && c <= '9' && n > from; c = s.at(n) {
		n++
	}
	s.steps += n
	if n == from || n-from > 255 || s.heredoc == heredocRuby && !st.loose && (s.at(from) < 'A' || s.at(from) > 'Z') {
		return false
	}
	st.tag = string(s.text[s.pos+from : s.pos+n])
	if quote != 0 && quote != '\\' {
		if s.at(n) != quote {
			return false
		}
		n++
	}
	s.openHeredoc(st, quote, n)

	return true
}

// openHeredoc begins the text of a heredoc whose mark has so many bytes, or notes that it
// begins with the next line.
func (s *scanner) openHeredoc(st state, quote byte, n int) {
	st.raw = quote == '\'' || quote == '\\' || quote == '"' && s.heredoc == heredocShell
	st.hole = !st.raw
	switch s.heredoc {
	case heredocShell:
		st.opens, st.names = []string{"$(", "${"}, true
	case heredocRuby:
		st.opens = []string{"#{"}
	case heredocPHP:
		st.opens, st.names, st.loose = []string{"{$", "${"}, true, true
	case heredocHCL:
		st.opens, st.raw, st.loose = []string{"${", "%{"}, true, true
	}

	if s.heredoc == heredocPHP || s.heredoc == heredocHCL {
		end := s.pos + n + lineEnd(s.text[s.pos+n:])
		for end < len(s.text) && s.text[end] != '\n' {
			end++
		}
		end = min(end+1, len(s.text))
		s.lineStart = end
		s.begin(st, s.pos, end, true)

		return
	}
	s.add(Token{Kind: String, Start: int32(s.pos), End: int32(s.pos + n), Pair: int32(n)})
	s.skip(n)
	s.pending = append(s.pending, st)
}

// heredocEnd ends a heredoc when its tag is on the line at pos.
func (s *scanner) heredocEnd(st *state) bool {
	i := s.pos
	for st.loose && i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\t') {
		i++
	}
	s.steps += i - s.pos
	if !bytes.HasPrefix(s.text[i:], []byte(st.tag)) {
		return false
	}
	end := i + len(st.tag)
	if end < len(s.text) && s.text[end] != '\n' && s.text[end] != '\r' {
		if c := s.text[end]; s.heredoc != heredocPHP || isLetter(c) || c >= '0' && c <= '9' {
			return false
		}
	}
	s.endString(s.pos, end)

	return true
}
