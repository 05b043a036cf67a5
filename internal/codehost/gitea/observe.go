package gitea

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
)

const (
	// statusContext names our commit status.
	statusContext = "prwarden"
	// pending is the state of a review that was not sent.
	pending = "PENDING"
	// maxReviews is how many reviews of others are read for answers. Beyond it every
	// thread counts as answered, which only keeps it from being deleted.
	maxReviews = 50
	// closedMark ends a comment that is closed, where the host can't resolve.
	closedMark = "\n<!-- prwarden:closed -->"
)

// verdicts are the states of a commit status. It has none for what is outdated.
var verdicts = map[codehost.Verdict]string{
	codehost.Pending: "pending", codehost.Success: "success", codehost.Failure: "failure", codehost.Broken: "error",
	codehost.Outdated: "error",
}

// Observe reads the status of the head, the talk, and the reviews.
func (h *Host) Observe(ctx context.Context, p codehost.PullRequest) (codehost.Observed, error) {
	var o codehost.Observed
	me, err := h.me(ctx)
	if err != nil {
		return codehost.Observed{}, err
	}
	if o.Check, err = h.check(ctx, p, me); err != nil {
		return codehost.Observed{}, err
	}
	if o.Summaries, err = h.summaries(ctx, p, me); err != nil {
		return codehost.Observed{}, err
	}

	reviews, err := h.reviews(ctx, p)
	if err != nil {
		return codehost.Observed{}, err
	}
	if o.Comments, err = h.comments(ctx, p, me, reviews); err != nil {
		return codehost.Observed{}, err
	}
	for _, r := range reviews {
		if r.State == pending && by(r.User, me) {
			if ours, err := h.begun(ctx, p, r); err != nil {
				return codehost.Observed{}, err
			} else if ours {
				o.Unsent = append(o.Unsent, ref(r.ID))
			}
		}
	}

	return o, nil
}

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

// check is the status of the head that people see under our name, if it is ours.
func (h *Host) check(ctx context.Context, p codehost.PullRequest, me user) (*codehost.Check, error) {
	var latest status
	err := pages(ctx, h, repoPath(p.Repository)+"/statuses/"+p.HeadSHA, nil, func(some []status) bool {
		for _, s := range some { // by time, in seconds
			if s.Context == statusContext && s.ID > latest.ID {
				latest = s
			}
		}

		return latest.ID == 0
	})
	if err != nil || latest.ID == 0 || !by(latest.Creator, me) {
		return nil, err
	}

	check := &codehost.Check{Ref: ref(latest.ID), SHA: p.HeadSHA, Title: latest.Description, URL: latest.TargetURL}
	for _, v := range []codehost.Verdict{codehost.Pending, codehost.Success, codehost.Failure, codehost.Broken} {
		if verdicts[v] == latest.State {
			check.Verdict = v
		}
	}

	return check, nil
}

// summaries are ours below the pull request. Gitea gives all comments at once.
func (h *Host) summaries(ctx context.Context, p codehost.PullRequest, me user) ([]codehost.ObservedComment, error) {
	var all []comment
	err := h.get(ctx, fmt.Sprintf("%s/issues/%d/comments", repoPath(p.Repository), p.Number), &all)
	var out []codehost.ObservedComment
	for _, c := range all {
		if by(c.User, me) && codehost.IsSummary(c.Body) {
			out = append(out, codehost.ObservedComment{Ref: ref(c.ID), Body: c.Body})
		}
	}

	return out, err
}

// reviews are those of everybody that we are allowed to see.
func (h *Host) reviews(ctx context.Context, p codehost.PullRequest) ([]review, error) {
	var all []review
	err := pages(ctx, h, pullPath(p.Repository, p.Number)+"/reviews", nil, func(some []review) bool {
		all = append(all, some...)
		return true
	})

	return all, err
}

// inReview are the comments of a review, with the answers to them.
func (h *Host) inReview(ctx context.Context, p codehost.PullRequest, r review) ([]comment, error) {
	var all []comment
	err := h.get(ctx, fmt.Sprintf("%s/reviews/%d/comments", pullPath(p.Repository, p.Number), r.ID), &all)
	if codehost.FaultOf(err) == codehost.Gone && err != nil { // deleted meanwhile
		return nil, nil
	}

	return all, err
}

// begun tells whether an unsent review has only comments of ours. One that a person
// began with our account is not to be touched.
func (h *Host) begun(ctx context.Context, p codehost.PullRequest, r review) (bool, error) {
	all, err := h.inReview(ctx, p, r)
	for _, c := range all {
		if codehost.FingerprintIn(c.Body) == "" {
			return false, err
		}
	}

	return err == nil, err
}

// comments are ours on lines, the oldest first, with how many answers others gave there.
func (h *Host) comments(
	ctx context.Context, p codehost.PullRequest, me user, reviews []review,
) ([]codehost.ObservedComment, error) {
	ours, others := []review{}, []review{}
	for _, r := range reviews {
		switch {
		case r.Comments == 0 || r.State == pending:
		case by(r.User, me):
			ours = append(ours, r)
		default:
			others = append(others, r)
		}
	}
	all, err := h.inReviews(ctx, p, ours)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	more, err := h.inReviews(ctx, p, others[:min(len(others), maxReviews)])
	if err != nil {
		return nil, err
	}

	all = append(all, more...)
	answers := map[place]int{}
	for _, c := range all {
		if !by(c.User, me) {
			answers[placeOf(c)]++
		}
	}
	slices.SortFunc(all, func(a, b comment) int { return cmp.Compare(a.ID, b.ID) })
	var out []codehost.ObservedComment
	for _, c := range all {
		if !by(c.User, me) || codehost.FingerprintIn(c.Body) == "" {
			continue
		}
		seen := observed(c, me)
		seen.Replies = answers[placeOf(c)]
		if len(others) > maxReviews {
			seen.Replies++
		}
		out = append(out, seen)
	}

	return out, nil
}

func (h *Host) inReviews(ctx context.Context, p codehost.PullRequest, reviews []review) ([]comment, error) {
	var all []comment
	for _, r := range reviews {
		some, err := h.inReview(ctx, p, r)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}

	return all, nil
}

// place is where a thread stands. Gitea shows all comments on a line as one.
type place struct {
	path      string
	line, old uint64
}

func placeOf(c comment) place { return place{c.Path, c.Line, c.OldLine} }

// observed is a comment of ours on a line.
func observed(c comment, me user) codehost.ObservedComment {
	body, marked := strings.CutSuffix(c.Body, closedMark)
	return codehost.ObservedComment{
		Ref: ref(c.ID), Fingerprint: codehost.FingerprintIn(body), Body: body,
		Closed: marked || c.Resolver != nil, ClosedByUs: marked || by(c.Resolver, me),
	}
}
