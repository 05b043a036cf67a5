package confirm

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
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

func TestLineAndColumns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, pattern, line string
		want                Span // none when End is 0
	}{
		{"the package's example", `\bcolou?r\(`, "x = colour(1)", Span{4, 11}},
		{"no match", `\bcolou?r\(`, "x = color [1]", Span{}},
		{"the leftmost of several", `a+b`, "b aab ab", Span{2, 5}},
		{"as many as can be", `a.*b`, "xaabab.", Span{1, 6}},
		{"as few as can be", `a.*?b`, "xaabab.", Span{1, 4}},
		{"the first branch, not the longest", `a|ab|abc`, "abc", Span{0, 1}},
		{"optional ends belong to it", `\s*secret\s*`, "a  secret ;", Span{1, 10}},
		{"begin of the line", `^b`, "ab", Span{}},
		{"end of the line", `b$`, "bab", Span{2, 3}},
		{"at its ends only", `^ab$`, "ab", Span{0, 2}},
		{"between words", `\bfoo\b`, "xfoo foox foo", Span{10, 13}},
		{"characters", `a.c`, "aéc", Span{0, 4}},
		{"bytes that are not UTF-8", `a.c`, "\xffa\xffc", Span{1, 4}},
		{"as U+FFFD", `\x{fffd}{2}`, "a\xff\xfeb", Span{1, 3}},
		{"a carriage return is of the line", `a\rb`, "a\rb", Span{0, 3}},
		{"the Kelvin sign", `(?i)k\b.`, "\u212a-", Span{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := newProgram(t, test.pattern, plenty)
			match, _, ok := p.Line([]byte(test.line))
			require.True(t, ok)
			assert.Equal(t, test.want.End > 0, match)
			if !match {
				return
			}
			span, ok := p.Columns([]byte(test.line), 0)
			require.True(t, ok)
			assert.Equal(t, test.want, span)
		})
	}
}

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
		_, ok = p.Columns([]byte("abc"), 0)
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
				want := re.FindStringIndex(line)
				match, _, ok := p.Line([]byte(line))
				assert.True(t, ok)
				assert.Equal(t, want != nil, match, line)
				if at, _, ok := p.At([]byte(line), 3); assert.True(t, ok) {
					assert.Equal(t, want != nil, at, line)
				}
				if want == nil {
					continue
				}
				span, ok := p.Columns([]byte(line), 0)
				assert.True(t, ok)
				assert.Equal(t, Span{want[0], want[1]}, span, line)
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
	for _, text := range stagetest.Texts([]string{"f", "o", "d", "(", " ", "\n"}, 5) {
		any := slices.ContainsFunc(each, func(p *Program) bool {
			match, _, _ := p.At([]byte(text), 0)
			return match
		})
		may, _ := g.MayMatch([]byte(text), 0)
		assert.False(t, any && !may, "%q", text)
		if !may {
			refused++
		}
	}
	assert.Greater(t, refused, 5000)
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
