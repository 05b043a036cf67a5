package bitbucket

import (
	"context"
	"net/url"
	"strconv"

	"github.com/prwarden/prwarden/internal/codehost"
)

const (
	// statusKey names our build status, and reportID our report.
	statusKey = "prwarden"
	reportID  = "prwarden"
	// Fields of the report.
	reviewField  = "Review"
	verdictField = "Verdict"
)

// verdicts are the states of a build status.
var verdicts = map[codehost.Verdict]string{
	codehost.Pending: "INPROGRESS", codehost.Success: "SUCCESSFUL", codehost.Failure: "FAILED", codehost.Broken: "FAILED",
	codehost.Outdated: "STOPPED",
}

// results are the results of a report.
var results = map[codehost.Verdict]string{
	codehost.Pending: "PENDING", codehost.Success: "PASSED", codehost.Failure: "FAILED", codehost.Broken: "FAILED",
	codehost.Outdated: "FAILED",
}

// Observe reads the status and the report of the head, and the comments.
func (h *Host) Observe(ctx context.Context, p codehost.PullRequest) (codehost.Observed, error) {
	var o codehost.Observed
	me, err := h.me(ctx)
	if err != nil {
		return codehost.Observed{}, err
	}
	if o.Check, err = h.check(ctx, p, me); err != nil {
		return codehost.Observed{}, err
	}
	if o.Check != nil {
		if o.Annotations, err = h.annotations(ctx, p); err != nil {
			return codehost.Observed{}, err
		}
	}
	all, err := h.comments(ctx, p)
	if err != nil {
		return codehost.Observed{}, err
	}

	answers := replies(all, me)
	for _, c := range all {
		if !by(c.User, me) || c.Deleted || c.Pending {
			continue
		}
		seen := observed(c, me)
		seen.Replies = answers[c.ID]
		switch {
		case c.Inline != nil && seen.Fingerprint != "":
			o.Comments = append(o.Comments, seen)
		case c.Inline == nil && codehost.IsSummary(seen.Body):
			o.Summaries = append(o.Summaries, seen)
		}
	}

	return o, nil
}

func ref(id int64) codehost.Ref { return codehost.Ref(strconv.FormatInt(id, 10)) }

func commitPath(p codehost.PullRequest, sha string) string {
	return repoPath(p.Repository) + "/commit/" + sha
}

func reportPath(p codehost.PullRequest, sha string) string {
	return commitPath(p, sha) + "/reports/" + reportID
}

// check is what the status of the head says, if that is ours: only its author can change
// it. A report has no author, so it only adds what the status has no place for, and a
// report that disagrees makes a verdict that is none.
func (h *Host) check(ctx context.Context, p codehost.PullRequest, me user) (*codehost.Check, error) {
	var s status
	err := h.get(ctx, commitPath(p, p.HeadSHA)+"/statuses/build/"+statusKey, nil, &s)
	if err != nil && codehost.FaultOf(err) == codehost.Gone || err == nil && !by(s.Author, me) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r report
	err = h.get(ctx, reportPath(p, p.HeadSHA), nil, &r)
	if err != nil && codehost.FaultOf(err) != codehost.Gone {
		return nil, err
	}

	check := &codehost.Check{
		Ref: reportID, SHA: p.HeadSHA, ReviewID: r.field(reviewField), Title: s.Description, URL: s.URL,
	}
	said := codehost.Verdict(r.field(verdictField))
	if verdicts[said] == s.State && results[said] == r.Result {
		check.Verdict = said
	}

	return check, nil
}

// annotations is how many the report of the head has. Most answers of Bitbucket say at
// once how long a list is.
func (h *Host) annotations(ctx context.Context, p codehost.PullRequest) (int, error) {
	var list struct {
		Size *int `json:"size"`
	}
	path := reportPath(p, p.HeadSHA) + "/annotations"
	err := h.get(ctx, path, url.Values{"pagelen": {"1"}}, &list)
	n := 0
	switch {
	case err == nil && list.Size != nil:
		return *list.Size, nil
	case err == nil:
		err = pages(ctx, h, path, hundred(), func(some []annotation) bool {
			n += len(some)
			return true
		})
	}
	if err != nil && codehost.FaultOf(err) == codehost.Gone { // without a report
		return 0, nil
	}

	return n, err
}

// comments are all of the pull request, the oldest first.
func (h *Host) comments(ctx context.Context, p codehost.PullRequest) ([]comment, error) {
	var all []comment
	path := pullPath(p.Repository, p.Number) + "/comments"
	err := pages(ctx, h, path, hundred(), func(some []comment) bool {
		all = append(all, some...)
		return true
	})

	return all, err
}

// replies is how many answers of others each thread has, by its first comment.
func replies(all []comment, me user) map[int64]int {
	parents := map[int64]int64{}
	for _, c := range all {
		if c.Parent != nil {
			parents[c.ID] = c.Parent.ID
		}
	}
	out := map[int64]int{}
	for _, c := range all {
		if c.Parent == nil || c.Deleted || by(c.User, me) {
			continue
		}
		first := c.Parent.ID
		for range all { // no longer, also when they go round
			parent, found := parents[first]
			if !found {
				break
			}
			first = parent
		}
		out[first]++
	}

	return out
}

// observed is a comment of ours.
func observed(c comment, me user) codehost.ObservedComment {
	body := codehost.ShowMarkers(c.Content.Raw)
	seen := codehost.ObservedComment{Ref: ref(c.ID), Fingerprint: codehost.FingerprintIn(body), Body: body}
	if c.Resolution != nil {
		seen.Closed, seen.ClosedByUs = true, by(c.Resolution.User, me)
	}

	return seen
}
