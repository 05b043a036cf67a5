package suppress_test

import (
	"bytes"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/scan/suppress"
)

func TestBare(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"eval(x);":                        "eval(x);",
		"eval(x); // prwarden:ignore a/b": "eval(x);",
		"eval(x); // prwarden:ignore a/b -- why until 2027-01-31": "eval(x);",
		"eval(x); /* prwarden:ignore a/b */":                      "eval(x);",
		"eval(x, /* prwarden:ignore a/b -- why */ y)":             "eval(x,y)",
		"eval(x) # prwarden:ignore a/b":                           "eval(x)",
		"eval(x) ## prwarden:ignore a/b":                          "eval(x)",
		"(eval x) ;; prwarden:ignore a/b":                         "(eval x)",
		"eval(x); /// prwarden:ignore a/b":                        "eval(x);",
		"i-- -- prwarden:ignore a/b":                              "i--",
		"<p> <!-- prwarden:ignore a/b -->":                        "<p>",
		"eval(x); // prwarden:ignore":                             "eval(x); // prwarden:ignore", // it accepts nothing
		"a('prwarden:ignore ' + eval(y))":                         "a('prwarden:ignore ' + eval(y))",
		"// prwarden:ignore a/b -- why":                           "// prwarden:ignore a/b -- why", // nothing beside it
		"say(`prwarden:ignored`)":                                 "say(`prwarden:ignored`)",
	} {
		assert.Equal(t, squeezed([]byte(want)), squeezed(suppress.Bare([]byte(line))), line)
	}
}

// squeezed is a text as fingerprints see it.
func squeezed(text []byte) string {
	return string(bytes.Join(bytes.FieldsFunc(text, unicode.IsSpace), nil))
}
