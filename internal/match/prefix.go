package match

import (
	"regexp/syntax"
	"slices"
)

// fixedPrefix is how many bytes a match must be known to begin with for its rule
// to be matched in what is no text.
const fixedPrefix = 4

// maxChoices is how many characters may stand at one place of a known beginning.
const maxChoices = 4

// FixedPrefix says whether every match of a rule begins with one of a few texts of
// at least fixedPrefix bytes. Such a rule is not met by chance in what is no text.
func (s *Session) FixedPrefix(rule int) bool { return s.matcher.prefixed[rule] }

// prefixOf is how many bytes are known, at least, that a match of re begins with.
// whole says that re matches nothing beside them.
func prefixOf(re *syntax.Regexp) (n int, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune)), true
	case syntax.OpCharClass:
		choices := 0
		for i := 0; i < len(re.Rune); i += 2 {
			choices += int(re.Rune[i+1]-re.Rune[i]) + 1
		}
		if choices <= maxChoices {
			return 1, true
		}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return 0, true
	case syntax.OpCapture:
		return prefixOf(re.Sub[0])
	case syntax.OpPlus:
		n, _ = prefixOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			n, whole = prefixOf(re.Sub[0])
			if whole {
				n *= re.Min
			}
			whole = whole && re.Min == re.Max
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			var more int
			more, whole = prefixOf(sub)
			if n += more; !whole {
				break
			}
		}
	case syntax.OpAlternate:
		lengths := make([]int, len(re.Sub))
		whole = true
		for i, sub := range re.Sub {
			isWhole := false
			lengths[i], isWhole = prefixOf(sub)
			whole = whole && isWhole
		}
		n = slices.Min(lengths)
	}

	return n, whole
}
