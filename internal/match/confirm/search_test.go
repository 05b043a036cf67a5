package confirm

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match/parse"
)

// The reader is taken for large texts only; here it is taken always.
func TestGuardedSearchIsTheSame(t *testing.T) {
	t.Parallel()
	texts := []string{"", "abc", "xx abc\xff abc\nabc é", strings.Repeat("ab\n", 1000) + "abc", "\u212a k", "a\xe2\x84"}
	for _, pattern := range []string{`abc`, `(?m)^abc$`, `\babc`, `(?s)a.*c`, `a.`, `[^a]`, `(?i)k`, `\x{FFFD}`, `b\n`} {
		for _, text := range texts {
			var spans []Span
			parsed, err := parse.Parse(pattern, true)
			require.NoError(t, err)
			p := NewProgram(pattern, parsed, 10, new(atomic.Int64))
			p.plainSteps = -1
			g := NewGuard(context.Background(), new(atomic.Int64), time.Hour)
			p.All([]byte(text), g, func(s Span) { spans = append(spans, s) })
			var want []Span
			for _, loc := range regexp.MustCompile(pattern).FindAllStringIndex(text, -1) {
				want = append(want, Span{loc[0], loc[1]})
			}
			assert.Equal(t, want, spans, "%s on %.20q", pattern, text)
		}
	}
}
