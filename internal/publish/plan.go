package publish

import (
	"maps"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
)

// Desired is what should be in a pull request.
type Desired struct {
	// Check is what the check of the head says; its Ref is found by Plan. Its ReviewID
	// is another one whenever other annotations belong to it: those that a check has
	// can't be taken back.
	Check       codehost.Check
	Annotations []codehost.Annotation // the most severe first; none while the check is pending
	HideCheck   bool                  // leave it alone
	Talk        *Talk                 // nil leaves comments and the summary as they are
}

// Talk is what should be said in comments.
type Talk struct {
	// Present has, by fingerprint, what a comment says on a finding that is there.
	Present map[string]string
	// New are the comments to be posted on findings that never had one in this pull
	// request, the most important first, until it has had Most.
	New  []Comment
	Most int
	// Closing says what a comment on a finding that is not there any more gets as its
	// first line; "" leaves the comment as it is, because the finding may be there.
	Closing func(Thread) string
	// Summary is the text of the one comment below, which is made with AddSummary only.
	Summary     string // "" leaves it as it is
	MakeSummary bool
}

// Comment is a comment on a line that may be posted.
type Comment struct {
	codehost.LineComment
	RuleID string
}

// fixedMarker is the second line of a comment of ours that we have closed.
const fixedMarker = "<!-- prwarden:gone -->"

// IsClosed tells whether the body of a comment of ours says that it was closed.
func IsClosed(body string) bool {
	_, rest, _ := strings.Cut(strings.TrimLeft(body, " \t\r\n"), "\n")

	return strings.HasPrefix(rest, fixedMarker)
}

// closedBody is the body of a comment on a finding that is gone. What was said is kept
// below.
func closedBody(fingerprint, note, before string) string {
	_, said, _ := strings.Cut(strings.TrimLeft(normal(before), " \t\n"), "\n")

	return codehost.Marker(fingerprint) + "\n" + fixedMarker + "\n" + note + "\n\n" + strings.TrimLeft(said, "\n")
}

// normal is a text as it is compared: hosts change the ends of lines.
func normal(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

func same(a, b string) bool { return normal(a) == normal(b) }

// cut shortens a text to some characters, of which the last says that there was more.
func cut(s string, characters int) string {
	if characters <= 0 || len(s) <= characters {
		return s
	}
	runes := []rune(s)
	if len(runes) <= characters {
		return s
	}

	return string(runes[:characters-1]) + "…"
}

// Plan returns the steps from what is there to what should be. It touches nothing that
// is not ours, and nothing that a person deleted or resolved. known is what Reconcile
// made of what the store knows. A step that makes a check does not say its Ref, which
// the steps after it need; whoever takes them observes again and plans anew.
func Plan(want Desired, have codehost.Observed, known Known, l codehost.Limits) []codehost.Step {
	p := &planner{want: want, have: have, known: known, limits: l}
	if !want.HideCheck {
		p.check()
		p.outdated()
	}
	for _, ref := range have.Unsent {
		p.step(codehost.Step{Action: codehost.DiscardUnsent, Ref: ref})
	}
	if want.Talk != nil {
		p.summary()
		p.comments()
	}

	return p.steps
}

type planner struct {
	want   Desired
	have   codehost.Observed
	known  Known
	limits codehost.Limits
	steps  []codehost.Step
}

func (p *planner) step(s codehost.Step) { p.steps = append(p.steps, s) }

// check plans the check of the head and its annotations: they come before the verdict,
// so that nobody reads a verdict without its findings.
func (p *planner) check() {
	want, have := p.want.Check, p.have.Check
	want.Title, want.Summary = cut(want.Title, p.limits.Title), cut(want.Summary, p.limits.Summary)
	annotates := p.limits.AnnotationsPerCall > 0
	var annotations []codehost.Annotation
	if annotates {
		annotations = p.want.Annotations
		if p.limits.Annotations > 0 {
			annotations = annotations[:min(len(annotations), p.limits.Annotations)]
		}
	}

	fresh := have == nil || have.SHA != want.SHA
	there := 0
	if !fresh && annotates {
		there = p.have.Annotations
		other := have.ReviewID != want.ReviewID
		fresh = other && (there > 0 || have.Verdict != codehost.Pending) || there > len(annotations)
	}
	if fresh {
		there = 0
	} else {
		want.Ref = have.Ref
	}

	if missing := annotations[min(there, len(annotations)):]; len(missing) > 0 {
		pending := want
		pending.Verdict = codehost.Pending
		if fresh {
			p.step(codehost.Step{Action: codehost.SetCheck, Check: pending})
		}
		for some := range slices.Chunk(missing, p.limits.AnnotationsPerCall) {
			p.step(codehost.Step{Action: codehost.AddAnnotations, Check: pending, Annotations: some})
		}
		p.step(codehost.Step{Action: codehost.SetCheck, Check: want})
	} else if fresh || p.differs(want, *have) {
		p.step(codehost.Step{Action: codehost.SetCheck, Check: want})
	}
}

// differs tells whether a check says something else than it should, as far as the host
// shows that.
func (p *planner) differs(want, have codehost.Check) bool {
	return want.Verdict != have.Verdict || !same(want.Title, have.Title) ||
		want.URL != "" && want.URL != have.URL ||
		p.limits.Summary > 0 && !same(want.Summary, have.Summary) ||
		p.limits.AnnotationsPerCall > 0 && want.ReviewID != have.ReviewID
}

// outdated plans the end of a check that waits on a commit that is no head any more.
func (p *planner) outdated() {
	for _, old := range p.known.waiting(p.want.Check.SHA) {
		p.step(codehost.Step{Action: codehost.SetCheck, Check: codehost.Check{
			Ref: old.Ref, SHA: old.HeadSHA, ReviewID: old.ReviewID, Verdict: codehost.Outdated,
			Title: cut("A newer commit takes its place", p.limits.Title),
			URL:   p.want.Check.URL,
		}})
	}
}

// summary plans the one comment below, of which there may be doubles.
func (p *planner) summary() {
	talk, body := p.want.Talk, cut(p.want.Talk.Summary, p.limits.Body)
	known, posted := p.known.Sink(SummarySink)
	if len(p.have.Summaries) == 0 {
		if talk.MakeSummary && body != "" && !(posted && known.Deleted) {
			p.step(codehost.Step{Action: codehost.AddSummary, Body: body})
		}

		return
	}

	keep := 0
	for i, s := range p.have.Summaries {
		if posted && known.Ref != "" && s.Ref == known.Ref {
			keep = i
		}
	}
	for i, s := range p.have.Summaries {
		switch {
		case i != keep && s.Replies == 0:
			p.step(codehost.Step{Action: codehost.DeleteComment, Ref: s.Ref, Thread: s.Thread})
		case i == keep && body != "" && !same(s.Body, body):
			p.step(codehost.Step{Action: codehost.EditSummary, Ref: s.Ref, Thread: s.Thread, Body: body})
		}
	}
}

// comments plans those on lines.
func (p *planner) comments() {
	threads := byFingerprint(p.known.Threads)
	observed := map[string][]codehost.ObservedComment{}
	for _, c := range p.have.Comments {
		if c.Fingerprint != "" {
			observed[c.Fingerprint] = append(observed[c.Fingerprint], c)
		}
	}

	for _, fingerprint := range slices.Sorted(maps.Keys(observed)) {
		p.thread(threads[fingerprint], fingerprint, observed[fingerprint])
	}

	had := len(observed)
	for fingerprint, t := range threads {
		if observed[fingerprint] == nil && t.State != ThreadRefused {
			had++
		}
	}
	var some []codehost.LineComment
	taken := map[string]bool{}
	for _, c := range p.want.Talk.New {
		if _, known := threads[c.Fingerprint]; known || observed[c.Fingerprint] != nil || taken[c.Fingerprint] {
			continue
		}
		if had+len(some) >= p.want.Talk.Most {
			break
		}
		taken[c.Fingerprint] = true
		c.Body = cut(c.Body, p.limits.Body)
		some = append(some, c.LineComment)
	}
	for chunk := range slices.Chunk(some, max(p.limits.CommentsPerCall, 1)) {
		p.step(codehost.Step{Action: codehost.AddComments, Comments: chunk})
	}
}

// thread plans what becomes of the comments on one finding. One is kept, which is the
// only one unless something went wrong once.
func (p *planner) thread(t Thread, fingerprint string, comments []codehost.ObservedComment) {
	keep := kept(t, comments)
	for i, c := range comments {
		if i != keep && c.Replies == 0 && (!c.Closed || byUs(t, c)) {
			p.step(codehost.Step{Action: codehost.DeleteComment, Ref: c.Ref, Thread: c.Thread, OnLine: true})
		}
	}
	c := comments[keep]
	if c.Closed && !byUs(t, c) {
		return
	}
	change := func(a codehost.Action, body string) {
		p.step(codehost.Step{
			Action: a, Ref: c.Ref, Thread: c.Thread, OnLine: true, Body: cut(body, p.limits.Body),
		})
	}

	body, present := p.want.Talk.Present[fingerprint]
	switch {
	case present && c.Closed:
		change(codehost.ReopenComment, body)
	case present && !same(c.Body, cut(body, p.limits.Body)):
		change(codehost.EditComment, body)
	case present, IsClosed(c.Body) && (c.Closed || c.Replies > 0 || t.State == ThreadFixed):
	default:
		t.Fingerprint = fingerprint
		note := p.want.Talk.Closing(t)
		switch {
		case note == "":
		case c.Replies > 0: // people talk there: it stays where they see it
			change(codehost.EditComment, closedBody(fingerprint, note, c.Body))
		case IsClosed(c.Body): // a call before got only half of it done
			change(codehost.CloseComment, c.Body)
		default:
			change(codehost.CloseComment, closedBody(fingerprint, note, c.Body))
		}
	}
}

// kept chooses which of the comments on one finding stays: one that somebody answered
// or resolved, or else the one that is known, or else the first.
func kept(t Thread, comments []codehost.ObservedComment) int {
	for _, is := range []func(codehost.ObservedComment) bool{
		func(c codehost.ObservedComment) bool { return c.Closed && !byUs(t, c) },
		func(c codehost.ObservedComment) bool { return c.Replies > 0 },
		func(c codehost.ObservedComment) bool { return t.Ref != "" && c.Ref == t.Ref },
	} {
		if i := slices.IndexFunc(comments, is); i >= 0 {
			return i
		}
	}

	return 0
}

// byUs tells whether a closed comment was closed by us.
func byUs(t Thread, c codehost.ObservedComment) bool {
	return c.ClosedByUs || IsClosed(c.Body) || t.State == ThreadFixed
}

func byFingerprint(threads []Thread) map[string]Thread {
	out := make(map[string]Thread, len(threads))
	for _, t := range threads {
		out[t.Fingerprint] = t
	}

	return out
}

// makesCheck tells whether a step makes a check whose Ref others may need.
func makesCheck(s codehost.Step) bool {
	return s.Action == codehost.SetCheck && s.Check.Ref == "" && s.Check.Verdict == codehost.Pending
}
