package rules

import "github.com/prwarden/prwarden/internal/rule"

// sureness are the confidences in words.
var sureness = map[rule.Confidence]string{
	rule.ConfidenceHigh:   "high: right in at least 9 of 10 findings",
	rule.ConfidenceMedium: "medium: right in at least 7 of 10 findings",
	rule.ConfidenceLow:    "low: often wrong, so what it finds is hidden unless the policy counts it",
}

// matchedOn says what a rule is matched on.
func matchedOn(r rule.Rule) string {
	switch {
	case r.Type == rule.TypeStructure:
		return "tokens and brackets, when it touches an added line"
	case r.Type == rule.TypeTaint:
		return "values inside a function, when the source or the sink is on an added line"
	case r.Type == rule.TypeSpelling:
		return "English words of each added line"
	case r.Multiline:
		return "the whole file, when it touches an added line"
	}

	return "each added line on its own"
}
