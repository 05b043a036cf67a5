package confirm

import (
	"context"
	"regexp/syntax"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
	"github.com/prwarden/prwarden/internal/match/byteset"
	"github.com/prwarden/prwarden/internal/match/parse"
)

func TestSequence(t *testing.T) {
	t.Parallel()
	s := NewSequence(stagetest.Sets(`k\dy`), 1, Sets{})
	for text, at := range map[string]int{"k1y": 1, "xk9y": 2} {
		assert.True(t, s.Holds([]byte(text), at), text)
	}
	for text, at := range map[string]int{"k1x": 1, "kky": 1, "K1y": 1, "1y": 0, "k1": 1, "": 0, "xxk1y": 1} {
		assert.False(t, s.Holds([]byte(text), at), text)
	}
}

// A set that several sequences use is kept once.
func TestSequencesShareSets(t *testing.T) {
	t.Parallel()
	sets := Sets{}
	a := NewSequence(stagetest.Sets(`\d\da`), 0, sets)
	b := NewSequence(stagetest.Sets(`b\d`), 0, sets)
	assert.Len(t, sets, 3)
	assert.Same(t, a.sets[0], a.sets[1])
	assert.Same(t, a.sets[0], b.sets[1])
	sets[byteset.Of('z')] = nil
	assert.True(t, a.Holds([]byte("12a"), 0))
}

func classesOf(t *testing.T, pattern string) (*classes, *syntax.Prog) {
	t.Helper()
	parsed, err := parse.Parse(pattern, true)
	require.NoError(t, err)
	prog, err := syntax.Compile(parsed.Source.Simplify())
	require.NoError(t, err)
	c, ok := newClasses(prog)
	require.True(t, ok)

	return c, prog
}

// ofRune is the class of a character.
func (c *classes) ofRune(r rune) uint8 {
	text := utf8.AppendRune(nil, r)
	if class := c.bytes[text[0]]; class != wide {
		return class
	}
	class, _ := c.forward(text, 0)

	return class
}

// Characters that a pattern treats alike are one class; one more is the end of
// the text.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern string
		count   int
		alike   []string // characters of the same class
		apart   string   // characters of different classes
	}{
		{`abc`, 4, []string{"xyz é\t"}, "abcx"},
		{`[a-f0-9]+x`, 3, []string{"a0f9", "gz-é世"}, "axg"},
		{`(?i)ab`, 3, []string{"aA", "bB"}, "abc"},
		{`(?i)k`, 2, []string{"kK\u212a", "jlé"}, "kj"},
		{`.`, 2, []string{"aé世"}, ""},
		{`\bx`, 3, []string{"ayZ_09", "- é"}, "xy-"},
		{`[à-ÿ]`, 2, []string{"àéÿ", "aÀĀ"}, "aà"},
	} {
		c, _ := classesOf(t, test.pattern)
		assert.GreaterOrEqual(t, len(c.runes), test.count, test.pattern)
		for _, group := range test.alike {
			for _, r := range group {
				assert.Equal(t, c.ofRune([]rune(group)[0]), c.ofRune(r), "%s: %q in %q", test.pattern, r, group)
			}
		}
		seen := map[uint8]rune{}
		for _, r := range test.apart {
			assert.NotContains(t, seen, c.ofRune(r), "%s: %q", test.pattern, r)
			seen[c.ofRune(r)] = r
		}
	}
}

// Read from either end, a text has the same classes.
func TestClassesBackwards(t *testing.T) {
	t.Parallel()
	c, _ := classesOf(t, `[aé世]\r.\x{fffd}`)
	for _, text := range []string{"é", "世", "\r", "\xff", "\xe4\xb8", "\ufffd"} {
		forward, width := c.forward([]byte(text), 0)
		back, backWidth := c.back([]byte(text), len(text))
		assert.Equal(t, forward, back, "%q", text)
		if utf8.ValidString(text) {
			assert.Equal(t, len(text), width)
		}
		assert.Equal(t, width, backWidth, "%q", text)
	}
	class, width := c.forward([]byte("\r\n"), 0)
	assert.Equal(t, uint8(endClass), class)
	assert.Zero(t, width)
}

func TestGuard(t *testing.T) {
	t.Parallel()
	used := new(atomic.Int64)
	fresh := NewGuard(t.Context(), used, time.Hour)
	assert.False(t, fresh.Check())
	assert.False(t, fresh.Step(10*plainSteps))

	used.Store(int64(time.Hour))
	assert.True(t, fresh.Check(), "the budget is used up")
	assert.True(t, fresh.Stopped)
	used.Store(0)
	assert.True(t, fresh.Check(), "once stopped, it stays so")

	ctx, cancel := context.WithCancel(t.Context())
	g := NewGuard(ctx, used, time.Hour)
	cancel()
	assert.False(t, g.Step(1), "few steps do not look at the clock")
	assert.True(t, g.Step(plainSteps))
}

// A search that the guard stops finds nothing.
func TestFindStops(t *testing.T) {
	t.Parallel()
	p, _ := newProgram(t, `a[^b]*b`, plenty)
	p.plainSteps = -1
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := make([]byte, 4096)
	text[0] = 'a'
	g := NewGuard(ctx, new(atomic.Int64), time.Hour)
	_, ok := p.Find(append(text, 'b'), 0, g)
	assert.False(t, ok)
	assert.True(t, g.Stopped)
	p.All(text, g, func(Span) { assert.Fail(t, "found") })
}
