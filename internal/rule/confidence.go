package rule

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
)

// Confidence says how often a rule is right about what it finds.
type Confidence string

// The confidences. A rule without one has ConfidenceMedium.
const (
	ConfidenceHigh   Confidence = "high"   // in at least 9 of 10 findings
	ConfidenceMedium Confidence = "medium" // in at least 7 of 10
	ConfidenceLow    Confidence = "low"    // less often, so a policy decides whether its findings count
)

// Sureness is the confidence of the rule's findings.
func (r Rule) Sureness() Confidence { return cmp.Or(r.Confidence, ConfidenceMedium) }

// IsUnsure reports whether the rule has ConfidenceLow.
func (r Rule) IsUnsure() bool { return r.Confidence == ConfidenceLow }

// checkConfidence adds what is wrong with the confidence of a rule.
func checkConfidence(v *errs.Violations, r Rule) {
	switch r.Confidence {
	case "", ConfidenceHigh, ConfidenceMedium:
	case ConfidenceLow:
		if r.Severity == Critical || r.Severity == High {
			v.Add("confidence", "low is for rules of at most severity %s, and this one is %s; "+
				"give it a milder severity or the confidence %s", Medium, r.Severity, ConfidenceMedium)
		}
	default:
		v.Add("confidence", "%v", errNoConfidence(r.Confidence))
	}
}

func errNoConfidence(c Confidence) error {
	name := strings.TrimSpace(shown(string(c), "this"))

	return fmt.Errorf("%s is not a confidence; use %s, %s or %s", name, ConfidenceHigh, ConfidenceMedium, ConfidenceLow)
}
