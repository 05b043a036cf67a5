// Package schema makes the JSON Schema of the rules file, by which editors
// complete and check it. It is made from the bounds and words of package rule,
// and a test holds its keys to those that the parser knows.
package schema

import (
	"encoding/json"
	"slices"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// URL is where the schema is published, for the first line of a rules file:
//
//	# yaml-language-server: $schema=URL
const URL = "https://raw.githubusercontent.com/prwarden/prwarden/main/gen/jsonschema/rules.schema.json"

// JSON returns the schema, indented, with a newline at its end. It is of draft
// 7, the last that the YAML language servers of editors know as a whole.
//
// It takes whatever the parser takes, and refuses what a schema can: bounds in
// bytes are for it bounds in characters, and it knows nothing of patterns that
// don't compile, of globs, cases and ids that are there twice.
func JSON() []byte {
	data, err := json.MarshalIndent(file(), "", "  ")
	if err != nil {
		panic(err) // of strings and numbers only
	}
	return append(data, '\n')
}

// node is a part of the schema. The order of its fields is that of the document.
type node struct {
	Schema      string           `json:"$schema,omitempty"`
	ID          string           `json:"$id,omitempty"`
	Ref         string           `json:"$ref,omitempty"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Type        any              `json:"type,omitempty"` // a word or a list of words
	Const       any              `json:"const,omitempty"`
	Enum        []string         `json:"enum,omitempty"`
	Pattern     string           `json:"pattern,omitempty"`
	Not         *node            `json:"not,omitempty"`
	AnyOf       []*node          `json:"anyOf,omitempty"`
	MinLength   int              `json:"minLength,omitempty"`
	MaxLength   int              `json:"maxLength,omitempty"`
	Items       *node            `json:"items,omitempty"`
	MaxItems    int              `json:"maxItems,omitempty"`
	Required    []string         `json:"required,omitempty"`
	Properties  map[string]*node `json:"properties,omitempty"`
	Names       *node            `json:"propertyNames,omitempty"`
	MaxKeys     int              `json:"maxProperties,omitempty"`
	Additional  any              `json:"additionalProperties,omitempty"` // false, or a *node
	Definitions map[string]*node `json:"definitions,omitempty"`
	Default     any              `json:"default,omitempty"`
	Examples    []any            `json:"examples,omitempty"`
	Snippets    []snippet        `json:"defaultSnippets,omitempty"` // of editors
}

// snippet is what an editor offers to insert.
type snippet struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Body        any    `json:"body"`
}

// ruleBody is a rule to insert, with its keys in the order in which people write
// them.
type ruleBody struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Pattern  string   `json:"pattern"`
	Message  string   `json:"message"`
	Severity string   `json:"severity"`
	Cases    caseBody `json:"cases"`
}

type caseBody struct {
	Match   []string `json:"match"`
	NoMatch []string `json:"no_match"`
}

// The types that may be left empty: nothing at all is an empty list or mapping.
func list() []string    { return []string{"array", "null"} }
func mapping() []string { return []string{"object", "null"} }

func ref(name string) *node { return &node{Ref: "#/definitions/" + name} }

func described(name, description string) *node {
	// Of what stands beside $ref, draft 7 knows nothing.
	return &node{Description: description, AnyOf: []*node{ref(name)}}
}

// file is the whole schema.
func file() *node {
	return &node{
		Schema: "http://json-schema.org/draft-07/schema#",
		ID:     URL,
		Title:  "Rules of prwarden",
		Description: "Rules that pull requests of a repository are scanned against: " + rule.FilePath +
			", or a file for `prwarden scan --rules`.",
		Type:       "object",
		Required:   []string{"version"},
		Additional: false,
		Properties: map[string]*node{
			"version": {Description: "The version of the format: 1.", Const: 1, Default: 1},
			"disable": {
				Description: "Default rules that are off in this repository, each once. `prwarden rules list` shows them.",
				Type:        list(), MaxItems: rule.MaxFileDisabled, Items: ref("id"),
			},
			"exclude": {
				Description: "Files that no rule looks at.",
				Type:        list(), MaxItems: rule.MaxFileExcludes, Items: ref("glob"),
				Examples: []any{[]string{"vendor/**", "**/*.min.js"}},
			},
			"override": {
				Description: "Changes of default rules, by id: another severity, more files that the rule does not look at, " +
					"or both.",
				Type: mapping(), MaxKeys: rule.MaxFileOverrides, Names: ref("id"), Additional: ref("override"),
				Snippets: []snippet{{Label: "override a default rule", Body: map[string]any{
					"${1:category/name}": map[string]any{"severity": "${2:low}"},
				}}},
			},
			"rules": {
				Description: "Rules of this repository, each with its own id. In a repository at most 500, in 64 KiB.",
				Type:        list(), MaxItems: rule.MaxLocalFileRules, Items: ref("rule"),
			},
		},
		Definitions: map[string]*node{
			"id": id(), "glob": glob(), "severity": severity(), "override": override(), "rule": aRule(),
		},
	}
}

// id is what rule.CheckID says.
func id() *node {
	return &node{
		Description: "`name` or `category/name`, each part of lower-case letters, digits, `.`, `_` and `-`. Without a " +
			"category it is in `custom`. The category `meta` is prwarden's own.",
		Type: "string", MaxLength: rule.MaxID,
		Pattern:  `^([a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`,
		Not:      &node{Pattern: "^" + rule.CategoryMeta + "/"},
		Examples: []any{"no-print", "style/no-print"},
	}
}

// glob is a part of what match.CheckGlob says.
func glob() *node {
	return &node{
		Description: "A glob on the path from the root of the repository: `*` stops at `/`, `**` does not, `{a,b}` is " +
			"either, `[a-z]` a class. `**/*.go` is every Go file.",
		Type: "string", MinLength: 1, MaxLength: match.MaxGlob,
		Not: &node{Pattern: `^\.?/|/$`},
	}
}

func severity() *node {
	var words []string
	for _, s := range rule.Severities() {
		words = append(words, s.String())
	}
	return &node{
		Description: "How bad it is to merge what the rule finds, from `" + words[0] + "` to `" + words[len(words)-1] + "`.",
		Type:        "string", Enum: words,
	}
}

func override() *node {
	return &node{
		Type: "object", Additional: false,
		AnyOf: []*node{{Required: []string{"severity"}}, {Required: []string{"exclude"}}},
		Properties: map[string]*node{
			"severity": described("severity", "The severity instead of the rule's own."),
			"exclude":  globs("Files that the rule does not look at, beside its own."),
		},
	}
}

func globs(description string) *node {
	return &node{Description: description, Type: list(), MaxItems: rule.MaxGlobs, Items: ref("glob")}
}

func texts(description string) *node {
	return &node{
		Description: description, Type: list(), MaxItems: rule.MaxCases,
		Items: &node{Type: "string", MaxLength: rule.MaxCase},
	}
}

// aRule is what rule.Validate says, as far as a schema can.
func aRule() *node {
	properties := map[string]*node{
		"id": described(
			"id", "The id of the rule: `name` or `category/name`, in lower case. Findings carry it with its category.",
		),
		"type": {
			Description: "How the pattern is meant: `regex`, a regular expression of RE2.", Type: "string",
			Enum: []string{rule.TypeRegex}, Default: rule.TypeRegex,
		},
		"pattern": {
			Description: "A regular expression in RE2's syntax as Go has it, without lookaround and backreferences; it " +
				"must not match the empty string. In single quotes backslashes stay as they are.",
			Type: "string", MinLength: 1, MaxLength: match.MaxPattern, Examples: []any{`fmt\.Print(ln|f)?\(`},
		},
		"message": {
			Description: "What to tell the author: say what to do instead.", Type: "string", MinLength: 1,
			MaxLength: rule.MaxMessage, Pattern: `\S`,
		},
		"severity": ref("severity"),
		"multiline": {
			Description: "Match on the whole file instead of each added line. `.` matches \\n with `(?s)` only, `^` and " +
				"`$` are ends of lines with `(?m)` only.",
			Type: "boolean", Default: false,
		},
		"redact": {
			Description: "Mask the matched text wherever it would be stored or shown: it is a secret.", Type: "boolean",
			Default: false,
		},
		"paths": {
			Description: "The files that the rule looks at. Without it, all.",
			Type:        mapping(), Additional: false,
			Properties: map[string]*node{
				"include": globs("The rule looks at files that one of these matches. Without any, at all files."),
				"exclude": globs("The rule does not look at files that one of these matches."),
			},
		},
		"cases": {
			Description: "Texts that prove the rule. A file in which a rule fails its own cases is refused; `prwarden " +
				"rules test` runs them.",
			Type: mapping(), Additional: false,
			Properties: map[string]*node{
				"match":    texts("Texts that the rule must match."),
				"no_match": texts("Texts that the rule must not match."),
			},
		},
		"references": {
			Description: "Where to read more: http or https URLs.",
			Type:        list(), MaxItems: rule.MaxReferences,
			Items: &node{Type: "string", MaxLength: rule.MaxReference, Pattern: `^[Hh][Tt][Tt][Pp][Ss]?://[^/]`},
		},
	}
	required := []string{"id", "type", "pattern", "message", "severity"}
	return &node{
		Type: "object", Required: slices.Clone(required), Additional: false, Properties: properties,
		Snippets: []snippet{{
			Label: "a rule", Description: "A rule with what it must have, and a case of each kind",
			Body: ruleBody{
				ID: "${1:no-print}", Type: rule.TypeRegex, Pattern: `'${2:print\\(}'`, Message: "${3:Use the logger.}",
				Severity: "${4:warning}",
				Cases:    caseBody{Match: []string{"${5:print(1)}"}, NoMatch: []string{"${6:log(1)}"}},
			},
		}},
	}
}
