package rule

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The cases of a whole file have one budget, and can be broken off: the file
// may be a stranger's.
func TestParseFileBudget(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString("version: 1\nrules:\n")
	for i := range 19 {
		fmt.Fprintf(&file, "  - {id: r%d, type: regex, pattern: '(?s)x[a-z]{0,400}[a-z]{0,400}!', multiline: true, "+
			"message: m, severity: low, cases: {no_match: [%s]}}\n",
			i, strings.Repeat("x", 3000))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ParseFile(ctx, []byte(file.String()))
	require.ErrorIs(t, err, context.Canceled)

	spent := &trials{ctx: t.Context(), left: 0}
	v := violations(Rule{
		ID: "a", Type: TypeRegex, Pattern: "(?s)a.*z|a", Multiline: true, Message: "m", Severity: Low,
		Cases: Cases{NoMatch: []string{strings.Repeat("a\n", MaxCase/2)}}, // looks for a z from each a
	}, spent)
	require.Len(t, v, 1)
	assert.Contains(t, v[0].Description, "takes more than 2 seconds")
	assert.Negative(t, spent.left)
}
