// Package plainyaml reads the plain YAML that rules files are mostly written
// in, about four times as fast as a whole YAML parser: block mappings and
// sequences, flow ones, plain and quoted texts on one line, comments.
//
//	rules:
//	  - id: no-print      # keys are lower-case words
//	    pattern: 'fmt\.Print\('
//	    paths: {include: ["**/*.go"]}
//
// Of every other text, which may be YAML all the same, it says that it can't
// tell. What it reads, it reads as yaml.v3 does; fuzzing compares the two.
package plainyaml

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep things are in each other.
const maxDepth = 8

// Parse returns the root of the one document in data, a mapping. Nodes have
// kind, style, value, line, and what is in them; tags follow from these, and
// columns and comments are left out. ok is false when data is not as plain as
// that. data must be UTF-8.
func Parse(data []byte) (root *yaml.Node, ok bool) {
	p := parser{depth: maxDepth}
	if !p.split(string(data)) || len(p.lines) == 0 {
		return nil, false
	}
	root = p.block(0)
	return root, root != nil && root.Kind == yaml.MappingNode && len(p.lines) == 0
}

// line is a line that is neither empty nor a comment.
type line struct {
	number int
	indent int
	text   string // without spaces at both ends
}

// item says whether the line begins an entry of a sequence.
func (l line) item() bool { return l.text == "-" || strings.HasPrefix(l.text, "- ") }

// parser reads lines from the front. Its methods return nil for what is not
// plain; then nothing counts any more.
type parser struct {
	lines []line
	depth int // that is left
	slab  []yaml.Node
}

// split fills p.lines. It says false when there is a character that is not
// allowed, or breaks a line, or a tab where it would count.
func (p *parser) split(text string) bool {
	p.lines = make([]line, 0, strings.Count(text, "\n")+1)
	for number := 1; text != ""; number++ {
		var s string
		s, text, _ = strings.Cut(text, "\n")
		if !printable(s) {
			return false
		}
		content := strings.TrimLeft(s, " ")
		switch {
		case content == "" || content[0] == '#':
		case content[0] == '\t':
			return false
		default:
			p.lines = append(p.lines, line{number, len(s) - len(content), strings.TrimRight(content, " ")})
		}
	}
	return true
}

// printable says whether YAML allows all characters, and none breaks a line.
func printable(s string) bool {
	for _, r := range s {
		switch {
		case r < ' ' && r != '\t', 0x7F <= r && r < 0xA0, r == '\u2028', r == '\u2029', r == '\uFEFF', r == 0xFFFE, r == 0xFFFF:
			return false
		}
	}
	return true
}

func (p *parser) node(kind yaml.Kind, number int) *yaml.Node {
	if len(p.slab) == 0 {
		p.slab = make([]yaml.Node, 256)
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.Kind, n.Line = kind, number
	return n
}

// next returns the next line; at the end one that is left of everything.
func (p *parser) next() line {
	if len(p.lines) == 0 {
		return line{indent: -1}
	}
	return p.lines[0]
}

// block reads a mapping or a sequence whose lines are indented by indent.
func (p *parser) block(indent int) *yaml.Node {
	if p.depth == 0 || p.next().indent != indent {
		return nil
	}
	p.depth--
	defer func() { p.depth++ }()
	read, kind := p.pair, yaml.MappingNode
	sequence := p.next().item()
	if sequence {
		read, kind = p.entry, yaml.SequenceNode
	}
	n := p.node(kind, p.next().number)
	if !sequence {
		n.Content = make([]*yaml.Node, 0, 12) // a rule has some six keys
	}
	for p.next().indent == indent && p.next().item() == sequence {
		if !read(n, indent) {
			return nil
		}
	}
	// Deeper lines would go on with the last value.
	if p.next().indent > indent {
		return nil
	}
	return n
}

// pair reads a key and its value.
func (p *parser) pair(mapping *yaml.Node, indent int) bool {
	l := p.next()
	word, rest, ok := key(l.text)
	if !ok {
		return false
	}
	name := p.node(yaml.ScalarNode, l.number)
	name.Value = word
	var value *yaml.Node
	if rest != "" && rest[0] != '#' {
		value = p.inline(l.number, rest)
		p.lines = p.lines[1:]
	} else {
		p.lines = p.lines[1:]
		// A sequence may be as far left as the key that it is for.
		if below := p.next(); below.indent > indent || below.indent == indent && below.item() {
			value = p.block(below.indent)
		}
	}
	if value == nil {
		return false
	}
	mapping.Content = append(mapping.Content, name, value)
	return true
}

// entry reads an entry of a sequence.
func (p *parser) entry(sequence *yaml.Node, _ int) bool {
	l := &p.lines[0]
	rest := strings.TrimLeft(l.text[1:], " ")
	if rest == "" || rest[0] == '#' {
		return false
	}
	var value *yaml.Node
	if _, _, ok := key(rest); ok {
		// A mapping that begins on this line goes on below its first key.
		l.indent, l.text = l.indent+len(l.text)-len(rest), rest
		value = p.block(l.indent)
	} else {
		value = p.inline(l.number, rest)
		p.lines = p.lines[1:]
	}
	if value == nil {
		return false
	}
	sequence.Content = append(sequence.Content, value)
	return true
}

// key splits `key: rest`.
func key(text string) (word, rest string, ok bool) {
	n := 0
	for n < len(text) && ('a' <= text[n] && text[n] <= 'z' || text[n] == '_') {
		n++
	}
	if n == 0 || n == len(text) || text[n] != ':' {
		return "", "", false
	}
	word, rest = text[:n], text[n+1:]
	trimmed := strings.TrimLeft(rest, " ")
	return word, trimmed, rest == "" || len(trimmed) < len(rest)
}
