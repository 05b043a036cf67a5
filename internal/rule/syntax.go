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
	c := d.source.culprit(d.line(line), text)
	if c.message == "" {
		// The parser quotes names of anchors and tags, which can be anything.
		c.message = regexp.MustCompile(`'.*'`).ReplaceAllString(text, "…")
	}
	d.add(Mistake{Line: c.line, Column: c.column, Message: "not valid YAML: " + c.message, Hint: c.hint})
}

// culprit is what probably makes a text no YAML.
type culprit struct {
	line, column  int
	message, hint string
}

// suspect is something that is no YAML.
type suspect struct {
	words   string // a part of the parser's
	line    *regexp.Regexp
	message string
	hint    string
}

// anchor is the index of the suspect that looks like an anchor's name.
const anchor = 1

// suspects are what people write into rules files that is no YAML. Each is
// looked for in the lines around the one that the parser names, when the
// parser's words fit. The first group of the expression is where it is.
func suspects() []suspect {
	const value = `^ *(?:- )?\w+: +` // of a key, on its line
	re := regexp.MustCompile
	return []suspect{
		{"", re(`^ *(\t)`), "a tab in the indentation", "indent with spaces"},
		{"", re(`^[^'"#]*(?:[:\-,\[] ?|\[)(\*[^\s,\]]*)`), "a text that starts with `*` is the name of an anchor", "put the glob in quotes: \"**/*.go\""},
		{"escape", re(`"(?:[^"\\]|\\["\\/abefnrtvNLP_0 x])*(\\)`), "in double quotes a backslash starts an escape sequence of YAML", "put the pattern in single quotes, where a backslash is a backslash"},
		{"", re("^[^'\"#]*(?:: |- )([@`%])"), "a text can't start with this character", "put it in single quotes"},
		{"mapping values", re(value + `[^'"\[{#|>\s][^#]*?(:) `), "a text without quotes can't have `: `", "put the text in single quotes"},
		{"mapping values", re(value + `[^'"\[{#|>\s][^#]*?(:)$`), "a text without quotes can't end in `:`", "put the text in single quotes"},
		{"", re(value + `'(?:[^']|'')*'( *[^ #,\]}].*)$`), "text after the closing quote", "double a quote within single quotes: `''`"},
		{"", re(value + `"(?:[^"\\]|\\.)*"( *[^ #,\]}].*)$`), "text after the closing quote", "put the text in single quotes"},
		{"", re(value + `(\[(?:[^\]'"]|'[^']*'|"[^"]*")*)$`), "the list has no `]`", "close it, or write an item a line with `- `"},
		{"", re(value + `(\{(?:[^}'"]|'[^']*'|"[^"]*")*)$`), "the braces are not closed", "add the `}`"},
		{"", re(value + `('(?:[^']|'')*)$`), "the quote is not closed", "add the `'`; within single quotes it is doubled"},
		{"", re(value + `("(?:[^"\\]|\\.)*)$`), "the quote is not closed", "add the `\"`"},
		{"", re(`^ *(?:- )?([a-z_]+)[^\s:'"]*$`), "neither `key: value` nor `- item`", "add what is missing, or put it in line with the text that it goes on with"},
	}
}

// culprit looks for what is wrong in the line that the parser names, then in
// those around it.
func (s source) culprit(line int, words string) culprit {
	known := suspects()
	for _, at := range []int{line, line - 1, line + 1, line - 2} {
		text := s.line(at)
		for _, x := range known {
			if !strings.Contains(words, x.words) {
				continue
			}
			if m := x.line.FindStringSubmatchIndex(text); m != nil {
				return culprit{at, m[2] + 1, x.message, x.hint}
			}
		}
	}
	if strings.Contains(words, "anchor") {
		// The parser says no line.
		for at := 1; at <= s.count(); at++ {
			if m := known[anchor].line.FindStringSubmatchIndex(s.line(at)); m != nil {
				return culprit{at, m[2] + 1, known[anchor].message, known[anchor].hint}
			}
		}
	}
	for _, h := range []struct{ words, hint string }{
		{"did not find expected key", "look at the indentation: keys of one rule begin in the same column, two to the right of the `-`"},
		{"'-' indicator", "look at the indentation: each rule begins with `- ` in the same column"},
		{"mapping values", "look at the indentation: keys of one rule begin in the same column"},
		{"control characters", "remove the character, or write it in a pattern as `\\x01`"},
	} {
		if strings.Contains(words, h.words) {
			return culprit{line: line, hint: h.hint}
		}
	}
	return culprit{line: line}
}
