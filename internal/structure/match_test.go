package structure

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/syntax"
)

func always(int) bool { return true }

// matchesOf are the texts that a pattern matches.
func matchesOf(t testing.TB, language, pattern, text string) (all []string) {
	p, err := Compile(syntax.Named(language), pattern)
	require.NoError(t, err, pattern)
	read := syntax.Scan(syntax.Named(language), []byte(text))
	p.All(read, always, func(m Match) {
		all = append(all, text[read.Tokens[m.From].Start:read.Tokens[m.To-1].End])
	})

	return all
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		language, pattern, text string
		want                    []string
	}{
		{"python", "requests.get($$$)", "requests.get(url,\n  verify=c)", []string{"requests.get(url,\n  verify=c)"}},
		{"python", "requests.get($$$)", "# requests.get(url)\nx = 'requests.get(url)'", nil},
		{"python", "requests.get($$$)", "self.requests.get(url)", nil},
		{"python", "f($$$, shell=True, $$$)", "f(a, shell=True); f(shell = True, b); f(shell=True); f(g(shell=True)); f()",
			[]string{"f(a, shell=True)", "f(shell = True, b)", "f(shell=True)"}},
		{"python", "f($X)", "f(a + b, c)\nf(a if b else c)\nf()\nf(a,)", []string{"f(a if b else c)", "f(a,)"}},
		{"python", "f(a, $$$, b)", "f(a, b)\nf(a, c, b)\nf(a, c, d(b), b)\nf(a b)", []string{"f(a, b)", "f(a, c, b)", "f(a, c, d(b), b)"}},
		{"python", "with mock($$$): $$$", "with mock(a):\n  b\n  c\nd", []string{"with mock(a):\n  b\n  c"}},
		{"python", "except: $$$", "try:\n  a\nexcept:\n  pass\n", []string{"except:\n  pass"}},
		{"python", `open("a")`, "open('a')\nopen(\"b\")\nopen(f'a')", []string{"open('a')", "open(f'a')"}},
		{"go", "$X == nil", "if a.b[0](c) == nil && !d || e+f == nil {", []string{"a.b[0](c) == nil", "e+f == nil"}},
		{"go", "$X == nil", "x := *p == nil", []string{"*p == nil"}},
		{"go", "$X = append($X, $$$)", "a.b = append(a.b, c...)\nd = append(e, f)", []string{"a.b = append(a.b, c...)"}},
		{"go", "func $F($$$) { $$$ }", "func TestA(t *T) {\n\ta()\n\tb()\n}\nfunc (r T) B() {}", []string{"func TestA(t *T) {\n\ta()\n\tb()\n}"}},
		{"go", "if $C { $$$ return $$$ }", "if a {\n\tb()\n\treturn c, d\n}\nif e {\n\tf()\n}", []string{"if a {\n\tb()\n\treturn c, d\n}"}},
		{"go", "$X + $Y", "v := a*b + c + d*e", []string{"a*b + c + d*e"}},
		{"go", "f()\ng()", "f()\ng()\nf()\n\n// x\ng()\nf(); g()\nf()", []string{"f()\ng()", "f()\n\n// x\ng()", "f(); g()"}},
		{"go", "[]byte($X)", "[]byte(a.b())", []string{"[]byte(a.b())"}},
		{"go", "&T{$$$}", "x := &T{a: 1}", []string{"&T{a: 1}"}},
		{"javascript", "$X.innerHTML = $Y", "a.b().innerHTML = c + `d${e}`\nf.innerHTML = g;\nh()", []string{
			"a.b().innerHTML = c + `d${e}`", "f.innerHTML = g"}},
		{"javascript", "eval($X)", "eval(a, b); eval(a); x.eval(a); \"eval(a)\"; `${eval(a)}`", []string{"eval(a)", "eval(a)"}},
		{"java", "$X.equals($Y)", "if (a.b().equals(c)) {}", []string{"a.b().equals(c)"}},
		{"java", "catch ($T $E) { }", "try { a(); } catch (IOException e) { } catch (X y) { z(); }", []string{"catch (IOException e) { }"}},
		{"php", `eval(\$x)`, "<?php eval($x); eval($y);", []string{"eval($x)"}},
		{"yaml", "uses: $A@$R", "steps:\n  - uses: checkout@main\n", []string{"uses: checkout@main"}},
		{"sql", "delete from $T", "DELETE FROM users", []string{"DELETE FROM users"}},
		{"rust", "$X.unwrap()", "let a = b.c()?.d().unwrap();", []string{"b.c()?.d().unwrap()"}},
		{"c", "strcpy($D, $S);", "strcpy(a->b, c[1]);", []string{"strcpy(a->b, c[1])"}},
		{"go", "$X.Close()", "defer a.b.Close()\nreturn c.Close()", []string{"a.b.Close()", "c.Close()"}},
	} {
		assert.Equal(t, tt.want, matchesOf(t, tt.language, tt.pattern, tt.text), "%s in %s", tt.pattern, tt.text)
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		" ": "is required", "$X": "nothing but", "$$$": "nothing but", "f(": "without the other", "f)": "without the other",
		"f$X()": "a part of a word", `"$X"`: "in a string", "f() // $X": "in a comment", strings.Repeat("a", 1025): "1025 bytes",
		strings.Repeat("a ", 201): "201 tokens",
	} {
		_, err := Compile(syntax.Named("go"), pattern)
		require.ErrorContains(t, err, want, pattern)
	}
}

// What matching takes grows with the text, whatever that and the pattern are.
func TestMatchIsLinear(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"f($$$, x, $$$)", "f($X)", "$X == nil", "$X + $Y", "$X.a()", "$X = append($X, $$$)", "if $C { $$$ return $$$ }", "f($$$, $$$, $$$, q)",
		"f(g($$$, x, $$$), $$$, y)", "a $$$ b", "f($X, $X)",
	}
	parts := []string{
		"f(", "f(a,", "a + ", "a.a()", "a == ", "f(a)", "(", "{", "a, ", "a ", "f(x, a)", "a.", "-", "!", "f(g(", "if a { ", "if a { return } ",
		"a = append(a, ", "[", "a[0]", "a\n", "f(a, b)\n", "nil ",
	}
	for _, l := range []string{"go", "python", "javascript"} {
		for _, pattern := range patterns {
			p, err := Compile(syntax.Named(l), pattern)
			require.NoError(t, err)
			for _, part := range parts {
				steps := func(n int) (sum float64) {
					for _, end := range []string{"", ")"} {
						text := syntax.Scan(syntax.Named(l), append(bytes.Repeat([]byte(part), n), strings.Repeat(end, n)...))
						p.All(text, func(k int) bool { sum += float64(k); return sum < 1e7 }, func(Match) {})
					}
					return sum
				}
				less, more := steps(250), steps(1000)
				assert.LessOrEqual(t, more, 6*less+1000, "%s: %q in %q", l, pattern, part)
			}
		}
	}
}

// What is remembered of one try for others changes no match.
func TestFastAsPlain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(most int, parts ...string) (text string) {
		for range 1 + random.IntN(most) {
			text += parts[random.IntN(len(parts))]
		}
		return text
	}
	matches, scenes := 0, 0
	for range 200_000 {
		l := syntax.Named([]string{"go", "python", "javascript"}[random.IntN(3)])
		p, err := Compile(l, pick(7, "a", " ", "b", "f(", ")", "$$$", "$X", "$Y", ", ", "+", "=", ".", "{", "}", "$_", "\n"))
		if err != nil {
			continue
		}
		scenes++
		text := syntax.Scan(l, []byte(pick(25, "a", " ", "b", "f(", ")", ",", " + ", "=", ".a", "{", "}", "\n", "a, b", "f(a)", "-")))
		var fast, plain []Match
		p.All(text, always, func(m Match) { fast = append(fast, m) })
		m := p.matcher(text, always)
		m.known = nil
		for i := range text.Tokens {
			if match, ok := m.at(i); ok {
				plain = append(plain, match)
			}
		}
		matches += len(plain)
		require.Equal(t, plain, fast, "%q in %q", p.text.Bytes, text.Bytes)
	}
	assert.Greater(t, scenes, 20_000)
	assert.Greater(t, matches, 5_000)
}

func FuzzMatch(f *testing.F) {
	f.Add("f($$$, $X, $$$)", "f(a, g(b), \"c\")\n")
	f.Add("$X == nil", "if a.b == nil { return }")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		for _, name := range []string{"go", "python", "javascript", "ruby"} {
			p, err := Compile(syntax.Named(name), pattern)
			if err != nil {
				continue
			}
			left := 100_000
			read := syntax.Scan(syntax.Named(name), []byte(text))
			p.All(read, func(n int) bool { left -= n; return left > 0 }, func(m Match) {
				if m.From >= m.To || m.To > len(read.Tokens) {
					t.Fatal(m)
				}
				for _, r := range m.bound {
					if r.From >= 0 && (r.From < m.From || r.To > m.To || r.From > r.To) {
						t.Fatal(m)
					}
				}
			})
		}
	})
}
