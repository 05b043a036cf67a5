package rule

import (
	"fmt"
	"slices"
	"strings"
)

// nearest returns the one of words that a mistyped word was meant to be, or "".
// One mistake is allowed in three letters: one that is missing, too many or
// another, or two that are exchanged.
func nearest(word string, words []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, w := range words {
		if d := distance(strings.ToLower(word), w, least); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of mistakes between two words, or limit if that is
// less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(b)], limit)
}

// otherKeys are what other tools call keys of a rule, and what belongs
// elsewhere. A key that is named here is read as what it means.
func otherKeys(word string) (means, hint string) {
	for _, k := range []struct {
		words       string
		means, hint string
	}{
		{"regex regexp patterns match_pattern re", "pattern", ""},
		{"name title rule_id key", "id", ""},
		{"level priority sev", "severity", ""},
		{"description msg text summary help", "message", ""},
		{"examples tests test_cases", "cases", ""},
		{"links urls url refs see", "references", ""},
		{"ignore allow allowlist", "exclude", ""},
		{"disabled off", "disable", ""},
		{"overrides severities", "override", ""},
		{
			"languages language lang files path globs", "",
			"write `paths: {include: [\"**/*.py\"]}` with the files that the rule is for",
		},
		{"include", "", "put it under `paths`: `paths: {include: [\"**/*.py\"]}`"},
		{"exclude", "", "put it under `paths`: `paths: {exclude: [\"docs/**\"]}`"},
		{"paths", "exclude", ""},
		{
			"id type pattern message redact multiline references", "",
			"put it into a rule: a rule is `- id: …` under `rules`, with its other keys below",
		},
		{"match no_match", "", "put it under `cases`: `cases: {match: ['…'], no_match: ['…']}`"},
		{"scope repo repository", "", "remove it: rules of a rules file are for its repository"},
		{
			"enabled enable", "",
			"remove it: a rule that is there is on; a default rule is switched off by `disable: [ID]` at the top",
		},
		{
			"flags ignorecase ignore_case case_insensitive case_sensitive", "",
			"begin the pattern with `(?i)` to match either case",
		},
		{"category tags", "", "put the category into the id: `id: category/name`"},
		{"fix autofix", "", "remove it: say in the message what to write instead"},
		{"$schema", "", "name the schema in a comment on the first line: `# yaml-language-server: $schema=…`"},
		{"<<", "", "write the keys out: merge keys are not allowed"},
	} {
		if slices.Contains(strings.Fields(k.words), strings.ReplaceAll(strings.ToLower(word), "-", "_")) {
			return k.means, k.hint
		}
	}
	return "", ""
}

// keyHint says what an unknown key was meant to be, and how to put it right.
func keyHint(word string, known []string) (means, hint string) {
	if means = nearest(word, known); means == "" {
		if means, hint = otherKeys(word); means != "" && !slices.Contains(known, means) {
			means = ""
		}
	}
	if means != "" {
		return means, "did you mean `" + means + "`?"
	}
	return "", hint
}

// mappingHint says how to write what must be a mapping, by its name in messages.
func mappingHint(name string) string {
	switch name {
	case "the file":
		return "begin with `version: 1`; rules are a list under `rules:`"
	case "rule":
		return "write `- id: …`, and the other keys of the rule below it"
	case "paths":
		return "write `paths: {include: [\"**/*.py\"], exclude: [\"docs/**\"]}`, with one or both"
	case "cases":
		return "write `cases: {match: ['…'], no_match: ['…']}`"
	}
	return "write `{severity: low}`, `{exclude: [\"docs/**\"]}`, or both in one"
}

// severityHint says which severity a word was meant to be.
func severityHint(word string) string {
	var words []string
	for _, s := range Severities() {
		words = append(words, s.String())
	}
	meant := nearest(word, words)
	for _, other := range []struct{ words, means string }{
		{"blocker fatal severe", Critical.String()},
		{"error err major important", High.String()},
		{"moderate normal", Medium.String()},
		{"warn minor", Warning.String()},
		{"style trivial", Low.String()},
		{"note notice hint none suggestion information informational", Info.String()},
	} {
		if slices.Contains(strings.Fields(other.words), strings.ToLower(word)) {
			meant = other.means
		}
	}
	if meant == "" {
		return ""
	}
	return "did you mean `" + meant + "`?"
}

// idHint says what an id could be instead.
func idHint(id string) string {
	if id == "" {
		return "add a line like `id: no-print`"
	}
	if strings.HasPrefix(id, CategoryMeta+"/") {
		return "choose another category, or leave it out"
	}
	lower := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', strings.ContainsRune("/._-", r):
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, id)
	if category, name, ok := strings.Cut(lower, "/"); ok {
		lower = strings.Trim(category, "-._") + "/" + strings.Trim(strings.ReplaceAll(name, "/", "-"), "-._")
	}
	lower = strings.Trim(lower, "-._/")
	if CheckID(lower) != nil || lower == id || !wordy(lower) {
		return ""
	}
	return "write `" + lower + "`"
}

// wordy says whether an id is made of words: what is not may be a secret in the
// wrong place.
func wordy(id string) bool {
	for word := range strings.FieldsFuncSeq(id, func(r rune) bool { return strings.ContainsRune("/._-", r) }) {
		if len(word) > maxShown || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return true
}

// globHint says how to write a glob instead.
func globHint(glob string) string {
	switch {
	case glob == "":
		return "remove it, or write `**` for every file"
	case strings.HasPrefix(glob, "./"):
		return fmt.Sprintf("write %q", glob[2:])
	case strings.HasPrefix(glob, "/"):
		return fmt.Sprintf("write %q", strings.TrimLeft(glob, "/"))
	case strings.HasPrefix(glob, "!"):
		return "list what is left out under `exclude`"
	case strings.Count(glob, "{") != strings.Count(glob, "}"):
		return "close the choice as in `**/*.{js,ts}`, or write `\\{` for the character"
	case strings.Count(glob, "[") != strings.Count(glob, "]"):
		return "close the class as in `[a-z]`, or write `\\[` for the character"
	}
	return ""
}

// Hint says how to put a field of a rule right that Validate refuses with a
// description, or "".
func Hint(r Rule, field, description string) string {
	missing := strings.HasPrefix(description, "is required")
	name, _, _ := strings.Cut(field, "[")
	switch name {
	case "id":
		return idHint(r.ID)
	case "type":
		return "write `type: regex`"
	case "pattern":
		if missing {
			return "add a line like `pattern: 'print\\('`"
		}
		return patternHint(r.Pattern, description)
	case "message":
		if missing {
			return "add a line like `message: Use the logger.`"
		}
	case "severity":
		return "add a line like `severity: warning`"
	case "paths.include":
		return globHint(at(r.Paths.Include, field))
	case "paths.exclude":
		return globHint(at(r.Paths.Exclude, field))
	case "references":
		if strings.HasPrefix(description, "must be") {
			return "write the whole URL: `https://…`"
		}
	}
	return ""
}

// at returns the text that a field like `name[3]` is about.
func at(list []string, field string) string {
	for i, text := range list {
		if strings.HasSuffix(field, indexed("", i)) {
			return text
		}
	}
	return ""
}
