package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown is a text with «strings» and ⟦comments⟧ marked.
func shown(t *Text) string {
	var out strings.Builder
	last := Code
	ends := [...]string{"", "⟧", "»"}
	for i := range t.Bytes {
		if class := t.Class(i); class != last {
			out.WriteString(ends[last] + [...]string{"", "⟦", "«"}[class])
			last = class
		}
		out.WriteByte(t.Bytes[i])
	}

	return out.String() + ends[last]
}

func unmarked(text string) string {
	return strings.NewReplacer("«", "", "»", "", "⟦", "", "⟧", "").Replace(text)
}

func TestClasses(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][]string{
		"go": {
			"x := «\"a // b\"» ⟦// c \"d\"⟧\n", "x := «`a\n// \\`» + y", "a «'\\''» b ⟦/* \" */⟧ «\"\\\"\"»",
		},
		"python": {
			"x = «'a'» ⟦# b⟧", "«\"\"\"a\n# \" b\"\"\"» + y", "f(«f\"a »{b + «'c'»}« d\"», «rb'\\''»)", "«f'''a{{b}}»{x!r:>{n}}«\n'''» ⟦# d⟧",
			"«F\"»{«f'y'»}«\"»", "x = 5 // 2", "⟦#!/usr/bin/env python⟧\nx",
		},
		"javascript": {
			"x = «`a »${b + «`c »${d}«`»}« e`» ⟦// f⟧", "x = «/[/\"]\\//g» / 2 ⟦// b⟧", "a / b / «\"c\"»", "return «/'/»", "x) / y «'/'»",
			"y = <a href=«\"x\"» on={() => «'z'»}>«Don't»<b/> {x ⟦/* y */⟧} «// no comment»</a>; ⟦// c⟧", "f(<></>)«'a'»", "a < b «'c'»",
		},
		"typescript": {"x = <T>(y: T) => «'a'»", "f<string>(«\"a\"») ⟦// b⟧"},
		"java":       {"s = «\"\"\"\n a \"b\" // c\n\"\"\"»; ⟦// d⟧", "char c = «'\"'»; ⟦/* ' */⟧"},
		"kotlin":     {"«\"a »$b« »${c(«\"d\"»)}«\"»", "⟦/* a /* b */ c */⟧ d", "«\"\"\"a\\»${x}«\"\"\"» ⟦// c⟧"},
		"c++": {
			"«R\"x(a)\" // )x\"» ⟦// b⟧", "1'000'000 ⟦// c⟧", "«L'x'» «u8\"y\"»", "#error don't\nx ⟦// y⟧", "#define A(x) \\\n «\"x\"» ⟦// b⟧",
		},
		"c#": {
			"«$\"a »{b}« {{c}}\"» ⟦// d⟧", "«@\"a\\ \"\"b\"\" //\"» + c", "«\"\"\"a \" // b\"\"\"» ⟦// c⟧",
			"«$$\"\"\"{a} »{{b}}«\"\"\"»", "«'\"'» ⟦// c⟧",
		},
		"ruby": {
			"x = «\"a »#{b + «'c'»}« d\"» ⟦# e⟧", "y = «%w(a (b) # c)» ⟦# d⟧", "x % y ⟦# z⟧", "f «<<~A», b\n«  c »#{d}« # e\n  A»\ng ⟦# h⟧",
			"⟦=begin\nx\n=end⟧\ny", "a =~ «/'#/» ⟦# b⟧", "x = y ? «'a'» : b", "x << Y\nz",
		},
		"php": {
			"<p>don't // x</p> <?php $a = «\"b »{$c}« »$d« e\"»; ⟦// f ⟧?> it's <?= «'g'» ?>", "$x = «'a'»; ⟦# b⟧", "#[A] class B {} ⟦# c⟧",
			"<?php $x = «<<<A\n b »$c« // \n A»; ⟦// d⟧",
		},
		"rust": {
			"fn f<'a>(x: &'a str) { «'\"'»; «'\\''» } ⟦// b⟧", "«r#\"a\" // \"#» ⟦/* b /* c */ d */⟧", "«b\"a\"» «br\"\\\"»",
		},
		"shell": {
			"echo «\"a »$b« »$(c «'d'»)« »${e}«\"» ⟦# f⟧", "echo $# don\\'t ⟦# g⟧", "a«'b\\'»c ⟦# d⟧", "cat «<<-E» | x\n«\ta »$b« # c\n\tE»\nd ⟦# e⟧",
			"cat «<<'E'»\n«a $b\nE»\n⟦# c⟧", "x=$((1<<y))\n⟦# z⟧", "⟦#!/bin/sh⟧\na#b",
		},
		"yaml": {
			"a: b ⟦# c⟧\nd: it's#e", "a: «\"b # c\"» ⟦# d⟧", "a: «|\n  b # c\n\n  d»\ne: f ⟦# g⟧", "- run: «>-\n    x»\n  ", "- «|\n  a»\n- b", "a: [«'x''y'», b]",
		},
		"hcl":        {"a = «\"b »${c.d[«\"e\"»]}« $${f}\"» ⟦# g⟧", "x = «<<-E\n a »${b}« # c\n E»\ny ⟦// z⟧"},
		"dockerfile": {"⟦# a⟧\nRUN b # c \\\n  «\"d\"»", "RUN «<<E»\n«# a\nE»\nCOPY"},
		"json":       {"{«\"a\"»: [1, «\"b\\\"\"»]} ⟦// c⟧"},
		"sql":        {"SELECT «'it''s'», «\"a\"» ⟦-- b⟧\n", "DO «$x$ -- a $x$»; ⟦/* b */⟧"},
		"html": {
			"<p class=«\"a\"»>don't ⟦<!-- b -->⟧</p>", "<script>x = «'</p>'» ⟦// a⟧\n</script> it's", "<style>a ⟦/* b */⟧ {}</style>",
			"{{ x }} <!-- y",
		},
		"lua":      {"x ⟦--[[ a\n b ]]⟧ y ⟦-- z⟧"},
		"toml":     {"x = «\"# a\"» ⟦# b⟧", "don't ⟦# c⟧"},
		"markdown": {"# a `b` <!-- c -->"},
		"unknown":  {"don't ⟦// x⟧", "see http://x", "x ⟦# y⟧"},
	} {
		for _, want := range texts {
			l := Of([]string{language})
			got := shown(Scan(l, []byte(unmarked(want))))
			assert.Equal(t, unglue(want), got, language)
		}
	}
}

// unglue joins strings that stand beside each other.
func unglue(text string) string { return strings.ReplaceAll(text, "»«", "") }

// tree is a text as its tokens, with the groups that have a pair.
func tree(t *Text) string {
	var out []string
	for i, x := range t.Tokens {
		switch {
		case x.Kind == LineEnd:
			out = append(out, "⏎")
		case x.Kind == Open && x.Pair < 0:
			out = append(out, "?"+string(t.Of(i)))
		case x.Kind == Close && x.Pair < 0:
			out = append(out, string(t.Of(i))+"?")
		case x.Bracket == Indent && x.Kind == Open:
			out = append(out, "»")
		case x.Bracket == Indent:
			out = append(out, "«")
		default:
			out = append(out, string(t.Of(i)))
		}
	}

	return strings.Join(out, " ")
}

func TestTrees(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, text, want string }{
		{"go", "f(a,\n b)\nc\n", "f ( a , b ) ⏎ c"},
		{"go", "x := 0x1p-2 &^ .5e3 ... 1.", "x := 0x1p-2 &^ .5e3 ... 1."},
		{"go", "f([)]", "f ( ?[ ) ]?"},
		{"go", "{ ( } )", "{ ?( } )?"},
		{"go", "( { ) }", "?( { )? }"},
		{"python", "if a:\n  b\n  if c:\n    d\ne", "if a : » b ⏎ if c : » d « « ⏎ e"},
		{"python", "f(\n  a,\nb)\nc", "f ( a , b ) ⏎ c"},
		{"python", "a\n\n  # c\nb", "a ⏎ b"},
		{"python", "x = \\\n  y", "x = y"},
		{"javascript", "a\n.b()\nc =\n d\ne", "a . b ( ) ⏎ c = d ⏎ e"},
		{"javascript", "f(a\n, () => {\n x\n y\n})", "f ( a , ( ) => { x ⏎ y } )"},
		{"javascript", "x = <a b={c}>d<e/></a>", "x = < a b = { c } > d < e /> </ a >"},
		{"javascript", "`a${b}c`", "` a ${ b } c `"},
		{"ruby", "a do |x|\n b\nend", "a do | x | ⏎ b ⏎ end"},
		{"yaml", "a:\n- b: c\n  d: e\n- f\ng: h", "a : » - » b : c ⏎ d : e « ⏎ - » f « « ⏎ g : h"},
		{"yaml", "a: [b,\n c]\nd: {e: f}", "a : [ b , c ] ⏎ d : { e : f }"},
		{"yaml", "on:\n  pull_request_target:\n    types: [a]\n", "on : » pull_request_target : » types : [ a ] « «"},
		{"rust", "0..n 1.max(2) x.0", "0 .. n 1 . max ( 2 ) x . 0"},
		{"c", "#if A\nx\n#endif\ny;", "# if A ⏎ x # endif ⏎ y ;"},
		{"hcl", "a {\n  b = 1\n  c = [\n    2,\n  ]\n}", "a { b = 1 ⏎ c = [ 2 , ] }"},
		{"shell", "a | b\nc && \\\nd\n", "a | b ⏎ c && d"},
		{"shell", "a <<A <<B\nb\nA\nc\nB\nd", "a <<A <<B b\nA c\nB ⏎ d"},
		{"java", "if (a) { b(); }\nc();", "if ( a ) { b ( ) ; } c ( ) ;"},
	} {
		assert.Equal(t, tt.want, tree(Scan(Named(tt.language), []byte(tt.text))), tt.text)
	}
}

// wrongIn says what is wrong with the order of the tokens of a text, or their pairs.
func wrongIn(x *Text) string {
	end := int32(0)
	var open []int32
	for i, token := range x.Tokens {
		if end > token.Start || token.Start > token.End {
			return fmt.Sprint("order of token ", i)
		}
		end = token.End
		k := len(open) - 1
		switch {
		case token.Kind == Open && token.Pair >= 0:
			open = append(open, int32(i))
			if other := x.Tokens[token.Pair]; other.Pair != int32(i) || other.Bracket != token.Bracket || other.Kind != Close {
				return fmt.Sprint("pair of token ", i)
			}
		case token.Kind == Close && token.Pair >= 0:
			if k < 0 || open[k] != token.Pair {
				return fmt.Sprint("nesting of token ", i)
			}
			open = open[:k]
		case token.Kind == String:
			x.Content(i)
		}
	}
	if len(open) > 0 || int(end) > len(x.Bytes) {
		return "end of tokens"
	}
	end = 0
	for _, c := range x.Comments {
		if end > c.Start || c.Start > c.End || int(c.End) > len(x.Bytes) {
			return "order of comments"
		}
		end = c.End
	}

	return ""
}

// What a text takes grows with its size, whatever it is made of.
func TestScanIsLinear(t *testing.T) {
	t.Parallel()
	parts := []string{
		"(", ")", "([{", "([)", "{(}", "\"", "'", "`", `"\`, `\"`, "'\n\"", `"""`, "'''", "/*", "*/", "/", "//", "(*", "{-", "<!--", "{#",
		"<", "<a", "<a>", "<a b", "</", "/>", "<script>", "<?php ", "?>", "${", "`${", "\"${", "\"#{", "f'{", "$\"{", "$", "$$", "@", "@\"", "%(",
		"%w(", "r#", "r#\"", "R\"(", "R\"a", "'a", "<<A\n", "<<-A\n", "<<<A\n", "\n A", "- ", "-\n", "- |\n", "a: |\n", " ", "\n", " \n", "\t",
		"\n ", "a:\n ", "a", "1", "1.", "\\", "\\\n", "#", "--", ";", "=begin\n", "\x00", "\xff", "a < b, ", "x / ", "$a$", "[[", "{{",
		"a(", "a)", "\"$(", "$(", "(<<a", "%", "?", "/[", "/\\",
	}
	for _, x := range all {
		for _, part := range parts {
			steps := func(size int) float64 {
				text := Scan(x.language, bytes.Repeat([]byte(part), size/len(part)+1))
				require.Empty(t, wrongIn(text), "%s: %q", x.language.Name, part)
				return float64(text.Steps)
			}
			less, more := steps(2<<10), steps(8<<10)
			assert.LessOrEqual(t, more, 6*less+1000, "%s: %q", x.language.Name, part)
			assert.LessOrEqual(t, more, 20.0*(8<<10), "%s: %q", x.language.Name, part)
		}
	}
}

func FuzzScan(f *testing.F) {
	for i := range all {
		f.Add(i, []byte("a <<A\nb\nA\nc"))
		f.Add(i, []byte("f(\"a ${b}\", [/* c */ {`x`}]) // d\n  e: |\n    <a b='c'>d</a>\n"))
	}
	f.Fuzz(func(t *testing.T, i int, text []byte) {
		l := all[max(i, -i-1)%len(all)].language
		x := Scan(l, text)
		require.Empty(t, wrongIn(x))
		assert.LessOrEqual(t, x.Steps, 40*len(text)+200)
	})
}

func BenchmarkScan(b *testing.B) {
	for _, tt := range []struct{ language, text string }{
		{"go", "func (s *Server) handle(ctx context.Context, id string) error {\n\tif x, err := s.store.Get(ctx, id); err != nil { // why\n" +
			"\t\treturn fmt.Errorf(\"get %q: %w\", id, err)\n\t}\n\treturn nil\n}\n"},
		{"python", "def handle(self, name: str) -> None:\n    \"\"\"Say hello.\"\"\"\n    if name in self.known:  # why\n" +
			"        self.log(f\"hello {name}\", level=3)\n    return None\n"},
		{"javascript", "export async function handle(id, {limit = 10}) {\n  const x = await fetch(`${base}/items/${id}`) // why\n" +
			"  return x.json().map((y) => ({...y, name: 'a' + y.name}))\n}\n"},
		{"yaml", "jobs:\n  build:\n    runs-on: ubuntu-latest # why\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          make test\n"},
	} {
		b.Run(tt.language, func(b *testing.B) {
			text := bytes.Repeat([]byte(tt.text), 1<<20/len(tt.text))
			l := Named(tt.language)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Scan(l, text)
			}
		})
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"go": "Go", "typescript,xml": "TypeScript", "c,c++,objective-c": "C", "no such": "unknown", "": "unknown", "markdown": "prose",
		"html,javascript": "HTML",
	} {
		assert.Equal(t, want, Of(strings.Split(names, ",")).Name, fmt.Sprint(names))
	}
}
