package taint_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/structure"
	"github.com/prwarden/prwarden/internal/syntax"
	"github.com/prwarden/prwarden/internal/taint"
)

// placesOfWords are each `s` as a source, each name behind `k` as a sink with all that
// is in its brackets, and each `c(…)` as a sanitizer, without patterns.
func placesOfWords(text *syntax.Text) (p taint.Places) {
	for i, t := range text.Tokens {
		end := i + 1
		if end < len(text.Tokens) && text.Tokens[end].Kind == syntax.Open && text.Tokens[end].Pair > 0 {
			end = int(text.Tokens[end].Pair) + 1
		}
		place := taint.Whole(structure.Range{From: i, To: end})
		if t.Kind != syntax.Name {
			continue
		}
		switch string(text.Of(i)) {
		case "s":
			p.Sources = append(p.Sources, taint.Whole(structure.Range{From: i, To: i + 1}))
		case "p":
			p.Sources = append(p.Sources, taint.Place{Range: place.Range, Focus: structure.Range{From: i, To: i + 1}})
		case "k":
			p.Sinks = append(p.Sinks, place)
		case "c":
			p.Sanitizers = append(p.Sanitizers, place)
		}
	}

	return p
}

// hostile are what texts for tests of time are made of.
var hostile = []string{
	"(", "[", "{", "((", "{(", "f(", "f(){", "f(s,", "a=", "a=s\n", "a=b,", "a,", "a.", "a.b", "a[", "a->", "x=>", "x=>{", "(x)=>", "|x|",
	"func(", "func(){", "func f(){", "func func ", "function(", "function f(a){", "def f(", "def f():\n ", "def f\n", "lambda x:", "fn f(){",
	"if ", "if(", "if a{", "if(a){a=s}else ", "else{", "else ", "if a:\n ", "do ", "end ", "begin ", "case ", "switch(a){case ", "for ", "for(",
	"for a in ", "in ", "as ", "with ", "match ", "when ", "return ", "k(", "k(s)", "k(c(s))", "c(", "c(s,", "s ", "s.", "p ", "p,", "a=c(s)\n",
	"a.append(", "a.append(s)", "a.append(s).", "$a", "\"", "\"${", "\"#{", "`${", "'", "\n", "\n ", ";", ":", "?", "=", "=>", "->", "|", "&&",
	"{a=s;", "{a=s}", "{a:b,", "[a,b]=", "{a,b}=", "a+=s;", "a<<s\n", "var a,", "let{", "(a=", "((a=s),", "a=a+a\n", "a:a=", "a=b if ", "<a ",
}

var languages = []string{"c", "c#", "go", "java", "javascript", "kotlin", "php", "python", "ruby", "rust", "shell", "typescript"}

// What finding takes grows with the text, whatever that is.
func TestFindIsLinear(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		steps := func(part string, n int) (sum float64) {
			for _, closing := range []string{"", ")", "}", "]", " end", "k(a)"} {
				text := syntax.Scan(syntax.Named(l), append(bytes.Repeat([]byte(part), n), strings.Repeat(closing, n)...))
				taint.Find(text, placesOfWords(text), func(k int) bool { sum += float64(k); return sum < 1e8 })
			}
			return sum
		}
		for _, part := range hostile {
			less, more := steps(part, 250), steps(part, 1000)
			assert.LessOrEqual(t, more, 6*less+2000, "%s: %q", l, part)
		}
	}
}

// A rule that may do no more work ends.
func TestFindStops(t *testing.T) {
	t.Parallel()
	text := syntax.Scan(syntax.Named("go"), []byte(strings.Repeat("a = s; k(a)\n", 100)))
	all := taint.Find(text, placesOfWords(text), always)
	assert.Len(t, all.Flows, 100)
	for n := range 3000 {
		left := n
		some := taint.Find(text, placesOfWords(text), func(k int) bool { left -= k; return left >= 0 })
		if !assert.LessOrEqual(t, len(some.Flows), len(all.Flows)) {
			return
		}
	}
}

func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	code := "a0 = s\n"
	for i := range 100 {
		code += "a" + string(rune('A'+i%26)) + "x = a0\na0 = a" + string(rune('A'+i%26)) + "x\n"
	}
	text := syntax.Scan(syntax.Named("python"), []byte(code+"k(a0)\n"))
	all := taint.Find(text, placesOfWords(text), always)
	require.Len(t, all.Flows, 1)
	steps := all.Steps(all.Flows[0])
	assert.Len(t, steps, taint.MaxSteps)
	assert.Equal(t, taint.Source, steps[0].Kind)
	assert.Equal(t, taint.Sink, steps[len(steps)-1].Kind)
}

// checkFlows says what is wrong with flows in any text.
func checkFlows(t *testing.T, text *syntax.Text, places taint.Places, all taint.Result) {
	last := -1
	for _, f := range all.Flows {
		steps := all.Steps(f)
		if len(steps) < 2 || len(steps) > taint.MaxSteps || f.Sink.From < last || len(all.Flows) > len(places.Sinks) {
			t.Fatal(f)
		}
		last = f.Sink.From
		for _, s := range steps {
			if s.From < 0 || s.From >= s.To || s.To > len(text.Tokens) {
				t.Fatal(f)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, part := range hostile {
		f.Add(part)
	}
	f.Add("a = s\nif c(a) {\n k(a)\n} else { a = 1 }\nk(a)")
	f.Add("def f(a)\n  b = s if x\n  k(b) do |z|\n  end\nend")
	f.Fuzz(func(t *testing.T, code string) {
		for _, l := range languages {
			text := syntax.Scan(syntax.Named(l), []byte(code))
			places := placesOfWords(text)
			left := 1000*len(code) + 1000
			all := taint.Find(text, places, func(n int) bool { left -= n; return left > 0 })
			if left <= 0 {
				t.Fatalf("%s takes too long", l)
			}
			checkFlows(t, text, places, all)
		}
	})
}

func BenchmarkHostile(b *testing.B) {
	const size = 512 << 10
	for _, l := range []string{"go", "python", "javascript", "ruby"} {
		for _, part := range []string{
			"(", "{", "f(){", "a=s\n", "a=", "k(", "k(s)", "a.append(s).", "if(a){a=s}else ", "k(c(s))", "x=>", "{a=s;", strings.Repeat("a", size),
			"def f():\n a=s\n k(a)\n",
		} {
			name := part[:min(len(part), 12)]
			text := syntax.Scan(syntax.Named(l), []byte(strings.Repeat(part, size/len(part))))
			closed := syntax.Scan(syntax.Named(l), []byte(strings.Repeat(part, size/len(part)/2)+strings.Repeat(")}", size/4)))
			for way, text := range map[string]*syntax.Text{"open": text, "closed": closed} {
				places := placesOfWords(text)
				b.Run(l+"/"+way+"/"+name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						taint.Find(text, places, always)
					}
				})
			}
		}
	}
}
