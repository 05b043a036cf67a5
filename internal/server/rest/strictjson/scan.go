package strictjson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// scanner reads JSON by RFC 8259, strictly: valid UTF-8, no lone surrogates.
// Where the text is not JSON its methods return a *syntaxError.
type scanner struct {
	data []byte
	pos  int
}

// syntaxError says where a text stops being JSON. It ends the check, because
// nothing after it can be read.
type syntaxError struct{ message string }

func (e *syntaxError) Error() string { return e.message }

func (s *scanner) fail(format string, args ...any) error {
	line, column := 1, 1
	for _, c := range string(s.data[:min(s.pos, len(s.data))]) {
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	return &syntaxError{fmt.Sprintf("is not valid JSON at line %d, column %d: ", line, column) + fmt.Sprintf(format, args...)}
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// take consumes the byte c as the next token, or fails.
func (s *scanner) take(c byte, want string) error {
	if got := s.peek(); got != c {
		return s.unexpected(want)
	}
	s.pos++
	return nil
}

func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.data) {
		return s.fail("it ends where %s should be", want)
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.fail("%s where %s should be", strconv.QuoteRune(r), want)
}

func (s *scanner) literal(word string) error {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return s.unexpected("a value")
	}
	s.pos += len(word)
	return nil
}

// number consumes a number and returns its text.
func (s *scanner) number() (string, error) {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	switch {
	case s.at('0'):
		s.pos++
	case !s.digits():
		return "", s.unexpected("a digit")
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return "", s.unexpected("a digit")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return "", s.unexpected("a digit")
		}
	}
	if s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		return "", s.fail("numbers have no leading zeros")
	}
	return string(s.data[start:s.pos]), nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

// text consumes a string and returns what it stands for.
func (s *scanner) text() (string, error) {
	if err := s.take('"', "a string"); err != nil {
		return "", err
	}
	start := s.pos
	for s.pos < len(s.data) { // the usual case: nothing is escaped
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return string(s.data[start : s.pos-1]), nil
		case c == '\\':
			return s.escaped(append([]byte(nil), s.data[start:s.pos]...))
		case c < ' ':
			return "", s.fail("control characters in strings must be escaped")
		}
		s.pos++
	}
	return "", s.fail("a string has no end")
}

func (s *scanner) escaped(out []byte) (string, error) {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			s.pos++
			return string(out), nil
		case c < ' ':
			return "", s.fail("control characters in strings must be escaped")
		case c != '\\':
			out = append(out, c)
			s.pos++
			continue
		}
		s.pos++
		if s.pos == len(s.data) {
			break
		}
		switch c := s.data[s.pos]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, err := s.unicode()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			continue
		default:
			return "", s.unexpected(`one of "\/bfnrtu`)
		}
		s.pos++
	}
	return "", s.fail("a string has no end")
}

// unicode consumes what follows a backslash: `u` and 4 digits, and the second
// half of a pair.
func (s *scanner) unicode() (rune, error) {
	first, err := s.hex4()
	if err != nil {
		return 0, err
	}
	switch {
	case first < 0xD800 || first > 0xDFFF:
		return first, nil
	case first < 0xDC00 && s.pos+1 < len(s.data) && s.data[s.pos] == '\\' && s.data[s.pos+1] == 'u':
		s.pos++
		second, err := s.hex4()
		if err != nil {
			return 0, err
		}
		if second >= 0xDC00 && second <= 0xDFFF {
			return (first-0xD800)<<10 | (second - 0xDC00) + 0x10000, nil
		}
	}
	return 0, s.fail("\\u%04x is half of a surrogate pair", first)
}

func (s *scanner) hex4() (rune, error) {
	s.pos++ // the u
	if s.pos+4 > len(s.data) {
		s.pos = len(s.data)
		return 0, s.unexpected("a hexadecimal digit")
	}
	var r rune
	for range 4 {
		c := s.data[s.pos]
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, s.unexpected("a hexadecimal digit")
		}
		s.pos++
	}
	return r, nil
}
