package syntax

import "strings"

// strengths returns how tightly operators bind, by their text.
func strengths(list string) map[string]int {
	all := map[string]int{}
	for level, ops := range strings.Split(list, "|") {
		for op := range strings.FieldsSeq(ops) {
			all[strings.ReplaceAll(op, "\x00", "|")] = level
		}
	}

	return all
}

// Strength says how tightly an operator binds its operands, from 0 for assignments; -1
// for what is no operator between two operands.
func (l *Language) Strength(text []byte) int {
	if n, ok := l.strength[string(text)]; ok {
		return n
	}

	return -1
}

// IsKeyword says whether a name can't be an operand.
func (l *Language) IsKeyword(text []byte) bool { return l.keywords[string(text)] }

// IsUnary says whether a token may stand before an operand as a part of it.
func (l *Language) IsUnary(text []byte) bool { return l.unary[string(text)] }

// IsSuffix says whether an operator right behind an operand belongs to it.
func (l *Language) IsSuffix(op string) bool {
	return op == "++" || op == "--" || op == "!" || op == "!!" || op == "?" && l == languageRust
}

// JoinsBraces says whether braces behind a name belong to it, as in T{1}.
func (l *Language) JoinsBraces() bool { return l == languageGo || l == languageRust }

// Joins says whether an operator joins a name to what is before it. In PHP a dot joins
// texts, and in most languages an arrow stands before the body of a lambda.
func (l *Language) Joins(op string) bool {
	switch op {
	case "::", "?.", "&.", "?->":
		return true
	case ".":
		return l != languagePHP
	case "->":
		return l == languageC || l == languagePHP
	}

	return false
}

// IsStructured says whether the structure of a language is known, beyond comments and
// strings.
func (l *Language) IsStructured() bool { return all[rank[l]].structured }

// Structured are the names of the languages whose structure is known.
func Structured() (names []string) {
	for _, x := range all {
		if x.structured {
			names = append(names, x.language.Name)
		}
	}

	return names
}

// FoldsCase says whether names are the same in upper and in lower case.
func (l *Language) FoldsCase() bool {
	return l == languageSQL || l == languageHTML || l == languageDocker
}

func setOf(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}

	return all
}
