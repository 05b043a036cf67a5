package ruleset

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// RulesFile writes a set as a rules file of prwarden.
func RulesFile(rules []Rule) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nrules:\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "  - {id: %s, type: regex, severity: info, message: Found., pattern: '%s'}\n",
			r.ID, strings.ReplaceAll(r.Pattern, "'", "''"))
	}
	return b.Bytes()
}

// PatternList writes the patterns, a line each, as ripgrep takes them: of bytes,
// because \b, \w and \d mean ASCII in Go and would mean Unicode in Rust, which
// is also far slower.
func PatternList(rules []Rule) ([]byte, error) {
	var b bytes.Buffer
	for _, r := range rules {
		pattern, err := ByteSyntax(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		b.WriteString("(?-u:" + pattern + ")\n")
	}
	return b.Bytes(), nil
}

// GitleaksConfig writes a set as a configuration of gitleaks or betterleaks, with
// the keywords that make them fast.
func GitleaksConfig(rules []Rule) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("title = \"benchmark\"\n")
	for _, r := range rules {
		if strings.Contains(r.Pattern, "'''") {
			return nil, fmt.Errorf("rule %s: ''' can't be written in a TOML literal", r.ID)
		}
		words, err := keywords(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		fmt.Fprintf(&b, "\n[[rules]]\nid = %q\nregex = '''%s'''\n", r.ID, r.Pattern)
		if len(words) > 0 {
			fmt.Fprintf(&b, "keywords = [\"%s\"]\n", strings.Join(words, `", "`))
		}
	}
	return b.Bytes(), nil
}

// Keywords are looked for in any case; more than these would be slower than none.
const (
	maxKeywords = 100
	minKeyword  = 3
)

// keywords returns words of ASCII in lower case of which every match of pattern
// has one, or nothing: among such sets the one whose shortest word is longest.
func keywords(pattern string) ([]string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	words := required(re)
	if shortest(words) < minKeyword {
		return nil, nil
	}
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	slices.Sort(words)
	return slices.Compact(words), nil
}

// required is keywords for a part of a pattern; words may be shorter.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words := required(sub); shortest(words) > shortest(best) {
				best = words
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := required(sub)
			if len(words) == 0 {
				return nil
			}
			all = append(all, words...)
		}
		if len(all) <= maxKeywords {
			return all
		}
	}
	return nil
}

// literal is the longest run of plain letters, digits and the like of a literal:
// neither what must be escaped nor what case folding takes out of ASCII.
func literal(re *syntax.Regexp) []string {
	fold := re.Flags&syntax.FoldCase != 0
	best, start := "", 0
	text := string(re.Rune)
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] > ' ' && text[i] < 0x7f && !strings.ContainsRune(`"\`, rune(text[i])) &&
			!(fold && strings.ContainsRune("kKsS", rune(text[i]))) {
			continue
		}
		if i-start > len(best) {
			best = text[start:i]
		}
		start = i + 1
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

// shortest is the length of the shortest of words; 0 for none.
func shortest(words []string) int {
	n := 0
	for i, w := range words {
		if i == 0 || len(w) < n {
			n = len(w)
		}
	}
	return n
}

// Words are, for each rule that has such, words of which every match of it has
// one.
func Words(rules []Rule) ([]string, error) {
	var all []string
	for _, r := range rules {
		re, err := syntax.Parse(r.Pattern, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if words := required(re); shortest(words) >= minKeyword {
			all = append(all, words...)
		}
	}
	return all, nil
}

// Matching are the rules whose patterns begin with prefix.
func Matching(rules []Rule, prefix string) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !strings.HasPrefix(r.Pattern, prefix) })
}
