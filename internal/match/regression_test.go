package match_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match"
)

// TestEasyToGetWrong holds the engine to the reference where an engine that is
// faster than the reference is tempted to differ. hits is how many the
// reference finds, line by line and then with all rules multiline, so that a
// case can't turn into one that matches nothing.
func TestEasyToGetWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 8<<10)
	// A line of a and b in which nearly all runs of 13 are different.
	rnd, noise := rand.New(rand.NewPCG(1, 1)), make([]byte, 6<<10)
	for i := range noise {
		noise[i] = "ab"[rnd.IntN(2)]
	}
	// More characters that differ than an automaton can tell apart.
	var alphabet []rune
	for r := 'А'; len(alphabet) < 300; r++ {
		alphabet = append(alphabet, r)
	}
	letters := string(alphabet)
	for name, tt := range map[string]struct {
		patterns []string
		text     string
		hits     [2]int
	}{
		// Case folding.
		"k and s beyond ASCII": {
			[]string{`(?i)kiss_token`, `(?i:MASKS)\d`},
			"\u212ai\u017f\u017f_to\u212aen\nma\u017f\u212as7\nKISS_TOKEN ma\u017fks\n", [2]int{3, 3},
		},
		"folded class beyond ASCII": {
			[]string{`(?i)[k]ey[s]{2}1`, `[K-T]{4}=`, `(?i)[^k]ab`}, "\u212aey\u017fS1\nKLMS=\n\u212aab kab\nxab",
			[2]int{3, 3},
		},
		"k after its beginning only": {[]string{`(?i)token`}, "to\xe2\x84en\nto\xe2\x84\xaaen\n", [2]int{1, 1}},
		"two folds of one letter": {
			[]string{`(?i)σίσυφος`, `(?i)straße`, `(?i)ǆa`},
			"ΣΊΣΥΦΟΣ\nσίσυφοσ\nSTRAẞE\nstrasse\nǅA ǄA\n", [2]int{4, 4},
		},
		"folded and not in one pattern": {[]string{`Foo(?i:bar)Baz`}, "FooBARBaz\nfooBARBaz\nFoobarbaz", [2]int{1, 1}},
		"rules that differ in case": {
			[]string{`secretkey`, `SECRETKEY`, `(?i)SecretKey`}, "secretkey SECRETKEY\nSecretKey\nſecretkey", [2]int{5, 5},
		},
		"@ and ` are no letters": {
			[]string{"(?i)ab@cd", "(?i)ab`cd", `(?i)ab\[cd`, `(?i)ab{cd`}, "AB@CD\nAB`CD\nAB[CD\nAB{CD", [2]int{4, 4},
		},
		"a byte that folding must not join": {
			[]string{`(?i)é123`, `(?i)[À-Ö]456`}, "É123\n\xc9123\né456\xe9456", [2]int{2, 2},
		},

		// Boundaries and ends.
		"word characters are ASCII": {
			[]string{`\bword\b`}, "éwordé\nxword\n\xffword\u212a\n_word\nword", [2]int{3, 3},
		},
		"no boundary": {[]string{`\Bord\B`, `\B-\B`}, "words ord\n-\n--\na-b", [2]int{3, 3}},
		"boundary between optional parts": {
			[]string{`x*\bfoo\b;?`, `(?:\b|x)bars`, `foo(?:\b|s)`}, "xfoo\nfoo;\nxxbars foos\n", [2]int{5, 5},
		},
		"ends in the middle": {
			[]string{`a$b`, `a\z|b`, `(?:^|,)key(?:$|,)`, `(?m:^)key(?m:$)`, `a(?-m:$)`}, "ab\na\nx,key\nkey,y\nkey",
			[2]int{7, 2},
		},
		"ends of lines with CR": {
			[]string{`end$`, `(?m)end$`, `end\r$`, `(?m)end\r$`, `\r\z`, `\r`}, "end\r\nend\r\r\nend\r", [2]int{10, 7},
		},
		"a newline is needed": {
			[]string{`a\nb`, `a\s+b`, `a[^x]b`, `a\n?b`, `(?s)a.b`, `a(?:\n|-)b`}, "a\nb\na-b a b\nab", [2]int{5, 11},
		},
		"begin of text in a file of lines": {[]string{`\Akey`, `^key`, `(?m)^key`}, "key\nkey\nkey", [2]int{9, 5}},
		"boundary across a newline":        {[]string{`\bkey`, `key\b`, `(?s).key`}, "a\nkey\nb", [2]int{2, 3}},
		"a byte order mark is a character": {[]string{`^key`, `.key`}, "\ufeffkey", [2]int{1, 1}},
		"the first and last bytes":         {[]string{`abcd`, `^abcd`, `abcd$`, `cdab`}, "abcdabcd", [2]int{4, 4}},
		"texts shorter than a window":      {[]string{`a`, `ab`, `abc`, `b\b`, `^.$`}, "a\nab\nabc\n\nb", [2]int{10, 8}},
		"empty lines":                      {[]string{`^\s+$`, `\S`}, "\n\r\n \n\r\r\n\n", [2]int{2, 1}},
		"a rule that can never match":      {[]string{`a[^\x00-\x{10FFFF}]`, `a\bb`, `a^b`, `b`}, "a\nab\na", [2]int{1, 1}},
		"nullable parts at both ends": {
			[]string{`a*key=?b*`, `(?:x|)key(?:y|)`, `\s*key\s*`, `.*key.*`, `(?:abc)?key`}, "aakey=bb\n  xkeyy \nkey\nke y",
			[2]int{15, 14},
		},
		"what is left when ends are dropped": {
			[]string{`a?b?c?d`, `(?:abcd)?[^x]`, `\w*\d`}, "abcd\nxd\nabcdx\nx\n7", [2]int{8, 9},
		},

		// Bytes that are not UTF-8.
		"one U+FFFD for each invalid byte": {
			[]string{`^a.{2}b$`, `a[^x]{3}b`, `a\x{FFFD}{2}b`, `a\W+b`},
			"a\xff\xfeb\na\xe2\x84b\na\xe2\x84\xaab\na\ufffd\xffb\na\xed\xa0\x80b", [2]int{12, 9},
		},
		"a cut character at the end": {
			[]string{`ab.$`, `ab\x{FFFD}`, `(?s)ab.`}, "ab\xe2\nab\xe2\x84\nab\xf0\x9f\x98", [2]int{7, 6},
		},
		"bytes are no characters": {[]string{`\xe9t`, `[\x80-\xff]t`, `\x{80}t`}, "\xe9t\nét\n\u0080t\n\x80t", [2]int{4, 4}},
		"a class that has U+FFFD": {
			[]string{`key[\x{FFF0}-\x{FFFF}]=`, `key[^a-z]=`, `key\pS=`, `key\PL=`},
			"key\xff=\nkey\ufffd=\nkey\u212a=\nkey\xc0\xaf=", [2]int{9, 9},
		},
		"NUL": {
			[]string{`key\x00=`, `key[\x00-\x1f]=`, `key.=`, `\x00`}, "key\x00=\x00\nkey\x01=\n\x00\x00", [2]int{7, 7},
		},
		"surrogates": {
			[]string{`key[\x{D7FF}-\x{E000}]=`, `key[\x{D800}-\x{DFFF}]=`, `key[^a]{3}=`},
			"key\xed\xa0\x80=\nkey\ufffd=\nkey\ud7ff=\nkey\ue000=", [2]int{3, 3},
		},

		// Which match, and where.
		"the leftmost of two needs": {
			[]string{`foo.*bar|bar`, `[a-z]{2,5}1234`, `\w*secret`, `(?:aa)?bbbb|a`},
			"bar foo bar\nxxxxxxxx1234\nmy_secret\naabbbb", [2]int{5, 5},
		},
		"the first branch, not longest": {
			[]string{`key|keys`, `(?:a|ab)(?:c|bcd)`, `(?U)a+`, `a+?b??`, `x(?:yz)??yz`}, "keys\nabcd\naaa\naab\nxyzyz",
			[2]int{9, 9},
		},
		"a start that fails, then one that holds": {
			[]string{`ababc`, `aab`, `\babab\b`, `aaaa[^a]`, `a{4}b`}, "abababc\naaab\nababab abab\naaaaaab", [2]int{6, 6},
		},
		"many starts that fail": {
			[]string{`aaaa[^a]`, `a{4,}b`, `(?:aaaa)+c`},
			strings.Repeat("a", 4000) + "\n" + strings.Repeat("a", 4000) + "bc", [2]int{2, 3},
		},
		"windows that overlap": {
			[]string{`abcdefgh`, `bcdefghi`, `cdefghij`, `defg`, `(?i)EFGH`}, "abcdefghij\nabcdefg\nxefghij", [2]int{7, 7},
		},
		"one literal for many rules": {
			[]string{`token\d`, `token[a-z]`, `token$`, `^token`, `(?i)TOKEN_`, `to{1}ken=`},
			"token1 tokena\ntoken\nTOKEN_\ntoken=", [2]int{8, 5},
		},
		"literals that hold each other": {
			[]string{`user`, `user_account`, `user_account_id`, `account`, `count_id`},
			"user_account_id\nuser_account\nuser", [2]int{9, 9},
		},
		"word lists": {
			[]string{`\b(?:` + strings.Repeat("alpha|beta|gam|gamma|", 20) + `delta)\b`, `(?:|in|inter)face`},
			"gamma\nxbeta\ninterface\nface delta", [2]int{4, 4},
		},
		"runs": {
			[]string{`\b[a-f0-9]{32}\b`, `[0-9a-zA-Z_-]{20,40}=`, `[a-z]{1000}!`},
			strings.Repeat("0f", 16) + "\n" + strings.Repeat("0f", 17) + "=\n" + strings.Repeat("q", 1001) + "!",
			[2]int{3, 3},
		},
		"runs of several kinds": {
			[]string{
				`[a-z]{20}!`, `[0-9]{20}!`, `[A-Z_]{13,}\W`, `[a-z]{30}`, `[0-9]{25,}`, `[0-9]{12}`, `[0-9]{33}`, `[a-z]{40}`,
			},
			strings.Repeat(
				strings.Repeat("abc", 9)+"!\n"+strings.Repeat("01", 16)+"!\n"+strings.Repeat(
					"A_", 7,
				)+"\n"+strings.Repeat("xyz0", 9)+"\n"+strings.Repeat("9", 12)+"!"+strings.Repeat("z", 31)+" \n",
				3,
			),
			[2]int{18, 21},
		},
		"runs of two kinds in one rule": {[]string{
			`[a-z]{40}|[0-9]{40}`, `[a-z]{60}\x{FFFD}|[ab]{40}`, `(?:[a-z]{40}|[0-9]{40})!`, `[a-z]{13,}|!=`,
		},
			strings.Repeat(
				strings.Repeat("q", 41)+" "+strings.Repeat("7", 41)+"\n"+strings.Repeat(
					"7", 41,
				)+" != "+strings.Repeat("q", 41)+"!\n"+strings.Repeat("ab", 30)+"\xff\n",
				2,
			), [2]int{16, 16}},
		"gaps": {
			[]string{`begin.{0,10}end`, `begin.*end`, `begin[^;]*end`, `begin.{3}end`},
			"begin123end\nbegin" + strings.Repeat(".", 11) + "end\nbegin;end\nbegin\nend", [2]int{8, 8},
		},
		"at the end of a long line": {
			[]string{`abab!$`, `!`, `^[ab]{2}.*!`}, long[1:] + "!\n" + long + "!\n" + long[1:] + "!\r\n", [2]int{9, 4},
		},
		"at its start": {
			[]string{`^!ab`, `!abab`}, "!" + long[:len(long)-1] + "\n!" + long + "\n!" + long[:len(long)-1] + "\r\n",
			[2]int{6, 4},
		},
		"more states than automata may have": {
			[]string{
				`a[ab]{12}[^ab]`, `b[ab]{13}(?:c|é)`, `[ab]*a[ab]{13}\W`, `a(?:a|b|é){13}[^ab]`, `aa[ab]{12}[^ab]{2}`,
				`\ba[ab]{15}c`,
			},
			string(noise) + "\n" + string(noise[1:]) + "d c\n" + string(noise[:40]) + "c!", [2]int{2, 4},
		},
		"more classes than automata may have": {
			[]string{letters, `(?i)` + letters, `\b1[` + letters + `]2`},
			letters + "\n" + strings.ToUpper(letters) + "\n1А2 1я2", [2]int{4, 4},
		},
		"more places than are kept at once": {
			[]string{`token\d$`, `token1 token2`, `!=-?1`, `[0-9a-f]{12}!`},
			strings.Repeat("token1 != ", 1500) + "\n" + strings.Repeat(
				"!=token", 2000,
			) + "2\n" + strings.Repeat("0123456789abcdef", 900) + "!\n" + strings.Repeat("token2\n!=1\n", 600),
			[2]int{1202, 601},
		},
		"no place is left for grams": {[]string{`aaaa`, `a{6}b`}, strings.Repeat("a", 522), [2]int{1, 1}},
		"no place is left for pairs": {[]string{`!!`, `[!?]![0-9]`}, strings.Repeat("!", 515), [2]int{1, 1}},
		"windows of several kinds": {
			[]string{`ſ\x00S|[^"]Sſ`, `[}-\x{142}]k[a-z]{12}|ab`, `!=|token[0-9]{14}|[^a]bc`},
			"\x00S\xbf\nſ\x00S\xc5\naab }kabcdefghijklm ab\nab\n}kabcdefghijklmn\n!= token01234567890123 " +
				"xbc\ntoken01234567890123 !=\nxbc !=\n" + strings.Repeat("a", 3000) + "b", [2]int{8, 8},
		},
		"copies of a repetition": {
			[]string{`\ba+a`, `x{2,}x`, `(?:ab)+ab`, `(?:a|b)+c`, `z{3,}?z`, `k+(?i:k)`},
			"aa\nxx xxx\nababab abab ab\nc ac\nzzz zzzz\nk kK\n\u212ak", [2]int{6, 6},
		},
		"empty rounds of a repetition": {
			[]string{
				`\D(?::|\b|x)*`, `-(?:\b|x)*`, `-(?:\b|x)+`, `-(?:\b|x){2,}`, `-(?:(?:$|y)|x)*`, `a(?:\B|b)*`, `-(?:\b|x)*?z?`,
				`-(?:^|\b|x|y)*y`, `-(?:(?:\b|x)*y)*`,
			},
			"-x\n-xx y\n-\nabbb abb\n-xxz\n-yxy\n\x80x", [2]int{37, 37},
		},
		"a part that is empty at the begin": {
			[]string{`(|[^r]x)01`, `(?:|\x{FFFD}+)key`, `(?:a||b)key`, `(?:(?:)|[^k]{3})key=`, `(?:\b|.x)key`, `(?:^|..)key`},
			"-x01\nabkey\n\xff\xffkey\nxyzkey=\n-xkey\nabckey key", [2]int{20, 20},
		},
		"the Kelvin sign itself": {
			[]string{"\u212a(?i)K", `(?i)k\x{212A}`, `\x{17F}(?i:s)t`, `[\x{100}-\x{3000}](?i:k)1`, `\pL(?i:key)`},
			"\u212a\u212a\nk\u212a\n\u017f\u017ft \u017fSt\n\u212a\u212a1 āk1\n\u212a\u212aey", [2]int{10, 10},
		},
		"a place that points to the line before": {
			[]string{`(?:aa|bb|cc|dd|ee|ff|gg|hh|ii)(?:aa|bb|cc|dd|ee|ff|gg|hh|ii)KEYWORD|xyz`, `KEYWORD`, `WORD$`},
			"xyz\nKEYWORD\n1\nxyz\nKEYWORD KEYWORD xyz\nxyzaKEYWORD", [2]int{9, 8},
		},
		"^ where the line is cut for the columns": {
			[]string{`^-secret|%%%%%%%%%%secret|#secret`, `(?:^-|%zqjx%zqjx%|#)secret`},
			".-secret  #secret\n.-secret #secret\n.-secret#secret\n..-secret#secret", [2]int{8, 8},
		},
		"a hit on every line, and rules that share it": {
			[]string{`x`, `[x]`, `x?x`, `.`}, strings.Repeat("x\n", 300), [2]int{1200, 1200},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k, multiline := range []bool{false, true} {
				s := scene{
					limit: 1 << 20, files: []file{{"a", []byte(tt.text), all}, {"b", []byte(tt.text + "\n"), all}}, parallel: true,
					guarded: true,
				}
				for _, p := range tt.patterns {
					s.rules = append(s.rules, match.Rule{Pattern: p, Multiline: multiline})
				}
				s.same(t)
				assert.Len(t, matchtest.Reference(s.rules, "", []byte(tt.text), all), tt.hits[k], "multiline: %v", multiline)
			}
		})
	}
}

// same holds the scene to everything that the engine promises.
func (s scene) same(t *testing.T) {
	t.Helper()
	for _, differs := range []func(scene, context.Context) string{
		scene.engineDiffers, scene.spansDiffer, scene.candidatesDiffer,
	} {
		same(t, s, differs, "differs")
	}
}
