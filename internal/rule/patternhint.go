package rule

import (
	"strings"

	"github.com/prwarden/prwarden/internal/match"
)

// patternHint says how to write a pattern instead, given what is wrong with it.
func patternHint(pattern, wrong string) string {
	wrong, _, _ = strings.Cut(wrong, ": patterns are RE2")
	for _, h := range []struct{ wrong, hint string }{
		{
			"negative lookahead",
			"say what may follow instead, as `foo([^b]|$)` for `foo(?!b)`; or match `foo`, and leave files out with " +
				"`paths: {exclude: […]}`",
		},
		{"negative lookbehind", "say what may come before instead, as `(^|[^a])b` for `(?<!a)b`"},
		{
			"lookahead",
			"match what follows too, as `foo bar` for `foo(?= bar)`: only the line counts, not how long the match is",
		},
		{
			"lookbehind",
			"match what comes before too, as `ab` for `(?<=a)b`: only the line counts, not where the match begins",
		},
		{"backreference", "write out what may be repeated, as `'[^']*'|\"[^\"]*\"` for `(['\"]).*?\\1`"},
		{"atomic group", "write `(?:…)`: RE2 never backtracks, so it is as fast"},
		{"the comment", "move it into a YAML comment: `# …` above the pattern"},
		{"missing closing )", "add the `)`, or write `\\(` for the character"},
		{"unexpected )", "remove it, or write `\\)` for the character"},
		{"missing closing ]", "add the `]`, or write `\\[` for the character"},
		{
			"invalid character class range",
			"write the smaller character first; for a `-` put it first or last in the class: `[-a-z]`",
		},
		{"trailing backslash", "write `\\\\` for a backslash"},
		{"a count is at most 1000", "write `+` or `{n,}` with a smaller n"},
		{"invalid UTF-8", "save the file as UTF-8"},
		{"invalid named capture", "write `(…)`: names of groups count for nothing"},
		{"half of a UTF-16 pair", "write the whole character, as `\\x{1F600}`"},
		{"takes more than 2 seconds", "name more of the text between wildcards, and write `[^\\n]*` for `.*` with (?s)"},
	} {
		if strings.Contains(wrong, h.wrong) {
			return h.hint
		}
	}
	switch {
	case strings.Contains(wrong, "can match the empty string"):
		return emptyHint(pattern)
	case strings.Contains(wrong, "repetition operator"):
		return repetitionHint(pattern, wrong)
	case strings.Contains(wrong, "invalid escape sequence"):
		return escapeHint(wrong)
	case strings.Contains(wrong, "bytes; at most"):
		return "make several rules of it"
	case strings.Contains(wrong, "Perl syntax"):
		if strings.Contains(wrong, "(?x") {
			return "write the pattern without `(?x)`, blanks and comments; explain it in a YAML comment above"
		}
		return "the flags are `(?i)` either case, `(?m)` ^ and $ at lines, `(?s)` . matches \\n, `(?U)` short matches"
	case strings.Contains(wrong, "character class range"):
		return "classes are `\\d`, `\\w`, `\\s`, `[[:alpha:]]`, `\\p{Greek}` and the like"
	}
	return ""
}

// emptyHint is for patterns that match where nothing is. Of changes at the end
// it names one that is enough.
func emptyHint(pattern string) string {
	last := strings.TrimRight(pattern, "$)")
	changed := func(from, to string) bool {
		before, ok := strings.CutSuffix(last, from)
		return ok && match.CheckPattern(before+to+pattern[len(last):]) == nil
	}
	switch {
	case strings.HasSuffix(pattern, "|"), strings.HasPrefix(
		pattern, "|",
	), strings.Contains(pattern, "||"), strings.Contains(pattern, "(|"), strings.Contains(pattern, "|)"):
		return "remove the `|` beside which nothing stands"
	case changed("*", "+"):
		return "write `+` for the last `*`"
	case changed("?", ""):
		return "remove the last `?`"
	case strings.ContainsAny(pattern, "*?{"):
		return "write `+` for `*`, remove `?`, or write `{1,3}` for `{0,3}`, in as many places as it takes"
	}
	return "add the text that is looked for: a place such as `^` or `\\b` alone is in every line"
}

// repetitionHint is for `*`, `+`, `?` and `{n}` that follow nothing, or each
// other.
func repetitionHint(pattern, wrong string) string {
	switch {
	case strings.HasSuffix(wrong, ": ++"), strings.HasSuffix(wrong, ": *+"), strings.HasSuffix(wrong, ": ?+"):
		return "leave the second `+` out: RE2 never backtracks, so nothing is gained by possessive repetition"
	case strings.Contains(wrong, "nested repetition operator: {"):
		return "keep one of the two, or put the first into a group, as `(?:a{2})+`"
	case strings.HasPrefix(pattern, "*"):
		return "a pattern is a regular expression, not a glob: `.*` is any text, `\\*` the character; globs belong " +
			"under `paths`"
	}
	return "write `\\*`, `\\+` or `\\?` for the character"
}

// escapeHint is for escapes that other engines have.
func escapeHint(wrong string) string {
	_, sequence, _ := strings.Cut(wrong, "invalid escape sequence: ")
	for _, h := range []struct{ sequence, hint string }{
		{`\h`, "write `[ \\t]`"},
		{`\R`, "write `\\r?\\n` in a rule with `multiline: true`; other rules see lines without their ends"},
		{`\u`, "write `\\x{00E9}` for `\\u00e9`"},
		{`\<`, "write `\\b`"},
		{`\>`, "write `\\b`"},
		{`\K`, "leave it out: only the line counts, not where the match begins"},
		{`\G`, "leave it out"},
		{`\X`, "write `.`"},
		{`\e`, "write `\\x1b`"},
		{`\c`, "write `\\x01` for `\\cA`"},
		{`\N`, "write `[^\\n]`"},
		{`\'`, "write `'`, which is doubled in single quotes of YAML: `''`"},
	} {
		if sequence == h.sequence {
			return h.hint
		}
	}
	if sequence == `\d` || sequence == `\w` || sequence == `\s` {
		return "a range is between two characters; put a `-` that is meant as it is first or last: `[-a\\d]`"
	}
	return "write a backslash only before what has a meaning; `\\\\` is the character"
}
