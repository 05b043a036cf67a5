package structure

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/syntax"
)

// scenes makes conditions and texts up.
type scenes struct{ *rand.Rand }

// pick joins some of the parts.
func (s scenes) pick(most int, parts ...string) string {
	var text strings.Builder
	for range 1 + s.IntN(most) {
		text.WriteString(parts[s.IntN(len(parts))])
	}

	return text.String()
}

func (s scenes) language() *syntax.Language {
	names := []string{"go", "python", "javascript", "go", "python", "javascript", "ruby", "sql", "yaml", "php", "html"}
	return syntax.Named(names[s.IntN(len(names))])
}

func (s scenes) pattern() string {
	if s.IntN(3) == 0 {
		whole := []string{"f($X)", "f($$$)", "$X.a", "$X = $Y", "{ $$$ }", "if $X { $$$ }", "f($$$, a, $$$)", "a", "$X + $Y", "g($X)", "\"a\""}
		return whole[s.IntN(len(whole))]
	}

	return s.pick(7, "a", " ", "b", "f(", ")", "$$$", "$X", "$Y", ", ", "+", "=", ".", "{", "}", "$_", "\n", "$$$X", "\"a\"", ";")
}

func (s scenes) text() string {
	return s.pick(25, "a", " ", "b", "f(", ")", ",", " + ", "=", ".a", "{", "}", "\n", "a, b", "f(a)", "-", "g(", "if a {", "\"a\"", "'b'",
		"  ", "; ", "a = \"b\"", "A", "F(")
}

func (s scenes) condition(depth int, finds bool) (c Condition) {
	if finds || s.IntN(2) == 0 {
		c.Pattern = s.pattern()
	}
	if depth == 0 {
		return c
	}
	sub := func(odds int, finds bool) *Condition {
		if s.IntN(odds) > 0 {
			return nil
		}
		c := s.condition(depth-1, finds)
		return &c
	}
	c.Not, c.Inside, c.NotInside, c.Has = sub(5, false), sub(4, true), sub(6, true), sub(4, true)
	if c.Has != nil {
		c.Depth = []string{"", "direct"}[s.IntN(2)]
	}
	if s.IntN(5) == 0 {
		c.Any = []Condition{s.condition(depth-1, finds), s.condition(depth-1, finds)}
		if s.IntN(2) == 0 {
			c.Pattern = ""
		}
	}
	if s.IntN(6) == 0 {
		c.All = []Condition{s.condition(depth-1, true), s.condition(depth-1, false)}
		if s.IntN(2) == 0 {
			c.Pattern = ""
		}
	}
	for _, name := range []string{"X", "Y"} {
		if s.IntN(4) == 0 && strings.Contains(c.Pattern, "$"+name) {
			c.Where = map[string]Test{name: s.test(depth - 1)}
		}
	}

	return c
}

func (s scenes) test(depth int) (t Test) {
	switch s.IntN(6) {
	case 0:
		t.Regex = "a"
	case 1:
		t.Is = []string{IsString, IsInterpolated, IsConstant}[s.IntN(3)]
	case 2:
		c := s.condition(depth, true)
		t.Has, t.Depth = &c, []string{"", "direct"}[s.IntN(2)]
	case 3:
		not := s.test(depth)
		t.Not = &not
	case 4:
		t.Any = []Test{s.test(depth), s.test(depth)}
	default:
		t.Entropy = &Entropy{Min: 0.5}
	}

	return t
}

// scene holds a condition in a text as it is found equal to how it is defined.
func scene(t *testing.T, l *syntax.Language, c Condition, text []byte) (found int, ok bool) {
	f, err := Compile(l, c)
	if err != nil {
		return 0, false
	}
	if l.Name == "HTML" { // rules of other languages look at markup too
		if f, err = Compile(syntax.Named("javascript"), c); err != nil {
			return 0, false
		}
	}
	read := syntax.Scan(l, text)

	var fast, plain []Match
	f.All(NewFile(read), always, func(m Match) { fast = append(fast, m) })
	f.plainly(NewFile(read), always, func(m Match) { plain = append(plain, m) })
	require.Equal(t, plain, fast, "%s: %s in %q", l.Name, show(c), text)
	mayFind := NewFinders(l, []*Finder{nil, f}).MayFind(NewFile(read), 1)
	require.Equal(t, f.MayFind(NewFile(read)), mayFind, "%s: %s in %q", l.Name, show(c), text)
	if len(plain) > 0 {
		needs := f.Needs(func(word string) float64 { return 1 / float64(len(word)) })
		require.Regexp(t, strings.Join(needs, "|"), string(text), "%s: %s", l.Name, show(c))
	}

	return len(plain), true
}

func (f *Finder) plainly(file *File, spend Spend, found func(Match)) {
	s := newSearch(f, file, spend)
	s.plain = true
	s.all(found)
}

func show(c Condition) string {
	text, _ := c.MarshalJSON()
	return string(text)
}

// The way that is fast finds what the definition says: texts, patterns and conditions are
// made up. PRWARDEN_SCENES is how many.
func TestFastAsPlain(t *testing.T) {
	t.Parallel()
	count := 30_000
	if n, err := strconv.Atoi(os.Getenv("PRWARDEN_SCENES")); err == nil {
		count = n
	}
	s := scenes{rand.New(rand.NewPCG(1, 2))}
	ran, matches, scenesWithMatch := 0, 0, 0
	for ran < count {
		n, ok := scene(t, s.language(), s.condition(s.IntN(3), true), []byte(s.text()))
		if ok {
			ran++
			matches += n
			scenesWithMatch += min(n, 1)
		}
	}
	t.Logf("%d scenes, %d with matches, %d matches", ran, scenesWithMatch, matches)
	assert.Greater(t, scenesWithMatch, count/30)
}

func FuzzScene(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		s := scenes{rand.New(rand.NewPCG(a, b))}
		scene(t, s.language(), s.condition(3, true), []byte(s.text()))
	})
}
