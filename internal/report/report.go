// Package report shows what a review or a local scan found, to people and to
// programs.
package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/sarif"
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
	// Rules describes the rules that are known.
	Rules *sarif.Catalog
	// RepositoryURI is where the repository is; empty when that is not known.
	RepositoryURI string
	// Version is prwarden's own.
	Version string
	// OmitSuppressed leaves suppressed findings out of SARIF.
	OmitSuppressed bool
}

// Fails reports whether the findings reach the threshold.
func (r Report) Fails() bool { return r.Failing() > 0 }

// Failing counts the findings that reach the threshold. Of those that a
// truncated review doesn't list, nobody knows whether they are new, so they
// count as new.
func (r Report) Failing() int {
	n := 0
	unlisted := finding.Summary{}
	for s, count := range r.Review.Summary {
		unlisted[s] = count
	}

	for _, f := range r.Review.Findings {
		unlisted[f.Severity]--
		if r.fails(f) {
			n++
		}
	}

	for s, count := range unlisted {
		if r.FailOn != 0 && s.AtLeast(r.FailOn) {
			n += max(count, 0)
		}
	}
	return n
}

// fails reports whether a finding counts and is as severe as the threshold.
func (r Report) fails(f finding.Finding) bool {
	return r.FailOn != 0 && f.Severity.AtLeast(r.FailOn) && r.considered(f)
}

// considered reports whether a finding counts.
func (r Report) considered(f finding.Finding) bool {
	return !r.NewOnly || f.State != finding.StateExisting
}

// complete reports whether there is a result to show.
func (r Report) complete() bool { return r.Review.Status == review.Complete }

// compared reports whether there was a review to compare with.
func (r Report) compared() bool { return r.Review.PreviousID != "" }

// Findings says how many there are, in all and by severity, in something.
func Findings(bySeverity map[string]int, of string) string {
	total := 0
	var counts []string
	for _, s := range rule.Severities() {
		if n := bySeverity[s.String()]; n > 0 {
			total += n
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}

	switch total {
	case 0:
		return "No findings in " + of
	case 1:
		return "1 finding in " + of + ": " + counts[0]
	}
	return fmt.Sprintf("%d findings in %s: %s", total, of, strings.Join(counts, ", "))
}

// Summary says in a line what was found, or why there is nothing to say.
func (r Report) Summary() string {
	of := terminal.Safe(r.Of)
	switch {
	case r.Review.Status == review.Failed && r.Review.Failure != nil:
		return fmt.Sprintf("The review of %s failed: %s (%s)", of, safeText(r.Review.Failure.Message),
			terminal.Safe(r.Review.Failure.Code))
	case !r.complete():
		return fmt.Sprintf("The review of %s is %s.", of, terminal.Safe(string(r.Review.Status)))
	}

	words := map[string]int{}
	for s, n := range r.Review.Summary {
		words[s.String()] = n
	}
	text := Findings(words, of)
	var more []string
	if r.compared() {
		n := 0
		for _, f := range r.Review.Findings {
			if f.State != finding.StateExisting {
				n++
			}
		}
		more = append(more, r.counted(n)+" new", fmt.Sprintf("%d fixed", len(r.Review.Fixed)))
	}

	if n := len(r.Review.Suppressed); n > 0 {
		more = append(more, r.counted(n)+" suppressed")
	}
	if n := len(r.Review.Skips); n > 0 {
		more = append(more, r.counted(n)+" not looked at")
	}

	if r.Review.Truncated {
		more = append(more, "too many to list all")
	}
	if more != nil {
		text += "; " + strings.Join(more, ", ")
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
	kind := ""
	if r.NewOnly {
		kind = "new "
	}

	at := "is " + r.FailOn.String()
	if r.FailOn != rule.Critical {
		at += " or worse"
	}
	switch n := r.Failing(); n {
	case 0:
		return fmt.Sprintf("Passed: no %sfinding %s.", kind, at)
	case 1:
		return fmt.Sprintf("Failed: 1 %sfinding %s.", kind, at)
	default:
		return fmt.Sprintf("Failed: %d %sfindings %s.", n, kind, strings.Replace(at, "is", "are", 1))
	}
}

// SkipText says why something was not looked at. ruleID is of a rule that was
// stopped.
func SkipText(reason, ruleID string) string {
	switch reason {
	case "binary":
		return "a binary file"
	case "file_too_large":
		return "the file is over 1 MiB"
	case "line_too_long":
		return "the line is over 16 KiB"
	case "submodule":
		return "a submodule"
	case "special":
		return "a FIFO, a device or a socket"
	case "gone":
		return "removed meanwhile"
	case "rule_timeout":
		return "rule " + terminal.Safe(ruleID) + " took too long and was stopped here"
	}
	return terminal.Safe(reason)
}

// safeText is Safe for text of more than one line.
func safeText(text string) string {
	return terminal.Safe(strings.Join(strings.Fields(text), " "))
}
