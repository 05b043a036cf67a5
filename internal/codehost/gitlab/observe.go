package gitlab

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/prwarden/prwarden/internal/codehost"
)

// statusName names our commit status.
const statusName = "prwarden"

// states are those of a commit status. It has one for failures only.
var states = map[codehost.Verdict]string{
	codehost.Pending: "pending", codehost.Success: "success", codehost.Failure: "failed", codehost.Broken: "failed",
	codehost.Outdated: "canceled",
}

// verdictOf is what a commit status says. States that we don't set are taken for those
// that they are most like.
func verdictOf(state string) codehost.Verdict {
	switch state {
	case "success":
		return codehost.Success
	case "failed":
		return codehost.Failure
	case "canceled", "canceling", "skipped":
		return codehost.Outdated
	}

	return codehost.Pending
}

// Observe reads the status of the head and all that is said in the merge request.
func (h *Host) Observe(ctx context.Context, p codehost.PullRequest) (codehost.Observed, error) {
	var o codehost.Observed
	me, err := h.me(ctx)
	if err != nil {
		return codehost.Observed{}, err
	}
	if o.Check, err = h.check(ctx, p, me); err != nil {
		return codehost.Observed{}, err
	}

	path := mergeRequestPath(p.Repository, p.Number) + "/discussions"
	err = pages(ctx, h, path, url.Values{}, func(some []discussion) bool {
		for _, d := range some {
			o.Summaries = append(o.Summaries, d.summaries(me)...)
			o.Comments = append(o.Comments, d.comments(me)...)
		}

		return true
	})
	if err != nil {
		return codehost.Observed{}, err
	}
	for _, list := range [][]codehost.ObservedComment{o.Summaries, o.Comments} {
		slices.SortFunc(list, func(a, b codehost.ObservedComment) int { return cmp.Compare(idOf(a.Ref), idOf(b.Ref)) })
	}

	return o, nil
}

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

// idOf is the number in a Ref of ours.
func idOf(r codehost.Ref) int64 {
	n, _ := strconv.ParseInt(string(r), 10, 64)
	return n
}

// check is the status of the head that people see under our name, if it is ours. There
// is one for each pipeline of the commit.
func (h *Host) check(ctx context.Context, p codehost.PullRequest, me user) (*codehost.Check, error) {
	var latest status
	path := projectPath(p.Repository) + "/repository/commits/" + url.PathEscape(p.HeadSHA) + "/statuses"
	err := pages(ctx, h, path, url.Values{"name": {statusName}}, func(some []status) bool {
		for _, s := range some {
			if s.Name == statusName && s.ID > latest.ID {
				latest = s
			}
		}

		return true
	})
	if err != nil && codehost.FaultOf(err) == codehost.Gone { // the head was pushed over
		return nil, &codehost.Error{Fault: codehost.Stale, Err: err}
	}
	if err != nil || latest.ID == 0 || latest.Author.ID != me.ID {
		return nil, err
	}

	return &codehost.Check{
		Ref: ref(latest.ID), SHA: p.HeadSHA, Verdict: verdictOf(latest.State), Title: latest.Description,
		URL: latest.TargetURL,
	}, nil
}

// summaries are ours below the merge request.
func (d discussion) summaries(me user) (out []codehost.ObservedComment) {
	for _, n := range d.Notes {
		if n.Author.ID == me.ID && !n.System && n.Type != diffNote && codehost.IsSummary(n.Body) {
			out = append(out, codehost.ObservedComment{Ref: ref(n.ID), Body: n.Body, Replies: d.others(me)})
		}
	}

	return out
}

// comments are ours on lines.
func (d discussion) comments(me user) (out []codehost.ObservedComment) {
	for _, n := range d.Notes {
		fingerprint := codehost.FingerprintIn(n.Body)
		if n.Author.ID != me.ID || n.System || n.Type != diffNote || fingerprint == "" {
			continue
		}
		out = append(out, codehost.ObservedComment{
			Ref: ref(n.ID), Thread: codehost.Ref(d.ID), Fingerprint: fingerprint, Body: n.Body, Closed: n.Resolved,
			ClosedByUs: n.Resolved && n.ResolvedBy != nil && n.ResolvedBy.ID == me.ID, Replies: d.others(me),
		})
	}

	return out
}

// others is how many notes of a discussion other people wrote.
func (d discussion) others(me user) (n int) {
	for _, one := range d.Notes {
		if one.Author.ID != me.ID && !one.System {
			n++
		}
	}

	return n
}
