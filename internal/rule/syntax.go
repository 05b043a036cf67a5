package rule

import (
	"regexp"
	"strconv"
	"strings"
)

// syntax takes over an error of the YAML parser, which has the line in its
// text only, and mostly not the line where the mistake is.
func (d *decoder) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := regexp.MustCompile(`^line (\d+): (.*)`).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	d.source = newSource(d.source.text, true) // lines are asked for one by one
	c := d.source.cause(d.line(line), text)
	if c.message == "" {
		// The parser quotes names of anchors and tags, which can be anything.
		c.message = regexp.MustCompile(`'.*'`).ReplaceAllString(text, "…")
	}
	d.add(Mistake{Line: c.line, Column: c.column, Message: "not valid YAML: " + c.message, Hint: c.hint})
}

// cause is what probably makes a text no YAML.
type cause struct {
	line, column  int
	message, hint string
}

// knownMistake is something that is no YAML.
type knownMistake struct {
	words   string // a part of the parser's
	line    *regexp.Regexp
	message string
	hint    string
	near    bool // only in the lines next to the one that the parser names
}

// maxSearched is how many lines behind the one that the parser names are looked
// at: the file may be a stranger's.
const maxSearched = 5000

// anchor is the index of the knownMistake that looks like an anchor's name.
const anchor = 1

// knownMistakes are what people write into rules files that is no YAML. Each is
// looked for in the lines around the one that the parser names, when the
// parser's words fit. The first group of the expression is where it is.
func knownMistakes() []knownMistake {
	const value = `^ *(?:- )?\w+: +` // of a key, on its line
	re := regexp.MustCompile
	return []knownMistake{
		{"", re(`^ *(\t)`), "a tab in the indentation", "indent with spaces", false},
		{
			"", re(`^[^'"#]*(?:[:\-,\[] ?|\[)(\*[^\s,\]]*)`), "a text that starts with `*` is the name of an anchor",
			"put the glob in quotes: \"**/*.go\"", false,
		},
		{
			"escape", re(`"(?:[^"\\]|\\["\\/abefnrtvNLP_0 x])*(\\)`),
			"in double quotes a backslash starts an escape sequence of YAML",
			"put the pattern in single quotes, where a backslash is a backslash", false,
		},
		{"", re("^[^'\"#]*(?:: |- )([@`%])"), "a text can't start with this character", "put it in single quotes", false},
		{
			"mapping values", re(value + `[^'"\[{#|>\s][^#]*?(:) `), "a text without quotes can't have `: `",
			"put the text in single quotes", false,
		},
		{
			"mapping values", re(value + `[^'"\[{#|>\s][^#]*?(:)$`), "a text without quotes can't end in `:`",
			"put the text in single quotes", false,
		},
		{
			"", re(value + `'(?:[^']|'')*'( *[^ #,\]}].*)$`), "text after the closing quote",
			"double a quote within single quotes: `''`", false,
		},
		{
			"", re(value + `"(?:[^"\\]|\\.)*"( *[^ #,\]}].*)$`), "text after the closing quote",
			"put the text in single quotes", false,
		},
		{
			"", re(value + `(\[(?:[^\]'"]|'[^']*'|"[^"]*")*)$`), "the list has no `]`",
			"close it, or write an item a line with `- `", false,
		},
		{"", re(value + `(\{(?:[^}'"]|'[^']*'|"[^"]*")*)$`), "the braces are not closed", "add the `}`", false},
		{
			"", re(value + `('(?:[^']|'')*)$`), "the quote is not closed", "add the `'`; within single quotes it is doubled",
			false,
		},
		{"", re(value + `("(?:[^"\\]|\\.)*)$`), "the quote is not closed", "add the `\"`", false},
		{
			"", re(`^ *(?:- )?([a-z_]+)[^\s:'"]*$`), "neither `key: value` nor `- item`",
			"add what is missing, or put it in line with the text that it goes on with", true,
		},
	}
}

// cause looks for what is wrong in the line that the parser names, then in
// those around it.
func (s source) cause(line int, words string) cause {
	known := knownMistakes()
	lines := []int{line, line - 1, line + 1, line - 2}
	if strings.Contains(words, "did not find expected") {
		// The parser names the line where a list or a mapping begins.
		for at := line + 2; at <= min(line+maxSearched, s.count()); at++ {
			lines = append(lines, at)
		}
	}
	for i, at := range lines {
		text := s.line(at)
		for _, x := range known {
			if !strings.Contains(words, x.words) || x.near && i > 3 {
				continue
			}
			if m := x.line.FindStringSubmatchIndex(text); m != nil {
				return cause{at, m[2] + 1, x.message, x.hint}
			}
		}
	}
	if c, ok := s.misplaced(line); ok {
		return c
	}
	if strings.Contains(words, "anchor") {
		// The parser says no line.
		for at := 1; at <= min(maxSearched, s.count()); at++ {
			if m := known[anchor].line.FindStringSubmatchIndex(s.line(at)); m != nil {
				return cause{at, m[2] + 1, known[anchor].message, known[anchor].hint}
			}
		}
	}
	for _, h := range []struct{ words, hint string }{
		{
			"did not find expected key",
			"look at the indentation: keys of one rule begin in the same column, two to the right of the `-`",
		},
		{"'-' indicator", "look at the indentation: each rule begins with `- ` in the same column"},
		{"mapping values", "look at the indentation: keys of one rule begin in the same column"},
		{"control characters", "remove the character, or write it in a pattern as `\\x01`"},
	} {
		if strings.Contains(words, h.words) {
			return cause{line: line, hint: h.hint}
		}
	}
	return cause{line: line}
}

// misplaced looks, from a line on, for one whose key or item begins in a column
// where none above it does that goes on.
func (s source) misplaced(from int) (cause, bool) {
	re := regexp.MustCompile(`^( *)((?:- +)*)(?:[\w$.-]+|'[^']*'|"[^"]*") *:(?:\s|$)|^( *)((?:- +)+)`)
	block := regexp.MustCompile(`[:-] +[|>][-+0-9]*\s*(?:#.*)?$`)
	var open []int // columns, from 0
	text := -1     // indentation of the line that a text below belongs to
	for at := 1; at <= min(from+maxSearched, s.count()); at++ {
		line := s.line(at)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if strings.TrimSpace(line) == "" || text >= 0 && indent > text {
			continue
		}
		text = -1
		if block.MatchString(line) {
			text = indent
		}
		m := re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for len(open) > 0 && open[len(open)-1] > indent {
			open = open[:len(open)-1]
			if (len(open) == 0 || open[len(open)-1] < indent) && at >= from {
				return cause{
					at, indent + 1, "this line begins where nothing above it does",
					"look at the indentation: rules begin with `- ` in one column, their keys in one column two to the right",
				}, true
			}
		}
		if len(open) == 0 || open[len(open)-1] < indent {
			open = append(open, indent)
		}
		for dashes := m[2] + m[4]; dashes != ""; {
			rest := strings.TrimLeft(dashes[1:], " ")
			indent += len(dashes) - len(rest)
			dashes = rest
			open = append(open, indent)
		}
	}
	return cause{}, false
}
