package publish

import (
	"maps"
	"slices"

	"github.com/prwarden/prwarden/internal/codehost"
)

// Reconcile brings what the store knows together with what is there: what is there and
// not known was left behind by a call without an answer, and what is known and not
// there was deleted by a person.
func Reconcile(known Known, have codehost.Observed) Known {
	out := Known{Threads: slices.Clone(known.Threads), Published: slices.Clone(known.Published)}
	groups := map[string][]codehost.ObservedComment{}
	for _, c := range have.Comments {
		if c.Fingerprint != "" {
			groups[c.Fingerprint] = append(groups[c.Fingerprint], c)
		}
	}
	for i, t := range out.Threads {
		comments := groups[t.Fingerprint]
		delete(groups, t.Fingerprint)
		if len(comments) > 0 {
			out.Threads[i] = seen(t, comments)
		} else if t.State != ThreadRefused {
			out.Threads[i].State = ThreadDeleted
		}
	}
	for _, fingerprint := range slices.Sorted(maps.Keys(groups)) {
		out.Threads = append(out.Threads, seen(Thread{Fingerprint: fingerprint, State: ThreadOpen}, groups[fingerprint]))
	}

	out.reconcileSinks(have)

	return out
}

// seen is a thread whose comments were observed.
func seen(t Thread, comments []codehost.ObservedComment) Thread {
	c := comments[kept(t, comments)]
	t.Ref, t.Thread = c.Ref, c.Thread
	switch {
	case !c.Closed && t.State == ThreadFixed: // it couldn't be closed, or a person opened it again
	case !c.Closed:
		t.State = ThreadOpen
	case byUs(t, c):
		t.State = ThreadFixed
	default:
		t.State = ThreadDismissed
	}

	return t
}

func (k *Known) reconcileSinks(have codehost.Observed) {
	for i, p := range k.Published {
		switch {
		case p.Sink == CheckSink && have.Check != nil && have.Check.SHA == p.HeadSHA:
			k.Published[i].Ref = have.Check.Ref
		case p.Sink == SummarySink && len(have.Summaries) == 0:
			k.Published[i].Deleted = true
		case p.Sink == SummarySink:
			k.Published[i].Deleted = false
			if !slices.ContainsFunc(have.Summaries, func(c codehost.ObservedComment) bool { return c.Ref == p.Ref }) {
				k.Published[i].Ref = have.Summaries[0].Ref
			}
		}
	}
	if _, known := k.Sink(SummarySink); !known && len(have.Summaries) > 0 {
		k.set(Published{Sink: SummarySink, Ref: have.Summaries[0].Ref})
	}
}

// set keeps what a sink was given.
func (k *Known) set(p Published) {
	for i := range k.Published {
		if k.Published[i].Sink == p.Sink {
			k.Published[i] = p
			return
		}
	}
	k.Published = append(k.Published, p)
}

// about is what is known before a step is taken. A thread counts as open before it is opened
// again: if only a part of that is done, or the answer is lost, it must not look like one
// that we closed and a person opened. If nothing is done, the host shows that we closed it.
func (k Known) about(want Desired, s codehost.Step) (changed Known) {
	if s.Action == codehost.ReopenComment {
		return k.taken(want, s)
	}

	return Known{}
}

// taken is what is known after a step was taken, as far as the step changes that.
func (k Known) taken(want Desired, s codehost.Step) (changed Known) {
	threads := byFingerprint(k.Threads)
	state := func(of ThreadState) {
		for _, t := range k.Threads {
			if t.Ref == s.Ref {
				t.State = of
				changed.Threads = append(changed.Threads, t)
			}
		}
	}
	switch s.Action {
	case codehost.SetCheck:
		changed.Published = k.checked(s.Check)
	case codehost.AddSummary:
		changed.Published = []Published{{Sink: SummarySink, ReviewID: want.Check.ReviewID, HeadSHA: want.Check.SHA}}
	case codehost.AddComments:
		for _, c := range s.Comments {
			t := threads[c.Fingerprint]
			t.Fingerprint, t.State, t.Path, t.RuleID = c.Fingerprint, ThreadOpen, c.Path, want.ruleOf(c.Fingerprint)
			changed.Threads = append(changed.Threads, t)
		}
	case codehost.CloseComment:
		state(ThreadFixed)
	case codehost.ReopenComment, codehost.EditComment:
		if !IsClosed(s.Body) {
			state(ThreadOpen)
		}
	}

	return changed
}

// checked is what is known of checks after one was set.
func (k Known) checked(c codehost.Check) []Published {
	now := Published{Sink: CheckSink, Ref: c.Ref, HeadSHA: c.SHA, ReviewID: c.ReviewID, Verdict: c.Verdict}
	if c.Verdict == codehost.Outdated {
		now.Sink = OutdatedSink
		out := []Published{now}
		// That it was set on another head since may not be known, for want of an answer.
		if old, ok := k.Sink(CheckSink); ok && old.HeadSHA == c.SHA {
			old.Verdict = c.Verdict
			out = append(out, old)
		}

		return out
	}
	out := []Published{now}
	if old, ok := k.Sink(CheckSink); ok && old.HeadSHA != c.SHA && old.Verdict == codehost.Pending {
		old.Sink = OutdatedSink
		out = append(out, old)
	}

	return out
}

// with is what is known after a change.
func (k Known) with(changed Known) Known {
	out := Known{Threads: slices.Clone(k.Threads), Published: slices.Clone(k.Published)}
	for _, t := range changed.Threads {
		i := slices.IndexFunc(out.Threads, func(x Thread) bool { return x.Fingerprint == t.Fingerprint })
		if i < 0 {
			out.Threads = append(out.Threads, t)
		} else {
			out.Threads[i] = t
		}
	}
	for _, p := range changed.Published {
		out.set(p)
	}

	return out
}

// since is what is known and was not before.
func (k Known) since(before Known) (changed Known) {
	threads := byFingerprint(before.Threads)
	for _, t := range k.Threads {
		if old, ok := threads[t.Fingerprint]; !ok || old != t {
			changed.Threads = append(changed.Threads, t)
		}
	}
	for _, p := range k.Published {
		if old, ok := before.Sink(p.Sink); !ok || old != p {
			changed.Published = append(changed.Published, p)
		}
	}

	return changed
}

func (d Desired) ruleOf(fingerprint string) string {
	if d.Talk != nil {
		for _, c := range d.Talk.New {
			if c.Fingerprint == fingerprint {
				return c.RuleID
			}
		}
	}

	return ""
}
