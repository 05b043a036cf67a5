// Package structure matches patterns of code on the tokens of a text: over lines,
// whatever the space, with brackets that are balanced. It knows no grammar.
//
// In a pattern $X stands for an operand or, alone between brackets or commas, for an
// argument, $_ for any of these, and $$$X for a balanced run of tokens.
package structure

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/syntax"
)

// Bounds of a pattern.
const (
	MaxPattern  = 1024 // bytes
	maxElements = 200
)

// kind is what an element of a pattern matches.
type kind uint8

const (
	literal  kind = iota // one token
	open                 // a bracket
	closing              // its end
	ending               // the end of a statement
	name                 // one name
	argument             // what is between commas
	operand              // see matcher.operands
	run                  // balanced tokens
)

type element struct {
	word        string // of a literal, as files have it; of a string without its quotes
	kind        kind
	is          syntax.Kind // of a literal
	bracket     byte        // of open
	slot        int16       // of the metavariable; -1 for none and $_
	group       int16       // the brackets that it is directly in
	before      bool        // run: with the comma before it
	after       bool        // run: with the comma behind it
	free        bool        // run: nothing behind it depends on what was bound before it
	last        bool        // operand: nothing of the pattern is joined to its end
	left, right int32       // operand: the strength of the operators beside it, -1 for none
}

// pattern is a pattern, ready to match. It is immutable.
type pattern struct {
	language *syntax.Language
	elements []element
	fixed    int      // of the first elements, that match one token each in one way only
	slots    []int    // of its metavariables, each once
	index    int      // of its matcher in a search
	hashes   []uint32 // of the tokens that every match has
	needs    []uint32 // of these tokens, or of two in a row; then 0, see File.mayHave
	anchors  []int    // indexes of the hashes of those in the segment in which a match begins
}

// Letters that no text has, before names of metavariables while a pattern is read.
const (
	oneMark  = "\ue000"
	manyMark = "\ue001"
	dollar   = "\ue002"
)

// compilePattern reads a pattern in a language. Its metavariables are added to names,
// whose indexes are their slots.
func compilePattern(l *syntax.Language, source string, names *[]string) (*pattern, error) {
	switch {
	case strings.TrimSpace(source) == "":
		return nil, errors.New("is required")
	case len(source) > MaxPattern:
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(source), MaxPattern)
	case strings.ContainsAny(source, oneMark+manyMark+dollar):
		return nil, errors.New("must not have the private characters U+E000 to U+E002")
	}

	marked := marks.Replace(strings.TrimSpace(source))
	text := syntax.Scan(l, []byte(marked))
	c := compiler{pattern: &pattern{language: l}, source: marked, text: text, names: names}
	if len(text.Tokens) > maxElements {
		return nil, fmt.Errorf("has %d tokens; at most %d are allowed", len(text.Tokens), maxElements)
	}
	if err := c.compile(); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(c.elements, func(e element) bool { return e.kind == literal || e.kind == open }) {
		return nil, errNoWord
	}

	return c.pattern, nil
}

// marks puts the marks before the names of metavariables.
var marks = func() *strings.Replacer {
	pairs := []string{`\$`, dollar, "$$$", manyMark}
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ_" {
		pairs = append(pairs, "$"+string(c), oneMark+string(c))
	}

	return strings.NewReplacer(pairs...)
}()

var errNoWord = errors.New("has nothing but metavariables; it needs a word or an operator that every match has")

// words are regular expressions of what every match has.
func (p *pattern) words() (all []string) {
	for _, e := range p.elements {
		if e.kind != literal {
			continue
		}
		if text := e.word; text != "" {
			all = append(all, wordOf(e.is, text, p.language.FoldsCase()))
		}
	}

	return all
}

// wordOf is a regular expression that matches where a token has a content.
func wordOf(kind syntax.Kind, content string, folds bool) string {
	word := regexp.QuoteMeta(content)
	if kind != syntax.Name {
		return word
	}
	if content != "" && !strings.ContainsFunc(content, isNoWord) {
		word = `\b` + word + `\b`
	}
	if folds {
		word = `(?i:` + word + `)`
	}

	return word
}

// isNoWord tells characters that are no \w.
func isNoWord(c rune) bool {
	return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}

// compiler makes elements of the tokens of a pattern.
type compiler struct {
	*pattern
	source string       // with marks
	text   *syntax.Text // of it
	names  *[]string
	groups []int16 // that are open
	count  int16   // of groups
}

func (c *compiler) compile() error {
	c.groups, c.elements = []int16{0}, make([]element, 0, len(c.text.Tokens))
	tokens := c.text.Tokens
	if strings.ContainsAny(commentsOf(c.text), oneMark+manyMark) {
		return errors.New("has a metavariable in a comment; comments are not matched")
	}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		raw := c.source[t.Start:t.End]
		mark := strings.LastIndexAny(raw, oneMark+manyMark)
		if mark > 0 || mark == 0 && t.Kind != syntax.Name {
			if t.Kind == syntax.String {
				return errors.New("has a metavariable in a string; write $X in place of the string, or \\$ for a dollar")
			}
			return errors.New("has a metavariable that is a part of a word; it is a whole token")
		}
		e := element{
			kind: literal, is: t.Kind, bracket: t.Bracket, slot: -1, group: c.groups[len(c.groups)-1], left: -1, right: -1,
		}
		switch {
		case mark == 0:
			i = c.variable(e, i, raw)
			continue
		case t.Kind == syntax.Open || t.Kind == syntax.Close:
			if t.Pair < 0 {
				return fmt.Errorf("has a bracket %q without the other one", raw)
			}
			e.kind = closing
			if t.Kind == syntax.Open {
				e.kind = open
				c.count++
				c.groups = append(c.groups, c.count)
			} else {
				c.groups = c.groups[:len(c.groups)-1]
				e.group = c.groups[len(c.groups)-1]
			}
		case t.Kind == syntax.LineEnd || raw == ";":
			if k := len(c.elements) - 1; k < 0 || c.elements[k].kind == run || c.elements[k].kind == ending ||
				i+1 == len(tokens) || strings.HasPrefix(string(c.text.Of(i+1)), manyMark) {
				continue // a run has it
			}
			e.kind = ending
		}
		if e.kind == literal {
			e.word = strings.ReplaceAll(string(c.text.Content(i)), dollar, "$")
		}
		c.elements = append(c.elements, e)
	}
	for i := range c.elements {
		c.elements[i].free = c.elements[i].kind == run && c.isFree(i)
	}
	for c.fixed < len(c.elements) && c.elements[c.fixed].kind <= open {
		c.fixed++
	}
	c.findBy()

	return nil
}

// findBy notes the tokens by which matches are found.
func (c *compiler) findBy() {
	ended := false
	c.hashes = make([]uint32, 0, len(c.elements))
	for _, e := range c.elements {
		ended = ended || e.kind == ending
		if e.kind != literal {
			continue
		}
		if e.group == 0 && !ended {
			c.anchors = append(c.anchors, len(c.hashes))
		}
		c.hashes = append(c.hashes, hashOf(e.is, []byte(e.word), c.language.FoldsCase()))
	}
	c.findNeeds()
}

// findNeeds notes what rules files out.
func (c *compiler) findNeeds() {
	c.needs = make([]uint32, 0, len(c.elements)+1)
	last, words := uint32(0), 0 // the hash of the element before, 0 for none, and how many words there were
	for _, e := range c.elements {
		h := uint32(0)
		switch e.kind {
		case literal:
			h = c.hashes[words]
			words++
		case open:
			h = hashOfOpen(e.bracket)
		}
		switch {
		case last != 0 && h != 0:
			c.needs = append(c.needs, hashOfPair(last, h))
		case e.kind == literal:
			c.needs = append(c.needs, h)
		}
		last = h
	}
	c.needs = append(c.needs, 0)
}

// isFree says whether no metavariable before an element stands in it or behind it, and
// none of it stands behind it.
func (c *compiler) isFree(i int) bool {
	for k, e := range c.elements[i:] {
		isSame := func(before element) bool { return before.slot >= 0 && before.slot == e.slot }
		if slices.ContainsFunc(c.elements[:min(i+1, i+k)], isSame) {
			return false
		}
	}

	return true
}

func commentsOf(t *syntax.Text) (all string) {
	for _, c := range t.Comments {
		all += string(t.Bytes[c.Start:c.End])
	}

	return all
}

// variable adds what a metavariable stands for, and returns the index of the last token
// that belongs to it.
func (c *compiler) variable(e element, i int, raw string) int {
	isRun := strings.HasPrefix(raw, manyMark)
	if called := raw[len(oneMark):]; called != "" && called != "_" {
		slot := slices.Index(*c.names, called)
		if slot < 0 {
			*c.names = append(*c.names, called)
			slot = len(*c.names) - 1
		}
		e.slot = int16(slot)
		if !slices.Contains(c.slots, slot) {
			c.slots = append(c.slots, slot)
		}
	}
	tokens := c.text.Tokens
	before, behind := "", ""
	opens, closes := false, false
	if i > 0 {
		before, opens = string(c.text.Of(i-1)), tokens[i-1].Kind == syntax.Open
	}
	if i+1 < len(tokens) {
		behind, closes = string(c.text.Of(i+1)), tokens[i+1].Kind == syntax.Close
	}
	k := len(c.elements) - 1

	switch {
	case isRun:
		e.kind = run
		if before == "," && k >= 0 && c.elements[k].kind == literal {
			c.elements, e.before = c.elements[:k], true
		} else if behind == "," {
			e.after = true
			i++
		}
	case c.language.Joins(before):
		e.kind = name
	case (opens || before == ",") && (closes || behind == ",") && e.group > 0:
		e.kind = argument
	default:
		e.kind = operand
		e.left, e.right = int32(c.language.Strength([]byte(before))), int32(c.language.Strength([]byte(behind)))
		joined := c.language.Joins(behind) || i+1 < len(tokens) && tokens[i+1].Kind == syntax.Open
		e.last = e.right < 0 && !joined
		if joined {
			e.right = math.MaxInt32 // `.` and calls bind more tightly than every operator between two operands
		}
	}
	c.elements = append(c.elements, e)

	return i
}
