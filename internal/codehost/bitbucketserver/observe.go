package bitbucketserver

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/prwarden/prwarden/internal/codehost"
)

const (
	// buildKey names our build status, and reportKey our report.
	buildKey  = "prwarden"
	reportKey = "prwarden"
	// Fields of the report.
	reviewField  = "Review"
	verdictField = "Verdict"
)

// verdicts are the states of a build status.
var verdicts = map[codehost.Verdict]string{
	codehost.Pending: "INPROGRESS", codehost.Success: "SUCCESSFUL", codehost.Failure: "FAILED", codehost.Broken: "FAILED",
	codehost.Outdated: "CANCELLED",
}

// results are the results of a report.
var results = map[codehost.Verdict]string{
	codehost.Pending: "", codehost.Success: "PASS", codehost.Failure: "FAIL", codehost.Broken: "FAIL",
	codehost.Outdated: "FAIL",
}

// Observe reads the build status and the report of the head, and the comments.
func (h *Host) Observe(ctx context.Context, p codehost.PullRequest) (codehost.Observed, error) {
	var o codehost.Observed
	me, err := h.me(ctx)
	if err != nil {
		return codehost.Observed{}, err
	}
	if o.Check, err = h.check(ctx, p); err != nil {
		return codehost.Observed{}, err
	}
	if o.Check != nil {
		if o.Annotations, err = h.annotations(ctx, p); err != nil {
			return codehost.Observed{}, err
		}
	}

	type activity struct {
		Action  string    `json:"action"`
		Comment *comment  `json:"comment"`
		Anchor  *struct{} `json:"commentAnchor"`
	}
	known := map[int64]bool{} // a comment has an activity for each change
	path := pullPath("api", p.Repository, p.Number) + "/activities"
	err = pages(ctx, h, path, nil, func(some []activity) bool {
		for _, a := range some {
			c := a.Comment
			if a.Action != "COMMENTED" || c == nil || known[c.ID] || c.State == "PENDING" || !by(c.Author, me) {
				continue
			}
			known[c.ID] = true
			seen := observed(*c, me)
			switch {
			case a.Anchor != nil && seen.Fingerprint != "":
				o.Comments = append(o.Comments, seen)
			case a.Anchor == nil && codehost.IsSummary(seen.Body):
				o.Summaries = append(o.Summaries, seen)
			}
		}

		return true
	})
	slices.SortFunc(o.Comments, older)
	slices.SortFunc(o.Summaries, older)

	return o, err
}

func older(a, b codehost.ObservedComment) int {
	return cmp.Or(cmp.Compare(len(a.Ref), len(b.Ref)), cmp.Compare(a.Ref, b.Ref))
}

// observed is a comment of ours.
func observed(c comment, me user) codehost.ObservedComment {
	body := codehost.ShowMarkers(c.Text)

	return codehost.ObservedComment{
		Ref: codehost.Ref(strconv.FormatInt(c.ID, 10)), Fingerprint: codehost.FingerprintIn(body), Body: body,
		Closed: c.Resolved, ClosedByUs: c.Resolved && by(c.Resolver, me), Replies: answers(c.Answers, me),
	}
}

// answers is how many others gave, also to answers.
func answers(all []comment, me user) (n int) {
	for _, c := range all {
		if !by(c.Author, me) {
			n++
		}
		n += answers(c.Answers, me)
	}

	return n
}

func commitPath(api string, p codehost.PullRequest, sha string) string {
	return inRepo(api, p.Repository) + "/commits/" + sha
}

func reportPath(p codehost.PullRequest, sha string) string {
	return commitPath("insights", p, sha) + "/reports/" + reportKey
}

// check is what the build status and the report of the head say. Only the report can be
// changed by nobody else, so a status that disagrees makes a verdict that is none.
func (h *Host) check(ctx context.Context, p codehost.PullRequest) (*codehost.Check, error) {
	var r report
	err := h.get(ctx, reportPath(p, p.HeadSHA), nil, &r)
	if err != nil && codehost.FaultOf(err) == codehost.Gone {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b build
	err = h.get(ctx, commitPath("api", p, p.HeadSHA)+"/builds", url.Values{"key": {buildKey}}, &b)
	if err != nil && codehost.FaultOf(err) != codehost.Gone {
		return nil, err
	}

	check := &codehost.Check{
		Ref: reportKey, SHA: p.HeadSHA, ReviewID: r.field(reviewField), Title: b.Description, URL: b.URL,
	}
	said := codehost.Verdict(r.field(verdictField))
	if verdicts[said] == b.State && results[said] == r.Result && b.State != "" {
		check.Verdict = said
	}

	return check, nil
}

// annotations is how many the report of the head has. Bitbucket gives all at once.
func (h *Host) annotations(ctx context.Context, p codehost.PullRequest) (int, error) {
	var all struct {
		Annotations []struct{} `json:"annotations"`
	}
	err := h.get(ctx, reportPath(p, p.HeadSHA)+"/annotations", nil, &all)

	return len(all.Annotations), err
}
