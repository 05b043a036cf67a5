package syntax

import "strings"

// Language is how texts of a language are read.
type Language struct {
	Name string // for people

	lines    []string // begin a comment that ends with its line
	spaced   bool     // they do so only at the start of a line and behind a blank
	starting bool     // they do so only as the first thing on a line
	blocks   []block
	quotes   []quote
	prefixes string // names, in lower case, that may stand before a quote
	braces   string // names, in lower case, by which a string has holes `{…}`
	loose    bool   // comments and strings that have no end are none

	first, later string // what names may begin with and have, beside letters, digits and `_`
	operators    string // of more than one byte
	ends         ends
	continues    string // tokens that begin no statement, for endsBoth
	tails        string // operators that a statement may end with
	joins        string // when not empty, the only operators that it may not end with
	special      special
	heredoc      heredoc
	words        words

	class    [256]byte
	inName   [256]bool
	strength map[string]int
	keywords map[string]bool
	unary    map[string]bool
	byOp     [256][]string // operators by their first byte, longest first
}

// block is a comment that may have several lines.
type block struct {
	begin, end string
	nested     bool
}

// quote is how a string begins and ends.
type quote struct {
	begin, end string
	lines      bool // it may have several lines
	raw        bool // a backslash in it is a backslash
	double     bool // its end stands in it twice
	hole       bool // it has holes, begun by what follows
	opens      []string
	names      bool // `$name` is a hole too
	apart      bool // it begins only where a value may begin
}

// ends says where lines end statements.
type ends uint8

const (
	endsNever  ends = iota
	endsBefore      // the token before the line's end decides
	endsBoth        // the token behind it too
	endsAlways      // outside brackets
	endsIndent      // likewise, and indented lines are groups
)

// special is what only some languages have.
type special uint32

const (
	hasRegexps    special = 1 << iota // `/…/` of JavaScript and Ruby
	hasJSX                            // tags in expressions
	hasTags                           // it is markup
	isPHP                             // code is between `<?php` and `?>`
	hasLifetimes                      // `'a` of Rust
	hasRustRaw                        // r#"…"#
	hasCRaw                           // R"x(…)x"
	hasSharp                          // $"…", @"…", """…""" of C#
	hasDollars                        // $tag$…$tag$ of SQL
	hasPercent                        // %w(…) of Ruby
	hasScalars                        // block scalars of YAML
	hasDirectives                     // `#if` ends with its line
	hasBackslash                      // a backslash takes the end of its line away
	hasEscape                         // a backslash in code takes the meaning of the next byte
	noLinesInside                     // ends of lines in ( and [ are none
)

// heredoc is which texts begin behind the line of their mark.
type heredoc uint8

const (
	noHeredoc heredoc = iota
	heredocShell
	heredocRuby
	heredocPHP
	heredocHCL
)

// Classes of bytes.
const (
	isOther byte = iota
	isBlank
	isLine
	isName
	isDigit
	isOpen
	isClose
	isMark // something special may begin there
)

func (l *Language) build() *Language {
	for i := range 256 {
		c := byte(i)
		switch {
		case c == '\n':
			l.class[i] = isLine
		case c <= ' ' || c == 0x7f:
			l.class[i] = isBlank
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || strings.IndexByte(l.first, c) >= 0:
			l.class[i] = isName
		case c >= '0' && c <= '9':
			l.class[i] = isDigit
		case strings.IndexByte("([{", c) >= 0:
			l.class[i] = isOpen
		case strings.IndexByte(")]}", c) >= 0:
			l.class[i] = isClose
		}
	}

	for i := range 256 {
		c := byte(i)
		l.inName[i] = l.class[i] == isName || l.class[i] == isDigit || strings.IndexByte(l.later, c) >= 0
	}

	marks := ""
	for _, x := range l.lines {
		marks += x[:1]
	}
	for _, x := range l.blocks {
		marks += x.begin[:1]
	}
	for _, x := range l.quotes {
		marks += x.begin[:1]
	}
	for _, x := range []struct {
		is    bool
		marks string
	}{
		{l.special&hasRegexps != 0, "/"}, {l.special&(hasJSX|hasTags|isPHP) != 0, "<"}, {l.special&hasLifetimes != 0, "'"},
		{l.special&hasSharp != 0, `$@"`}, {l.special&hasDollars != 0, "$"}, {l.special&hasPercent != 0, "%?="},
		{l.special&hasScalars != 0, "|>"}, {l.special&(hasBackslash|hasEscape) != 0, `\`},
		{l.special&isPHP != 0, "?"}, {l.heredoc != noHeredoc, "<"},
	} {
		if x.is {
			marks += x.marks
		}
	}
	for _, c := range []byte(marks) {
		l.class[c] = isMark
	}

	l.strength = strengths(l.words.strength)
	l.keywords, l.unary = setOf(l.words.keywords), setOf(l.words.unary)
	for op := range strings.FieldsSeq(l.operators) {
		at := &l.byOp[op[0]]
		k := 0
		for k < len(*at) && len((*at)[k]) >= len(op) {
			k++
		}
		*at = append((*at)[:k], append([]string{op}, (*at)[k:]...)...)
	}

	return l
}

// isNameByte says whether a byte may be in a name, behind its first.
func (l *Language) isNameByte(c byte) bool { return l.inName[c] }

// Named returns the language that a canonical name of internal/language stands for;
// nil for none that is known.
func Named(name string) *Language { return byName[name] }

// Of returns the language in which a file is read that has the given ones, by their
// canonical names. A file of several is read in that which has the most to know. It is
// Any when none is known.
func Of(names []string) *Language {
	best := -1
	for _, name := range names {
		if l := byName[name]; l != nil {
			if at := rank[l]; best < 0 || at < best {
				best = at
			}
		}
	}
	if best < 0 {
		return Any
	}

	return all[best].language
}
