package structure

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/syntax"
)

// kinds are conditions of each kind.
func kinds() []Condition {
	var all []Condition
	for _, pattern := range []string{
		"f($$$, x, $$$)", "f($X)", "$X == nil", "$X + $Y", "$X.a()", "$X = append($X, $$$)", "if $C { $$$ return $$$ }",
		"f($$$, $$$, $$$, q)", "f(g($$$, x, $$$), $$$, y)", "a $$$ b", "f($X, $X)", "\"a\" + $X",
	} {
		all = append(all, *is(pattern))
	}

	return append(all,
		Condition{Any: []Condition{*is("f($$$)"), *is("a"), *is("$X + a")}},
		Condition{All: []Condition{*is("f($$$)"), *is("f($$$, x, $$$)")}},
		Condition{Pattern: "f($$$)", Not: is("f($$$, x, $$$)")},
		Condition{Pattern: "a", Inside: is("f($$$)")},
		Condition{Pattern: "f($$$)", NotInside: is("{ $$$ }")},
		Condition{Pattern: "f($$$)", Has: is("a")},
		Condition{Pattern: "f($$$)", Has: is("q")},
		Condition{Pattern: "f($$$)", Has: is("a"), Depth: DepthDirect},
		Condition{Pattern: "f($X)", Where: map[string]Test{"X": {Regex: "^q"}}},
		Condition{Pattern: "f($X)", Where: map[string]Test{"X": {Has: is("q"), Depth: DepthDirect}}},
		Condition{Pattern: "f($X)", Where: map[string]Test{"X": {Is: IsConstant}}},
		Condition{Pattern: "f($X)", Where: map[string]Test{"X": {Is: IsInterpolated}}},
		Condition{Pattern: "f($X)", Where: map[string]Test{"X": {Entropy: &Entropy{Min: 8}}}},
	)
}

// hostile are parts of texts that are bad for matchers, some with what closes them.
var hostile = [][2]string{
	{"f(", ""}, {"f(", ")"}, {"f(a,", ""}, {"f(a,", ")"}, {"a + ", ""}, {"a.a()", ""}, {"a == ", ""}, {"f(a)", ""}, {"(", ""},
	{"(", ")"}, {"{", ""}, {"{", "}"}, {"a, ", ""}, {"a ", ""}, {"f(x, a)", ""}, {"a.", ""}, {"-", ""}, {"!", ""}, {"f(g(", "))"},
	{"if a { ", "}"}, {"if a { return } ", ""}, {"a = append(a, ", ")"}, {"[", "]"}, {"a[0]", ""}, {"a\n", ""}, {"f(a, b)\n", ""},
	{"nil ", ""}, {"a = a + a;", ""}, {"\"a\" + ", ""}, {"'", ""}, {"`${", "}`"}, {" a:\n", ""}, {"<a ", ""}, {"- - ", ""}, {"a = ", ""},
	{"f(a, f(a, ", "), a)"},
}

// What matching takes grows with the text, whatever that, the language and the kind of
// condition are. With PRWARDEN_LINEAR the texts have 128 and 512 KiB.
func TestMatchingIsLinear(t *testing.T) {
	t.Parallel()
	size := 4 << 10
	if os.Getenv("PRWARDEN_LINEAR") != "" {
		size = 128 << 10
	}
	for _, name := range syntax.Structured() {
		l := named(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, part := range hostile {
				less, more := repeated(l, part, size), repeated(l, part, 4*size)
				for _, c := range kinds() {
					f, err := Compile(l, c)
					if err != nil {
						continue // not in this language
					}
					small, large := stepsIn(f, less), stepsIn(f, more)
					assert.LessOrEqual(t, large, 6*small+5000, "%s in %q, %d steps", show(c), part, large)
					looksAtText := strings.Contains(show(c), "regex") || strings.Contains(show(c), "entropy")
					assert.True(t, looksAtText || large <= 160*size, "%s in %q, %d steps", show(c), part, large)
				}
			}
		})
	}
}

func named(structured string) *syntax.Language {
	for _, x := range []string{"php", "html", "typescript", "javascript", "c", "c#", "go", "python", "java", "kotlin", "ruby", "rust",
		"shell", "dockerfile", "yaml", "hcl", "json", "sql", "xml", "css"} {
		if l := syntax.Named(x); l.Name == structured {
			return l
		}
	}

	return nil
}

// repeated is a text of so many bytes of parts, and then of what closes them.
func repeated(l *syntax.Language, part [2]string, size int) *syntax.Text {
	n := size / len(part[0]+part[1])
	text := append(bytes.Repeat([]byte(part[0]), n), strings.Repeat(part[1], n)...)

	return syntax.Scan(l, text)
}

// stepsIn is the steps of a search.
func stepsIn(f *Finder, text *syntax.Text) (steps int) {
	f.All(NewFile(text), func(n int) bool { steps += n; return steps < 1e8 }, func(Match) {})
	return steps
}

// What is kept of a file for other rules changes nothing, the steps neither.
func TestKeptListsChangeNothing(t *testing.T) {
	t.Parallel()
	text := syntax.Scan(syntax.Named("go"), []byte("if a { f(b) }\nf(c)\nif d { if e { f(g) } }\n"+strings.Repeat("x.y()\n", 50)))
	file := NewFile(text)
	for _, pattern := range []string{"f($X)", "f($$$)", "$X.y()"} {
		f, err := Compile(syntax.Named("go"), Condition{Pattern: pattern, NotInside: is("if $C { $$$ }")})
		require.NoError(t, err)
		look := func(file *File) (all []Match, steps int) {
			f.All(file, func(n int) bool { steps += n; return true }, func(m Match) { all = append(all, m) })
			return all, steps
		}
		want, steps := look(NewFile(text))
		for range 2 {
			got, again := look(file)
			assert.Equal(t, want, got, pattern)
			assert.Equal(t, steps, again, pattern)
		}
	}
	assert.Len(t, file.lists, 1)
}

// BenchmarkHostile shows the time for the worst texts of 512 KiB in every language.
func BenchmarkHostile(b *testing.B) {
	for _, name := range syntax.Structured() {
		l := named(name)
		for _, part := range hostile {
			text := repeated(l, part, 512<<10)
			for i, c := range kinds() {
				f, err := Compile(l, c)
				if err != nil {
					continue // not in this language
				}
				b.Run(fmt.Sprintf("%s/%q/%d", name, part[0], i), func(b *testing.B) {
					for b.Loop() {
						stepsIn(f, text)
					}
				})
			}
		}
	}
}
