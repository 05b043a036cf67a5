package publish

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxListed is how many findings a summary lists, and maxSkips how many things that were
// not looked at.
const (
	maxListed = 30
	maxSkips  = 10
)

// Links says where people find a review; "" for nowhere.
type Links func(org, reviewID string) string

// Want is what should be in a pull request whose newest review of the head is r, nil for
// none. One that passes against another base does not pass. It depends on nothing else, so
// whoever publishes the same twice changes nothing.
func Want(
	p PullRequest, r *review.Review, s policy.Publish, link Links, l codehost.Limits,
) Desired {
	if r == nil {
		return Desired{HideCheck: true}
	}
	s = s.Quieter(r.Publish)
	w := wanted{p: p, r: *r, settings: s, url: link(p.Organization, r.ID)}
	w.r.Findings = nil
	for _, f := range r.Findings {
		if f.Triage == nil {
			w.r.Findings = append(w.r.Findings, f)
		} else {
			w.aside = append(w.aside, f)
		}
	}
	d := Desired{HideCheck: !s.Check, Check: codehost.Check{
		SHA: p.HeadSHA, ReviewID: w.showing(), Verdict: w.verdict(), Title: w.title(), URL: w.url,
	}}
	if r.Status != review.Complete {
		return d // the title says it all
	}

	d.Check.Summary = w.summary(l.Summary)
	d.Annotations = w.annotations()
	if p.State == codehost.Open {
		d.Talk = w.talk(l)
	}
	if d.Check.Verdict == codehost.Success && p.BaseRef != r.Commits.BaseRef {
		d.Check.Verdict = codehost.Pending
		d.Check.Title = "Waiting for a scan against the base " + plain(p.BaseRef)
	}

	return d
}

// amid is the check of a pull request that passes, where others have the same head. A
// check belongs to the commit, so it must pass in all of them: else whoever opens another
// one, for a branch that has the findings already, would get past the first.
func amid(c codehost.Check, others []Standing) codehost.Check {
	for _, o := range others {
		switch {
		case o.Status == review.Complete && o.Outcome == finding.Pass:
		case !o.Status.Final() && c.Verdict == codehost.Success:
			c.Verdict = codehost.Pending
			c.Title = fmt.Sprintf("Waiting for pull request %d, which has the same commit", o.Number)
		case o.Status.Final():
			c.Verdict = codehost.Failure
			c.Title = fmt.Sprintf("Fail: the same commit does not pass in pull request %d", o.Number)

			return c
		}
	}

	return c
}

// wanted renders one review.
type wanted struct {
	p        PullRequest
	r        review.Review     // with the findings that count
	aside    []finding.Finding // that somebody has set aside
	settings policy.Publish
	url      string
}

// showing names what a check shows: the review, and what of it is set aside.
func (w wanted) showing() string {
	if len(w.aside) == 0 {
		return w.r.ID
	}
	hash := sha256.New()
	for _, f := range w.aside {
		hash.Write([]byte(f.Fingerprint + "\n"))
	}

	return w.r.ID + "." + hex.EncodeToString(hash.Sum(nil)[:4])
}

// verdict never lets a pull request pass unless the review did.
func (w wanted) verdict() codehost.Verdict {
	switch {
	case w.r.Status == review.Failed, w.r.Status == review.Canceled:
		return codehost.Broken
	case w.r.Status != review.Complete:
		return codehost.Pending
	case w.r.Verdict == nil || w.r.Verdict.Outcome != finding.Pass:
		return codehost.Failure
	}

	return codehost.Success
}

// title says the verdict in words.
func (w wanted) title() string {
	switch {
	case w.r.Status == review.Failed && w.r.Failure != nil:
		return "The review failed: " + plain(w.r.Failure.Message)
	case w.r.Status == review.Failed:
		return "The review failed"
	case w.r.Status == review.Canceled:
		return "The review was canceled, so this commit was not looked at"
	case w.r.Status != review.Complete:
		return "The scan is not done yet"
	case w.r.Verdict == nil:
		return "The review has no verdict"
	}

	v := w.r.Verdict
	all, failing := -len(w.aside), w.r.Summary.AtLeast(v.Threshold)
	for _, n := range w.r.Summary {
		all += n
	}
	for _, f := range w.aside {
		if f.Severity.AtLeast(v.Threshold) {
			failing--
		}
	}
	left := ""
	if v.NotLookedAt > 0 {
		left = count(v.NotLookedAt, "thing was", "things were") + " not looked at"
	}
	switch v.Outcome {
	case finding.Fail:
		title := fmt.Sprintf("Fail: %s", w.failing(failing, all))
		if left != "" {
			title += "; " + left
		}

		return title + w.setAside()
	case finding.Incomplete:
		return "Incomplete: " + left + w.setAside()
	}
	if all == 0 {
		return "Pass: no findings" + w.setAside()
	}

	return fmt.Sprintf("Pass: %s, none %s", count(all, "finding", "findings"), orWorse(v.Threshold)) + w.setAside()
}

// setAside ends a title with how many findings don't count; "" for none.
func (w wanted) setAside() string {
	if len(w.aside) == 0 {
		return ""
	}

	return fmt.Sprintf("; %d set aside", len(w.aside))
}

func (w wanted) failing(failing, all int) string {
	text := count(failing, "finding", "findings") + " " + orWorse(w.r.Verdict.Threshold)
	if failing < all {
		text += fmt.Sprintf(", %d in all", all)
	}

	return text
}

func orWorse(threshold rule.Severity) string {
	if threshold == rule.Critical {
		return "critical"
	}

	return threshold.String() + " or worse"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}

	return fmt.Sprintf("%d %s", n, many)
}

// findings are those of the review, the most severe first.
func (w wanted) findings() []finding.Finding {
	list := slices.Clone(w.r.Findings)
	slices.SortStableFunc(list, func(a, b finding.Finding) int { return cmp.Compare(a.Severity, b.Severity) })

	return list
}

func (w wanted) annotations() []codehost.Annotation {
	var out []codehost.Annotation
	for _, f := range w.findings() {
		a := codehost.Annotation{
			Fingerprint: f.Fingerprint, Path: finding.Shown(f.File), Line: max(f.Line, 1),
			EndLine: max(f.EndLine, f.Line, 1), Severity: f.Severity.String(), RuleID: f.RuleID, Message: plain(f.Message),
		}
		if f.EndLine == f.Line {
			a.Column, a.EndColumn = f.Column, f.EndColumn
		}
		out = append(out, a)
	}

	return out
}

// talk is what should be said in comments.
func (w wanted) talk(l codehost.Limits) *Talk {
	t := &Talk{
		Present: make(map[string]string, len(w.r.Findings)), Most: w.settings.CommentsMax,
		Closing: w.closing(), Summary: codehost.SummaryMarker + "\n" + w.summary(l.Body),
	}
	quiet := w.p.Draft && !w.settings.Drafts
	if w.p.Fork {
		t.Most = min(t.Most, w.settings.ForksMax)
	}
	t.MakeSummary = w.settings.Summary == policy.SummaryFindings && !quiet && len(w.r.Findings) > 0
	least, _ := rule.ParseSeverity(w.settings.CommentsMin)
	for _, f := range w.findings() {
		body := commentOn(f, l.Suggestions)
		t.Present[f.Fingerprint] = body
		if quiet || w.settings.Comments != policy.CommentsNew || !f.Severity.AtLeast(least) ||
			f.Line < 1 || !utf8.ValidString(f.File) {
			continue
		}
		t.New = append(t.New, Comment{RuleID: f.RuleID, LineComment: codehost.LineComment{
			Fingerprint: f.Fingerprint, Path: f.File, OldPath: f.File, Line: f.Line, Body: body,
		}})
	}

	return t
}

// commentOn is a comment on a line. It says nothing that another review would say in
// another way, so it is edited only when the finding changes.
func commentOn(f finding.Finding, how codehost.Suggestions) string {
	text := codehost.Marker(f.Fingerprint) + "\n**" + f.Severity.String() + "** · " + code(f.RuleID) + "\n\n" +
		prose(f.Message)
	if strings.TrimSpace(f.Snippet) != "" {
		text += "\n\n" + block(f.Snippet)
	}
	if f.Fix != nil && !command.MatchString(f.Fix.Text) {
		text += "\n\n" + suggestion(f, how)
	}

	return text + "\n\nFingerprint: " + code(f.Fingerprint)
}

// closing says what becomes of comments whose finding is not there any more. What was
// not looked at may still be there.
func (w wanted) closing() func(Thread) string {
	apart := map[string]string{}
	for _, f := range w.aside {
		apart[f.Fingerprint] = "**Set aside** as " + f.Triage.Decision.Word() + " by " + code(f.Triage.By) + ", at "
	}
	for _, f := range w.r.Suppressed {
		apart[f.Fingerprint] = "**Suppressed** by a comment in the code, at "
	}
	for _, f := range w.r.Observed {
		apart[f.Fingerprint] = "**Observed only**, so it fails nothing any more, at "
		if f.Confidence == rule.ConfidenceLow {
			apart[f.Fingerprint] = "**Of low confidence**, so it is not published any more, at "
		}
	}
	head := code(short(w.p.HeadSHA)) + "."

	return func(t Thread) string {
		if note := apart[t.Fingerprint]; note != "" {
			return note + head
		}
		if w.r.Truncated || slices.ContainsFunc(w.r.Skips, func(s finding.Skip) bool { return hides(s, t) }) {
			return ""
		}

		return "**No longer found** at " + head
	}
}

// hides tells whether a finding may be in what was not looked at.
func hides(s finding.Skip, t Thread) bool {
	if s.Reason == finding.SkipRulesFileInvalid || t.Path == "" {
		return true
	}

	return s.File == t.Path && (s.RuleID == "" || t.RuleID == "" || s.RuleID == t.RuleID)
}

// summary is the text of a check and of the comment below a pull request, in at most
// limit characters. Lines are there whole or not at all, so that none ends in the middle
// of a piece of code.
func (w wanted) summary(limit int) string {
	end := fmt.Sprintf("\nCommit %s, review %s.", code(short(w.p.HeadSHA)), code(w.r.ID))
	if w.url != "" {
		end += fmt.Sprintf(" [Details](%s)", w.url)
	}
	text := &lines{left: cmp.Or(limit, 1<<16) - len(codehost.SummaryMarker) - len(end) - len(andMore)}
	text.add("### prwarden: " + prose(w.title()))
	var found, aside, skipped, more []string
	for _, f := range w.aside {
		aside = append(aside, fmt.Sprintf("- %s %s: %s by %s: %s", place(f.File, f.Line), code(f.RuleID),
			f.Triage.Decision.Word(), code(f.Triage.By), prose(f.Triage.Reason)))
	}
	for _, f := range w.findings() {
		found = append(found, fmt.Sprintf("- **%s** %s %s: %s", f.Severity, place(f.File, f.Line), code(f.RuleID),
			prose(f.Message)))
	}
	for _, s := range w.r.Skips {
		if !s.Tolerated {
			skipped = append(skipped, fmt.Sprintf("- %s: %s", place(s.File, s.Line), prose(s.Text())))
		}
	}
	for _, line := range finding.LeftOut(w.r.Exclusions, w.r.SwitchedOff) {
		more = append(more, prose(line))
	}
	if w.r.BaseFoundBy.Guessed() {
		more = append(more, "The base was guessed, because the code host did not say it.")
	}

	text.list("", found, maxListed)
	text.list("Set aside:", aside, maxSkips)
	text.list("Not looked at:", skipped, maxSkips)
	for _, line := range more {
		text.add("\n" + line)
	}

	return text.String() + end
}

// lines are as many lines as there is room for.
type lines struct {
	strings.Builder
	left int
}

// andMore stands for lines that are left out.
const andMore = "- and more: "

// add adds a line, and reports whether there was room.
func (l *lines) add(line string) bool {
	n := utf8.RuneCountInString(line) + 1
	if n > l.left {
		return false
	}
	l.left -= n
	l.WriteString(line + "\n")

	return true
}

// list adds the first of a list under a heading, and how many more there are.
func (l *lines) list(heading string, entries []string, most int) {
	const room = 30 // for how many more there are
	if len(entries) == 0 || l.left < room+len(heading) {
		return
	}
	l.left -= room
	l.add("")
	if heading != "" {
		l.add(heading)
	}
	n := 0
	for n < min(len(entries), most) && l.add(entries[n]) {
		n++
	}
	l.left += room
	if n < len(entries) {
		l.add(andMore + strconv.Itoa(len(entries)-n))
	}
}
