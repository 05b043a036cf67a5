package match_test

import (
	"fmt"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// choices turns bytes into decisions. A fuzzer that changes a byte changes a
// decision, so coverage guides it from pattern to pattern and from text to
// text, instead of from one syntax error to the next.
type choices struct{ data []byte }

// below returns a number from 0 to n-1. It is 0 when no bytes are left: the
// first of a list is what ends a generator soonest.
func (c *choices) below(n int) int {
	v := 0
	for m := n - 1; m > 0; m >>= 8 {
		if len(c.data) == 0 {
			return 0
		}
		v = v<<8 | int(c.data[0])
		c.data = c.data[1:]
	}

	return v % n
}

// one says yes one time in n, and no when no bytes are left.
func (c *choices) one(n int) bool { return c.below(n) == n-1 }

func pick[T any](c *choices, list []T) T { return list[c.below(len(list))] }

// commonWords are what rules look for: words of code, of scripts that fold in
// their own way, of one and two bytes, and with k and s, which fold to the
// non-ASCII U+212A and U+017F.
var commonWords = []string{
	"token", "secret", "key", "password", "KISS", "sks", "Ss", "eval", "import", "SELECT", "SessionId", "fmt.Print(",
	"a", "x", "k", "S", "ab", "if", "xy", "!=", "<<", "->", "${", "==", "//", "TODO", "AKIA", "ghp_", "deadbeef",
	"-----BEGIN",
	"straße", "STRASSE", "ключ", "КЛЮЧ", "ΣΊΣΥΦΟΣ", "σς", "naïve", "İi", "密钥", "😀", "\u212a",
	"\u017f", "\ufffd", "é", "µμ", "ﬀ", "ǅ",
	" ", "\t", "_", "0", "()", "[]", "=", "\"", "'", "user_account_service", "aaaaaaaa", "abababab", "0123456789",
}

// realPatterns is the patterns of the default ruleset and of rules-1000.tsv.
var realPatterns = sync.OnceValue(func() []string {
	var list []string
	for _, rules := range [][]match.Rule{defaultRules(), thousandRules()} {
		for _, r := range rules {
			list = append(list, r.Pattern)
		}
	}

	return list
})

// defaultRules is the default ruleset.
func defaultRules() []match.Rule {
	rules, err := defaults.Load()
	if err != nil {
		panic(err) // the default ruleset's own tests say more
	}

	return toMatch(rules)
}

// thousandRules is testdata/rules-1000.tsv: rules as an organization has them.
func thousandRules() []match.Rule {
	data, err := os.ReadFile("testdata/rules-1000.tsv")
	if err != nil {
		panic(err)
	}
	var rules []match.Rule
	for line := range strings.Lines(string(data)) {
		_, pattern, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		rules = append(rules, match.Rule{Pattern: pattern})
	}

	return rules
}

// vocabulary chooses the few words that the rules of one scene are made of, so
// that rules share literals and parts of them.
func (c *choices) vocabulary() []string {
	list := []string{pick(c, commonWords)}
	for range c.below(7) {
		switch c.below(5) {
		case 0:
			list = append(list, pick(c, commonWords))
		case 1: // a relative of one that is there
			w := []rune(pick(c, list))
			switch at := c.below(len(w)); c.below(4) {
			case 0:
				w = w[at:]
			case 1:
				w = w[:at+1]
			case 2:
				w[at] = unicode.SimpleFold(w[at])
			case 3:
				w = append(w[:at:at], []rune(pick(c, commonWords))...)
			}
			list = append(list, string(w))
		case 2: // of few letters, so that it overlaps itself and others
			letters := []rune(pick(c, []string{
				"ab", "ks", "01", "aA", "kK\u212a", "é€k", " _", "ab\n", "-a.", "\ufffd\u0080a",
			}))
			var b strings.Builder
			for range 1 + c.below(9) {
				b.WriteRune(pick(c, letters))
			}
			list = append(list, b.String())
		case 3: // of any bytes that are ASCII
			var b strings.Builder
			for range 1 + c.below(12) {
				b.WriteByte(byte(1 + c.below(127)))
			}
			list = append(list, b.String())
		case 4: // of any characters
			var b strings.Builder
			for range 1 + c.below(4) {
				b.WriteRune(rune(c.below(unicode.MaxRune + 1)))
			}
			list = append(list, b.String())
		}
	}

	return list
}

// grammar writes patterns.
type grammar struct {
	*choices
	words []string
	names int // of groups until now
}

// maxCost bounds what the reference has to do for one pattern or scene, in
// instructions times bytes.
const maxCost = 2 << 20

// pattern writes a pattern that CheckPattern accepts.
func (g *grammar) pattern() string {
	if g.one(12) {
		return pick(g.choices, realPatterns())
	}
	flags := pick(g.choices, []string{"", "", "", "(?i)", "(?s)", "(?m)", "(?U)", "(?is)", "(?ms)", "(?s-i)", "(?imsU)"})
	p := flags + g.alternation(3)
	if g.one(16) { // nothing but tokens, which no word helps to find
		p = flags + g.token() + "|" + g.token()
	}
	if accepted(p) {
		return p
	}
	// Most of what is refused can match the empty string.
	word := regexp.QuoteMeta(strings.ReplaceAll(pick(g.choices, g.words), "\x00", "0"))
	for _, q := range []string{"(?:" + p + ")" + word, word + "(?:" + p + ")", word} {
		if accepted(q) {
			return q
		}
	}

	return "x"
}

// accepted says whether CheckPattern accepts a pattern, without waiting for it
// to find where a mistake is.
func accepted(pattern string) bool {
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && match.CheckPattern(pattern) == nil
}

func (g *grammar) alternation(depth int) string {
	p := g.sequence(depth)
	if depth == 3 && !g.one(5) || depth < 3 && !g.one(3) {
		return p
	}
	for range 1 + g.below(4) {
		p += "|" + g.sequence(depth-1)
	}

	return p
}

func (g *grammar) sequence(depth int) string {
	var b strings.Builder
	for range 1 + g.below(2+depth) {
		b.WriteString(g.repeated(depth))
	}

	return b.String()
}

func (g *grammar) repeated(depth int) string {
	p := g.atom(depth)
	if !g.one(4) {
		return p
	}
	if p == "" || strings.ContainsAny(p[len(p)-1:], "*+?}") || utf8.RuneCountInString(p) > 1 && p[0] != '(' &&
		p[0] != '[' {
		p = "(?:" + p + ")"
	}
	n := g.below(4)
	p += pick(g.choices, []string{
		"?", "+", "*", fmt.Sprintf("{%d}", n), fmt.Sprintf(
			"{%d,}", n,
		), fmt.Sprintf("{%d,%d}", n, n+g.below(5)), "{0}", "{0,1}",
		fmt.Sprintf("{%d}", 2+g.below(40)), fmt.Sprintf("{%d,%d}", n, n+g.below(60)),
	})

	return p + pick(g.choices, []string{"", "", "", "?"})
}

func (g *grammar) atom(depth int) string {
	kinds := 12
	if depth > 0 {
		kinds = 16
	}
	switch g.below(kinds) {
	default:
		return g.word()
	case 4:
		return pick(g.choices, shorthands)
	case 5:
		return g.class()
	case 6:
		return pick(g.choices, []string{".", "(?s:.)", "(?-s:.)"})
	case 7:
		return pick(g.choices, []string{"^", "$", `\A`, `\z`, `\b`, `\B`, "(?m:^)", "(?m:$)", "(?-m:^)", "(?-m:$)"})
	case 8:
		return pick(g.choices, []string{
			`\t`, `\n`, `\r`, `\f`, `\v`, `\a`, `\r?\n`, `\x00`, `\x7F`, `\x{80}`, `\xff`, `\x{FFFD}`, `\x{212A}`, `\x{17F}`,
			`\x{10FFFF}`,
			`[\x{D800}-\x{D810}]`, `\x{D7FF}`, `\x{E000}`, `\x6B`, `\x{53}`, `\012`, `\-`, `\.`, `\]`,
		})
	case 9: // a gap between words
		return g.word() + pick(g.choices, []string{
			`.*`, `.*?`, `.+`, `\s*`, `[^\n]*`, `.{0,500}`, `.{3}`, `[\t\f\r ]*`, `\W+`, `[^"]*`, `(?s:.*)`, `(?s:.{0,80}?)`,
			`\n+`, `[^k]+`, `(?:.|\n)*`, `[^a-z]?`,
			`(?:\b|[a-z])*`, `(?:$|\W|\b)+`, `(?:\B|k|^)*`, `(?:a*\b)*`, `(?:(?:\b|x)?\w)+?`,
		}) + g.word()
	case 10:
		return g.token()
	case 11: // a word with a class in it
		w := []rune(pick(g.choices, g.words))
		at := g.below(len(w))

		return quote(string(w[:at])) + g.class() + quote(string(w[at+1:]))
	case 12:
		g.names++
		open := pick(g.choices, []string{"(?:", "(", fmt.Sprintf("(?P<n%d>", g.names), fmt.Sprintf("(?<n%d>", g.names)})

		return open + g.alternation(depth-1) + ")"
	case 13:
		flags := pick(g.choices, []string{"(?i:", "(?-i:", "(?s:", "(?m:", "(?U:", "(?i-s:", "(?mi:", "(?s-m:", "(?-imsU:"})
		return flags + g.alternation(depth-1) + ")"
	case 14:
		if g.one(4) {
			return g.fixed()
		}

		return g.wordList()
	case 15: // flags up to the end of the group
		return pick(g.choices, []string{"(?i)", "(?-i)", "(?s)", "(?m)", "(?U)", "(?-s)", "(?-m)"}) + g.sequence(depth-1)
	}
}

// word writes a word of the vocabulary, in one of the ways to write one.
func (g *grammar) word() string {
	w := pick(g.choices, g.words)
	switch g.below(8) {
	case 5:
		return "(?i:" + quote(w) + ")"
	case 6:
		if !strings.ContainsAny(w, "\x00\\") {
			return `\Q` + w + `\E`
		}
	case 7:
		var b strings.Builder
		for _, r := range w {
			fmt.Fprintf(&b, `\x{%X}`, r)
		}

		return b.String()
	}

	return quote(w)
}

// quote writes a text as a pattern, which must not hold a NUL itself.
func quote(w string) string { return strings.ReplaceAll(regexp.QuoteMeta(w), "\x00", `\x00`) }

// wordList writes an alternation of words, often with shared beginnings and
// ends, some of them empty.
func (g *grammar) wordList() string {
	list := make([]string, 2+g.below(6))
	if g.one(8) {
		list = make([]string, 20+g.below(40))
	}
	prefix, suffix := "", ""
	if g.one(2) {
		prefix = pick(g.choices, g.words)
	}
	if g.one(3) {
		suffix = pick(g.choices, g.words)
	}
	for i := range list {
		w := pick(g.choices, g.words)
		if g.one(3) {
			w += pick(g.choices, commonWords)
		}
		list[i] = quote(prefix + w + suffix)
	}
	if g.one(4) {
		list[g.below(len(list))] = ""
	}

	return pick(g.choices, []string{"(?:", "(", "(?i:"}) + strings.Join(list, "|") + ")"
}

// token writes characters of one kind in a row, often many.
func (g *grammar) token() string {
	return pick(g.choices, []string{"", "AKIA", "ghp_", "sk-", "x", "k", `\b`}) + pick(g.choices, []string{
		`[2-7A-Z]{16}`, `[a-f0-9]{32}`, `[0-9A-Za-z_-]{20,40}`, `[a-f0-9]{8,}`, `[01]{5}`, `(?i:[a-f0-9]{12})`, `\d{3,6}`,
		`[k-s]{4}`, `(?i:[k-s]{4,6})`, `\w{10}`, `[^\s]{6}`,
		`[A-Za-z0-9+/]{94,}`, `[a-z]{12,}`, `[ab]{40}`, `a[ab]{9}b`, `[ab]*a[ab]{11}`, `(?:a|bb?)*abb`, `\w{30,}\b`,
		`[0-9a-f]{7,}[g-z]`,
	}) + pick(g.choices, []string{"", "", `\b`, `$`, `(?:\W|$)`})
}

// fixed writes a word that stands at the same place in each match, behind parts
// that have too many alternatives, or bytes, to be looked for together with it.
func (g *grammar) fixed() string {
	part := pick(g.choices, []string{
		"(?:aa|bb|cc|dd|ee|ff|gg|hh|ii)", "[a-c0][0-9]", "[a-z]{60}", "(?:k1|s2|[a-f]x|ab|ba|__|--)", "[^\\n]{3}",
	})
	p := part + pick(g.choices, []string{part, part + part, `(?:ab|cd|ef|gh|ij|kl|mn)`, "[0-9a-f]{90}"}) + g.word()
	if g.one(2) {
		p = "(?:" + p + "|" + g.word() + ")"
	}

	return p
}

// shorthands are the classes that have a name.
var shorthands = func() []string {
	list := []string{
		`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\pL`, `\PL`, `\pN`, `\PN`, `\p{Greek}`, `\P{Greek}`, `\p{^Greek}`, `\p{Lu}`,
		`(?i:\p{Lu})`,
		`\p{Han}`, `\p{Zs}`, `\p{Cyrillic}`, `\p{Any}`, `\P{Any}`, `(?i:\p{Ll})`, `\p{So}`, `\p{Cc}`,
	}
	for _, name := range posix {
		list = append(list, "[[:"+name+":]]", "[[:^"+name+":]]")
	}

	return list
}()

var posix = []string{
	"alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
	"xdigit",
}

// class writes a class in brackets.
func (g *grammar) class() string {
	var b strings.Builder
	b.WriteString(pick(g.choices, []string{"[", "[", "[^"}))
	for range 1 + g.below(4) {
		switch g.below(6) {
		case 0, 1:
			w := []rune(pick(g.choices, g.words))
			fmt.Fprintf(&b, `\x{%X}`, pick(g.choices, w))
		case 2:
			b.WriteString(pick(g.choices, []string{
				"a-z", "A-Z", "0-9", "a-f", "k", "s", "K-S", `\x00-\x1f`, `\x{FFFD}`, `\x{FFF0}-\x{FFFF}`, `\x{212A}`,
				`\x{17F}-\x{180}`, "é-ü", "А-я", `\x00-\x7F`, `\x{D7FF}-\x{E000}`,
				// folding these takes ms
				pick(g.choices, []string{"x", "x-z", `\x00-\x{10FFFF}`, `\x{80}-\x{10FFFF}`, `\x{10000}-\x{10FFFF}`}),
			}))
		case 3:
			b.WriteString(pick(g.choices, []string{
				`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, `\pL`, `\PN`, `\p{Greek}`, `\n`, `\t`, `\r`, `\\`, `\]`, `\-`, `\^`,
			}))
		case 4:
			b.WriteString("[:" + pick(g.choices, []string{"", "^"}) + pick(g.choices, posix) + ":]")
		case 5:
			lo := g.below(0x250)
			fmt.Fprintf(&b, `\x{%X}-\x{%X}`, lo, lo+g.below(64))
		}
	}

	return b.String() + "]"
}

// programSize is the number of instructions of a pattern that CheckPattern
// accepts.
func programSize(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		panic(err)
	}

	return len(prog.Inst)
}
