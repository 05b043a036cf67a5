package syntax

import (
	"bytes"
	"slices"
	"sync"
)

// Scan reads a text in a language.
func Scan(l *Language, text []byte) *Text {
	if l.special&isPHP != 0 && bytes.Contains(text, []byte("<?")) {
		return scan(languageHTML, text, l)
	}

	return scan(l, text, l)
}

// scan reads a text that begins in a language and counts as one in another.
func scan(first *Language, text []byte, of *Language) *Text {
	spare := spares.Get().(*[]Token)
	s := &scanner{Language: first, text: text, tokens: (*spare)[:0], newline: -1, hole: -1, first: true}
	if bytes.HasPrefix(text, []byte("#!")) && !bytes.HasPrefix(text, []byte("#![")) {
		s.comment(lineEnd(text))
	}
	for s.pos < len(text) {
		s.next()
	}
	s.finish()

	tokens := s.tokens
	switch {
	case cap(tokens) > maxSpare && cap(tokens) > 2*len(tokens):
		tokens = slices.Clone(tokens)
	case cap(tokens) <= maxSpare:
		tokens = slices.Clone(tokens)
		*spare = s.tokens
	}
	spares.Put(spare)

	return &Text{Language: of, Bytes: text, Tokens: tokens, Comments: s.comments, Steps: s.steps}
}

// maxSpare is how many tokens are read, at most, into memory that is used again.
const maxSpare = 64 << 10

// spares are for the tokens of texts while these are read: it isn't known how many they will be.
var spares = sync.Pool{New: func() any { return &[]Token{} }}

// scanner reads a text from its start to its end.
type scanner struct {
	*Language
	text     []byte
	pos      int
	tokens   []Token
	comments []Span
	steps    int

	stack  []open
	around []around
	counts [3]int32 // of (, [ and { that are open and that what closes may close
	hole   int      // index in stack of the innermost hole, or -1
	states []state  // strings that are not at their end

	newline   int  // offset of the first end of a line since the last token, or -1
	lineStart int  // offset
	first     bool // no token on the line yet
	base      int  // column of what is not indented
	dash      bool // the last token is the dash of an item in YAML
	directive bool // the line is one for C's preprocessor

	pending []state        // heredocs that begin behind this line
	embeds  []embed        // languages around this one
	endless map[string]int // what begins so has no end, up to an offset
}

// open is a bracket that was not closed yet. It is small, since a text may be nothing else.
type open struct {
	token   int32 // -1 for an element of markup
	kind    byte
	end     byte // what closes a hole
	closing bool // a tag that ends an element
}

// around is what was so before a bracket that is neither round nor square was opened.
type around struct {
	column int32 // of an Indent: its own
	hole   int32
	counts [3]int32
}

// embed is a language to return to.
type embed struct {
	language *Language
	end      string // in lower case
}

// next reads what begins at pos.
func (s *scanner) next() {
	if k := len(s.stack) - 1; k >= 0 && s.stack[k].token < 0 && s.special&hasJSX != 0 {
		s.children()
		return
	}

	switch c := s.text[s.pos]; s.class[c] {
	case isBlank:
		n := 1
		for s.pos+n < len(s.text) && s.class[s.text[s.pos+n]] == isBlank {
			n++
		}
		s.skip(n)
	case isLine:
		s.line()
	case isName:
		s.name()
	case isDigit:
		s.number()
	case isOpen:
		s.open(c, 1)
	case isClose:
		s.close(c)
	case isMark:
		if !s.mark(c) {
			s.ordinary(c)
		}
	default:
		s.operator(c)
	}
}

// ordinary reads what begins with a byte that something special might begin with.
func (s *scanner) ordinary(c byte) {
	switch {
	case c == '[' || c == '(' || c == '{':
		s.open(c, 1)
	case c == ']' || c == ')' || c == '}':
		s.close(c)
	case s.isNameByte(c) && bytes.IndexByte([]byte(s.later), c) < 0:
		s.name()
	default:
		s.operator(c)
	}
}

func (s *scanner) skip(n int) {
	s.pos += n
	s.steps += n
}

func (s *scanner) has(prefix string) bool {
	return len(s.text)-s.pos >= len(prefix) && string(s.text[s.pos:s.pos+len(prefix)]) == prefix
}

// at is the byte at an offset from pos, 0 behind the end.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}

	return 0
}

// token adds a token of so many bytes.
func (s *scanner) token(kind Kind, n int) {
	s.add(Token{Kind: kind, Start: int32(s.pos), End: int32(s.pos + n), Pair: -1})
	s.skip(n)
}

// add adds a token, and before it what lines and their indentation mean.
func (s *scanner) add(t Token) {
	if s.newline >= 0 {
		s.separate(t)
	} else if s.dash && s.ends == endsIndent {
		s.indent(int(t.Start), s.column(t))
	} else if len(s.tokens) == 0 {
		s.base = s.column(t)
	}
	s.dash, s.first = false, false
	if n := len(s.tokens); n == cap(s.tokens) && s.pos > 0 { // the rest may be like what was read
		s.tokens = slices.Grow(s.tokens, 16+int(min(3*int64(n), int64(n)*int64(len(s.text)-s.pos)/int64(s.pos))))
	}
	s.tokens = append(s.tokens, t)
}

func (s *scanner) comment(n int) {
	s.comments = append(s.comments, Span{int32(s.pos), int32(s.pos + n)})
	s.skip(n)
}

// line reads the end of a line.
func (s *scanner) line() {
	if s.newline < 0 {
		s.newline = s.pos
	}
	s.skip(1)
	s.lineStart, s.first = s.pos, true
	if s.directive && len(s.tokens) > 0 {
		s.directive = false
		s.tokens = append(s.tokens, Token{Kind: LineEnd, Start: int32(s.pos - 1), End: int32(s.pos), Pair: -1})
	}
	if len(s.pending) > 0 {
		st := s.pending[0]
		s.pending = s.pending[1:]
		s.newline = -1 // the statement ends behind the heredoc
		s.begin(st, s.pos, s.pos, false)
	}
}

// name reads a name, or the string whose prefix it is.
func (s *scanner) name() {
	n := 1
	for rest := s.text[s.pos:]; n < len(rest) && s.inName[rest[n]]; {
		n++
	}
	if next := s.at(n); s.prefixes != "" && (next == '"' || next == '\'' || next == '#') && n <= 3 && s.prefixed(n) {
		return
	}
	if next := s.at(n); s.special&hasPercent != 0 && (next == '?' || next == '!') && s.at(n+1) != '=' {
		n++
	}
	s.token(Name, n)
}

// number reads a number: what looks like one, without judging it.
func (s *scanner) number() {
	n := 1
	hex := s.text[s.pos] == '0' && s.at(1)|0x20 == 'x'
	for ; s.pos+n < len(s.text); n++ {
		c := s.text[s.pos+n]
		before := s.text[s.pos+n-1] | 0x20
		switch {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			continue
		case (c == '+' || c == '-') && (!hex && before == 'e' || hex && before == 'p') && s.special&hasScalars == 0:
			if d := s.at(n + 1); d >= '0' && d <= '9' {
				continue
			}
		case c == '.':
			if d := s.at(n + 1); d != '.' && (d < 'A' || d >= '0' && d <= '9' || hex && d|0x20 >= 'a' && d|0x20 <= 'f') {
				continue
			}
		case c == '\'' && s.special&hasCRaw != 0:
			if d := s.at(n + 1); d >= '0' && d <= '9' || d|0x20 >= 'a' && d|0x20 <= 'f' {
				continue
			}
		}

		break
	}
	s.token(Number, n)
}

// operator reads the longest operator.
func (s *scanner) operator(c byte) {
	k := len(s.stack) - 1
	if c == '.' && s.at(1) >= '0' && s.at(1) <= '9' && !s.afterOperand() {
		s.number()
		return
	}
	if k >= 0 && s.stack[k].kind == Tag && (c == '>' || c == '/' && s.at(1) == '>') {
		s.closeTag()
		return
	}
	if c == '#' && s.special&hasDirectives != 0 && s.first {
		s.directive = true
	}
	if c == '-' && s.special&hasScalars != 0 && (s.first || s.dash) && (s.at(1) <= ' ') {
		s.token(Operator, 1)
		s.dash = true
		return
	}

	n := 1
	for _, op := range s.byOp[c] {
		if s.has(op) {
			n = len(op)
			break
		}
	}
	s.token(Operator, n)
}

// afterOperand says whether the last token may be the end of an operand that the byte
// at pos is joined to.
func (s *scanner) afterOperand() bool {
	k := len(s.tokens) - 1

	return k >= 0 && int(s.tokens[k].End) == s.pos && s.tokens[k].Kind != Operator && s.tokens[k].Kind != Open
}

// wantsOperand says whether a value may begin at pos.
func (s *scanner) wantsOperand() bool {
	k := len(s.tokens) - 1
	if k < 0 {
		return true
	}

	switch x := s.tokens[k]; x.Kind {
	case Operator:
		op := s.text[x.Start:x.End]
		return string(op) != "++" && string(op) != "--"
	case Name:
		return isOneOf(s.words.keywords, s.text[x.Start:x.End]) || isOneOf(s.words.unary, s.text[x.Start:x.End])
	case Open, LineEnd:
		return true
	default:
		return false
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// isOneOf says whether a word is in a list of words apart by blanks.
func isOneOf(list string, word []byte) bool {
	for len(list) >= len(word) {
		k := 0
		for k < len(list) && list[k] != ' ' {
			k++
		}
		if list[:k] == string(word) {
			return true
		}
		if k == len(list) {
			break
		}
		list = list[k+1:]
	}

	return false
}

// lineEnd is the length of the first line of a text.
func lineEnd(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		if n > 0 && text[n-1] == '\r' {
			n--
		}
		return n
	}

	return len(text)
}
