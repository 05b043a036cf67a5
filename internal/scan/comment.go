package scan

import (
	"bytes"
	"path"
	"strings"
)

// syntax is how comments and texts are written in a language, as far as that says
// whether a place in a file is in a comment.
type syntax struct {
	line   []string    // begin a comment that ends with its line
	block  [][2]string // begin and end a comment
	quotes []quote
	spaced bool // what begins a comment of a line does so only behind a blank
}

// quote is what begins and ends a text.
type quote struct {
	mark  string
	lines bool // it may have several lines
	raw   bool // a backslash in it is a backslash
}

var (
	single = []quote{{mark: `"`}, {mark: "'"}}
	triple = []quote{{mark: `"""`, lines: true}, {mark: "'''", lines: true}, {mark: `"`}, {mark: "'"}}
	slash  = [][2]string{{"/*", "*/"}}
	markup = [][2]string{{"<!--", "-->"}, {"{{!--", "--}}"}, {"<%--", "--%>"}, {"<%#", "%>"}, {"{#", "#}"}, {"/*", "*/"}}

	syntaxC  = syntax{line: []string{"//"}, block: slash, quotes: triple}
	syntaxGo = syntax{
		line: []string{"//"}, block: slash,
		quotes: append([]quote{{mark: "`", lines: true, raw: true}}, single...),
	}
	syntaxScript = syntax{
		line: []string{"//"}, block: append([][2]string{{"<!--", "-->"}}, slash...),
		quotes: append([]quote{{mark: "`", lines: true}}, single...),
	}
	syntaxPHP    = syntax{line: []string{"//", "#"}, block: append([][2]string{{"<!--", "-->"}}, slash...), quotes: single}
	syntaxPython = syntax{line: []string{"#"}, quotes: triple}
	syntaxHash   = syntax{line: []string{"#"}, block: [][2]string{{"<#", "#>"}}, quotes: triple, spaced: true}
	syntaxHCL    = syntax{line: []string{"#", "//"}, block: slash, quotes: single, spaced: true}
	syntaxDash   = syntax{
		line: []string{"--", "#"}, block: [][2]string{{"--[[", "]]"}, {"{-", "-}"}, {"/*", "*/"}},
		quotes: single,
	}
	syntaxSemi = syntax{
		line: []string{";", "#"}, block: [][2]string{{"#|", "|#"}},
		quotes: []quote{{mark: `"`, lines: true}},
	}
	syntaxTeX = syntax{line: []string{"%"}, block: [][2]string{{"%{", "%}"}}}
	syntaxML  = syntax{
		line: []string{"//"}, block: [][2]string{{"(*", "*)"}},
		quotes: []quote{{mark: `"`, lines: true}},
	}
	syntaxBatch  = syntax{line: []string{"REM ", "rem ", "::", "'"}, quotes: []quote{{mark: `"`}}, spaced: true}
	syntaxMarkup = syntax{block: markup, quotes: []quote{{mark: `"`}}}
	syntaxProse  = syntax{} // which has no comments

	// syntaxAny is for files of which the language is not known.
	syntaxAny = syntax{
		line:   []string{"//", "#", "--", ";", "%", "REM ", "rem ", "!"},
		block:  append([][2]string{{"(*", "*)"}, {"{-", "-}"}, {"#|", "|#"}, {"--[[", "]]"}}, markup...),
		quotes: append([]quote{{mark: "`"}}, single...), spaced: true,
	}
)

// syntaxes by the ends of names, in lower case.
var syntaxes = bySuffix(map[*syntax]string{
	&syntaxC: "c h cc cpp cxx hh hpp hxx java kt kts scala swift cs rs dart groovy gradle m mm proto zig sol glsl " +
		"css scss less json jsonc json5 v sv d thrift",
	&syntaxGo:     "go",
	&syntaxScript: "js jsx mjs cjs ts tsx mts cts vue svelte astro",
	&syntaxPHP:    "php phtml",
	&syntaxPython: "py pyi pyw pyx bzl star",
	&syntaxHash: "sh bash zsh ksh fish bats yml yaml toml conf cfg properties env rb rake pl pm " +
		"r jl ex exs cr tcl awk sed ps1 psm1 graphql nix mk cmake dockerfile makefile gitignore dockerignore gemfile " +
		"rakefile codeowners editorconfig",
	&syntaxHCL:    "tf tfvars hcl",
	&syntaxDash:   "sql lua hs ada adb ads elm vhd vhdl",
	&syntaxSemi:   "lisp el clj cljs scm rkt asm s ini",
	&syntaxTeX:    "tex sty cls erl hrl",
	&syntaxML:     "ml mli fs fsi fsx pas",
	&syntaxBatch:  "bat cmd vb vbs bas",
	&syntaxMarkup: "html htm xhtml xml svg xsl xsd plist erb hbs mustache jinja j2 twig jsp aspx cshtml",
	&syntaxProse:  "md markdown mdown mkd mdx rst adoc asciidoc org",
})

func bySuffix(all map[*syntax]string) map[string]*syntax {
	table := map[string]*syntax{}
	for s, names := range all {
		for name := range strings.FieldsSeq(names) {
			table[name] = s
		}
	}

	return table
}

// syntaxOf is the syntax of the file at a path. A name such as Dockerfile counts as
// its own end.
func syntaxOf(file string) *syntax {
	name := strings.ToLower(path.Base(file))
	if s := syntaxes[name[strings.LastIndexByte(name, '.')+1:]]; s != nil {
		return s
	}
	if s := syntaxes[name[:max(strings.IndexByte(name, '.'), 0)]]; s != nil { // Dockerfile.test
		return s
	}

	return &syntaxAny
}

// lexer says which places of a text are in comments. It reads the text from the
// start on, as a sequence of parts: comments, quoted texts, and what is between.
type lexer struct {
	*syntax
	text    []byte
	end     int            // of the part that was read last
	comment bool           // whether that is a comment
	first   [256]bool      // bytes that a comment or a quoted text may begin with
	endless map[string]int // where what begins with a mark has no end, up to an offset
}

func newLexer(file string, text []byte) *lexer {
	l := &lexer{syntax: syntaxOf(file), text: text, endless: map[string]int{}}
	for _, mark := range l.line {
		l.first[mark[0]] = true
	}
	for _, pair := range l.block {
		l.first[pair[0][0]] = true
	}
	for _, q := range l.quotes {
		l.first[q.mark[0]] = true
	}

	return l
}

// inComment says whether an offset is in a comment. Offsets come in ascending order.
func (l *lexer) inComment(offset int) bool {
	for l.end <= offset {
		l.next()
	}

	return l.comment
}

// next reads the next part.
func (l *lexer) next() {
	l.comment = false
	start := l.end
	for i := start; i < len(l.text); i++ {
		if !l.first[l.text[i]] {
			continue
		}
		end, comment := l.partAt(i)
		if end == 0 {
			continue
		}
		if i > start { // what is before it is a part of its own
			l.end = i
			return
		}
		l.end, l.comment = end, comment

		return
	}

	l.end = len(l.text) + 1
}

// partAt returns the end of the comment or the quoted text that begins at an
// offset; 0 when neither does.
func (l *lexer) partAt(i int) (end int, comment bool) {
	rest := l.text[i:]
	for _, pair := range l.block { // before those of lines: `--[[` is one of both
		if !bytes.HasPrefix(rest, []byte(pair[0])) || i < l.endless[pair[0]] {
			continue
		}
		if n := bytes.Index(rest[len(pair[0]):], []byte(pair[1])); n >= 0 {
			return i + len(pair[0]) + n + len(pair[1]), true
		}
		l.endless[pair[0]] = len(l.text)
	}

	spaced := i == 0 || strings.IndexByte(" \t\r\n;", l.text[i-1]) >= 0
	for _, mark := range l.line {
		if bytes.HasPrefix(rest, []byte(mark)) && (spaced || !l.spaced) {
			return i + lineEnd(rest), true
		}
	}

	for _, q := range l.quotes {
		if !bytes.HasPrefix(rest, []byte(q.mark)) || i < l.endless[q.mark] {
			continue
		}
		n, ends := q.length(rest)
		if ends {
			return i + n, false
		}
		l.endless[q.mark] = i + n
	}

	return 0, false
}

// length is that of the quoted text at the start of a text. One without an end is
// an apostrophe, or a quote in a regular expression; then the length is how far an
// end was looked for.
func (q quote) length(text []byte) (n int, ends bool) {
	for i := len(q.mark); i < len(text); i++ {
		switch {
		case text[i] == '\\' && !q.raw:
			i++
		case (text[i] == '\n' || text[i] == '\r') && !q.lines:
			return i, false
		case bytes.HasPrefix(text[i:], []byte(q.mark)):
			return i + len(q.mark), true
		}
	}

	return len(text), false
}

// lineEnd is the length of the first line of a text.
func lineEnd(text []byte) int {
	if n := bytes.IndexAny(text, "\r\n"); n >= 0 {
		return n
	}

	return len(text)
}
