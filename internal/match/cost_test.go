package match_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

func TestCostOf(t *testing.T) {
	t.Parallel()
	const free, cheap, dear, weak = "free", "cheap", "dear", "weak"
	for name, tt := range map[string]struct {
		pattern   string
		multiline bool
		want, by  string
	}{
		"a word":                {`getRequestHeader\(`, false, cheap, "getRequestHeader("},
		"part of a pattern":     {`fmt\.Print(ln|f)?\(`, false, cheap, "fmt.Print"},
		"after a class":         {`\w+\.Println`, false, cheap, ".Println"},
		"either case":           {`(?i)FROBnicate`, false, cheap, "frobnicate"},
		"one case":              {`FROBnicate`, false, cheap, "FROBnicate"},
		"across lines":          {`(?s)BEGIN_ROBOT.*END_ROBOT`, true, cheap, ""},
		"the most common":       {`frobnicate|==`, false, dear, "=="},
		"several":               {`if|in|of`, false, dear, ""},
		"a class and a text":    {`frobnicate|[0-9]{4}`, false, dear, ""},
		"two characters":        {`\bif\b`, false, dear, "if"},
		"one before any":        {`(?s)x.*;`, true, dear, "x"},
		"two classes":           {`\d+\s`, false, dear, ""},
		"digits":                {`[0-9]{4}`, false, dear, ""},
		"a long run":            {`[A-Za-z0-9+/]{40}`, false, dear, ""},
		"a run of one":          {`={64}`, false, cheap, "========================================"},
		"what can't be printed": {`\x01\x02\x03\x04`, false, cheap, ""},
		"one character":         {`x`, false, weak, ""},
		"a class":               {`[a-z]+`, false, weak, ""},
		"of a file":             {`(?m)[a-z]+$`, true, weak, ""},
		"blanks":                {`    `, false, weak, ""},
		"nothing":               {`[^\x00-\x{10FFFF}]`, false, free, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := match.CostOf(tt.pattern, tt.multiline)
			require.NoError(t, err)
			assert.Equal(t, tt.want == weak, c.Weak)
			if name != "across lines" { // either word would do
				assert.Equal(t, tt.by, c.By)
			}
			switch tt.want {
			case free:
				assert.Zero(t, c.Time())
			case cheap:
				assert.Positive(t, c.Time())
				assert.Less(t, c.Time(), 10*time.Microsecond)
			case dear:
				assert.Greater(t, c.Time(), 50*time.Microsecond)
			case weak:
				assert.Greater(t, c.Time(), time.Millisecond)
			}
		})
	}
	_, err := match.CostOf("(", false)

	require.Error(t, err)
}
