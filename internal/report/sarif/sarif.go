// Package sarif writes the findings of a review or of a local scan as a SARIF
// 2.1.0 log (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), shaped for GitHub
// code scanning
// (https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support).
//
// Code scanning ignores baselineState, so findings that were fixed are no
// results, or they would be open alerts; and it ignores suppressions, so a log
// for upload has no suppressed findings. Findings of rules that are only observed
// are notifications too: any result is an open alert, whatever its level and kind.
// Those of low confidence that don't count are left out.
package sarif

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// MediaType is that of a log.
const MediaType = "application/sarif+json"

// MaxResults is how many results a log has at most. GitHub rejects logs with
// more.
const MaxResults = 25_000

// Input is what a log is made of.
type Input struct {
	// Review has the findings. Of a local scan, most of it is empty.
	Review review.Review
	// Rules are those that are known, by their full ids; the others are described
	// by what their findings say.
	Rules map[string]rule.Rule

	// Version is prwarden's own.
	Version string
	// OmitSuppressed leaves out findings that comments suppress, and those that somebody
	// has set aside.
	OmitSuppressed bool
}

// Write writes a log, a result at a time, as results are most of it. Of more than
// MaxResults findings it takes those that nobody has suppressed before the
// others, and then the most severe, and a notification says how many there were.
func Write(w io.Writer, in Input) error {
	findings, total := selected(in)
	rules := describe(in.Rules, findings)
	r := run{Invocations: []invocation{newInvocation(in, len(findings), total)}, ColumnKind: "utf16CodeUnits"}
	r.Tool.Driver = driver{
		Name: "prwarden", Version: in.Version, InformationURI: "https://github.com/prwarden/prwarden", Rules: rules,
	}
	r.AutomationDetails.ID = category(in.Review)
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}

	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[`+"\n"+
		`%s,"results":[`, head[:len(head)-1])

	index := map[string]int{}
	for i, r := range rules {
		index[r.ID] = i
	}
	separator := "\n"
	for _, f := range findings {
		line, err := json.Marshal(newResult(f, index[f.RuleID], in.Review.PreviousID != ""))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s%s", separator, line)
		separator = ",\n"
	}

	fmt.Fprint(out, "]}]}\n")
	return out.Flush() // an error of before is this one, too
}

// selected returns the findings that become results, in order, and how many
// there would be without a limit.
func selected(in Input) (list []finding.Finding, total int) {
	list = slices.Clone(in.Review.Findings)
	if in.OmitSuppressed {
		list = slices.DeleteFunc(list, func(f finding.Finding) bool { return f.Triage != nil })
	} else {
		list = append(list, in.Review.Suppressed...)
	}

	total = len(list)
	if total > MaxResults {
		suppressed := func(f finding.Finding) int { return min(len(suppressions(f)), 1) }
		slices.SortStableFunc(list, func(a, b finding.Finding) int {
			return cmp.Or(cmp.Compare(suppressed(a), suppressed(b)), cmp.Compare(a.Severity, b.Severity))
		})
		list = list[:MaxResults]
	}

	slices.SortStableFunc(list, finding.InOrder)
	return list, total
}

// category names the run. GitHub compares runs that have the same before the last
// slash, so rulesets don't overwrite each other's.
func category(r review.Review) string {
	if r.Ruleset != "" && r.Ruleset != r.Repo {
		return "prwarden/" + r.Ruleset + "/" + r.ID
	}
	return "prwarden/" + r.ID
}

// newInvocation says what the log doesn't have. It is successful also when not all
// was looked at: code scanning refuses the results of others.
func newInvocation(input Input, results, total int) invocation {
	r := input.Review
	in := invocation{ExecutionSuccessful: true, Properties: newFacts(r)}
	notify := func(level, text string) {
		in.Notifications = append(in.Notifications, notification{Level: level, Message: message{Text: text}})
	}
	warn := func(text string) { notify("warning", text) }
	if results < total {
		warn(fmt.Sprintf("This log has the %d most severe of %d findings.", results, total))
	}
	if r.Truncated {
		warn("There were more findings, or more that was not looked at, than a review keeps.")
	}
	if r.BaseFoundBy.Guessed() {
		warn("What this was compared with is a guess.")
	}
	if v := r.Verdict; v != nil && v.NotLookedAt > 0 {
		notify("error", "Parts of the change that were not looked at: "+strconv.Itoa(v.NotLookedAt)+".")
	}

	for _, text := range finding.LeftOut(r.Exclusions, r.SwitchedOff) {
		notify("note", plain(text))
	}
	for _, s := range r.Skips {
		in.Notifications = append(in.Notifications, newSkip(s))
	}
	if input.OmitSuppressed {
		for _, f := range r.Findings {
			if t := f.Triage; t != nil {
				in.Notifications = append(in.Notifications, newAside(f, "Set aside: "+justification(*t)+". "))
			}
		}
		for _, f := range r.Suppressed {
			text := "Suppressed by a comment"
			if s := f.Suppression; s != nil && s.Reason != "" {
				text += ": " + s.Reason
			}
			in.Notifications = append(in.Notifications, newAside(f, text+". "))
		}
	}
	for _, f := range finding.WithoutLow(r.Observed) {
		in.Notifications = append(in.Notifications, newAside(f, "Only observed: this fails nothing. "))
	}

	return in
}

// newFacts returns nil when nothing is known.
func newFacts(r review.Review) *facts {
	f := facts{BaseSHA: r.BaseSHA, BaseFoundBy: r.BaseFoundBy}
	if v := r.Verdict; v != nil {
		f.Outcome, f.NotLookedAt = string(v.Outcome), v.NotLookedAt
	}
	if r.LookedAt != (finding.LookedAt{}) {
		f.LookedAt = &r.LookedAt
	}
	if f == (facts{}) {
		return nil
	}

	return &f
}

// newSkip says that something was not looked at.
func newSkip(s finding.Skip) notification {
	var where *region
	if s.Line > 0 {
		where = &region{StartLine: s.Line}
	}
	n := notificationAt("error", "Not looked at: "+plain(s.Text())+".", s.File, where)
	if s.Tolerated {
		n.Level = "note"
	}
	if s.RuleID != "" {
		n.Rule = &ruleRef{ID: s.RuleID}
	}

	return n
}

// notificationAt is a text about a place.
func notificationAt(level, text, file string, where *region) notification {
	n := notification{Level: level, Message: message{Text: text}, Locations: make([]location, 1)}
	place := &n.Locations[0].PhysicalLocation
	place.ArtifactLocation.URI, place.Region = relativeURI(file), where

	return n
}

// newAside is a finding that is no result, and why that is.
func newAside(f finding.Finding, why string) notification {
	n := notificationAt("note", plain(why+f.Message), f.File, newRegion(f))
	n.Rule = &ruleRef{ID: f.RuleID}

	return n
}

func newResult(f finding.Finding, ruleIndex int, compared bool) result {
	r := result{
		RuleID:              f.RuleID,
		RuleIndex:           ruleIndex,
		Level:               wordsOf[f.Severity].level,
		Message:             message{Text: plain(f.Message)},
		Locations:           make([]location, 1),
		PartialFingerprints: fingerprints{LineHash: f.LineHash, Own: f.Fingerprint},
		Suppressions:        suppressions(f),
		CodeFlows:           newCodeFlows(f),
		Fixes:               newFixes(f),
	}
	where := &r.Locations[0].PhysicalLocation
	where.ArtifactLocation.URI, where.Region, where.ContextRegion = relativeURI(f.File), newRegion(f), context(f)

	switch {
	case compared && f.State == finding.StateNew:
		r.BaselineState = "new"
	case compared && f.State == finding.StateExisting:
		r.BaselineState = "unchanged"
	}
	return r
}

func suppressions(f finding.Finding) []suppression {
	if s := f.Suppression; s != nil {
		return []suppression{{Kind: "inSource", Status: "accepted", Justification: finding.Shown(s.Reason)}}
	}
	if t := f.Triage; t != nil {
		return []suppression{{Kind: "external", Status: "accepted", Justification: justification(*t)}}
	}

	return nil
}

// justification is why somebody has set a finding aside.
func justification(t finding.Triage) string {
	text := finding.Shown(t.Reason) + " (" + t.Decision.Word() + " by " + finding.Shown(t.By)
	if t.Until != "" {
		text += " until " + t.Until
	}

	return text + ")"
}

// newRegion is where a finding is: whole lines where no columns are known.
func newRegion(f finding.Finding) *region {
	r := &region{StartLine: max(f.Line, 1)}
	r.EndLine = max(f.EndLine, r.StartLine)
	if f.UTF16Column > 0 && f.UTF16EndColumn > 0 {
		r.StartColumn, r.EndColumn = f.UTF16Column, f.UTF16EndColumn
	}
	return r
}

// context is the line that a finding is on, as it may be shown; nil when it is
// not known or only one of several.
func context(f finding.Finding) *region {
	if f.Snippet == "" || f.EndLine > f.Line {
		return nil
	}
	return &region{StartLine: max(f.Line, 1), Snippet: &message{Text: finding.Shown(f.Snippet)}}
}

// relativeURI is the path of a file as a relative reference of RFC 3986, in which
// no colon makes a scheme and no byte is lost that is not UTF-8.
func relativeURI(file string) string {
	return strings.ReplaceAll((&url.URL{Path: file}).EscapedPath(), ":", "%3A")
}

// plain is a text in which nothing is a link: `[text](target)` is one in a
// message, as in Markdown, and rules know of no such thing.
func plain(text string) string {
	text = finding.Shown(text)
	if !strings.Contains(text, "](") {
		return text
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(text)
}
