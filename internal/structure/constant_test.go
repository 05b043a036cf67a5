package structure

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/syntax"
)

func TestConstants(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		language, text string
		want           bool
	}{
		{"go", `f("a" + "b")`, true},
		{"go", `f(x)`, false},
		{"go", "x := \"a\"\nf(x + \"b\")", true},
		{"go", "const x = \"a\"\nvar y string = x + \"b\"\nf(y)", true},
		{"go", "const (\n\tx = \"a\"\n)\nf(x)", true},
		{"go", "x := \"a\"\nx = g()\nf(x)", false},
		{"go", "x := \"a\"\nx += g()\nf(x)", false},
		{"go", "x := \"a\"\nx += \"b\"\nf(x)", true},
		{"go", "x := \"a\"\nscan(&x)\nf(x)", false},
		{"go", "x, y := \"a\", g()\nf(x)", false},
		{"go", "x := \"a\"\nfunc g(x string) {\n\tf(x)\n}", false},
		{"go", "x := \"a\"\nfunc (r T) g(x string) (int, error) {\n\tf(x)\n}", false},
		{"go", "x := \"a\"\nfor x := range y {\n\tf(x)\n}", false},
		{"go", "x := \"a\"\nif g(x) {\n\tf(x)\n}", true},
		{"python", "x = 'a'\nf(x)", true},
		{"python", "x: str = 'a' if y else 'b'\nf(x)", false},
		{"python", "x: str = 'a'\nf(x)", true},
		{"python", "x = 'a'\ndef g(x):\n    f(x)", false},
		{"python", "x = 'a'\ndef g(y, x='b'):\n    f(x)", false},
		{"python", "x = 'a'\nfor x in y:\n    f(x)", false},
		{"python", "x = 'a'\nwith y as x:\n    f(x)", false},
		{"python", "x = 'a'\ng(x=y)\nf(x)", true},
		{"python", "x = 'a'\nf(f'{x}b')", true},
		{"python", "f(f'{x}b')", false},
		{"python", "x = y = 'a'\nf(y)", true},
		{"python", "x = y = 'a'\nf(x)", false},
		{"python", "x = y.z\nf(x)", false},
		{"python", "self.x = y\nx = 'a'\nf(x)", false},
		{"python", "x = y\ny = x\nf(x)", true},
		{"python", "f(['a', 'b'])", true},
		{"python", "x = ['a']\nf(x)", false},
		{"python", "x = g('a')\nf(x)", false},
		{"javascript", "const x = 'a'\nf(x)", true},
		{"javascript", "const x = `a${y}`\nf(x)", false},
		{"javascript", "let x = 'a'\ng(x => f(x))", false},
		{"javascript", "let x = 'a'\nfor (const x of y) { f(x) }", false},
		{"javascript", "let x = 'a'\nfunction g(y, x) { f(x) }", false},
		{"javascript", "const {x} = y\nf(x)", false},
		{"typescript", "const x: string = 'a'\nf(x)", true},
		{"java", `class A { String x = "a"; void g() { f(x); } }`, true},
		{"java", `class A { String x = "a"; void g(String x) { f(x); } }`, false},
		{"java", `class A { String x = "a"; void g() { for (String x : y) { f(x); } } }`, false},
		{"java", `class A { String x = "a"; void g(String y) { this.x = y; f(x); } }`, false},
		{"ruby", "x = 'a'\nf(x)", true},
		{"ruby", "x = 'a'\nx << y\nf(x)", false},
		{"ruby", "x = 'a'\ny.each { |x| f(x) }", false},
		{"php", `<?php $x = "a"; f($x);`, true},
		{"php", `<?php $x = "a"; $x .= $y; f($x);`, false},
		{"rust", `let mut x = "a"; f(x)`, false},
		{"rust", `let x = "a"; f(x)`, true},
		{"c", `char *x = "a"; f(x);`, true},
		{"c#", `var x = "a"; foreach (var x in y) { f(x); }`, false},
	} {
		file := NewFile(syntax.Scan(syntax.Named(tt.language), []byte(tt.text)))
		last := len(file.Tokens)
		for last--; last >= 0 && (string(file.Of(last)) != "f" || file.Tokens[last+1].Bracket != '('); last-- {
		}
		open := last + 1
		sums := file.variables()
		got := sums[open+1] == sums[file.Tokens[open].Pair]
		assert.Equal(t, tt.want, got, "%s: %s", tt.language, tt.text)
	}
}
