package publish

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// settle takes the steps of plans until there are none, as a publisher does, and returns
// what is known then. It fails after too many rounds.
func settle(m *model, want Desired, known Known) (Known, error) {
	for range 4 {
		known = Reconcile(known, m.observe())
		steps := Plan(want, m.observe(), known, m.limits)
		if len(steps) == 0 {
			return known, nil
		}
		for _, s := range steps {
			m.do(s)
			known = known.with(known.taken(want, s))
			if makesCheck(s) {
				break
			}
		}
	}

	return known, fmt.Errorf("still %v", Plan(want, m.observe(), Reconcile(known, m.observe()), m.limits))
}

// world is a random pull request, with what should be in it and what is known of it.
type world struct {
	*rand.Rand
	m     *model
	want  Desired
	known Known
}

func (w world) chance(percent int) bool { return w.IntN(100) < percent }

func (w world) body(fingerprint string) string {
	body := codehost.Marker(fingerprint) + "\nsays " + fingerprint
	switch w.IntN(6) {
	case 0:
		return closedBody(fingerprint, "Fixed in abc.", body)
	case 1:
		return strings.ReplaceAll(body, "\n", "\r\n") + "\n"
	case 2:
		return body + " otherwise"
	}

	return body
}

func newWorld(seed uint64) world {
	w := world{Rand: rand.New(rand.NewPCG(seed, 1))}
	w.m = &model{head: "h2", posted: map[string]int{}, limits: codehost.Limits{
		AnnotationsPerCall: w.IntN(4), Annotations: w.IntN(9), CommentsPerCall: 1 + w.IntN(3),
		Body: 60 + w.IntN(40), Title: 10 + w.IntN(30), Summary: w.IntN(2) * 50,
	}}
	w.checks()
	w.talk()
	for range w.IntN(2) {
		w.m.unsent = append(w.m.unsent, w.m.ref())
	}

	return w
}

func (w *world) checks() {
	verdicts := []codehost.Verdict{codehost.Pending, codehost.Success, codehost.Failure, codehost.Broken}
	pick := func() codehost.Verdict { return verdicts[w.IntN(len(verdicts))] }
	w.want.Check = codehost.Check{
		SHA: w.m.head, ReviewID: "rev_2", Verdict: pick(), Title: strings.Repeat("title ", w.IntN(9)),
		Summary: strings.Repeat("long ", w.IntN(20)), URL: "https://x",
	}
	if w.want.Check.Verdict != codehost.Pending {
		for i := range w.IntN(10) {
			w.want.Annotations = append(w.want.Annotations, codehost.Annotation{Path: "a", Line: i + 1})
		}
	}
	w.want.HideCheck = w.chance(10)

	for range w.IntN(3) {
		c := modelCheck{Check: codehost.Check{
			Ref: w.m.ref(), SHA: []string{"h1", "h2"}[w.IntN(2)], ReviewID: fmt.Sprint("rev_", 1+w.IntN(2)),
			Verdict: pick(), Title: "other",
		}}
		if c.ReviewID == "rev_2" { // a publication that was interrupted
			n := w.IntN(w.annotations() + 1)
			c.annotations = slices.Clone(w.want.Annotations[:n])
			if n < w.annotations() {
				c.Verdict = codehost.Pending
			}
		} else if c.Verdict != codehost.Pending {
			c.annotations = make([]codehost.Annotation, w.IntN(4))
		}
		if w.m.limits.AnnotationsPerCall == 0 {
			c.annotations = nil
		}
		w.m.checks = append(w.m.checks, c)
		if w.chance(80) {
			w.known.set(Published{Sink: CheckSink, HeadSHA: c.SHA, Ref: c.Ref, Verdict: c.Verdict, ReviewID: c.ReviewID})
		}
	}
}

// annotations is how many there should be.
func (w *world) annotations() int {
	switch l := w.m.limits; {
	case l.AnnotationsPerCall == 0:
		return 0
	case l.Annotations > 0:
		return min(len(w.want.Annotations), l.Annotations)
	}

	return len(w.want.Annotations)
}

func (w *world) talk() {
	talk := &Talk{
		Present: map[string]string{}, Most: w.IntN(6), MakeSummary: w.chance(70),
		Summary: codehost.SummaryMarker + strings.Repeat(" sum", w.IntN(30)),
		Closing: func(t Thread) string {
			if strings.HasSuffix(t.Fingerprint, "7") { // not known whether it is fixed
				return ""
			}

			return "Fixed in h2."
		},
	}
	for i := range 9 {
		fingerprint := fmt.Sprint("f", i)
		if w.chance(50) {
			talk.Present[fingerprint] = codehost.Marker(fingerprint) + "\nsays " + fingerprint
			if w.chance(70) {
				talk.New = append(talk.New, Comment{LineComment: codehost.LineComment{
					Fingerprint: fingerprint, Path: "a", Line: i + 1, Body: talk.Present[fingerprint],
				}})
			}
		}
		var ref codehost.Ref
		for range []int{0, 0, 1, 1, 1, 2, 3}[w.IntN(7)] {
			ref = w.m.ref()
			c := codehost.ObservedComment{
				Ref: ref, Thread: "t" + ref, Fingerprint: fingerprint, Body: w.body(fingerprint), Replies: w.IntN(4) / 3,
			}
			c.Closed = w.chance(30)
			c.ClosedByUs = c.Closed && w.chance(50)
			w.m.comments = append(w.m.comments, modelComment{ObservedComment: c})
		}
		if w.chance(60) {
			states := []ThreadState{ThreadOpen, ThreadFixed, ThreadDismissed, ThreadDeleted, ThreadRefused}
			w.known.Threads = append(w.known.Threads, Thread{
				Fingerprint: fingerprint, Ref: ref, State: states[w.IntN(len(states))],
			})
		}
	}

	for range w.IntN(3) {
		w.m.comments = append(w.m.comments, modelComment{summary: true, ObservedComment: codehost.ObservedComment{
			Ref: w.m.ref(), Body: codehost.SummaryMarker + " old", Replies: w.IntN(4) / 3,
		}})
	}
	if w.chance(30) {
		w.known.set(Published{Sink: SummarySink, Ref: codehost.Ref(fmt.Sprint(1 + w.IntN(9))), Deleted: w.chance(20)})
	}
	// A stranger's, with our marker.
	w.m.comments = append(w.m.comments, modelComment{foreign: true, ObservedComment: codehost.ObservedComment{
		Ref: w.m.ref(), Fingerprint: "f1", Body: codehost.Marker("f1"),
	}})
	if w.chance(90) {
		w.want.Talk = talk
	}
}

// of are the comments of ours on a finding.
func (w world) of(fingerprint string) (out []codehost.ObservedComment) {
	for _, c := range w.m.comments {
		if !c.foreign && !c.summary && c.Fingerprint == fingerprint {
			out = append(out, c.ObservedComment)
		}
	}

	return out
}

// TestPlan makes random pull requests and takes the planned steps. What should have
// become of each thing is said here once more, thing by thing.
func TestPlan(t *testing.T) {
	t.Parallel()
	cases := 100_000
	if testing.Short() {
		cases = 5_000
	}
	for seed := range uint64(cases) {
		w, before := newWorld(seed), newWorld(seed)
		known, err := settle(w.m, w.want, w.known)
		if !assert.NoError(t, err, "seed %d", seed) || !assert.Empty(t, w.m.wrong, "seed %d", seed) ||
			!assert.Zero(t, w.m.missing, "seed %d", seed) {
			return
		}
		checkHead(t, w, before)
		if w.want.Talk == nil {
			assert.Equal(t, before.m.comments, w.m.comments, "nothing is said")
		} else {
			checkThreads(t, w, before, known)
			checkSummary(t, w, before)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkHead(t *testing.T, w, before world) {
	t.Helper()
	if w.want.HideCheck {
		assert.Equal(t, before.m.checks, w.m.checks)
		return
	}
	have := w.m.observe()
	require.NotNil(t, have.Check)
	want := w.want.Check
	assert.Equal(t, want.Verdict, have.Check.Verdict)
	assert.True(t, strings.HasPrefix(want.Title, strings.TrimSuffix(strings.TrimSpace(have.Check.Title), "…")))
	require.Equal(t, w.annotations(), have.Annotations)
	for _, c := range w.m.checks {
		if c.Ref == have.Check.Ref && have.Annotations > 0 {
			assert.Equal(t, w.want.Annotations[:have.Annotations], c.annotations)
		}
	}
	// What waited on another commit waits no more, where that is known.
	if old, ok := before.known.Sink(CheckSink); ok && old.HeadSHA != w.m.head && old.Verdict == codehost.Pending {
		for _, c := range w.m.checks {
			if c.Ref == old.Ref {
				assert.Equal(t, codehost.Outdated, c.Verdict)
			}
		}
	}
}

func checkThreads(t *testing.T, w, before world, known Known) {
	t.Helper()
	states := byFingerprint(known.Threads)
	had := 0
	room := func(fingerprint string) bool {
		return len(before.of(fingerprint)) > 0 || func() bool {
			i := slices.IndexFunc(before.known.Threads, func(x Thread) bool { return x.Fingerprint == fingerprint })

			return i >= 0 && before.known.Threads[i].State != ThreadRefused
		}()
	}
	for i := range 9 {
		if room(fmt.Sprint("f", i)) {
			had++
		}
	}
	left := max(w.want.Talk.Most-had, 0)
	for i := range 9 {
		fingerprint := fmt.Sprint("f", i)
		was, is := before.of(fingerprint), w.of(fingerprint)
		isNew := slices.ContainsFunc(w.want.Talk.New, func(c Comment) bool { return c.Fingerprint == fingerprint })
		_, rowBefore := byFingerprint(before.known.Threads)[fingerprint]
		switch {
		case len(was) > 0:
			assert.Zero(t, w.m.posted[fingerprint], "never twice")
			checkThread(t, w, before, fingerprint)
		case rowBefore, !isNew:
			assert.Empty(t, is, "deleted, refused or not to be posted")
		case left > 0:
			left--
			assert.Len(t, is, 1)
			assert.Equal(t, ThreadOpen, states[fingerprint].State)
		default:
			assert.Empty(t, is, "there are enough")
		}
	}
}

// checkThread looks at a finding that had comments.
func checkThread(t *testing.T, w, before world, fingerprint string) {
	t.Helper()
	row := byFingerprint(before.known.Threads)[fingerprint]
	ours := func(c codehost.ObservedComment) bool {
		return c.ClosedByUs || IsClosed(c.Body) || row.State == ThreadFixed
	}
	is, open, dismissed := w.of(fingerprint), 0, false
	for _, c := range is {
		was := before.of(fingerprint)
		i := slices.IndexFunc(was, func(x codehost.ObservedComment) bool { return x.Ref == c.Ref })
		require.GreaterOrEqual(t, i, 0)
		if was[i].Closed && !ours(was[i]) {
			dismissed = true
			assert.Equal(t, was[i], c, "what a person resolved stays as it is")
		} else if c.Replies == 0 {
			open++
		}
	}
	require.NotEmpty(t, is)
	assert.LessOrEqual(t, open, 1, "doubles are gone")
	for _, c := range before.of(fingerprint) {
		if c.Replies > 0 || c.Closed && !ours(c) {
			assert.True(t, slices.ContainsFunc(is, func(x codehost.ObservedComment) bool { return x.Ref == c.Ref }), "kept")
		}
	}
	if dismissed {
		return
	}

	body, present := w.want.Talk.Present[fingerprint]
	right := slices.ContainsFunc(is, func(c codehost.ObservedComment) bool {
		switch {
		case present:
			return !c.Closed && same(c.Body, cut(body, w.m.limits.Body))
		case w.want.Talk.Closing(Thread{Fingerprint: fingerprint}) == "":
			return true
		}

		return IsClosed(c.Body) && (c.Closed || c.Replies > 0 || row.State == ThreadFixed)
	})
	assert.True(t, right, "%s: %v", fingerprint, is)
}

func checkSummary(t *testing.T, w, before world) {
	t.Helper()
	have, had := w.m.observe().Summaries, before.m.observe().Summaries
	known, posted := before.known.Sink(SummarySink)
	alone := 0
	right := false
	for _, c := range have {
		if c.Replies == 0 {
			alone++
		}
		right = right || same(c.Body, cut(w.want.Talk.Summary, w.m.limits.Body))
		assert.LessOrEqual(t, utf8.RuneCountInString(c.Body), w.m.limits.Body)
	}
	assert.LessOrEqual(t, alone, 1)
	switch {
	case len(had) > 0:
		assert.True(t, right)
		assert.Zero(t, w.m.summaries)
	case posted, !w.want.Talk.MakeSummary:
		_ = known
		assert.Empty(t, have, "deleted by a person, or not wanted")
	default:
		assert.Len(t, have, 1)
	}
}
