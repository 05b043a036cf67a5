package confirm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match/parse"
)

// newProgram makes the program of a pattern for single lines, with room for its
// automata in bytes; nil when the pattern never matches.
func newProgram(t testing.TB, pattern string, room int64) (*Program, parse.Pattern) {
	t.Helper()
	parsed, err := parse.Parse(pattern, false)
	require.NoError(t, err)
	if parsed.Never {
		return nil, parsed
	}
	shared := new(atomic.Int64)
	shared.Store(room)

	return NewProgram(pattern, parsed, 100, shared), parsed
}

const plenty = 16 << 20

// The line of a place ends at "\n" or "\r\n"; what is before the place counts
// for assertions only.
func TestAt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, text string
		at            int
		want          bool
	}{
		{`foo`, "a foo", 2, true},
		{`foo`, "a foo", 1, false},
		{`\bfoo`, "a foo", 2, true},
		{`\bfoo`, "afoo", 1, false},
		{`\bfoo`, "é" + "foo", 2, true}, // é is no word character in Go
		{`^foo`, "a\nfoo", 2, true},
		{`^foo`, "a foo", 2, false},
		{`foo$`, "foo\nbar", 0, true},
		{`foo$`, "foo\r\nbar", 0, true},
		{`foo$`, "foo\rbar", 0, false},
		{`foo$`, "foo\r", 0, false}, // the "\r" has no "\n"
		{`foo.$`, "foo\r", 0, true},
		{`foo\s$`, "foo\r\r\n", 0, true},
		{`foo[^x]+bar`, "foo\nbar", 0, false},
		{`foo\b`, "foo", 0, true},
	} {
		p, _ := newProgram(t, test.pattern, plenty)
		got, steps, ok := p.At([]byte(test.text), test.at)
		assert.True(t, ok)
		assert.Equal(t, test.want, got, "%s on %q at %d", test.pattern, test.text, test.at)
		assert.LessOrEqual(t, steps%stepsOfBuild, len(test.text)-test.at)
	}
}

// A pattern whose automaton has a state for each of the last 16 letters.
const manyStates = `[ab]*a[ab]{16}c`

// An automaton without room says that it can't tell, and never anything wrong.
func TestRoomIsUsedUp(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile(manyStates)
	p, parsed := newProgram(t, `x`+manyStates, 40<<10)
	group := NewGroup([]parse.Pattern{parsed}, 100, new(atomic.Int64))
	r := rand.New(rand.NewPCG(1, 1))
	told := 0
	for range 300 {
		text := "x" + randomAB(r, 60) + "c"
		want := re.MatchString(text)
		match, _, ok := p.At([]byte(text), 0)
		if ok {
			told++
			assert.Equal(t, want, match, text)
		}
		if _, _, ok := p.Line([]byte(text)); ok {
			told++
		}
		may, _ := group.MayMatch([]byte(text), 0)
		assert.True(t, may, "without room, all may match")
	}
	_, _, ok := p.At([]byte("x"+randomAB(r, 60)+"c"), 0)
	assert.False(t, ok, "full, after %d answers", told)
	g := NewGuard(t.Context(), new(atomic.Int64), 1<<40)
	_, found := p.Find([]byte("xba"+strings.Repeat("b", 16)+"c"), 0, g)
	assert.True(t, found, "the search still tells")
}

func randomAB(r *rand.Rand, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = "ab"[r.IntN(2)]
	}

	return string(out)
}

// Programs of too many instructions or classes have no automaton.
func TestNoAutomaton(t *testing.T) {
	t.Parallel()
	parsed, err := parse.Parse(`abc`, false)
	require.NoError(t, err)
	large := NewProgram(`abc`, parsed, maxProgram+1, new(atomic.Int64))
	var all strings.Builder
	for i := range rune(maxClasses) {
		fmt.Fprintf(&all, "%c%c|", 0x100+3*i, 0x1000+3*i)
	}
	many, _ := newProgram(t, all.String()+"x", plenty)
	for _, p := range []*Program{large, many} {
		_, _, ok := p.At([]byte("abc"), 0)
		assert.False(t, ok)
		_, _, ok = p.Line([]byte("abc"))
		assert.False(t, ok)
	}
}

// Many goroutines build one automaton together and get the answers of one that
// is alone.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	const pattern = `x[ab]*a[ab]{6}c`
	p, _ := newProgram(t, pattern, plenty)
	re := regexp.MustCompile(pattern)
	var wg sync.WaitGroup
	for worker := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(worker, 2))
			for range 200 {
				line := randomAB(r, 3) + "x" + randomAB(r, r.IntN(20)) + "c"
				want := re.MatchString(line)
				match, _, ok := p.Line([]byte(line))
				assert.True(t, ok)
				assert.Equal(t, want, match, line)
				match, _, ok = p.At([]byte(line), 3)
				assert.True(t, ok)
				assert.Equal(t, want, match, line)
			}
		})
	}
	wg.Wait()
}

// A group says no only where none of its patterns can match.
func TestGroup(t *testing.T) {
	t.Parallel()
	var group []parse.Pattern
	var each []*Program
	for _, pattern := range []string{`foo\(`, `\bfood`, `fo+$`} {
		p, parsed := newProgram(t, pattern, plenty)
		group, each = append(group, parsed), append(each, p)
	}
	room := new(atomic.Int64)
	room.Store(plenty)
	g := NewGroup(group, 100, room)
	refused := 0
	random := rand.New(rand.NewPCG(1, 3))
	for range 5000 {
		text := make([]byte, random.IntN(6))
		for i := range text {
			text[i] = "food( \n"[random.IntN(7)]
		}
		any := slices.ContainsFunc(each, func(p *Program) bool {
			match, _, _ := p.At(text, 0)
			return match
		})
		may, _ := g.MayMatch(text, 0)
		assert.False(t, any && !may, "%q", text)
		if !may {
			refused++
		}
	}
	assert.Greater(t, refused, 2000)
	// It looks at so many bytes only, and then doesn't know.
	long, parsed := newProgram(t, `f[^x]*x`, plenty)
	g = NewGroup([]parse.Pattern{parsed}, 100, room)
	text := []byte("f" + strings.Repeat("o", 2*groupLooks) + "\n")
	match, _, _ := long.At(text, 0)
	assert.False(t, match)
	may, _ := g.MayMatch(text, 0)
	assert.True(t, may)
	may, _ = g.MayMatch(text[2*groupLooks-20:], 0)
	assert.False(t, may)
}

func classesOf(t *testing.T, pattern string) *classes {
	t.Helper()
	parsed, err := parse.Parse(pattern, true)
	require.NoError(t, err)
	prog, err := syntax.Compile(parsed.Source.Simplify())
	require.NoError(t, err)
	c, ok := newClasses(prog)
	require.True(t, ok)

	return c
}

// ofRune is the class of a character.
func (c *classes) ofRune(r rune) uint8 {
	text := utf8.AppendRune(nil, r)
	if class := c.bytes[text[0]]; class != wide {
		return class
	}
	class, _ := c.at(text, 0)

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
		c := classesOf(t, test.pattern)
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
	// A carriage return is of the line's ending where a line feed follows.
	c := classesOf(t, `[aé世]\r.\x{fffd}`)
	class, width := c.at([]byte("\r\n"), 0)
	assert.Equal(t, uint8(endClass), class)
	assert.Zero(t, width)
	class, width = c.at([]byte("\ra"), 0)
	assert.NotEqual(t, uint8(endClass), class)
	assert.Equal(t, 1, width)
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
