package rules

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// outline says in words what a pattern matches, a part a line, parts of parts
// indented.
func outline(pattern string, multiline bool) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	o := outliner{text: "line"}
	if multiline {
		o.text = "file"
	}

	o.add(0, "", re)
	const most = 40
	if len(o.lines) > most {
		o.lines = append(o.lines[:most], "…")
	}
	return o.lines
}

type outliner struct {
	text  string // what the pattern is matched on: a line or a file
	lines []string
}

func (o *outliner) line(depth int, text string) {
	o.lines = append(o.lines, strings.Repeat("  ", depth+1)+text)
}

// add adds a part, after words that say how often it is there.
func (o *outliner) add(depth int, lead string, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpCapture:
		o.add(depth, lead, re.Sub[0])
	case syntax.OpConcat:
		if lead != "" {
			o.line(depth, strings.TrimSuffix(lead, " ")+" this:")
			depth++
		}
		for _, sub := range re.Sub {
			o.add(depth, "", sub)
		}
	case syntax.OpAlternate:
		words := make([]string, len(re.Sub))
		for i, sub := range re.Sub {
			words[i] = o.simple(sub)
		}
		if all := strings.Join(words, " or "); !slices.Contains(words, "") && len(all) < 100 {
			o.line(depth, lead+all)
			return
		}
		o.line(depth, lead+"one of these:")
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpConcat {
				o.add(depth+1, "either", sub)
			} else {
				o.add(depth+1, "", sub)
			}
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		sub := re.Sub[0]
		for sub.Op == syntax.OpCapture {
			sub = sub.Sub[0]
		}
		if many := plural(sub); many != "" && re.Op != syntax.OpQuest {
			o.line(depth, lead+strings.TrimSuffix(times(re), " of")+ofNumber(re)+" "+many)
			return
		}
		o.add(depth, lead+times(re)+" ", sub)
	default:
		if text := o.simple(re); text != "" {
			o.line(depth, lead+text)
		}
	}
}

// times says how often something is there.
func times(re *syntax.Regexp) string {
	switch {
	case re.Op == syntax.OpStar:
		return "any number of"
	case re.Op == syntax.OpPlus:
		return "one or more of"
	case re.Op == syntax.OpQuest:
		return "perhaps"
	case re.Max < 0:
		return fmt.Sprintf("%d or more of", re.Min)
	case re.Min == re.Max:
		return fmt.Sprintf("%d of", re.Min)
	}
	return fmt.Sprintf("%d to %d of", re.Min, re.Max)
}

// simple says what a part matches that has no parts, or "" for one that has.
func (o *outliner) simple(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		text := strconv.Quote(string(re.Rune))
		if strings.ContainsAny(text, "\\") && !strings.ContainsAny(text, "`\n\r\t") {
			text = "`" + string(re.Rune) + "`"
		}
		if re.Flags&syntax.FoldCase != 0 {
			text += " in either case"
		}
		return text
	case syntax.OpCharClass:
		one, _ := class(re)
		return one
	case syntax.OpAnyCharNotNL:
		return "any character"
	case syntax.OpAnyChar:
		return `any character, \n too`
	case syntax.OpBeginText:
		return "the start of the " + o.text
	case syntax.OpEndText:
		return "the end of the " + o.text
	case syntax.OpBeginLine:
		return "the start of a line"
	case syntax.OpEndLine:
		return "the end of a line"
	case syntax.OpWordBoundary:
		return "the edge of a word"
	case syntax.OpNoWordBoundary:
		return "no edge of a word"
	case syntax.OpEmptyMatch:
		return "nothing"
	case syntax.OpNoMatch:
		return "what there is not"
	}
	return ""
}

// ofNumber is what stands between a number without an end and what there is so
// many of.
func ofNumber(re *syntax.Regexp) string {
	if re.Op == syntax.OpStar {
		return " of"
	}
	return ""
}

// plural says what many of a class of characters are, or "" for anything else.
func plural(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpCharClass:
		_, many := class(re)
		return many
	case syntax.OpAnyCharNotNL:
		return "characters"
	case syntax.OpAnyChar:
		return `characters, \n too`
	}
	return ""
}

// class names a class of characters, and many of it.
func class(re *syntax.Regexp) (one, many string) {
	for _, c := range []struct{ text, one, many string }{
		{`\d`, "a digit", "digits"},
		{`\w`, "a letter of a-z, a digit or _", "letters of a-z, digits or _"},
		{`\s`, "a blank", "blanks"},
		{`\S`, "anything but a blank", "characters that are no blanks"},
		{`[a-z]`, "a small letter of a-z", "small letters of a-z"},
		{`[A-Z]`, "a capital letter of A-Z", "capital letters of A-Z"},
		{`[A-Za-z]`, "a letter of a-z", "letters of a-z"},
		{`[0-9A-Za-z]`, "a letter of a-z or a digit", "letters of a-z or digits"},
		{`[0-9a-f]`, "a hexadecimal digit", "hexadecimal digits"},
	} {
		if known, err := syntax.Parse(c.text, syntax.Perl); err == nil && slices.Equal(known.Rune, re.Rune) {
			return c.one, c.many
		}
	}

	ranges := re.Rune
	if n := len(ranges); n >= 4 && ranges[0] == 0 && ranges[n-1] == unicode.MaxRune { // it says what is not in it
		var gaps []rune
		for i := 1; i+1 < n; i += 2 {
			gaps = append(gaps, ranges[i]+1, ranges[i+1]-1)
		}
		return "any character but " + members(gaps), "characters that are none of " + members(gaps)
	}
	return "one of " + members(ranges), "of " + members(ranges)
}

// members lists what is in a class. A range ends where letters or digits do.
func members(ranges []rune) string {
	var list []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for from := ranges[i]; from <= ranges[i+1]; {
			to := min(ranges[i+1], endOfKind(from))
			switch to {
			case from:
				list = append(list, character(from))
			case from + 1:
				list = append(list, character(from), character(to))
			default:
				list = append(list, character(from)+"-"+character(to))
			}
			from = to + 1
		}
	}

	const most = 20
	if len(list) > most {
		list = append(list[:most], "…")
	}
	return strings.Join(list, " ")
}

// endOfKind is the last character from r on that is a digit or letter as r is
// one, or none as r is none.
func endOfKind(r rune) rune {
	for _, end := range []rune{'0' - 1, '9', 'A' - 1, 'Z', 'a' - 1, 'z'} {
		if r <= end {
			return end
		}
	}
	return unicode.MaxRune
}

func character(r rune) string {
	switch {
	case r == ' ':
		return "space"
	case unicode.IsPrint(r):
		return string(r)
	}
	quoted := strconv.QuoteRune(r)
	return quoted[1 : len(quoted)-1]
}
