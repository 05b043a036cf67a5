package match_test

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// A comparison says only as much as its cases do: the generator has to make
// every operator and every oddity of texts, and its rules have to match often,
// but not always.
func TestGeneratorCoversEverything(t *testing.T) {
	t.Parallel()
	ops := map[syntax.Op]int{}
	seen := map[string]int{}
	rules, hitting, lines, hitLines, largest := 0, 0, 0, 0, 0
	for seed := range uint64(1000) {
		s := randomScene(seed)
		largest = max(largest, len(s.rules))
		for _, r := range s.rules {
			require.NoError(t, match.CheckPattern(r.Pattern))
			tree, err := syntax.Parse(r.Pattern, syntax.Perl)
			require.NoError(t, err)
			countOps(tree, ops, seen)
			for name, has := range map[string]bool{
				"multiline": r.Multiline, "include": r.Include != nil, "exclude": r.Exclude != nil,
				`\Q`:  strings.Contains(r.Pattern, `\Q`),
				`\x{`: strings.Contains(r.Pattern, `\x{`), "(?U)": strings.Contains(
					r.Pattern, "(?U",
				), "posix": strings.Contains(r.Pattern, "[[:"),
				"flags off": strings.Contains(r.Pattern, "(?-"), "named": strings.Contains(
					r.Pattern, "(?P<",
				), "non-ASCII": !isASCII(r.Pattern),
				"a line rule with a newline": !r.Multiline && strings.Contains(r.Pattern, `\n`),
			} {
				count(seen, name, has)
			}
		}
		for name, has := range map[string]bool{
			"off": s.off != nil, "several files": len(s.files) > 1, "parallel": s.parallel, "guarded": s.guarded,
			"limit": s.limit < 100,
		} {
			count(seen, name, has)
		}
		hits := map[int]bool{}
		for _, f := range s.files {
			countText(f.content, seen)
			count(seen, "some lines added", len(f.added) != 1)
			lines += len(splitLines(f.content))
			e := s.expect(f)
			count(seen, "skipped lines", len(e.longLines) > 0)
			on := map[int]bool{}
			for _, h := range e.hits {
				hits[h.Rule], on[h.Line] = true, true
				count(seen, "a hit of several lines", h.EndLine > h.Line)
			}
			hitLines += len(on)
		}
		rules, hitting = rules+len(s.rules), hitting+len(hits)
	}
	for op := syntax.OpEmptyMatch; op <= syntax.OpAlternate; op++ {
		assert.GreaterOrEqual(t, ops[op], 20, "%v", op)
	}
	for name, n := range seen {
		assert.GreaterOrEqual(t, n, 3, name)
	}
	t.Logf("%d rules, %d hit; %d lines, %d hit; %v; %v", rules, hitting, lines, hitLines, ops, seen)
	assert.Greater(t, hitting, rules/4, "rules that hit")
	assert.Less(t, hitting, rules*9/10, "rules that hit")
	assert.Greater(t, hitLines, lines/20, "lines that are hit")
	assert.Less(t, hitLines, lines*9/10, "lines that are hit")
	assert.GreaterOrEqual(t, largest, 50, "rules in a scene")
}

func count(seen map[string]int, name string, has bool) {
	if has {
		seen[name]++
	} else {
		seen[name] += 0 // it is to be seen
	}
}

func countOps(re *syntax.Regexp, ops map[syntax.Op]int, seen map[string]int) {
	ops[re.Op]++
	count(seen, "a class of no character", re.Op == syntax.OpCharClass && len(re.Rune) == 0)
	count(seen, "folded", re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0)
	count(seen, "lazy", re.Op >= syntax.OpStar && re.Op <= syntax.OpRepeat && re.Flags&syntax.NonGreedy != 0)
	count(seen, "$ without m", re.Op == syntax.OpEndText && re.Flags&syntax.WasDollar != 0)
	count(seen, "many branches", re.Op == syntax.OpAlternate && len(re.Sub) >= 20)
	count(seen, "nested repetition", re.Op == syntax.OpRepeat && re.Sub[0].Op == syntax.OpRepeat)
	for _, sub := range re.Sub {
		countOps(sub, ops, seen)
	}
}

func countText(text []byte, seen map[string]int) {
	for name, part := range map[string]string{
		"NUL": "\x00", "CRLF": "\r\n", "two CR before LF": "\r\r\n", "an empty line": "\n\n", "U+212A": "\u212a",
		"U+017F":      "\u017f",
		"a surrogate": "\xed\xa0\x80", "U+FFFD": "\ufffd", "an overlong form": "\xc0\x80",
	} {
		count(seen, name, bytes.Contains(text, []byte(part)))
	}
	count(seen, "a beginning of U+212A", bytes.Count(text, []byte("\xe2\x84")) > bytes.Count(text, []byte("\u212a")))
	longest := 0
	for _, line := range splitLines(text) {
		longest = max(longest, len(line))
		count(seen, "a line as long as it may be", len(line) == match.MaxLine)
		count(seen, "a line just too long", len(line) == match.MaxLine+1)
	}
	for name, has := range map[string]bool{
		"invalid UTF-8": !utf8.Valid(text), "byte order mark": bytes.HasPrefix(
			text, []byte("\ufeff"),
		), "no newline at the end": len(text) > 0 && text[len(text)-1] != '\n',
		"CR at the end": bytes.HasSuffix(text, []byte("\r")), "an empty file": len(
			text,
		) == 0, "a large file": len(text) > 1<<15,
		"a very long line": longest > match.MaxLine+1<<10, "a lone CR": bytes.Count(
			text, []byte("\r"),
		) > bytes.Count(text, []byte("\r\n")),
	} {
		count(seen, name, has)
	}
}

func isASCII(s string) bool {
	for _, b := range []byte(s) {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
