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
	"testing"
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

	return NewProgram(parsed, 100, NewRoom(room)), parsed
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
		got, steps, ok := p.At([]byte(test.text), test.at, nil)
		assert.True(t, ok)
		assert.Equal(t, test.want, got, "%s on %q at %d", test.pattern, test.text, test.at)
		assert.LessOrEqual(t, steps, len(test.text)-test.at)
	}
}

// A pattern whose automaton has a state for each of the last 16 letters.
const manyStates = `[ab]*a[ab]{16}c`

// An automaton without room says the same in as many steps as one that has it: what a
// scan finds must not depend on the scans before.
func TestRoomIsUsedUp(t *testing.T) {
	t.Parallel()
	random, full := rand.New(rand.NewPCG(1, 1)), 0
	for _, pattern := range []string{
		`x` + manyStates, manyStates, `\b` + manyStates + `\b`, `[ab]*a[ab]{300}c`, `(?m)^a[ab]{16}\s$`, `a[^\n]{400}\s[ab]`,
	} {
		for _, text := range []bool{false, true} {
			parsed, err := parse.Parse(pattern, text)
			require.NoError(t, err)
			rich, poor := NewRoom(1<<40), NewRoom(0)
			a, b := NewProgram(parsed, 100, rich), NewProgram(parsed, 100, poor)
			g, h := NewGroup([]parse.Pattern{parsed}, 100, 9, rich), NewGroup([]parse.Pattern{parsed}, 100, 9, poor)
			re := regexp.MustCompile(pattern)

			for range 30 {
				line := []byte("x" + randomAB(random, 400) + "c" + randomAB(random, random.IntN(300)))
				if text {
					line = append(append(line, '\n'), line...)
				}
				want, wantSteps, ok := a.Line(line, nil)
				require.True(t, ok)
				got, steps, ok := b.Line(line, nil)
				require.True(t, ok)
				require.Equal(t, re.Match(line), got, "%s on %q", pattern, line)
				require.Equal(t, want, got)
				require.Equal(t, wantSteps, steps, "%s on %q", pattern, line)
				if text {
					continue
				}

				for at := range 9 {
					want, wantSteps, _ = a.At(line, at, nil)
					got, steps, _ = b.At(line, at, nil)
					require.Equal(t, want, got)
					require.Equal(t, wantSteps, steps)
					want, wantSteps = g.MayMatch(line, at)
					got, steps = h.MayMatch(line, at)
					require.Equal(t, want, got)
					require.Equal(t, wantSteps, steps)
				}
			}
			if b.automata().anywhere.full {
				full++
			}
		}
	}
	assert.Greater(t, full, 6)
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
	large := NewProgram(parsed, maxProgram+1, NewRoom(plenty))
	var all strings.Builder
	for i := range rune(maxClasses) {
		fmt.Fprintf(&all, "%c%c|", 0x100+3*i, 0x1000+3*i)
	}
	many, _ := newProgram(t, all.String()+"x", plenty)
	for _, p := range []*Program{large, many} {
		_, _, ok := p.At([]byte("abc"), 0, nil)
		assert.False(t, ok)
		_, _, ok = p.Line([]byte("abc"), nil)
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
				match, _, ok := p.Line([]byte(line), nil)
				assert.True(t, ok)
				assert.Equal(t, want, match, line)
				match, _, ok = p.At([]byte(line), 3, nil)
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
	room := NewRoom(plenty)
	g := NewGroup(group, 100, 9, room)
	refused := 0
	random := rand.New(rand.NewPCG(1, 3))
	for range 5000 {
		text := make([]byte, random.IntN(6))
		for i := range text {
			text[i] = "food( \n"[random.IntN(7)]
		}
		any := slices.ContainsFunc(each, func(p *Program) bool {
			match, _, _ := p.At(text, 0, nil)
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
	g = NewGroup([]parse.Pattern{parsed}, 100, 9, room)
	text := []byte("f" + strings.Repeat("o", 2*groupLooks) + "\n")
	match, _, _ := long.At(text, 0, nil)
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
	c, ok := newClasses(prog, false)
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
	g := NewGuard(t.Context(), 10)
	assert.True(t, g.Spend(4))
	assert.True(t, g.Spend(6))
	assert.False(t, g.Stopped)
	assert.False(t, g.Spend(1), "the work is used up")
	assert.True(t, g.Stopped)
	assert.False(t, g.Spend(0), "once stopped, it stays so")
	assert.EqualValues(t, 11, g.Spent)
	assert.True(t, NewGuard(t.Context(), -1).Stopped)

	ctx, cancel := context.WithCancel(t.Context())
	g = NewGuard(ctx, 1<<40)
	cancel()
	assert.True(t, g.Spend(1), "little work does not look at the context")
	assert.False(t, g.Spend(plainWork))
}

// A search that the guard stops finds nothing, and reads no further.
func TestFindStops(t *testing.T) {
	t.Parallel()
	p, _ := newProgram(t, `a[^b]*b`, plenty)
	text := make([]byte, 1<<20)
	text[0] = 'a'
	text = append(text, 'b')
	g := NewGuard(t.Context(), 1<<20)
	_, ok := p.Find(text, 0, g)
	assert.False(t, ok)
	assert.True(t, g.Stopped)
	assert.Less(t, g.Spent, int64(1<<20+plainWork/32))

	_, ok = p.Find(text, 0, NewGuard(t.Context(), 1<<40))
	assert.True(t, ok)
}

// The automaton of whole texts and a search that can be stopped find what regexp does.
func TestAllIsTheSame(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "abc", "xx abc\xff abc\nabc é", strings.Repeat("ab\n", 1000) + "abc", "\u212a k", "a\xe2\x84", "\n", "\n\n",
		"abc\r\nabc\r\n", "a\nb\n", "a b\n\na\n", "\nabc", "abc\n", strings.Repeat("a ", 3000) + "\nc",
	}
	for _, pattern := range []string{
		`abc`, `(?m)^abc$`, `\babc`, `(?s)a.*c`, `a.`, `[^a]`, `(?i)k`, `\x{FFFD}`, `b\n`, `^abc$`, `\Aabc`, `abc\z`, `(?m)a$`,
		`(?m)a\r?$`, `(?m)^a$\n^b$`, `(?m)^\n`, `(?m)\n$`, `\n\z`, `\B\n`, `\b\n`, `\n\b`, `(?m)$\n`, `(?s).\b`, `a(?s:.*)b`, `(?m:^)b|c`,
		`\s+a`, `[^\S\n]a`,
	} {
		for _, text := range texts {
			for _, room := range []int64{0, plenty} {
				var spans []Span
				parsed, err := parse.Parse(pattern, true)
				require.NoError(t, err)
				p := NewProgram(parsed, 1<<14, NewRoom(room)) // so large that the reader is taken
				g := NewGuard(t.Context(), 1<<40)
				p.All([]byte(text), g, func(s Span) { spans = append(spans, s) })
				var want []Span
				for _, loc := range regexp.MustCompile(pattern).FindAllStringIndex(text, -1) {
					want = append(want, Span{loc[0], loc[1]})
				}
				require.Equal(t, want, spans, "%s on %.20q", pattern, text)
			}
		}
	}
}

// A text without a match costs its length once, however often a match could begin.
func TestAllIsLinear(t *testing.T) {
	t.Parallel()
	const pattern = `BEGIN(?:\\n|\s)+[a-z]{40}END`
	parsed, err := parse.Parse(pattern, true)
	require.NoError(t, err)
	p := NewProgram(parsed, 60, NewRoom(0))
	text := strings.Repeat("BEGIN\n"+strings.Repeat("a", 39), 1000)
	g := NewGuard(t.Context(), 1<<40)
	p.All([]byte(text), g, func(Span) { assert.Fail(t, "found") })
	assert.EqualValues(t, len(text), g.Spent)
}
