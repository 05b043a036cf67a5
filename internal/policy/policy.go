// Package policy is what an organization decides over its repositories: which
// default rules are off or changed for all of them, which rules no repository can
// switch off, who may set findings aside, and what a verdict needs.
package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Policy is the policy of one organization. It goes before everything that a
// repository says. Its JSON and YAML are the same document.
type Policy struct {
	// Disable has ids of default rules, and of findings of the category meta, that are
	// off in all repositories.
	Disable []string `json:"disable,omitempty" yaml:"disable,omitempty"`
	// Override changes default rules in all repositories, by id.
	Override    map[string]Override `json:"override,omitempty" yaml:"override,omitempty"`
	Locked      Locked              `json:"locked" yaml:"locked"`
	Suppression Suppression         `json:"suppression" yaml:"suppression"`
	// FailOn is the least severity that fails; "" leaves it to each request. A request
	// can only be stricter.
	FailOn string `json:"fail_on,omitempty" yaml:"fail_on,omitempty"`
	Skips  Skips  `json:"skips" yaml:"skips"`
	// LowConfidence says what becomes of findings of rules with rule.ConfidenceLow.
	LowConfidence string `json:"low_confidence" yaml:"low_confidence"`
	// Publish says what is published in pull requests of connections.
	Publish Publish `json:"publish" yaml:"publish"`
}

// What becomes of findings of low confidence.
const (
	LowHidden  = "hide"  // they are apart and fail nothing, and nobody sees them who doesn't ask
	LowCounted = "count" // they are as others
)

// Override changes a default rule.
type Override struct {
	Severity string   `json:"severity,omitempty" yaml:"severity,omitempty"` // "" leaves it as it is
	Exclude  []string `json:"exclude,omitempty" yaml:"exclude,omitempty"`   // globs, beside the rule's own
}

// Locked are the rules that nothing in a repository can switch off: neither its
// rules file, nor a comment, nor the choice of a ruleset.
type Locked struct {
	Rules    []string `json:"rules" yaml:"rules"`       // ids, and `category/*` for all of a category
	Rulesets []string `json:"rulesets" yaml:"rulesets"` // rule.RulesetDefault and rule.RulesetCustom
}

// Suppression says which findings one person may set aside, and how.
type Suppression struct {
	Allowed       bool   `json:"allowed" yaml:"allowed"`               // false: none
	UpTo          string `json:"up_to" yaml:"up_to"`                   // the most severe that may be
	Secrets       bool   `json:"secrets" yaml:"secrets"`               // also of rules that redact or find secrets
	RequireReason bool   `json:"require_reason" yaml:"require_reason"` //
	RequireEnd    bool   `json:"require_end" yaml:"require_end"`       // a last day
	MaxDays       int    `json:"max_days" yaml:"max_days"`             // how far away that day may be; 0 for any
}

// Skips says what of a change need not have been looked at.
type Skips struct {
	Tolerated []string `json:"tolerated" yaml:"tolerated"` // reasons of skips
}

// DefaultMaxDays is how far away the end of a suppression may be when a policy says
// nothing else.
const DefaultMaxDays = 366

// Default is the policy of an organization that has set none.
func Default() Policy {
	return Policy{
		Locked: Locked{Rules: []string{}, Rulesets: []string{}},
		Suppression: Suppression{
			Allowed: true, UpTo: rule.High.String(), RequireReason: true, RequireEnd: true, MaxDays: DefaultMaxDays,
		},
		Skips: Skips{Tolerated: []string{finding.SkipBinary, finding.SkipSubmodule}},

		LowConfidence: LowHidden,
		Publish:       DefaultPublish(),
	}
}

// Tolerates reports whether a change passes when something was not looked at for a
// reason. In a FIFO or a device there is nothing to look at.
func (p Policy) Tolerates(reason string) bool {
	return slices.Contains(p.Skips.Tolerated, reason) || reason == finding.SkipSpecial
}

// CountsLow reports whether findings of low confidence are as others.
func (p Policy) CountsLow() bool { return p.LowConfidence == LowCounted }

// Threshold is the least severity that fails a review whose request asked for one:
// the stricter of the two. It is 0 when neither says anything.
func (p Policy) Threshold(asked rule.Severity) rule.Severity {
	own, _ := rule.ParseSeverity(p.FailOn)

	return max(own, asked)
}

// Disabled returns the full ids of what is off in all repositories.
func (p Policy) Disabled() map[string]bool {
	off := make(map[string]bool, len(p.Disable))
	for _, id := range p.Disable {
		off[rule.FullID(id)] = true
	}

	return off
}

// Overrides returns what changes of default rules, by full id.
func (p Policy) Overrides() map[string]rule.Override {
	changes := make(map[string]rule.Override, len(p.Override))
	for id, o := range p.Override {
		severity, _ := rule.ParseSeverity(o.Severity)
		changes[rule.FullID(id)] = rule.Override{ID: id, Severity: severity, Exclude: o.Exclude}
	}

	return changes
}

// Locker returns what says whether a rule is locked. It is for many rules.
func (p Policy) Locker() func(rule.Rule) bool {
	ids := make(map[string]bool, len(p.Locked.Rules))
	for _, id := range p.Locked.Rules {
		ids[rule.FullID(id)] = true
	}
	defaults := slices.Contains(p.Locked.Rulesets, rule.RulesetDefault)
	custom := slices.Contains(p.Locked.Rulesets, rule.RulesetCustom)

	return func(r rule.Rule) bool {
		if r.Origin == rule.OriginRulesFile { // the repository's own
			return false
		}
		id := r.FullID()
		category, _, _ := strings.Cut(id, "/")

		return ids[id] || ids[category+anyName] ||
			defaults && r.Origin == rule.OriginDefault || custom && r.Origin == rule.OriginCustom
	}
}

// anyName stands for all names of a category.
const anyName = "/*"

// MaySuppress returns what says why a finding of a rule may not be set aside in one
// person's way, nil when it may. It decides for every way of doing so. The rule is as
// the organization has it, without what a repository changes; today is `YYYY-MM-DD`.
// The error is a phrase that repeats nothing of the reason.
func (p Policy) MaySuppress() func(r rule.Rule, s finding.Suppression, today string) error {
	locked := p.Locker()
	upTo, _ := rule.ParseSeverity(p.Suppression.UpTo)

	return func(r rule.Rule, s finding.Suppression, today string) error {
		id := r.FullID()
		switch {
		case !p.Suppression.Allowed:
			return errors.New("the organization allows nobody to set findings aside")
		case locked(r):
			return fmt.Errorf("the organization has locked %s", id)
		case !p.Suppression.Secrets && (r.Redact || strings.HasPrefix(id, rule.CategorySecrets+"/")):
			return fmt.Errorf("%s finds secrets, which the organization allows nobody to set aside", id)
		case upTo == 0 || r.Severity < upTo: // of a policy that says something unknown
			return fmt.Errorf("%s is %s, and the organization allows it up to %s", id, r.Severity, upTo)
		}

		return p.checkTerms(s, today)
	}
}

// What a suppression may lack.
var (
	ErrNoReason = errors.New("it gives no reason, which is required here")
	ErrNoEnd    = errors.New("it has no end, which is required here")
)

// MayDecide is MaySuppress for decisions about findings, of rules that are given as
// RulesFor returns them, and then those of the rules file. A rule that is no more can't
// be asked whether it finds secrets, so its findings may not be set aside unless those
// of secrets may.
func (p Policy) MayDecide(rules []rule.Rule) func(f finding.Finding, t finding.Triage, today string) error {
	may, overrides := p.MaySuppress(), p.Overrides()
	known := make(map[string]rule.Rule, len(rules))
	for _, r := range rules {
		id := r.FullID()
		same, shadowed := known[id]
		switch {
		case shadowed && (r.Origin == rule.OriginRulesFile || r.Disabled):
			same.Redact = same.Redact || r.Redact
			known[id] = same
		default:
			known[id] = r
		}
	}

	return func(f finding.Finding, t finding.Triage, today string) error {
		r, ok := known[f.RuleID]
		switch {
		case rule.IsMeta(f.RuleID):
			r = rule.Rule{ID: f.RuleID, Severity: f.Severity}
		case !ok && !p.Suppression.Secrets:
			return fmt.Errorf("there is no rule %s any more that says whether it finds secrets", f.RuleID)
		case !ok:
			r = rule.Rule{ID: f.RuleID, Severity: f.Severity, Origin: rule.OriginRulesFile}
		case r.Origin == rule.OriginDefault:
			r.Severity = cmp.Or(overrides[f.RuleID].Severity, r.Severity)
		}

		return may(r, t.Terms(), today)
	}
}

// checkTerms says what a suppression lacks, whatever rule it is about.
func (p Policy) checkTerms(s finding.Suppression, today string) error {
	switch {
	case p.Suppression.RequireReason && s.Reason == "":
		return ErrNoReason
	case p.Suppression.RequireEnd && s.Until == "":
		return ErrNoEnd
	}

	day, err := time.Parse(time.DateOnly, today)
	if most := p.Suppression.MaxDays; err == nil && most > 0 && s.Until != "" {
		if last := day.AddDate(0, 0, most).Format(time.DateOnly); s.Until > last {
			return fmt.Errorf("its end is more than %d days away; the last day that is allowed here is %s", most, last)
		}
	}

	return nil
}

// DigestWith returns the digest of what decides the results of a scan: rules, whose
// digest is given, and the policy. It is that of the rules for a policy that decides
// as Default does.
func (p Policy) DigestWith(rules string) string {
	decides := func(p Policy) string {
		part := struct {
			Rules, Rulesets, Disable []string
			Suppression              Suppression
			CountsLow                bool
		}{sorted(p.Locked.Rules), sorted(p.Locked.Rulesets), sorted(p.Disable), p.Suppression, p.CountsLow()}
		text, _ := json.Marshal(part) // texts and numbers never fail

		return string(text)
	}

	own := decides(p)
	if own == decides(Default()) {
		return rules
	}
	sum := sha256.Sum256([]byte(rules + own))

	return hex.EncodeToString(sum[:])
}

// ETag changes whenever the policy does.
func (p Policy) ETag() string {
	text, _ := json.Marshal(p.normal()) // texts and numbers never fail
	sum := sha256.Sum256(text)

	return hex.EncodeToString(sum[:16])
}

// Equal reports whether two policies say the same.
func (p Policy) Equal(q Policy) bool { return p.ETag() == q.ETag() }

// normal is the policy with sorted lists: their order decides nothing.
func (p Policy) normal() Policy {
	p.Disable = sorted(p.Disable)
	p.Locked.Rules, p.Locked.Rulesets = sorted(p.Locked.Rules), sorted(p.Locked.Rulesets)
	p.Skips.Tolerated = sorted(p.Skips.Tolerated)
	p.Override = maps.Clone(p.Override)
	for id, o := range p.Override {
		o.Exclude = sorted(o.Exclude)
		p.Override[id] = o
	}

	return p
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
