// Package report shows what a review or a local scan found, to people and to
// programs.
package report

import (
	"fmt"
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
	// AllowIncomplete lets pass what was not looked at as a whole.
	AllowIncomplete bool
	// JSON is what the format json writes: the server's own answer. Without it
	// the Review is written in the same form.
	JSON []byte
	// Rules are those that are known, by their full ids.
	Rules map[string]rule.Rule
	// Version is prwarden's own.
	Version string
	// Annotate has findings annotated although a check shows them already.
	Annotate bool
	// OmitSuppressed leaves suppressed findings out of SARIF.
	OmitSuppressed bool
}

// complete reports whether there is a result to show.
func (r Report) complete() bool { return r.Review.Status == review.Complete }

// compared reports whether there was a review to compare with.
func (r Report) compared() bool { return r.Review.PreviousID != "" }

// found says how many findings there are, in all and by severity, in something; or
// how much was looked at in vain.
func (r Report) found(of string) string {
	total := 0
	var counts []string
	for _, s := range rule.Severities() {
		if n := r.Review.Summary[s]; n > 0 {
			total += n
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}

	if looked := r.lookedAt(); total == 0 && looked != "" {
		return "No findings in " + of + ": " + looked
	} else if total == 0 {
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

	text := r.found(of)
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
	if n := len(r.onlyObserved()); n > 0 {
		parts = append(parts, r.counted(n)+" observed")
	}
	if n := len(r.Review.Skips); n > 0 {
		text := r.counted(n) + " not looked at"
		if tolerated := len(r.skips(true)); 0 < tolerated && tolerated < n {
			text += fmt.Sprintf(" (%s tolerated)", r.counted(tolerated))
		}
		parts = append(parts, text)
	}
	if r.Review.Truncated {
		parts = append(parts, "too many to list all")
	}

	if parts != nil {
		text += "; " + strings.Join(parts, ", ")
	}
	return text + "."
}

// onlyObserved is what fails nothing and is shown all the same. What doesn't count for its
// low confidence is not.
func (r Report) onlyObserved() []finding.Finding { return finding.WithoutLow(r.Review.Observed) }

// counted is a count of what is listed. A truncated review may have any more of
// it: only findings are counted in all.
func (r Report) counted(n int) string {
	if r.Review.Truncated {
		return fmt.Sprintf("at least %d", n)
	}
	return strconv.Itoa(n)
}

// safeText is Safe for text of more than one line.
func safeText(text string) string {
	return terminal.Safe(strings.Join(strings.Fields(text), " "))
}

func place(f finding.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }

func location(f finding.Finding) string { return terminal.Safe(f.File) + ":" + place(f) }
