package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// Bounds of a policy.
const (
	MaxSize      = 256 << 10 // bytes of a file
	MaxIDs       = 500       // in each list of ids
	MaxOverrides = 500
	MaxMaxDays   = 3660 // of Suppression.MaxDays
)

// Parse reads a policy from YAML or JSON, which is YAML too. What is not said is as
// in Default. Unknown keys are mistakes; so is what Validate refuses. Mistakes are a
// *rule.FileError.
func Parse(data []byte) (Policy, error) {
	if len(data) > MaxSize {
		return Policy{}, fmt.Errorf("the policy has %d bytes; at most %d are allowed", len(data), MaxSize)
	}

	p := Default()
	err := rule.DecodeFile(data, &p, Policy.Validate)
	return p, err
}

// FromJSON reads what JSON wrote, which was valid. Keys of a later version are left
// out, and its words stay.
func FromJSON(data []byte) (Policy, error) {
	p := Default()
	if err := json.Unmarshal(data, &p); err != nil {
		return Policy{}, fmt.Errorf("the policy can't be read: %w", err)
	}

	return p, nil
}

// JSON writes the policy whole.
func (p Policy) JSON() []byte {
	text, _ := json.Marshal(p) // texts and numbers never fail

	return text
}

// SkipReasons are the reasons for which something may not have been looked at.
func SkipReasons() []string {
	return []string{
		finding.SkipBinary, finding.SkipSubmodule, finding.SkipFileTooLarge, finding.SkipUndecodable,
		finding.SkipRuleStopped, finding.SkipRulesFileInvalid,
	}
}

// Validate returns nil or an *errs.Error of kind InvalidArgument that has
// everything that is wrong, by field.
func (p Policy) Validate() error {
	v := &validator{}
	v.ids("disable", p.Disable, rule.CheckAnyID)
	v.ids("locked.rules", p.Locked.Rules, checkLock)
	v.words("locked.rulesets", p.Locked.Rulesets, []string{rule.RulesetDefault, rule.RulesetCustom})
	v.words("skips.tolerated", p.Skips.Tolerated, SkipReasons())
	v.overrides(p.Override)
	v.publish(p.Publish)

	if p.LowConfidence != LowHidden && p.LowConfidence != LowCounted {
		v.Add("low_confidence", "must be %s or %s", LowHidden, LowCounted)
	}
	v.severity("fail_on", p.FailOn)
	v.severity("suppression.up_to", p.Suppression.UpTo)
	if p.Suppression.UpTo == "" {
		v.Add("suppression.up_to", "is required; to allow none set suppression.allowed to false")
	}
	if n := p.Suppression.MaxDays; n < 0 || n > MaxMaxDays {
		v.Add("suppression.max_days", "must be from 1 to %d, or 0 for no bound", MaxMaxDays)
	}

	if n := len(p.JSON()); n > MaxSize {
		v.Add("policy", "has %d bytes as JSON; at most %d are allowed", n, MaxSize)
	}

	locked := p.Locker()
	for i, id := range p.Disable {
		if locked(rule.Rule{ID: id}) {
			v.Add(fmt.Sprintf("disable[%d]", i), "%s is locked too, which would keep it on; leave out one of them", id)
		}
	}

	return v.Err()
}

// checkLock says what is wrong with an entry of Locked.Rules.
func checkLock(id string) error {
	if category, ok := strings.CutSuffix(id, anyName); ok {
		id = category + "/name"
	}
	return rule.CheckAnyID(id)
}

type validator struct{ errs.Violations }

func (v *validator) ids(field string, ids []string, check func(string) error) {
	if len(ids) > MaxIDs {
		v.Add(field, "has %d entries; at most %d are allowed", len(ids), MaxIDs)
		return
	}
	seen := map[string]bool{}
	for i, id := range ids {
		if err := check(id); err != nil {
			v.Add(fmt.Sprintf("%s[%d]", field, i), "an id %v", err)
		} else if seen[rule.FullID(id)] {
			v.Add(fmt.Sprintf("%s[%d]", field, i), "is there twice")
		}
		seen[rule.FullID(id)] = true
	}
}

func (v *validator) words(field string, words, known []string) {
	for i, word := range words {
		if !slices.Contains(known, word) {
			v.Add(fmt.Sprintf("%s[%d]", field, i), "must be one of %s", strings.Join(known, ", "))
		} else if slices.Index(words, word) < i {
			v.Add(fmt.Sprintf("%s[%d]", field, i), "is there twice")
		}
		if i > len(known) {
			return
		}
	}
}

func (v *validator) severity(field, word string) {
	if _, ok := rule.ParseSeverity(word); !ok && word != "" {
		v.Add(field, "is not a severity; one of %s", rule.SeverityList())
	}
}

func (v *validator) overrides(all map[string]Override) {
	if len(all) > MaxOverrides {
		v.Add("override", "has %d ids; at most %d are allowed", len(all), MaxOverrides)
		return
	}

	seen := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		o, field := all[id], "override."+id
		if err := rule.CheckAnyID(id); err != nil {
			v.Add("override", "an id %v", err)
			continue
		}
		if seen[rule.FullID(id)] {
			v.Add(field, "is there twice")
		}
		seen[rule.FullID(id)] = true

		v.severity(field+".severity", o.Severity)
		if len(o.Exclude) > rule.MaxGlobs {
			v.Add(field+".exclude", "has %d entries; at most %d are allowed", len(o.Exclude), rule.MaxGlobs)
			continue
		}
		for i, glob := range o.Exclude {
			if err := match.CheckGlob(glob); err != nil {
				v.Add(fmt.Sprintf("%s.exclude[%d]", field, i), "%v", err)
			}
		}
		if o.Severity == "" && len(o.Exclude) == 0 {
			v.Add(field, "changes nothing; give it a severity or globs to exclude")
		}
	}
}

// CheckKnown returns nil or an *errs.Error of kind InvalidArgument that names each
// id in Disable and Override of which nothing is known. Only default rules and
// findings of the category meta can be named there.
func (p Policy) CheckKnown(known func(fullID string) bool) error {
	var v errs.Violations
	for i, id := range p.Disable {
		if !known(rule.FullID(id)) {
			v.Add(fmt.Sprintf("disable[%d]", i), "%s is not a rule of the default ruleset", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.Override)) {
		if !known(rule.FullID(id)) {
			v.Add("override."+id, "is not a rule of the default ruleset")
		}
	}

	return v.Err()
}
