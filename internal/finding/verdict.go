package finding

import (
	"slices"

	"github.com/prwarden/prwarden/internal/rule"
)

// Outcome is whether a pull request passes.
type Outcome string

// The outcomes.
const (
	Pass       Outcome = "pass"
	Fail       Outcome = "fail"
	Incomplete Outcome = "incomplete" // nothing fails, but not all was looked at
)

// Verdict says whether a pull request passes. Its JSON is that of the REST API.
type Verdict struct {
	Outcome   Outcome       `json:"outcome"`
	Threshold rule.Severity `json:"threshold"` // the least severity that fails

	// NotLookedAt counts the skips that are not tolerated, whatever the outcome.
	NotLookedAt int `json:"not_looked_at"`
}

// Decide is the one place where an outcome is decided: of so many findings that
// fail, and so many things that were not looked at and are not tolerated.
func Decide(failing, notLookedAt int) Outcome {
	switch {
	case failing > 0:
		return Fail
	case notLookedAt > 0:
		return Incomplete
	}

	return Pass
}

// Judge decides the verdict of a result and marks the skips that are tolerated.
// tolerates says which reasons are.
func (r *Result) Judge(threshold rule.Severity, tolerates func(reason string) bool) {
	for i := range r.Skips {
		r.Skips[i].Tolerated = r.Skips[i].Kind().Tolerated(threshold, tolerates)
	}

	v := Verdict{Threshold: threshold}
	for kind, n := range r.SkipCounts {
		if !kind.Tolerated(threshold, tolerates) {
			v.NotLookedAt += n
		}
	}
	v.Outcome = Decide(r.Summary.AtLeast(threshold), v.NotLookedAt)
	r.Verdict = v
}

// Stricter returns what a verdict and its skips are for a threshold that was asked for
// later: rules that were stopped count, too, which were less severe than the one before.
// It is a copy, or what was given when the threshold is no stricter.
func (v Verdict) Stricter(threshold rule.Severity, skips []Skip) (Verdict, []Skip) {
	if v.Threshold == 0 || threshold <= v.Threshold {
		return v, skips
	}

	skips = slices.Clone(skips)
	for i, s := range skips {
		isOff := s.Tolerated && !s.Observed && s.Severity != 0 && !s.Severity.AtLeast(v.Threshold)
		if isOff && s.Severity.AtLeast(threshold) {
			skips[i].Tolerated = false
			v.NotLookedAt++
		}
	}
	v.Threshold = threshold

	return v, skips
}

// SkipKind is what skips are counted by.
type SkipKind struct {
	Reason   string
	Severity rule.Severity // of the rule that was stopped; 0 when it is not about a rule
	Observed bool          // findings of the rule are of KindObserved
}

// Tolerated reports whether a verdict passes over skips of a kind. A rule that was
// stopped counts only when its findings would have failed.
func (k SkipKind) Tolerated(threshold rule.Severity, tolerates func(reason string) bool) bool {
	return tolerates(k.Reason) || k.Observed || k.Severity != 0 && !k.Severity.AtLeast(threshold)
}

// Kind is what the skip is counted as.
func (s Skip) Kind() SkipKind { return SkipKind{s.Reason, s.Severity, s.Observed} }

// SkipCounts counts skips by their kind.
type SkipCounts map[SkipKind]int

// AtLeast counts the findings that are at least as severe.
func (s Summary) AtLeast(threshold rule.Severity) (n int) {
	for severity, count := range s {
		if severity.AtLeast(threshold) {
			n += count
		}
	}

	return n
}

// LookedAt is how much a scan looked at. Its JSON is that of the REST API.
type LookedAt struct {
	Files      int `json:"files"`       // of which added lines were looked at
	AddedLines int `json:"added_lines"` // in them
	Rules      int `json:"rules"`       // that applied

	// Files in which some rules did not look because of what the files are.
	Generated int `json:"generated"`
	Minified  int `json:"minified"`
	Vendored  int `json:"vendored"`
}

// BaseFoundBy is how the base of a pull request was found, in the words of the
// API. It is empty where nothing is merged, as in the scan of a work tree.
type BaseFoundBy string

// The ways.
const (
	BaseMergeRef      BaseFoundBy = "merge_ref"      // by the code host's trial merge
	BaseRequested     BaseFoundBy = "requested"      // the caller named it
	BaseCodeHost      BaseFoundBy = "code_host"      // the code host's API named it
	BaseMergeCommit   BaseFoundBy = "merge_commit"   // what the default branch was before head was merged into it
	BaseDefaultBranch BaseFoundBy = "default_branch" // as it is now
)

// Guessed reports whether the pull request may be for another base.
func (b BaseFoundBy) Guessed() bool { return b == BaseMergeCommit || b == BaseDefaultBranch }
