package rule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/rule/plainyaml"
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
		d.add(Mistake{Line: bytes.Count(data[:at], []byte{'\n'}) + 1, Message: "the file must be UTF-8", Hint: "save it in that encoding"})
		return nil
	}
	if !d.thorough { // which needs the columns
		if root, ok := plainyaml.Parse(data); ok {
			return root
		}
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
		d.failAt(&more, "remove the `---` and what follows, or make another file of it", "the file has more than one YAML document")
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
		d.failAt(n, "write it out at each place; a text that begins with `*` or `&` needs quotes", "%s: anchors and aliases are not allowed", name)
		return false
	}
	return true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// mapping calls for each key of n the function under it. Keys without one, and
// keys that are there twice, are mistakes; a key that is mistyped is read as
// the one that it was meant to be, so that mistakes in its value are found too.
func (d *decoder) mapping(n *yaml.Node, name string, keys map[string]func(value *yaml.Node)) bool {
	if !d.plain(n, name) {
		return false
	}
	if n.Kind != yaml.MappingNode {
		d.failAt(n, mappingHint(name), "%s: must be a mapping of keys to values", name)
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := keys[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !ok:
			known := slices.Sorted(maps.Keys(keys))
			means, hint := keyHint(key.Value, known)
			list := ""
			if means == "" {
				list = "; known keys: " + strings.Join(known, ", ")
			}
			d.failAt(key, hint, "%s: unknown key%s%s", name, shown(key.Value, ""), list)
			if means != "" && key.Kind == yaml.ScalarNode && !seen[means] && !has(n, means) {
				seen[means] = true
				keys[means](value)
			}
		case seen[key.Value]:
			d.failAt(key, "keep one of them", "%s: key %q is there twice", name, key.Value)
		case d.plain(key, name):
			seen[key.Value] = true
			read(value)
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
		d.failAt(n, "write one of the words, as in `severity: warning`", "%s: must be a text, one of %s", name, SeverityList())
		return 0, false
	}
	if s, ok = ParseSeverity(n.Value); !ok {
		d.failAt(n, severityHint(n.Value), "%s:%s is not a severity; one of %s", name, shown(n.Value, " this"), SeverityList())
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

// fields are the nodes of a rule's fields, by their paths.
type fields struct {
	start  *yaml.Node
	nodes  map[string]*yaml.Node
	unread map[string]bool // what is missing there is not the author's omission
}

// node is that of a field, or of what it is in.
func (f fields) node(field string) *yaml.Node {
	for field != "" {
		if n, ok := f.nodes[field]; ok {
			return n
		}
		end := max(strings.LastIndexByte(field, '.'), strings.LastIndexByte(field, '['), 0)
		field = field[:end]
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

// rule reads one rule, without validating it. It is not ok when nothing of it
// could be read.
func (d *decoder) rule(n *yaml.Node) (r Rule, f fields, ok bool) {
	f = fields{start: n, nodes: map[string]*yaml.Node{}}
	read := func(field string, n *yaml.Node, from func(*yaml.Node, string) (string, bool)) (s string) {
		f.nodes[field] = n
		s, ok := from(n, field)
		if !ok {
			f.miss(field)
		}
		return s
	}
	text := func(field string, into *string) func(*yaml.Node) {
		return func(n *yaml.Node) { *into = read(field, n, d.text) }
	}
	texts := func(field string, into *[]string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			f.nodes[field] = n
			for i, item := range d.list(n, field) {
				*into = append(*into, read(indexed(field, i), item, d.text))
			}
		}
	}
	group := func(field string, keys map[string]func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) {
			f.nodes[field] = n
			if !isNull(n) {
				d.mapping(n, field, keys)
			}
		}
	}
	ok = d.mapping(n, "rule", map[string]func(*yaml.Node){
		"id":      text("id", &r.ID),
		"type":    text("type", &r.Type),
		"pattern": text("pattern", &r.Pattern),
		"message": text("message", &r.Message),
		"severity": func(n *yaml.Node) {
			f.nodes["severity"] = n
			var ok bool
			if r.Severity, ok = d.severity(n, "severity"); !ok {
				f.miss("severity")
			}
		},
		"multiline": func(n *yaml.Node) { r.Multiline = d.flag(n, "multiline") },
		"redact":    func(n *yaml.Node) { r.Redact = d.flag(n, "redact") },
		"paths": group("paths", map[string]func(*yaml.Node){
			"include": texts("paths.include", &r.Paths.Include),
			"exclude": texts("paths.exclude", &r.Paths.Exclude),
		}),
		"cases": group("cases", map[string]func(*yaml.Node){
			"match":    texts("cases.match", &r.Cases.Match),
			"no_match": texts("cases.no_match", &r.Cases.NoMatch),
		}),
		"references": texts("references", &r.References),
	})
	return r, f, ok
}
