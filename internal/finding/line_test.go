package finding_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		"  Add a cart\n":               "Add a cart",
		"Add\n a\r\n\tcart":            "Add a cart",
		"nul\x00 and \x1b[31mred":      "nul and [31mred",
		"caf\xe9":                      "caf\uFFFD",
		"\u202eright":                  "\u202eright",
		strings.Repeat("a", 30):        strings.Repeat("a", 20),
		strings.Repeat("ü", 30):        strings.Repeat("ü", 10),
		"a" + strings.Repeat("ü", 30):  "a" + strings.Repeat("ü", 9),
		strings.Repeat("a", 19) + " b": strings.Repeat("a", 19),
	} {
		assert.Equal(t, want, finding.Line(text, 20), "%q", text)
	}
}
