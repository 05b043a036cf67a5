package plainyaml

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// inline reads a value that is the rest of a line.
func (p *parser) inline(number int, text string) *yaml.Node {
	var n *yaml.Node
	rest := ""
	if strings.IndexByte(`'"[{`, text[0]) >= 0 {
		n, rest = p.delimited(number, text)
	} else {
		n = p.plain(number, text)
	}
	if after := strings.TrimLeft(rest, " "); after != "" && (after[0] != '#' || len(after) == len(rest)) {
		return nil // not a comment
	}
	return n
}

// plain reads a text without quotes to the end of the line.
func (p *parser) plain(number int, text string) *yaml.Node {
	if i := strings.Index(text, " #"); i >= 0 {
		text = strings.TrimRight(text[:i], " ")
	}
	if !word(text[0]) || strings.HasSuffix(text, ":") || strings.Contains(text, ": ") || strings.Contains(text, "\t") {
		return nil
	}
	n := p.node(yaml.ScalarNode, number)
	n.Value = text
	return n
}

// word says whether a text without quotes may begin with c, whatever follows.
func word(c byte) bool {
	return c >= utf8.RuneSelf || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(`_./\(^$`, c) >= 0
}

// delimited reads what says itself where it ends, and returns what follows.
func (p *parser) delimited(number int, text string) (n *yaml.Node, rest string) {
	switch text[0] {
	case '\'':
		return p.single(number, text[1:])
	case '"':
		return p.double(number, text[1:])
	}
	if p.depth == 0 {
		return nil, ""
	}
	p.depth--
	defer func() { p.depth++ }()
	if text[0] == '[' {
		return p.flow(p.node(yaml.SequenceNode, number), ']', text[1:])
	}
	return p.flow(p.node(yaml.MappingNode, number), '}', text[1:])
}

// single reads a text in single quotes, of which the first is read.
func (p *parser) single(number int, text string) (n *yaml.Node, rest string) {
	n = p.node(yaml.ScalarNode, number)
	n.Style = yaml.SingleQuotedStyle
	for from := 0; ; {
		end := strings.IndexByte(text[from:], '\'')
		switch {
		case end < 0:
			return nil, ""
		case strings.HasPrefix(text[from+end+1:], "'"):
			from += end + 2
			continue
		}
		n.Value = text[:from+end]
		if from > 0 {
			n.Value = strings.ReplaceAll(n.Value, "''", "'")
		}
		return n, text[from+end+1:]
	}
}

// double reads a text in double quotes, of which the first is read, with the
// most frequent escapes.
func (p *parser) double(number int, text string) (n *yaml.Node, rest string) {
	n = p.node(yaml.ScalarNode, number)
	n.Style = yaml.DoubleQuotedStyle
	var before []byte // of from, without escapes
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			if n.Value = text[from:i]; from > 0 {
				n.Value = string(before) + n.Value
			}
			return n, text[i+1:]
		case '\\':
			c, size := escape(text[i+1:])
			if size == 0 {
				return nil, ""
			}
			before = utf8.AppendRune(append(before, text[from:i]...), c)
			i += size
			from = i + 1
		}
	}
	return nil, ""
}

// escape reads what follows a backslash, one of the most frequent escapes. size is
// 0 for any other.
func escape(text string) (c rune, size int) {
	if text == "" {
		return 0, 0
	}
	digits := 0
	switch text[0] {
	case '\\', '"':
		return rune(text[0]), 1
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	}
	if digits == 0 || len(text) <= digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return rune(n), 1 + digits
}

// flow reads what is between brackets or braces, of which the first is read.
func (p *parser) flow(n *yaml.Node, end byte, text string) (_ *yaml.Node, rest string) {
	text = p.goOn(text)
	if text != "" && text[0] == end {
		return n, text[1:]
	}
	for {
		if end == '}' {
			name, value, ok := key(text)
			if !ok {
				return nil, ""
			}
			k := p.node(yaml.ScalarNode, p.next().number)
			k.Value = name
			n.Content = append(n.Content, k)
			text = value
		}
		value, after := p.flowValue(p.next().number, text)
		if value == nil {
			return nil, ""
		}
		n.Content = append(n.Content, value)
		after = p.goOn(after)
		switch {
		case after == "":
			return nil, ""
		case after[0] == end:
			return n, after[1:]
		case after[0] != ',':
			return nil, ""
		}
		text = p.goOn(after[1:])
	}
}

// goOn returns what follows between brackets or braces, on this line or the next.
func (p *parser) goOn(text string) string {
	text = strings.TrimLeft(text, " ")
	if text == "" && len(p.lines) > 1 {
		p.lines = p.lines[1:]
		text = p.lines[0].text
	}
	return text
}

// flowValue reads a value within brackets or braces.
func (p *parser) flowValue(number int, text string) (n *yaml.Node, rest string) {
	if text == "" {
		return nil, ""
	}
	if strings.IndexByte(`'"[{`, text[0]) >= 0 {
		return p.delimited(number, text)
	}
	end := 0
	for end < len(text) && (word(text[end]) || text[end] == '-' && end > 0) {
		end++
	}
	if end == 0 {
		return nil, ""
	}
	n = p.node(yaml.ScalarNode, number)
	n.Value = text[:end]
	return n, text[end:]
}
