package finding

// State compares a finding with the previous review of the same pull request.
type State string

// The states.
const (
	StateNew      State = "new"
	StateExisting State = "existing"
	StateFixed    State = "fixed" // only the previous review had it
)

// Comparison is what changed between two reviews of a pull request.
type Comparison struct {
	Reported   []State // of each of the current result's Findings
	Suppressed []State // of each of the current result's Suppressed
	Observed   []State // of each of the current result's Observed
	Fixed      []int   // indexes of the previous result's Findings that are fixed
}

// Compare says what changed from the previous result to the current one. The
// zero Result stands for no previous review: then everything is new. Of the
// previous findings only RuleID, File and Fingerprint count.
//
// New means not reported before. A finding that a comment suppressed, or of a rule
// that was observed, and that is reported now is new, because whoever gates by new
// findings must hear of it. A suppressed or observed finding is existing when it was
// in any list before.
//
// Fixed is claimed only where the current scan looked: not in a file that was
// skipped, not of a rule that was stopped in it, and not at all when the current result
// is truncated or the rules of a broken rules file are missing. A finding whose rule
// no longer applies to its file is fixed too.
func Compare(previous, current Result) Comparison {
	c := Comparison{
		Reported:   states(current.Findings, previous.Findings),
		Suppressed: states(current.Suppressed, previous.Findings, previous.Suppressed, previous.Observed),
		Observed:   states(current.Observed, previous.Findings, previous.Suppressed, previous.Observed),
	}
	if !current.Truncated {
		c.Fixed = fixed(previous.Findings, current)
	}

	return c
}

// states says which findings are among the previous ones.
func states(findings []Finding, previous ...[]Finding) []State {
	known := Fingerprints(previous...)
	all := make([]State, len(findings))
	for i, f := range findings {
		all[i] = StateNew
		if known[f.Fingerprint] {
			all[i] = StateExisting
		}
	}

	return all
}

// fixed returns the indexes of the previous findings that are gone from the
// current result. Of a rule that was stopped in a file nothing counts as fixed there.
func fixed(previous []Finding, current Result) (gone []int) {
	there := Fingerprints(current.Findings, current.Suppressed, current.Observed)
	type place struct{ file, rule string }
	stopped, files := map[place]bool{}, map[string]bool{}
	for _, s := range current.Skips {
		switch {
		case s.Reason == SkipRulesFileInvalid:
			return nil
		case s.RuleID != "":
			stopped[place{s.File, s.RuleID}] = true
		default:
			files[s.File] = true
		}
	}

	for i, f := range previous {
		if !there[f.Fingerprint] && !files[f.File] && !stopped[place{f.File, f.RuleID}] {
			gone = append(gone, i)
		}
	}

	return gone
}

// Fingerprints are those of the findings in lists.
func Fingerprints(lists ...[]Finding) map[string]bool {
	all := map[string]bool{}
	for _, findings := range lists {
		for _, f := range findings {
			all[f.Fingerprint] = true
		}
	}

	return all
}
