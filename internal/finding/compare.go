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
	Fixed      []int   // indexes of the previous result's Findings that are fixed
}

// Compare says what changed from the previous result to the current one. The
// zero Result stands for no previous review: then everything is new. Of the
// previous findings only RuleID, File and Fingerprint count.
//
// New means not reported before. A finding that a comment suppressed and that is
// reported now is new, because whoever gates by new findings must hear of it. A
// suppressed finding is existing when it was reported or suppressed before.
//
// Fixed is claimed only where the current scan looked: not in a file that was
// skipped, not of a rule that was stopped, and not at all when the current result
// is truncated. A finding whose rule no longer applies to its file is fixed too.
func Compare(previous, current Result) Comparison {
	reported := fingerprints(previous.Findings)
	suppressed := fingerprints(previous.Suppressed)

	c := Comparison{
		Reported:   make([]State, len(current.Findings)),
		Suppressed: make([]State, len(current.Suppressed)),
	}
	for i, f := range current.Findings {
		c.Reported[i] = stateOf(reported[f.Fingerprint])
	}
	for i, f := range current.Suppressed {
		c.Suppressed[i] = stateOf(reported[f.Fingerprint] || suppressed[f.Fingerprint])
	}

	if !current.Truncated {
		c.Fixed = fixed(previous.Findings, current)
	}

	return c
}

func stateOf(known bool) State {
	if known {
		return StateExisting
	}

	return StateNew
}

// fixed returns the indexes of the previous findings that are gone from the
// current result. A rule that was stopped has a skip only in the file where it
// happened, but files are matched side by side, so nobody knows in which others it
// still matched: nothing of it counts as fixed.
func fixed(previous []Finding, current Result) []int {
	reported := fingerprints(current.Findings)
	suppressed := fingerprints(current.Suppressed)

	files, rules := map[string]bool{}, map[string]bool{}
	for _, s := range current.Skips {
		if s.RuleID != "" {
			rules[s.RuleID] = true
		} else {
			files[s.File] = true
		}
	}

	var gone []int
	for i, f := range previous {
		there := reported[f.Fingerprint] || suppressed[f.Fingerprint]
		if !there && !files[f.File] && !rules[f.RuleID] {
			gone = append(gone, i)
		}
	}

	return gone
}

func fingerprints(findings []Finding) map[string]bool {
	all := make(map[string]bool, len(findings))
	for _, f := range findings {
		all[f.Fingerprint] = true
	}

	return all
}
