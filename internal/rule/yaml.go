package rule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// decoder walks YAML nodes and collects mistakes with their places.
type decoder struct {
	mistakes []Mistake
	source   source
	thorough bool                  // see Reading
	nodes    map[string]*yaml.Node // see File; nil where nobody asks
}

// line is the line of a line as YAML counts them.
func (d *decoder) line(n int) int { return d.source.real(n) }

// fail notes a mistake about a line as YAML counts them.
func (d *decoder) fail(line int, format string, args ...any) {
	d.add(Mistake{Line: d.line(line), Message: fmt.Sprintf(format, args...)})
}

// failAt notes a mistake about a node, with a hint or "".
func (d *decoder) failAt(n *yaml.Node, hint, format string, args ...any) {
	d.add(Mistake{Line: d.line(n.Line), Column: d.source.column(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (d *decoder) add(m Mistake) {
	if len(d.mistakes) < d.limit() {
		m.Message, m.Hint = cut(m.Message, maxMistake), cut(m.Hint, maxHint)
		d.mistakes = append(d.mistakes, m)
	}
}

// limit is how many mistakes are looked for.
func (d *decoder) limit() int {
	if d.thorough {
		return maxThoroughMistakes
	}
	return maxMistakes
}

func (d *decoder) err() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	return &FileError{Mistakes: byPlace(d.mistakes), Cut: len(d.mistakes) >= d.limit()}
}

// document parses the one document in data and returns its root, or nil after
// a mistake.
func (d *decoder) document(data []byte) *yaml.Node {
	d.source = newSource(data, d.thorough)
	if !utf8.Valid(data) {
		at := 0
		for r, size := utf8.DecodeRune(data[at:]); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRune(data[at:]) {
			at += size
		}
		d.add(Mistake{
			Line: bytes.Count(data[:at], []byte{'\n'}) + 1, Message: "the file must be UTF-8",
			Hint: "save it in that encoding",
		})
		return nil
	}
	stream := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := stream.Decode(&doc); errors.Is(err, io.EOF) {
		d.add(Mistake{Line: 1, Message: "the file is empty", Hint: "begin with `version: 1` and `rules:`"})
		return nil
	} else if err != nil {
		d.syntax(err)
		return nil
	}
	if err := stream.Decode(&more); err == nil {
		d.failAt(
			&more, "remove the `---` and what follows, or make another file of it",
			"the file has more than one YAML document",
		)
		return nil
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
		return nil
	}
	return doc.Content[0]
}

// plain says whether n has neither anchor nor alias.
func (d *decoder) plain(n *yaml.Node, name string) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		d.failAt(
			n, "write it out at each place; a text that begins with `*` or `&` needs quotes",
			"%s: anchors and aliases are not allowed", name,
		)
		return false
	}
	return true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// mapping calls read for each key of n, which must be one of known. Keys that are
// not, and keys that are there twice, are mistakes; a key that is mistyped is read
// as the one that it was meant to be, so that mistakes in its value are found too.
func (d *decoder) mapping(n *yaml.Node, name string, known []string, read func(key string, value *yaml.Node)) bool {
	if !d.plain(n, name) {
		return false
	}
	if n.Kind != yaml.MappingNode {
		d.failAt(n, mappingHint(name), "%s: must be a mapping of keys to values", name)
		return false
	}
	seen := make([]bool, len(known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		which := slices.Index(known, key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || which < 0:
			means, hint := keyHint(key.Value, known)
			list := ""
			if means == "" {
				list = "; known keys: " + strings.Join(known, ", ")
			}
			d.failAt(key, hint, "%s: unknown key%s%s", name, shown(key.Value, ""), list)
			which = slices.Index(known, means)
			if which >= 0 && key.Kind == yaml.ScalarNode && !seen[which] && !has(n, means) {
				seen[which] = true
				read(means, value)
			}
		case seen[which]:
			d.failAt(key, "keep one of them", "%s: key %q is there twice", name, key.Value)
		case d.plain(key, name):
			seen[which] = true
			read(key.Value, value)
		}
	}
	return true
}

// has says whether a mapping has a key.
func has(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// list returns the items of n. Nothing at all is an empty list.
func (d *decoder) list(n *yaml.Node, name string) []*yaml.Node {
	switch {
	case !d.plain(n, name), isNull(n):
		return nil
	case n.Kind != yaml.SequenceNode:
		hint := "put it in brackets, `[…]`, or on lines that begin with `- `"
		if n.Kind == yaml.MappingNode {
			hint = "begin each entry with `- `, and its other keys below the first"
		}
		d.failAt(n, hint, "%s: must be a list", name)
		return nil
	}
	return n.Content
}

func (d *decoder) text(n *yaml.Node, name string) (string, bool) {
	if !d.plain(n, name) {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		hint := "put it in single quotes"
		switch {
		case isNull(n):
			hint = "there is nothing; give it a value, or remove the line"
		case n.Kind == yaml.SequenceNode:
			hint = "give one text, without brackets and `- `"
		case n.Kind == yaml.MappingNode:
			hint = "put the text in single quotes when it has `: ` or begins with `{`"
		}
		d.failAt(n, hint, "%s: must be a text; put it in quotes if it looks like something else", name)
		return "", false
	}
	if d.nodes != nil {
		d.nodes[name] = n
	}
	return n.Value, true
}

// severity reads the word of a severity.
func (d *decoder) severity(n *yaml.Node, name string) (s Severity, ok bool) {
	if !d.plain(n, name) {
		return 0, false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		d.failAt(
			n, "write one of the words, as in `severity: warning`", "%s: must be a text, one of %s", name, SeverityList(),
		)
		return 0, false
	}
	if s, ok = ParseSeverity(n.Value); !ok {
		d.failAt(
			n, severityHint(n.Value), "%s:%s is not a severity; one of %s", name, shown(n.Value, " this"), SeverityList(),
		)
	}
	return s, ok
}

// indexed is the name of an item of a list.
func indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

func (d *decoder) flag(n *yaml.Node, name string) bool {
	var b bool
	if !d.plain(n, name) {
		return false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
		d.failAt(n, "write the word without quotes", "%s: must be true or false", name)
	}
	return b
}

// fields are the nodes of a rule's fields.
type fields struct {
	start  *yaml.Node
	nodes  []field
	unread map[string]bool // what is missing there is not the author's omission
}

// field is the node of a field, by its path.
type field struct {
	path string
	node *yaml.Node
}

// node is that of a field, or of what it is in.
func (f fields) node(path string) *yaml.Node {
	for path != "" {
		if i := slices.IndexFunc(f.nodes, func(x field) bool { return x.path == path }); i >= 0 {
			return f.nodes[i].node
		}
		end := max(strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['), 0)
		path = path[:end]
	}
	return f.start
}

// miss notes that a field could not be read.
func (f *fields) miss(field string) {
	if f.unread == nil {
		f.unread = map[string]bool{}
	}
	f.unread[field] = true
}

// ruleKeys are the keys of a rule.
var ruleKeys = []string{
	"cases", "id", "message", "multiline", "paths", "pattern", "redact", "references", "severity", "type",
}

// rule reads one rule, without validating it. It is not ok when nothing of it
// could be read.
func (d *decoder) rule(n *yaml.Node) (r Rule, f fields, ok bool) {
	f = fields{start: n, nodes: make([]field, 0, 8)}
	text := func(path string, n *yaml.Node) string {
		f.nodes = append(f.nodes, field{path, n})
		s, ok := d.text(n, path)
		if !ok {
			f.miss(path)
		}
		return s
	}
	texts := func(path string, n *yaml.Node) (list []string) {
		f.nodes = append(f.nodes, field{path, n})
		for i, item := range d.list(n, path) {
			list = append(list, text(indexed(path, i), item))
		}
		return list
	}
	lists := func(path string, n *yaml.Node, known []string, into ...*[]string) {
		f.nodes = append(f.nodes, field{path, n})
		if isNull(n) {
			return
		}
		d.mapping(n, path, known, func(key string, n *yaml.Node) {
			*into[slices.Index(known, key)] = texts(path+"."+key, n)
		})
	}
	ok = d.mapping(n, "rule", ruleKeys, func(key string, n *yaml.Node) {
		switch key {
		case "id":
			r.ID = text(key, n)
		case "type":
			r.Type = text(key, n)
		case "pattern":
			r.Pattern = text(key, n)
		case "message":
			r.Message = text(key, n)
		case "severity":
			f.nodes = append(f.nodes, field{key, n})
			var ok bool
			if r.Severity, ok = d.severity(n, key); !ok {
				f.miss(key)
			}
		case "multiline":
			r.Multiline = d.flag(n, key)
		case "redact":
			r.Redact = d.flag(n, key)
		case "paths":
			lists(key, n, []string{"exclude", "include"}, &r.Paths.Exclude, &r.Paths.Include)
		case "cases":
			lists(key, n, []string{"match", "no_match"}, &r.Cases.Match, &r.Cases.NoMatch)
		case "references":
			r.References = texts(key, n)
		}
	})
	return r, f, ok
}
