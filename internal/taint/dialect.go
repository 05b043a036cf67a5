package taint

import (
	"strings"

	"github.com/prwarden/prwarden/internal/syntax"
)

// dialect is how functions and statements are told in a language, beside what package
// syntax knows of it.
type dialect struct {
	begins  *wordList // words that begin a function
	methods bool      // `name(…) {` is one, without a word
	arrow   string    // between the parameters and the body of a lambda
	bars    bool      // `|x|` are the parameters of a lambda
	words   bool      // blocks begin and end with words
	sigil   bool      // `$x` is x
	tuples  bool      // commas don't end an assignment's right side
	bare    bool      // heads of statements have no brackets: `if x {`
	keyed   bool      // `=` in round brackets names an argument
	locals  bool      // what a function assigns to is its own
	declare *wordList // words before names that are the function's own
	chosen  string    // a word in an expression behind which a condition stands
}

var dialects = map[string]dialect{
	"Go":         {begins: listOf("func"), tuples: true, bare: true, declare: listOf("var :=")},
	"Python":     {begins: listOf("def lambda"), tuples: true, keyed: true, locals: true, chosen: "if"},
	"JavaScript": {begins: listOf("function"), methods: true, arrow: "=>", declare: listOf("const let var")},
	"TypeScript": {begins: listOf("function"), methods: true, arrow: "=>", declare: listOf("const let var")},
	"Java":       {methods: true, arrow: "->", declare: listOf("final var")},
	"Kotlin":     {begins: listOf("fun"), arrow: "->", keyed: true, declare: listOf("val var")},
	"C":          {methods: true},
	"C#":         {methods: true, arrow: "=>", declare: listOf("var")},
	"Ruby":       {begins: listOf("def"), words: true, tuples: true},
	"PHP":        {begins: listOf("function fn"), locals: true},
	"Rust":       {begins: listOf("fn"), bars: true, tuples: true, bare: true, declare: listOf("let")},
	"Shell":      {words: true, sigil: true, methods: true, declare: listOf("local")},
}

// Languages are the names of the languages in which functions can be found.
func Languages() []string {
	return []string{
		"C", "C#", "Go", "Java", "JavaScript", "Kotlin", "PHP", "Python", "Ruby", "Rust", "Shell", "TypeScript",
	}
}

// Knows says whether functions can be found in a language.
func Knows(l *syntax.Language) bool {
	_, ok := dialects[l.Name]
	return ok
}

// dialectOf is that of a text; of code in markup that of JavaScript.
func dialectOf(l *syntax.Language) (dialect, *syntax.Language) {
	if d, ok := dialects[l.Name]; ok {
		return d, l
	}
	l = syntax.Named("javascript")

	return dialects[l.Name], l
}

// Words with a meaning for statements, in any language.
var (
	branching = listOf("if else elif elsif elseif unless for foreach while until catch except rescue switch match " +
		"select when case")
	switching  = listOf("switch match select when")
	continuing = listOf("else elif elsif elseif")
	labels     = listOf("case default when")
	exiting    = listOf("return throw raise exit panic die")
	looping    = listOf("for foreach while until")
)

// Words with a meaning at some places.
var (
	commands       = listOf("&& || | ;; |&")
	inHeaders      = listOf(". , : ? < > | & -> * :: \\ !")
	loopHeads      = listOf("for foreach await")
	heads          = listOf("if for while foreach")
	exitCalls      = listOf("panic exit die")
	forWords       = listOf("for foreach")
	inWords        = listOf("in of")
	beforeOperand  = listOf("then else do return and or not begin ensure")
	beforeCommand  = listOf("then do else !")
	idle           = listOf("err ok _")
	negations      = listOf("! not")
	beforeCompared = listOf("== != === !== <= >= =~ !~ is instanceof")
	behindElvis    = listOf(": .")
)

// builders are methods that add their arguments to what they are called on.
var builders = listOf("append add addAll push push_str insert extend concat unshift prepend WriteString " +
	"writeString appendFormat AppendFormat Append AppendLine appendLine Add AddRange")

// comparisons are operators with a result that has nothing of their operands.
var comparisons = listOf("== != === !== < > <= >= <=> =~ !~ in is instanceof")

var compound = listOf("+= -= *= /= //= %= &= |= ^= <<= >>= >>>= **= .= ??= ||= &&= @= &^=")

// wordList is words that are asked for.
type wordList struct {
	words map[string]bool
	mask  [256]uint32 // by their first byte: lengths
}

func listOf(words string) *wordList {
	l := &wordList{words: map[string]bool{}}
	for word := range strings.FieldsSeq(words) {
		l.words[word] = true
		l.mask[word[0]] |= 1 << len(word)
	}

	return l
}

// has says whether a word is in the list.
func (l *wordList) has(word []byte) bool {
	return l != nil && len(word) > 0 && len(word) < 32 && l.mask[word[0]]&(1<<len(word)) != 0 && l.words[string(word)]
}

// isJoin says whether a token joins a name to what is before it.
func (w *walker) isJoin(i int) bool { return w.language.Joins(string(w.of(i))) }
