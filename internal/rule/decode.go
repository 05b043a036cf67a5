package rule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
)

// Bounds of what is said about a rules file.
const (
	maxMistakes = 50  // that are looked for
	maxMessage  = 400 // bytes of a mistake's message: it may quote the file
)

// FileError says what is wrong with a rules file.
type FileError struct {
	Mistakes []Mistake // at least one, by line
	Cut      bool      // the search ended at maxMistakes, so there may be more
}

// Mistake is one thing that is wrong in a rules file, or that is allowed and
// probably not meant.
type Mistake struct {
	Line    int // from 1
	Column  int // from 1, in characters; 0 when it is not known
	Message string
}

// Line is the line of the first mistake.
func (e *FileError) Line() int { return e.Mistakes[0].Line }

// Error names the first three mistakes, each with its line.
func (e *FileError) Error() string {
	const shown = 3
	var parts []string
	for _, m := range e.Mistakes[:min(shown, len(e.Mistakes))] {
		parts = append(parts, fmt.Sprintf("line %d: %s", m.Line, m.Message))
	}

	text := strings.Join(parts, "; ")
	if n := len(e.Mistakes) - shown; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	if e.Cut {
		text += ", perhaps others"
	}
	return text
}

// decoder reads YAML nodes and collects mistakes with their places.
type decoder struct {
	lines    int // of the file
	mistakes []Mistake
}

// reader reads the value at a place such as `rules[0].paths`.
type reader func(n *yaml.Node, place string)

func newDecoder(data []byte) *decoder {
	return &decoder{lines: bytes.Count(data, []byte{'\n'}) + 1}
}

// line is the line of a node. YAML breaks lines at some characters where nobody
// else does, so it may count more of them than there are.
func (d *decoder) line(n *yaml.Node) int { return max(1, min(n.Line, d.lines)) }

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	if len(d.mistakes) == maxMistakes {
		return
	}
	message := errs.Cut(fmt.Sprintf(format, args...), maxMessage)
	d.mistakes = append(d.mistakes, Mistake{Line: d.line(n), Column: n.Column, Message: message})
}

func (d *decoder) err() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	return &FileError{Mistakes: byLine(d.mistakes), Cut: len(d.mistakes) == maxMistakes}
}

// byLine sorts mistakes as the author meets them: keys come in any order.
func byLine(list []Mistake) []Mistake {
	return slices.SortedStableFunc(slices.Values(list), func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
}

// document returns the root of the one document in data, or nil after a mistake. Where
// there is none, advice says what to do.
func (d *decoder) document(data []byte, advice string) *yaml.Node {
	start := &yaml.Node{Line: 1}
	if !utf8.Valid(data) {
		d.fail(start, "the file must be UTF-8")
		return nil
	}

	stream := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := stream.Decode(&doc)
	if errors.Is(err, io.EOF) {
		d.fail(start, "the file is empty; %s", advice)
		return nil
	}
	if err == nil {
		err = stream.Decode(&more)
	}

	switch {
	case err == nil:
		d.fail(&more, "the file has more than one YAML document")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
	default:
		d.refuseAnchors(&doc)
	}

	if len(d.mistakes) > 0 {
		return nil
	}
	return doc.Content[0]
}

// syntax notes an error of the YAML parser, which has the line in its text.
func (d *decoder) syntax(err error) {
	parts := regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)`).FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(parts[1])
	text := regexp.MustCompile(`'.*'`).ReplaceAllString(parts[2], "…") // it may be a secret
	for _, known := range []struct{ words, hint string }{
		{"unknown escape character", "put patterns in single quotes, where a backslash is a backslash"},
		{"cannot start any token", "indent with spaces, and put texts that begin with @, ` or % in single quotes"},
		{"alphabetic or numeric", "put texts that begin with `*` or `&` in quotes"},
		{"unknown anchor", "put texts that begin with `*` in quotes"},
		{"mapping values", "put texts with `: ` in single quotes, and look at the indentation"},
		{"did not find expected", "look at the indentation and the quotes from here on"},
	} {
		if strings.Contains(text, known.words) {
			text += "; " + known.hint
			break
		}
	}
	d.fail(&yaml.Node{Line: line}, "not valid YAML: %s", text)
}

// refuseAnchors notes each anchor and alias below n: a small file with them can
// mean a huge one.
func (d *decoder) refuseAnchors(n *yaml.Node) {
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		d.fail(n, "anchors and aliases are not allowed; put texts that begin with `*` or `&` in quotes")
	}
	for _, child := range n.Content {
		d.refuseAnchors(child)
	}
}

// nodeAt returns the node below n at a path such as `cases.match[0]`, or the
// nearest that there is.
func nodeAt(n *yaml.Node, path string) *yaml.Node {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := child(n, step)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func child(n *yaml.Node, step string) *yaml.Node {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i+1]
		}
	}
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// mapping reads the value of each key of n. Keys that are not known, and keys
// that are there twice, are mistakes. The place of the whole file is "".
func (d *decoder) mapping(n *yaml.Node, place string, known map[string]reader) {
	name, prefix := place, place+"."
	if place == "" {
		name, prefix = "the file", ""
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s: must be a mapping of keys to values", name)
		return
	}

	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content) && len(d.mistakes) < maxMistakes; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := known[key.Value]
		switch {
		case !ok:
			d.fail(key, "%s: unknown key%s; %s", name, shown(key.Value, ""), meant(key.Value, known))
		case seen[key.Value]:
			d.fail(key, "%s: key %q is there twice", name, key.Value)
		default:
			seen[key.Value] = true
			read(value, prefix+key.Value)
		}
	}
}

// meant says which key an unknown one was meant to be.
func meant(key string, known map[string]reader) string {
	keys := slices.Sorted(maps.Keys(known))
	if near := nearest(key, keys); near != "" {
		return "did you mean `" + near + "`?"
	}
	return "known keys: " + strings.Join(keys, ", ")
}

// list reads each item of n, of which there may be limit. Nothing at all is an
// empty list.
func (d *decoder) list(n *yaml.Node, place string, limit int, read reader) {
	switch {
	case isNull(n):
	case n.Kind != yaml.SequenceNode:
		d.fail(n, "%s: must be a list", place)
	case len(n.Content) > limit:
		d.fail(n.Content[limit], "%s: has %d entries; at most %d are allowed", place, len(n.Content), limit)
	default:
		for i, item := range n.Content {
			read(item, place+"["+strconv.Itoa(i)+"]")
		}
	}
}

// text reads a text. A number, a date or a word such as `no` is the text that
// is written there.
func (d *decoder) text(into *string) reader {
	return func(n *yaml.Node, place string) {
		switch {
		case n.Kind != yaml.ScalarNode:
			d.fail(n, "%s: must be a text; put it in quotes", place)
		case !isNull(n):
			*into = n.Value
		}
	}
}

func (d *decoder) texts(into *[]string, limit int) reader {
	return func(n *yaml.Node, place string) {
		d.list(n, place, limit, func(item *yaml.Node, place string) {
			*into = append(*into, "")
			d.text(&(*into)[len(*into)-1])(item, place)
		})
	}
}

func (d *decoder) globs(into *[]string, limit int) reader {
	return func(n *yaml.Node, place string) {
		d.texts(into, limit)(n, place)
		for i, glob := range *into {
			if err := match.CheckGlob(glob); err != nil {
				d.fail(child(n, strconv.Itoa(i)), "%s[%d]: %v", place, i, err)
			}
		}
	}
}

func (d *decoder) flag(into *bool) reader {
	return func(n *yaml.Node, place string) {
		if n.Kind != yaml.ScalarNode || n.Decode(into) != nil {
			d.fail(n, "%s: must be true or false", place)
		}
	}
}

func (d *decoder) number(into *int) reader {
	return func(n *yaml.Node, place string) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(into) != nil {
			d.fail(n, "%s: must be a whole number", place)
		}
	}
}

func (d *decoder) severity(into *Severity) reader {
	return func(n *yaml.Node, place string) {
		s, ok := ParseSeverity(n.Value)
		if *into = s; !ok {
			d.fail(n, "%s:%s is not a severity; one of %s", place, shown(n.Value, " this"), SeverityList())
		}
	}
}

// shown quotes a word of a rules file for a message, after a space, and is
// instead for one that may be a secret in the wrong place: what is said about a
// rules file is stored and shown without a mask.
func shown(word, instead string) string {
	if word == "" || len(word) > 20 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_-<") != "" {
		return instead
	}
	return " " + strconv.Quote(word)
}
