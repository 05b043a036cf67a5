// Package schema has the JSON Schema of the rules file, by which editors
// complete and check it. A test holds its keys, words and bounds to those of
// package rule.
package schema

import _ "embed"

//go:embed rules.schema.json
var text string

// JSON returns the schema. It is of draft 7, the last that the YAML language
// servers of editors know as a whole.
//
// It refuses what a schema can: bounds in bytes are for it bounds in characters,
// and it knows nothing of patterns that don't compile, of globs, cases and ids
// that are there twice. A number is no text for it, as it is for the parser.
func JSON() []byte { return []byte(text) }
