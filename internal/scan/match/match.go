// Package match finds the places in a file where rules match. It knows
// patterns, path globs and bytes, and nothing of git, reviews or severities.
//
// Rules are compiled once into a Matcher, which is immutable and safe for
// concurrent use; Cache keeps matchers by the digest of their rules.
package match

// Rule is what the engine needs of a rule. Hits refer to a rule by its index
// in the slice that was compiled.
type Rule struct {
	Pattern   string   // RE2, Go syntax, valid by CheckPattern
	Multiline bool     // match on the whole file instead of line by line
	Include   []string // doublestar globs; all files when empty
	Exclude   []string
}

// Hit is one match. Lines and columns count from 1, columns in bytes.
type Hit struct {
	Rule      int // index of the rule
	Line      int // line of the first byte
	Column    int // of the first byte
	EndLine   int // line of the last byte
	EndColumn int // after the last byte
}
