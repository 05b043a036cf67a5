package web

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// number writes a number with a blank between thousands.
func number[N int | int32](n N) string {
	text := strconv.Itoa(int(n))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}

	return text
}

// stateWords say what a rule does, in short.
func stateWords(r *prwardenv1.Rule) string {
	words := r.GetSeverity().String() + ", " + r.GetMode().String()
	if !r.GetEnabled() {
		words += ", off"
	}

	return words
}

// coded is a text from outside, with what stands between backticks as code.
func coded(text string) templ.Component {
	var out strings.Builder
	for i, part := range strings.Split(visible(text), "`") {
		part = templ.EscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		out.WriteString(part)
	}

	return templ.Raw(out.String())
}

// visible shows the characters that change the direction of text, and other controls,
// as symbols: a text could look like another one with them.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\u200e', r == '\u200f', r == '\u061c':
			return '\u2426' // SYMBOL FOR SUBSTITUTE FORM TWO
		case r < ' ' && r != '\n' && r != '\t':
			return '\u2400' + r // the picture of the control
		}

		return r
	}, text)
}
