package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// Outcome is whether what was looked at passes, for the threshold of the report.
func (r Report) Outcome() finding.Outcome {
	return finding.Decide(r.failing(), r.notLookedAt())
}

// Passes reports whether the outcome is good enough for whoever asked.
func (r Report) Passes() bool {
	outcome := r.Outcome()

	return outcome == finding.Pass || outcome == finding.Incomplete && r.AllowIncomplete
}

// failing counts the findings that reach the threshold. Those that a truncated
// review doesn't list may be new, so they count as new.
func (r Report) failing() int {
	if r.FailOn == 0 {
		return 0
	}

	n := 0
	unlisted := finding.Summary{}
	maps.Copy(unlisted, r.Review.Summary)
	for _, f := range r.Review.Findings {
		unlisted[f.Severity]--
		if r.fails(f) {
			n++
		}
	}

	for s, count := range unlisted {
		if s.AtLeast(r.FailOn) {
			n += max(count, 0)
		}
	}

	return n
}

// fails reports whether a finding reaches the threshold.
func (r Report) fails(f finding.Finding) bool {
	return r.FailOn != 0 && f.Severity.AtLeast(r.FailOn) && r.counts(f)
}

// counts reports whether a finding counts for the verdict.
func (r Report) counts(f finding.Finding) bool {
	return f.Triage == nil && (!r.NewOnly || f.State != finding.StateExisting)
}

// notLookedAt counts what was not looked at and is not tolerated, as whoever scanned
// counted it.
func (r Report) notLookedAt() int {
	if r.FailOn == 0 || r.Review.Verdict == nil {
		return 0
	}

	return r.Review.Verdict.NotLookedAt
}

// incomplete reports whether what was not looked at makes the command fail.
func (r Report) incomplete() bool { return r.notLookedAt() > 0 && !r.AllowIncomplete }

// skips returns what was not looked at and counts, or what is tolerated.
func (r Report) skips(tolerated bool) (list []finding.Skip) {
	for _, s := range r.Review.Skips {
		if s.Tolerated == tolerated {
			list = append(list, s)
		}
	}

	return list
}

// unlistedSkips is how many skips count that a truncated review doesn't list.
func (r Report) unlistedSkips() int { return max(r.notLookedAt()-len(r.skips(false)), 0) }

// Verdict says in a line whether what was looked at passes; "" when nothing is
// decided.
func (r Report) Verdict() string {
	if r.FailOn == 0 || !r.complete() {
		return ""
	}

	what, at := "finding", r.FailOn.String()
	if r.NewOnly {
		what = "new finding"
	}
	if r.FailOn != rule.Critical {
		at += " or worse"
	}

	missing := terminal.Count(r.notLookedAt(), "part")
	if r.notLookedAt() == 1 {
		missing += " was not looked at"
	} else {
		missing += " were not looked at"
	}

	n := r.failing()
	if n == 0 && slices.ContainsFunc(r.Review.Findings, func(f finding.Finding) bool { return f.Triage != nil }) {
		what += " that counts"
	}
	switch {
	case n > 1:
		what = fmt.Sprintf("Failed: %d %ss are %s", n, what, at)
	case n == 1:
		what = fmt.Sprintf("Failed: 1 %s is %s", what, at)
	case r.incomplete():
		return fmt.Sprintf("Incomplete: no %s is %s, but %s.", what, at, missing)
	case r.notLookedAt() > 0:
		return fmt.Sprintf("Passed: no %s is %s. That %s is allowed.", what, at, missing)
	default:
		return fmt.Sprintf("Passed: no %s is %s.", what, at)
	}

	if r.notLookedAt() > 0 {
		what += ", and " + missing
	}

	return what + "."
}

// Base says in a line what was compared with, and how that was found; "" where
// nothing is to be merged.
func (r Report) Base() string {
	text := "Compared with " + terminal.Safe(r.Review.BaseSHA[:min(len(r.Review.BaseSHA), shortSHA)])
	const name = "Name it with --head-sha and --base-sha or --base-ref, or refuse guesses with --require-base."
	switch r.Review.BaseFoundBy {
	case finding.BaseMergeRef:
		return text + ", the base of the code host's trial merge."
	case finding.BaseCodeHost:
		return text + ", as the code host named it."
	case finding.BaseRequested:
		return text + ", as requested."
	case finding.BaseMergeCommit:
		return text + ", which is a guess: the default branch as it was before this was merged into it. " + name
	case finding.BaseDefaultBranch:
		return text + ", which is a guess: the default branch, since the code host has no trial merge of this. " + name
	}

	return ""
}

// shortSHA is how many digits of a commit people are shown.
const shortSHA = 12

// lookedAt says how much was looked at; "" when that is not known.
func (r Report) lookedAt() string {
	l := r.Review.LookedAt
	if l == (finding.LookedAt{}) {
		return ""
	}

	files := counted(l.Files, "file")
	var kinds []string
	for _, k := range []struct {
		n    int
		word string
	}{{l.Generated, "generated"}, {l.Minified, "minified"}, {l.Vendored, "vendored"}} {
		if k.n > 0 {
			kinds = append(kinds, humanize.Comma(int64(k.n))+" "+k.word)
		}
	}
	if len(kinds) > 0 {
		files += " (" + strings.Join(kinds, ", ") + ")"
	}
	if l.Rules == 0 { // files that were scanned as a whole
		return counted(l.AddedLines, "line") + " in " + files
	}

	return counted(l.AddedLines, "added line") + " in " + files + ", " + counted(l.Rules, "rule")
}

// counted is terminal.Count with commas between thousands.
func counted(n int, of string) string {
	return strings.Replace(terminal.Count(n, of), strconv.Itoa(n), humanize.Comma(int64(n)), 1)
}

// byComment says why a comment suppresses a finding.
func byComment(f finding.Finding) string {
	if s := f.Suppression; s != nil && s.Reason != "" {
		return "by a comment: " + strings.TrimRight(safeText(s.Reason), ".")
	}

	return "by a comment"
}

// decided says what was decided about a finding, by whom and why.
func decided(t finding.Triage) string {
	text := t.Decision.Word() + " by " + terminal.Safe(t.By)
	if t.Until != "" {
		text += " until " + terminal.Safe(t.Until)
	}
	if t.Reason != "" {
		text += ": " + strings.TrimRight(safeText(t.Reason), ".")
	}

	return text
}

// SwitchedOff says, a line each, what the rules file excludes and which rules were
// switched off by whom.
func (r Report) SwitchedOff() []string {
	if !r.complete() {
		return nil
	}

	return texts(finding.LeftOut(r.Review.Exclusions, r.Review.SwitchedOff), safeText)
}
