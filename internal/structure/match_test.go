package structure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/syntax"
)

func always(int) bool { return true }

// matchesOf are the texts that a pattern matches.
func matchesOf(t testing.TB, language, pattern, text string) (all []string) {
	p, err := Compile(syntax.Named(language), Condition{Pattern: pattern})
	require.NoError(t, err, pattern)
	read := NewFile(syntax.Scan(syntax.Named(language), []byte(text)))
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
		{"go", "$X.Get($Y)", "f(`a` + b.Get(c) + d); e.f().Get(g)", []string{"b.Get(c)", "e.f().Get(g)"}},
		{"go", "$F(x)", "a + b.c(x)", []string{"b.c(x)"}},
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
		_, err := Compile(syntax.Named("go"), Condition{Pattern: pattern})
		require.ErrorContains(t, err, want, pattern)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("f($$$, $X, $$$)", "f(a, g(b), \"c\")\n")
	f.Add("$X == nil", "if a.b == nil { return }")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		for _, name := range []string{"go", "python", "javascript", "ruby"} {
			p, err := Compile(syntax.Named(name), Condition{Pattern: pattern})
			if err != nil {
				continue
			}
			left := 100_000
			read := NewFile(syntax.Scan(syntax.Named(name), []byte(text)))
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
