package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/prwarden/prwarden/internal/codehost"
)

// closedMark ends the body of a comment that we minimised. GitHub tells that a comment
// is minimised, but not by whom.
const closedMark = "\n\n<!-- prwarden:1:closed -->"

// brokenMark ends the external identifier of a check run whose review failed. To GitHub
// that is a failure as well.
const brokenMark = ":error"

// Observe reads the check of the head, the summary and the comments on lines.
func (h *Host) Observe(ctx context.Context, p codehost.PullRequest) (codehost.Observed, error) {
	owner, name, err := split(p.Repository.Name)
	if err != nil {
		return codehost.Observed{}, err
	}

	me, err := h.self(ctx)
	if err != nil {
		return codehost.Observed{}, err
	}

	var o codehost.Observed
	if h.app != nil {
		err = h.observeCheckRun(ctx, owner, name, p.HeadSHA, &o)
	} else {
		err = h.observeStatus(ctx, owner, name, p.HeadSHA, me, &o)
	}

	if err == nil {
		err = h.observeSummaries(ctx, owner, name, int(p.Number), me, &o)
	}

	if err == nil {
		err = h.observeThreads(ctx, owner, name, p.Number, me, &o)
	}

	return o, err
}

// latestRun is the latest check run of ours at a commit; nil for none.
func (h *Host) latestRun(ctx context.Context, owner, name, sha string) (*api.CheckRun, error) {
	var latest *api.CheckRun
	err := h.pages(func(page api.ListOptions) (*api.Response, error) {
		list, r, err := h.client.Checks.ListCheckRunsForRef(ctx, owner, name, sha, &api.ListCheckRunsOptions{
			CheckName: api.Ptr(CheckName), Filter: api.Ptr("all"), AppID: &h.o.AppID, ListOptions: page,
		})
		if err != nil {
			return r, err
		}

		for _, run := range list.CheckRuns {
			if run.GetApp().GetID() == h.o.AppID && run.GetName() == CheckName && run.GetID() > latest.GetID() {
				latest = run
			}
		}
		return r, nil
	})

	return latest, err
}

// observeCheckRun reads the check run that a commit shows.
func (h *Host) observeCheckRun(ctx context.Context, owner, name, sha string, o *codehost.Observed) error {
	latest, err := h.latestRun(ctx, owner, name, sha)
	if err != nil || latest == nil {
		return err
	}

	out := latest.GetOutput()
	review, broken := strings.CutSuffix(latest.GetExternalID(), brokenMark)
	o.Check = &codehost.Check{
		Ref: codehost.Ref(text(latest.GetID())), SHA: sha, ReviewID: review, Verdict: verdictOf(latest, broken),
		Title: out.GetTitle(), Summary: out.GetSummary(), URL: latest.GetDetailsURL(),
	}
	if o.Check.Summary == o.Check.Title { // it stands for none
		o.Check.Summary = ""
	}

	o.Annotations = out.GetAnnotationsCount()
	return nil
}

// verdictOf is what a check run says. Another conclusion than ours is read as pending,
// which no verdict is, so that it is set right.
func verdictOf(run *api.CheckRun, broken bool) codehost.Verdict {
	if run.GetStatus() != completed {
		return codehost.Pending
	}

	switch run.GetConclusion() {
	case "success":
		return codehost.Success
	case "failure":
		if broken {
			return codehost.Broken
		}
		return codehost.Failure
	case "cancelled":
		return codehost.Outdated
	}

	return codehost.Pending
}

// observeStatus reads the latest commit status of our name, if it is ours: people see no
// other one. They come newest first.
func (h *Host) observeStatus(
	ctx context.Context, owner, name, sha string, me account, o *codehost.Observed,
) error {
	err := h.pages(func(page api.ListOptions) (*api.Response, error) {
		list, r, err := h.client.Repositories.ListStatuses(ctx, owner, name, sha, &page)

		for _, s := range list {
			if s.GetContext() != CheckName {
				continue
			}
			if s.GetCreator().GetID() != me.id {
				return nil, nil
			}
			o.Check = &codehost.Check{
				Ref: codehost.Ref(text(s.GetID())), SHA: sha, Verdict: codehost.Verdict(s.GetState()),
				Title: s.GetDescription(), URL: s.GetTargetURL(),
			}
			return nil, nil
		}
		return r, err
	})

	return err
}

// observeSummaries reads the comments of ours below a pull request.
func (h *Host) observeSummaries(
	ctx context.Context, owner, name string, n int, me account, o *codehost.Observed,
) error {
	return h.pages(func(page api.ListOptions) (*api.Response, error) {
		list, r, err := h.client.Issues.ListComments(ctx, owner, name, n, &api.IssueListCommentsOptions{
			ListOptions: page,
		})

		for _, c := range list {
			if c.GetUser().GetID() == me.id && codehost.IsSummary(c.GetBody()) {
				o.Summaries = append(o.Summaries, codehost.ObservedComment{
					Ref: ref(text(c.GetID()), c.GetNodeID()), Body: lines(c.GetBody()),
				})
			}
		}
		return r, err
	})
}

// observeThreads reads the comments of ours on lines, and reviews that were never sent.
func (h *Host) observeThreads(
	ctx context.Context, owner, name string, n int32, me account, o *codehost.Observed,
) error {
	var after *string

	for range maxPages {
		a, err := h.threads(ctx, owner, name, n, after)
		if err != nil {
			return err
		}

		p := a.Repository.PullRequest
		if after == nil {
			o.Unsent, _ = h.unsent(p.Reviews.Nodes, me)
		}
		for _, t := range p.ReviewThreads.Nodes {
			if c, ours := observed(t, me); ours {
				o.Comments = append(o.Comments, c)
			}
		}

		if !p.ReviewThreads.PageInfo.HasNextPage {
			return nil
		}
		after = &p.ReviewThreads.PageInfo.EndCursor
	}

	return &codehost.Error{
		Fault: codehost.Invalid, Err: fmt.Errorf("github: the pull request has more than %d threads", maxPages*perPage),
	}
}

// threads reads one page of threads, after a cursor.
func (h *Host) threads(ctx context.Context, owner, name string, n int32, after *string) (threadsAnswer, error) {
	var a threadsAnswer
	err := h.query(ctx, threadsQuery, map[string]any{
		"owner": owner, "name": name, "number": n, "after": after,
	}, &a, false)
	if err == nil && (a.Repository == nil || a.Repository.PullRequest == nil) {
		err = &codehost.Error{Fault: codehost.Gone, Err: errors.New("github: there is no such pull request")}
	}

	return a, err
}

// unsent are the reviews that we began, and whether the account has one besides. With a
// token the account may be a person's, whose draft isn't ours: only what has markers is.
func (h *Host) unsent(all []pending, me account) (ours []codehost.Ref, others bool) {
	for _, r := range all {
		if !r.Author.is(me) {
			continue
		}

		marked := len(r.Comments.Nodes) > 0 && r.Comments.TotalCount == len(r.Comments.Nodes)
		for _, c := range r.Comments.Nodes {
			marked = marked && codehost.FingerprintIn(c.Body) != ""
		}

		if h.app != nil || marked {
			ours = append(ours, codehost.Ref(r.FullDatabaseID))
		} else {
			others = true
		}
	}

	return ours, others
}

// is tells whether somebody is an account. Nobody is one whose account is gone.
func (a *actor) is(me account) bool { return a != nil && a.DatabaseID == me.id }

// observed is a thread that begins with a comment of ours on a finding. It has the
// thread's ID where we may resolve it. For that, GitHub wants that an App may write
// contents, which it does not ask for.
func observed(t thread, me account) (codehost.ObservedComment, bool) {
	if len(t.First.Nodes) == 0 {
		return codehost.ObservedComment{}, false
	}

	first := t.First.Nodes[0]
	if !first.Author.is(me) || first.State == "PENDING" { // of a review that was never sent
		return codehost.ObservedComment{}, false
	}

	fingerprint := codehost.FingerprintIn(first.Body)
	if fingerprint == "" {
		return codehost.ObservedComment{}, false
	}

	replies := t.All.TotalCount
	for _, c := range t.All.Nodes {
		if c.Author.is(me) {
			replies--
		}
	}

	body, marked := strings.CutSuffix(lines(first.Body), closedMark)
	closed := first.IsMinimized || t.IsResolved
	byOther := t.IsResolved && t.ResolvedBy != nil && !t.ResolvedBy.is(me)
	c := codehost.ObservedComment{
		Ref: ref(first.FullDatabaseID, first.ID), Fingerprint: fingerprint,
		Body: body, Closed: closed, ClosedByUs: closed && marked && !byOther, Replies: replies,
	}
	if t.ViewerCanResolve && !t.IsResolved || t.ViewerCanUnresolve && t.IsResolved {
		c.Thread = codehost.Ref(t.ID)
	}

	return c, true
}

// lines are a text's with the ends that we write. GitHub's editor makes others.
func lines(body string) string { return strings.ReplaceAll(body, "\r\n", "\n") }

// ref names a comment by the number that REST has for it and the ID that GraphQL has.
func ref(number, node string) codehost.Ref { return codehost.Ref(number + "/" + node) }

// parts takes a ref apart; 0 for one that is none of ours.
func parts(r codehost.Ref) (id int64, node string) {
	first, node, _ := strings.Cut(string(r), "/")
	return number(first), node
}
