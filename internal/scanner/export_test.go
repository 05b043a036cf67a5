package scanner

import "github.com/prwarden/prwarden/internal/rule"

// RoundTrip sends a rule to the wire and back.
func RoundTrip(r rule.Rule) (rule.Rule, error) { return fromProtoRule(toProtoRule(r)) }
