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
	for i, part := range strings.Split(shown(text), "`") {
		part = templ.EscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		out.WriteString(part)
	}

	return templ.Raw(out.String())
}
