// Package report shows what a review or a local scan found, to people and to
// programs.
package report

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// Report is what there is to show.
type Report struct {
	// Review has the findings. Of a local scan it has no ID, Repo and PRNumber.
	Review review.Review
	// Of says what was looked at, such as `acme/web#17` or `2 files (146 B) in
	// 0.39 s`.
	Of string
	// FailOn is the least severity that fails; 0 when nothing does.
	FailOn rule.Severity
	// NewOnly lets only new findings fail.
	NewOnly bool
	// JSON is what the format json writes: the server's own answer. Without it
	// the Review is written in the same form.
	JSON []byte
	// Rules are those that are known, by their full ids.
	Rules map[string]rule.Rule
	// Version is prwarden's own.
	Version string
	// OmitSuppressed leaves suppressed findings out of SARIF.
	OmitSuppressed bool
}

// Fails reports whether the findings reach the threshold.
func (r Report) Fails() bool { return r.Failing() > 0 }

// Failing counts the findings that reach the threshold. Those that a truncated
// review doesn't list may be new, so they count as new.
func (r Report) Failing() int {
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
func (r Report) counts(f finding.Finding) bool { return !r.NewOnly || f.State != finding.StateExisting }

// complete reports whether there is a result to show.
func (r Report) complete() bool { return r.Review.Status == review.Complete }

// compared reports whether there was a review to compare with.
func (r Report) compared() bool { return r.Review.PreviousID != "" }

// found says how many findings there are, in all and by severity, in something.
func found(summary finding.Summary, of string) string {
	total := 0
	var counts []string
	for _, s := range rule.Severities() {
		if n := summary[s]; n > 0 {
			total += n
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}

	if total == 0 {
		return "No findings in " + of
	}
	return fmt.Sprintf("%s in %s: %s", terminal.Count(total, "finding"), of, strings.Join(counts, ", "))
}

// Summary says in a line what was found, or why there is nothing to say.
func (r Report) Summary() string {
	of := terminal.Safe(r.Of)
	switch failure := r.Review.Failure; {
	case failure != nil:
		return fmt.Sprintf("The review of %s failed: %s (%s)", of, safeText(failure.Message), terminal.Safe(failure.Code))
	case !r.complete():
		return fmt.Sprintf("The review of %s is %s.", of, terminal.Safe(string(r.Review.Status)))
	}

	text := found(r.Review.Summary, of)
	var parts []string
	if r.compared() {
		n := 0
		for _, f := range r.Review.Findings {
			if f.State != finding.StateExisting {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%s new, %d fixed", r.counted(n), len(r.Review.Fixed)))
	}
	if n := len(r.Review.Suppressed); n > 0 {
		parts = append(parts, r.counted(n)+" suppressed")
	}
	if n := len(r.Review.Skips); n > 0 {
		parts = append(parts, r.counted(n)+" not looked at")
	}
	if r.Review.Truncated {
		parts = append(parts, "too many to list all")
	}

	if parts != nil {
		text += "; " + strings.Join(parts, ", ")
	}
	return text + "."
}

// counted is a count of what is listed. A truncated review may have any more of
// it: only findings are counted in all.
func (r Report) counted(n int) string {
	if r.Review.Truncated {
		return fmt.Sprintf("at least %d", n)
	}
	return strconv.Itoa(n)
}

// Verdict says in a line whether the findings reach the threshold; "" when
// there is none.
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

	switch n := r.Failing(); n {
	case 0:
		return fmt.Sprintf("Passed: no %s is %s.", what, at)
	case 1:
		return fmt.Sprintf("Failed: 1 %s is %s.", what, at)
	default:
		return fmt.Sprintf("Failed: %d %ss are %s.", n, what, at)
	}
}

// safeText is Safe for text of more than one line.
func safeText(text string) string {
	return terminal.Safe(strings.Join(strings.Fields(text), " "))
}

func place(f finding.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }

func location(f finding.Finding) string { return terminal.Safe(f.File) + ":" + place(f) }
