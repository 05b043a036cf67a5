package finding

import (
	"slices"
	"time"
)

// Decision is what somebody decided about a finding.
type Decision string

// The decisions.
const (
	Open          Decision = "open"           // nothing is decided
	Accepted      Decision = "accepted"       // it is right, and stays for now
	FalsePositive Decision = "false_positive" // the rule is wrong about it
	WontFix       Decision = "wont_fix"       // it is right, and stays
)

// Decisions are all of them.
func Decisions() []Decision { return []Decision{Open, Accepted, FalsePositive, WontFix} }

// Scope is where a decision holds.
type Scope string

// The scopes.
const (
	InPullRequest Scope = "pull_request"
	InRepository  Scope = "repository" // in all of its pull requests
)

// Triage is a decision about a finding, which sets it aside: it does not count for a
// verdict. Its JSON is that of the REST API.
type Triage struct {
	Decision Decision  `json:"decision"` // never Open
	Reason   string    `json:"reason"`
	Until    string    `json:"until,omitempty"` // last day, `YYYY-MM-DD` in UTC; empty for no end
	By       string    `json:"by"`              // the actor, such as `key:key_01k9`
	At       time.Time `json:"at"`
	Scope    Scope     `json:"scope"`
}

// Holds reports whether the decision counts on a day, `YYYY-MM-DD`.
func (t Triage) Holds(today string) bool { return t.Until == "" || t.Until >= today }

// Terms are what a policy is asked about.
func (t Triage) Terms() Suppression { return Suppression{Reason: t.Reason, Until: t.Until} }

// Word is the word for people of a decision.
func (d Decision) Word() string {
	words := []string{"open", "accepted", "a false positive", "not to be fixed"}
	if i := slices.Index(Decisions(), d); i >= 0 {
		return words[i]
	}

	return string(d)
}
