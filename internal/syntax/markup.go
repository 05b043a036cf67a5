package syntax

import (
	"bytes"
	"strings"
)

// tagInCode reads the start of a tag in an expression of JavaScript.
func (s *scanner) tagInCode() bool {
	c := s.at(1)
	letter := isLetter(c)
	if !letter && c != '>' || !s.wantsOperand() {
		return false
	}
	if letter { // <T,>(x) and <T extends U> are types
		const most = 64
		n := 1
		for n < most && s.pos+n < len(s.text) && s.isNameByte(s.text[s.pos+n]) {
			n++
		}
		rest := s.text[s.pos+n : min(s.pos+n+9, len(s.text))]
		if s.at(n) == ',' || bytes.HasPrefix(rest, []byte(" extends ")) {
			return false
		}
	}
	s.openTag(1, false)

	return true
}

// children reads what is between tags of JavaScript.
func (s *scanner) children() {
	rest := s.text[s.pos:]
	n := bytes.IndexAny(rest, "<{")
	if n < 0 {
		n = len(rest)
	}
	if n == 0 && rest[0] == '{' {
		s.open('{', 1)
		return
	}
	if n == 0 {
		c := s.at(1)
		switch {
		case s.endEmbed():
			return
		case c == '/':
			s.pop()
			s.openTag(2, true)
			return
		case isLetter(c) || c == '>':
			s.openTag(1, false)
			return
		}
		n = 1
	}

	text := rest[:n]
	lead := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if lead < n {
		end := len(bytes.TrimRight(text, " \t\r\n"))
		s.newline = -1
		s.tokens = append(s.tokens, Token{Kind: String, Start: int32(s.pos + lead), End: int32(s.pos + end)})
	}
	s.skip(n)
}

func (s *scanner) openTag(n int, closing bool) {
	s.add(Token{Kind: Open, Bracket: Tag, Start: int32(s.pos), End: int32(s.pos + n), Pair: -1})
	s.push(open{kind: Tag, closing: closing}, 0)
	s.skip(n)
}

// closeTag reads the end of a tag. What follows one of JavaScript that is not empty
// are its children.
func (s *scanner) closeTag() {
	o := s.pop()
	n := 1
	if s.at(0) == '/' {
		n = 2
	}
	name := ""
	if k := int(o.token) + 1; k < len(s.tokens) && s.tokens[k].Kind == Name {
		name = strings.ToLower(string(s.text[s.tokens[k].Start:s.tokens[k].End]))
	}
	s.pair(o, Tag, n)
	if o.closing || n == 2 {
		return
	}

	switch {
	case s.special&hasJSX != 0:
		s.push(open{token: -1, kind: Tag}, 0)
	case name == "script":
		s.enter(languageScript, "</script")
	case name == "style":
		s.enter(languageCSS, "</style")
	}
}

// tag reads the start of a tag of markup, or of code in it.
func (s *scanner) tag() bool {
	switch c := s.at(1); {
	case s.has("<?php") || s.has("<?="):
		n := 3
		if s.at(2) == 'p' {
			n = 5
		}
		s.token(Operator, n)
		s.enter(languagePHP, "?>")
	case c == '/':
		s.openTag(2, true)
	case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '!':
		s.openTag(1, false)
	default:
		return false
	}

	return true
}

// enter goes on in another language, until its end.
func (s *scanner) enter(l *Language, end string) {
	s.embeds = append(s.embeds, embed{s.Language, end})
	s.Language = l
}

// endEmbed returns to the language around this one where that one ends.
func (s *scanner) endEmbed() bool {
	k := len(s.embeds) - 1
	if k < 0 {
		return false
	}
	e := s.embeds[k]
	if len(s.text)-s.pos < len(e.end) || !strings.EqualFold(string(s.text[s.pos:s.pos+len(e.end)]), e.end) {
		return false
	}
	s.embeds, s.Language, s.newline = s.embeds[:k], e.language, -1
	for len(s.stack) > 0 && s.stack[len(s.stack)-1].token < 0 {
		s.pop()
	}
	if e.end == "?>" {
		s.token(Operator, 2)
	}

	return true
}
