// Package syntax reads the text of a file as tokens and as a tree of brackets, by a
// table of languages: what is a comment, what a string, which code is in holes of
// strings, which bracket closes which, and where statements end. It knows no grammar,
// so files with errors have tokens like others.
//
// Scan takes time in proportion to the text, whatever that is made of, and never
// fails: what it doesn't understand is operators and names.
package syntax

import "sort"

// Kind is what a token is.
type Kind uint8

// The kinds. A string without holes is one token; one with holes is a group: an Open
// and a Close with the bracket Quote, and between them parts that are String and
// holes, which are groups with the bracket Hole, or a Name alone.
const (
	Name Kind = iota
	Number
	String
	Operator
	Open
	Close
	LineEnd // the end of a statement, where the language ends them with lines
)

// Brackets that are not one character of a text.
const (
	Quote  = '"' // around a string with holes
	Hole   = '$' // around code in a string
	Indent = '>' // around indented lines; such tokens are empty
	Tag    = '<' // around a tag of markup
)

// Token is a run of bytes of a text that belongs together.
type Token struct {
	Start, End int32
	Pair       int32 // Open and Close: index of the other one, -1 for none; String: bytes before its content
	Kind       Kind
	Bracket    byte   // Open and Close: `(`, `[`, `{` or one of the constants
	Tail       uint16 // String: bytes behind its content
}

// Span is a run of bytes, Start included, End not.
type Span struct{ Start, End int32 }

// Text is a text with its tokens. It is immutable.
type Text struct {
	Language *Language
	Bytes    []byte
	Tokens   []Token // without comments
	Comments []Span
	Steps    int // how many bytes were looked at in all
}

// Of returns the text of a token.
func (t *Text) Of(i int) []byte { return t.Bytes[t.Tokens[i].Start:t.Tokens[i].End] }

// IsOf says whether these very bytes were read, and not only equal ones.
func (t *Text) IsOf(text []byte) bool {
	return len(t.Bytes) == len(text) && (len(text) == 0 || &t.Bytes[0] == &text[0])
}

// Content returns the text of a token; of a string without its quotes.
func (t *Text) Content(i int) []byte {
	x := t.Tokens[i]
	if x.Kind != String {
		return t.Of(i)
	}
	end := max(x.Start+x.Pair, x.End-int32(x.Tail))

	return t.Bytes[x.Start+x.Pair : end]
}

// Class says what a place in a text is.
type Class uint8

// The classes. What is neither in a comment nor in a string is code.
const (
	Code Class = iota
	Comment
	Literal // in a string, the quotes included
)

// Class returns the class of the byte at an offset.
func (t *Text) Class(offset int) Class {
	at := int32(offset)
	if i := sort.Search(len(t.Comments), func(i int) bool { return t.Comments[i].End > at }); i < len(t.Comments) &&
		t.Comments[i].Start <= at {
		return Comment
	}

	i := t.TokenAt(offset)
	if i == len(t.Tokens) || t.Tokens[i].Start > at {
		return Code
	}
	if x := t.Tokens[i]; x.Kind == String || (x.Kind == Open || x.Kind == Close) && x.Bracket == Quote {
		return Literal
	}

	return Code
}

// TokenAt returns the index of the first token that ends behind an offset; the number
// of tokens when there is none.
func (t *Text) TokenAt(offset int) int {
	return sort.Search(len(t.Tokens), func(i int) bool { return int(t.Tokens[i].End) > offset })
}
