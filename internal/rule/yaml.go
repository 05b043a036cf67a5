package rule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/rule/plainyaml"
)

// decoder walks YAML nodes and collects mistakes with their lines.
type decoder struct {
	mistakes []Mistake
	lines    int // of the document
}

// line is a line that the document has: YAML also breaks lines at a lone CR and
// at some characters that are not ASCII, and so may count more of them.
func (d *decoder) line(n int) int { return max(min(n, d.lines), 1) }

func (d *decoder) fail(line int, format string, args ...any) {
	if len(d.mistakes) >= maxMistakes {
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMistake {
		message = strings.ToValidUTF8(message[:maxMistake], "") + "…"
	}
	d.mistakes = append(d.mistakes, Mistake{Line: d.line(line), Message: message})
}

func (d *decoder) err() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	// Keys come in any order, and so do the checks.
	sorted := slices.SortedStableFunc(slices.Values(d.mistakes), func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return &FileError{Mistakes: sorted, Cut: len(sorted) >= maxMistakes}
}

// document parses the one document in data and returns its root, or nil after
// a mistake.
func (d *decoder) document(data []byte) *yaml.Node {
	d.lines = bytes.Count(data, []byte{'\n'}) + 1
	if !utf8.Valid(data) {
		at := 0
		for r, size := utf8.DecodeRune(data[at:]); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRune(data[at:]) {
			at += size
		}
		d.fail(bytes.Count(data[:at], []byte{'\n'})+1, "the file must be UTF-8")
		return nil
	}
	if root, ok := plainyaml.Parse(data); ok {
		return root
	}
	stream := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := stream.Decode(&doc); errors.Is(err, io.EOF) {
		d.fail(1, "the file is empty")
		return nil
	} else if err != nil {
		d.syntax(err)
		return nil
	}
	if err := stream.Decode(&more); err == nil {
		d.fail(more.Line, "the file has more than one YAML document")
		return nil
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
		return nil
	}
	return doc.Content[0]
}

// syntax takes over an error of the YAML parser, which has the line in its
// text only.
func (d *decoder) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	// The parser quotes names of anchors and tags, which can be anything.
	text = regexp.MustCompile(`'.*'`).ReplaceAllString(text, "…")
	d.fail(line, "not valid YAML: %s", text)
}

// plain says whether n has neither anchor nor alias.
func (d *decoder) plain(n *yaml.Node, name string) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		d.fail(n.Line, "%s: anchors and aliases are not allowed", name)
		return false
	}
	return true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// mapping calls for each key of n the function under it. Keys without one, and
// keys that are there twice, are mistakes.
func (d *decoder) mapping(n *yaml.Node, name string, keys map[string]func(value *yaml.Node)) bool {
	if !d.plain(n, name) {
		return false
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s: must be a mapping of keys to values", name)
		return false
	}
	before := len(d.mistakes)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := keys[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !known:
			d.fail(key.Line, "%s: unknown key%s; known keys: %s", name, shown(key.Value, ""), keyList(keys))
		case seen[key.Value]:
			d.fail(key.Line, "%s: key %q is there twice", name, key.Value)
		case d.plain(key, name):
			seen[key.Value] = true
			read(value)
		}
	}
	return len(d.mistakes) == before
}

func keyList(keys map[string]func(*yaml.Node)) string {
	list := make([]string, 0, len(keys))
	for k := range keys {
		list = append(list, k)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// list returns the items of n. Nothing at all is an empty list.
func (d *decoder) list(n *yaml.Node, name string) []*yaml.Node {
	switch {
	case !d.plain(n, name), isNull(n):
		return nil
	case n.Kind != yaml.SequenceNode:
		d.fail(n.Line, "%s: must be a list", name)
		return nil
	}
	return n.Content
}

func (d *decoder) text(n *yaml.Node, name string) (string, bool) {
	if !d.plain(n, name) {
		return "", false
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		d.fail(n.Line, "%s: must be a text; put it in quotes if it looks like something else", name)
		return "", false
	}
	return n.Value, true
}

func (d *decoder) severity(n *yaml.Node, name string) (s Severity, ok bool) {
	word, ok := d.text(n, name)
	if !ok {
		return 0, false
	}
	if s, ok = ParseSeverity(word); !ok {
		d.fail(n.Line, "%s:%s is not a severity; one of %s", name, shown(word, " this"), SeverityList())
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
		d.fail(n.Line, "%s: must be true or false", name)
	}
	return b
}

// places are the lines of a rule's fields, by their paths.
type places struct {
	start  int
	fields map[string]int
	broken bool // something could not be read: what is missing is not the author's omission
}

// line is the line of a field, or of what it is in.
func (p places) line(field string) int {
	for field != "" {
		if line, ok := p.fields[field]; ok {
			return line
		}
		cut := max(strings.LastIndexByte(field, '.'), strings.LastIndexByte(field, '['), 0)
		field = field[:cut]
	}
	return p.start
}

// rule reads one rule, without validating it.
func (d *decoder) rule(n *yaml.Node) (Rule, places) {
	var r Rule
	at := places{start: n.Line, fields: map[string]int{}}
	text := func(field string, into *string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			at.fields[field] = n.Line
			*into, _ = d.text(n, field)
		}
	}
	texts := func(field string, into *[]string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			at.fields[field] = n.Line
			for i, item := range d.list(n, field) {
				name := fmt.Sprintf("%s[%d]", field, i)
				at.fields[name] = item.Line
				s, _ := d.text(item, name)
				*into = append(*into, s)
			}
		}
	}
	group := func(field string, keys map[string]func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) {
			at.fields[field] = n.Line
			if !isNull(n) {
				d.mapping(n, field, keys)
			}
		}
	}
	before := len(d.mistakes)
	d.mapping(n, "rule", map[string]func(*yaml.Node){
		"id":      text("id", &r.ID),
		"type":    text("type", &r.Type),
		"pattern": text("pattern", &r.Pattern),
		"message": text("message", &r.Message),
		"severity": func(n *yaml.Node) {
			at.fields["severity"] = n.Line
			r.Severity, _ = d.severity(n, "severity")
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
	at.broken = len(d.mistakes) > before
	return r, at
}
