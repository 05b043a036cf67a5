package ruleset

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// What a part of a pattern is, and so how another rule of the shape gets it.
type role int

const (
	plainName    role = iota // a name, or names with dots between
	foldedName               // a name that is matched in any case
	alternatives             // alternative names, as regexp/syntax factors them
	tokenPrefix              // the letters that a token begins with
	amount                   // a number that may be another near it
	comparison               // an operator
	number                   // a number that may be any other of as many digits
)

// shape is a kind of pattern: an expression for patterns, and what its groups
// are. All else of the pattern is the shape's own.
type shape struct {
	name  string
	match *regexp.Regexp
	roles []role
}

// shapes are the kinds of patterns of the 1,000 rules, most frequent first.
func shapes() []shape {
	const (
		word   = `([A-Za-z0-9_]+)`
		dotted = `([A-Za-z0-9_]+(?:\\\.[A-Za-z0-9_]+)+)`
		list   = `([A-Za-z0-9_(?:|)\[\]-]+)`
		blank  = `[\t\f\r ]*`
	)
	lit := regexp.QuoteMeta
	return []shape{
		{"call", regexp.MustCompile(`^\\b` + word + lit(blank+`\(`) + `$`), []role{plainName}},
		{"call with a dot", regexp.MustCompile(`^\\b` + dotted + lit(blank+`\(`) + `$`), []role{plainName}},
		{"alternative calls", regexp.MustCompile(`^\\b` + list + lit(blank+`\(`) + `$`), []role{alternatives}},
		{"word in any case", regexp.MustCompile(`^` + lit(`(?i:\b`) + word + lit(`\b)`) + `$`), []role{foldedName}},
		{"token", regexp.MustCompile(`^\\b([a-z]+)(?:-|_|_test_|_live_)` + lit(`[0-9A-Za-z]`) + `\{(\d+),(\d+)\}\\b$`), []role{tokenPrefix, amount, amount}},
		{"import", regexp.MustCompile(`^` + lit(`(?m:^`+blank+`(?:import|from|us(?:e|ing))[\t\f\r ]+["']?[\--9@-Z_a-z]*`) + word + lit(`\b)`) + `$`), []role{plainName}},
		{"call with an argument", regexp.MustCompile(`^` + word + lit(`\([^\n\)]*\b`) + word + lit(`\b[^\n\)]*\)`) + `$`), []role{plainName, plainName}},
		{"constant assigned", regexp.MustCompile(`^\\b` + word + lit(blank+`[:=]`+blank+`(?:true|false|True|False|None|n(?:ull|il))\b`) + `$`), []role{plainName}},
		{"annotation", regexp.MustCompile(`^@` + word + lit(`\b(?:\([^\n\)]*\))?`) + `$`), []role{plainName}},
		{"require", regexp.MustCompile(`^` + lit(`require\(`+blank+`["']`) + word + lit(`["']`+blank+`\)`) + `$`), []role{plainName}},
		{"remark", regexp.MustCompile(`^` + lit(`(?-s:(?://|#)`+blank+`(?:TODO|FIXME|HACK|XXX)\b.*\b`) + word + lit(`)`) + `$`), []role{plainName}},
		{"SQL", regexp.MustCompile(`^` + lit(`(?i-s:\b(?:SELECT|INSERT|UPDATE|DELETE)\b.*\b`) + word + lit(`\b)`) + `$`), []role{foldedName}},
		{"secret", regexp.MustCompile(`^\(\?i:([A-Z]+)` + lit(`[\-_]?`) + `([A-Z]+)` + lit(`[\-_]?(?:API[\-_]?KEY|SECRET|TOKEN|PASSW(?:OR)?D)`+blank+`[:=]`+blank+`["']?`) + `.*$`), []role{foldedName, foldedName}},
		{"new", regexp.MustCompile(`^` + lit(`\bnew[\t\f\r ]+`) + word + `\\b$`), []role{plainName}},
		{"attribute set", regexp.MustCompile(`^\\\.` + list + `` + lit(blank+`=[^\n=]`) + `$`), []role{alternatives}},
		{"host", regexp.MustCompile(`^` + lit(`https?://[\-\.0-9a-z]*`) + `([a-z]+)` + lit(`[\-\.0-9a-z]*\.(?:com|i(?:o|nternal))\b`) + `$`), []role{plainName}},
		{"weak: condition that assigns", regexp.MustCompile(`^` + lit(`\bif`+blank+`\(`+blank+`[0-9A-Z_a-z]+`+blank+`=`+blank+`[0-9A-Z_a-z]`) + `\{(\d+),\}\\\)$`), []role{amount}},
		{"weak: shift", regexp.MustCompile(`^(<<|>>)` + lit(blank) + `(\d+)\\b$`), []role{comparison, number}},
		{"weak: placeholder", regexp.MustCompile(`^` + lit(`\$\{[^\n\}]`) + `\{(\d+),\}\\\}$`), []role{amount}},
		{"weak: comparison", regexp.MustCompile(`^([!=<>]=)` + lit(blank) + `-(\d)\\b$`), []role{comparison, number}},
		{"weak: hexadecimal", regexp.MustCompile(`^0x` + lit(`[0-9A-Fa-f]`) + `\{(\d+),\}$`), []role{amount}},
		{"weak: Base64", regexp.MustCompile(`^` + lit(`[\+/-9A-Za-z]`) + `\{(\d+),\}=\{0,2\}$`), []role{amount}},
	}
}

// parts are the groups of a pattern of the shape, or nothing.
func (s shape) parts(pattern string) []string {
	m := s.match.FindStringSubmatch(pattern)
	if m == nil {
		return nil
	}
	return m[1:]
}

// replace returns the pattern with other parts.
func (s shape) replace(pattern string, parts []string) string {
	at := s.match.FindStringSubmatchIndex(pattern)
	var b strings.Builder
	end := 0
	for i, part := range parts {
		b.WriteString(pattern[end:at[2*i+2]])
		b.WriteString(part)
		end = at[2*i+3]
	}
	return b.String() + pattern[end:]
}

// expand lists the words that an expression of alternatives matches, or nothing
// for another expression.
func expand(expression string) []string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	return words(re)
}

func words(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		var out []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				out = append(out, string(r))
			}
		}
		return out
	case syntax.OpQuest:
		return append(words(re.Sub[0]), "")
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			out = append(out, words(sub)...)
		}
		return out
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range re.Sub {
			var longer []string
			for _, head := range out {
				for _, tail := range words(sub) {
					longer = append(longer, head+tail)
				}
			}
			out = longer
		}
		return out
	}
	return nil
}
