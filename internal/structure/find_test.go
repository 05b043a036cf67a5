package structure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/syntax"
)

// is is a condition that is only a pattern.
func is(pattern string) *Condition { return &Condition{Pattern: pattern} }

// placesOf are the texts of what a condition means.
func placesOf(t testing.TB, language string, c Condition, text string) (all []string) {
	f, err := Compile(syntax.Named(language), c)
	require.NoError(t, err)
	read := NewFile(syntax.Scan(syntax.Named(language), []byte(text)))
	f.All(read, always, func(m Match) {
		all = append(all, text[read.Tokens[m.Focus.From].Start:read.Tokens[m.Focus.To-1].End])
	})

	return all
}

func TestConditions(t *testing.T) {
	t.Parallel()
	get := func(test Test) Condition {
		return Condition{Pattern: "f($X)", Where: map[string]Test{"X": test}}
	}
	for name, tt := range map[string]struct {
		language string
		c        Condition
		text     string
		want     []string
	}{
		"where and focus": {"python", Condition{
			Pattern: "requests.$METHOD($$$ARGS)", Focus: "METHOD", NotInside: is("with mock($$$): $$$"),
			Where: map[string]Test{"METHOD": {Regex: "^(get|post)$"}, "ARGS": {Not: &Test{Has: is("timeout=$_"), Depth: "direct"}}},
		}, "requests.get(a, timeout=1)\nrequests.get(b(timeout=1))\nrequests.head(c)\nwith mock(d):\n  requests.get(e)\nrequests.post()",
			[]string{"get", "post"}},
		"any": {"go", Condition{Any: []Condition{*is("f($X)"), *is("g($X)")}}, "g(a); f(b); h(c); f(g(d))",
			[]string{"g(a)", "f(b)", "f(g(d))", "g(d)"}},
		"any with focus": {"go", Condition{Any: []Condition{
			{Pattern: "f($X)", Focus: "X"}, {Pattern: "g($$$)"}}}, "g(a); f(b)", []string{"g(a)", "b"}},
		"all in any order": {"python", Condition{All: []Condition{*is("f($$$, a=1, $$$)"), *is("f($$$, b=2, $$$)")}},
			"f(b=2, a=1)\nf(a=1, c, b=2)\nf(a=1)", []string{"f(b=2, a=1)", "f(a=1, c, b=2)"}},
		"all with the same name": {"python", Condition{All: []Condition{*is("f($A, $$$)"), *is("f($$$, $A)")}},
			"f(x, y, x)\nf(x, y)\nf(z)", []string{"f(x, y, x)", "f(z)"}},
		"not":             {"go", Condition{Pattern: "f($$$)", Not: is("f($$$, t, $$$)")}, "f(a); f(a, t); f(g(t))", []string{"f(a)", "f(g(t))"}},
		"not with a name": {"go", Condition{Pattern: "$X.a($Y)", Not: is("$X.a($X)")}, "b.a(b); b.a(c)", []string{"b.a(c)"}},
		"inside": {"go", Condition{Pattern: "f()", Inside: is("if $C { $$$ }")}, "f()\nif a {\n\tf()\n\tfor {\n\t\tf()\n\t}\n}",
			[]string{"f()", "f()"}},
		"inside with a name": {"go", Condition{Pattern: "f($X)", Inside: is("func $_($$$, $X $_, $$$) { $$$ }")},
			"func a(b T, c T) {\n\tf(b)\n\tf(c)\n\tf(d)\n}", []string{"f(b)", "f(c)"}},
		"inside inside": {"go", Condition{Pattern: "f()", Inside: &Condition{Pattern: "if $C { $$$ }", Inside: is("for { $$$ }")}},
			"for {\n\tif a {\n\t\tf()\n\t}\n}\nif b {\n\tf()\n}", []string{"f()"}},
		"inside itself": {"go", Condition{Pattern: "f($$$)", Inside: is("f($$$)")}, "f(f(a))", []string{"f(a)"}},
		"has anywhere": {"go", Condition{Pattern: "func $F() { $$$ }", Has: is("panic($$$)"), Focus: "F"},
			"func a() {\n\tif b {\n\t\tpanic(c)\n\t}\n}\nfunc d() {\n\tpanic(e)\n}\nfunc g() {\n}", []string{"a", "d"}},
		"has directly": {"go", Condition{Pattern: "func $F() { $$$ }", Has: is("panic($$$)"), Depth: "direct", Focus: "F"},
			"func a() {\n\tif b {\n\t\tpanic(c)\n\t}\n}\nfunc d() {\n\tpanic(e)\n}", []string{"d"}},
		"has with a name": {"go", Condition{Pattern: "$X := f()", Inside: &Condition{Pattern: "{ $$$ }", Not: &Condition{Has: is("defer close()")}}},
			"{\n\ta := f()\n}\n{\n\tb := f()\n\tdefer close()\n}", []string{"a := f()"}},
		"filters in all": {"go", Condition{All: []Condition{*is("f($$$)"), {NotInside: is("g($$$)")}, {Any: []Condition{
			{Has: is("a")}, {Inside: is("h($$$)")}}}}}, "f(a); g(f(a)); f(b); h(f(b))", []string{"f(a)", "f(b)"}},
		"regex of a string": {"go", get(Test{Regex: "^http:"}), "f(\"http://a\"); f(`http://b`); f(http)", []string{`f("http://a")`, "f(`http://b`)"}},
		"any test":          {"go", get(Test{Any: []Test{{Regex: "^a$"}, {Regex: "^b$"}}}), "f(a); f(b); f(c)", []string{"f(a)", "f(b)"}},
		"is string":         {"javascript", get(Test{Is: IsString}), "f('a'); f(`b`); f(`c${d}`); f(e + 'f')", []string{"f('a')", "f(`b`)"}},
		"is interpolated":   {"javascript", get(Test{Is: IsInterpolated}), "f('a'); f(`b`); f(`c${d}`); f(e + 'f')", []string{"f(`c${d}`)"}},
		"is no constant": {"javascript", get(Test{Not: &Test{Is: IsConstant}}), "const q = 'a' + 'b'; f(q); f('c' + q); f(d); f(`e${d}`)",
			[]string{"f(d)", "f(`e${d}`)"}},
		"entropy": {"go", get(Test{Entropy: &Entropy{}}), `f("hello"); f("aK9xQ2mZ7pL4vB8n")`, []string{`f("aK9xQ2mZ7pL4vB8n")`}},
		"has of an object": {"javascript", Condition{Pattern: "f($X)", Where: map[string]Test{"X": {Has: is("a: $_"), Depth: "direct"}}},
			"f({a: 1}); f({b: {a: 1}}); f(g({a: 1}))", []string{"f({a: 1})"}},
	} {
		assert.Equal(t, tt.want, placesOf(t, tt.language, tt.c, tt.text), name)
	}
}

func TestConditionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		c           Condition
		field, text string
	}{
		"nothing":                 {Condition{}, "", "is required"},
		"no pattern":              {Condition{Inside: is("a()")}, "", "finds nothing by itself"},
		"any without":             {Condition{Any: []Condition{*is("a()"), {Has: is("b")}}}, "", "finds nothing by itself"},
		"all in the wrong order":  {Condition{All: []Condition{{Has: is("b")}, *is("a()")}}, "all[0]", "put what has a pattern first"},
		"bad pattern":             {Condition{Pattern: "a(", Not: is("b")}, "pattern", "without the other"},
		"bad pattern inside":      {Condition{Pattern: "a()", Inside: is("b(")}, "inside.pattern", "without the other"},
		"inside without":          {Condition{Pattern: "a()", Inside: &Condition{Has: is("b")}}, "inside", "finds nothing by itself"},
		"depth without has":       {Condition{Pattern: "a()", Depth: "direct"}, "depth", "there is none"},
		"bad depth":               {Condition{Pattern: "a()", Has: is("b"), Depth: "deep"}, "depth", "must be direct or anywhere"},
		"unknown focus":           {Condition{Pattern: "a()", Focus: "X"}, "focus", "is no metavariable"},
		"focus of inside":         {Condition{Pattern: "a()", Inside: &Condition{Pattern: "b($X)", Focus: "X"}}, "inside.focus", "of no use here"},
		"two focuses":             {Condition{Any: []Condition{{Pattern: "a($X)", Focus: "X"}}, Focus: "X"}, "any[0].focus", "of no use here"},
		"unknown name":            {Condition{Pattern: "a($X)", Where: map[string]Test{"Y": {Is: "string"}}}, "where.Y", "is no metavariable"},
		"dollar":                  {Condition{Pattern: "a($X)", Where: map[string]Test{"$X": {Is: "string"}}}, "where.$X", "without the dollar"},
		"name of one alternative": {Condition{Any: []Condition{*is("a($X)"), *is("b()")}, Where: map[string]Test{"X": {Is: "string"}}}, "where.X", "each of the alternatives"},
		"name of inside":          {Condition{Pattern: "a()", Inside: is("b($X)"), Where: map[string]Test{"X": {Is: "string"}}}, "where.X", "is no metavariable"},
		"empty test":              {Condition{Pattern: "a($X)", Where: map[string]Test{"X": {}}}, "where.X", "needs one of"},
		"bad regex":               {Condition{Pattern: "a($X)", Where: map[string]Test{"X": {Regex: "("}}}, "where.X.regex", "missing"},
		"bad kind":                {Condition{Pattern: "a($X)", Where: map[string]Test{"X": {Is: "name"}}}, "where.X.is", "must be string"},
		"bad entropy":             {Condition{Pattern: "a($X)", Where: map[string]Test{"X": {Entropy: &Entropy{Min: 9}}}}, "where.X.entropy.min", "from 0 to 8"},
		"name beside":             {Condition{Pattern: "a()", Inside: is("b($X)"), Has: is("c($X)")}, "has", "is elsewhere too"},
		"name below":              {Condition{Pattern: "a($X)", Inside: &Condition{Pattern: "b()", Has: is("c($X)")}}, "inside.has", "is elsewhere too"},
		"name of one alternative inside": {Condition{Pattern: "a($X)", Inside: &Condition{Any: []Condition{*is("b($X)"), *is("c()")}}},
			"inside", "can't be held equal"},
		"many": {Condition{Pattern: "a()", All: make50()}, "", "more than 50"},
	} {
		_, err := Compile(syntax.Named("go"), tt.c)
		var got *Error
		require.ErrorAs(t, err, &got, name)
		assert.Equal(t, tt.field, got.Field, name)
		assert.Contains(t, got.Text, tt.text, name)
	}
}

func make50() (all []Condition) {
	for range 50 {
		all = append(all, *is("a()"))
	}

	return all
}
