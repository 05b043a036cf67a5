package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/publish"
)

// PullRequests answers PullRequestService.
type PullRequests struct {
	prwardenv1.UnimplementedPullRequestServiceServer
	service *publish.Service
}

// NewPullRequests makes the handlers.
func NewPullRequests(service *publish.Service) *PullRequests { return &PullRequests{service: service} }

// keyOf names a pull request of the caller's organization.
func keyOf(ctx context.Context, repo string, number int32) publish.Key {
	return publish.Key{Organization: auth.FromContext(ctx).Organization, Repo: repo, Number: number}
}

// ListPullRequests implements PullRequestService.
func (h *PullRequests) ListPullRequests(
	ctx context.Context, req *prwardenv1.ListPullRequestsRequest,
) (*prwardenv1.ListPullRequestsResponse, error) {
	in := publish.ListInput{
		Repo: req.GetRepo(), Connection: req.GetConnectionId(), PageSize: int(req.GetPageSize()),
		PageToken: req.GetPageToken(),
	}
	if req.State != nil {
		in.State = codehost.State(req.State.String())
	}
	list, next, err := h.service.List(ctx, auth.FromContext(ctx).Organization, in)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListPullRequestsResponse{PullRequests: each(list, toPullRequest), NextPageToken: next}, nil
}

// GetPullRequest implements PullRequestService.
func (h *PullRequests) GetPullRequest(
	ctx context.Context, req *prwardenv1.GetPullRequestRequest,
) (*prwardenv1.GetPullRequestResponse, error) {
	p, err := h.service.Get(ctx, keyOf(ctx, req.GetRepo(), req.GetPrNumber()))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.GetPullRequestResponse{PullRequest: toPullRequest(p)}, nil
}

// RepublishPullRequest implements PullRequestService.
func (h *PullRequests) RepublishPullRequest(
	ctx context.Context, req *prwardenv1.RepublishPullRequestRequest,
) (*prwardenv1.RepublishPullRequestResponse, error) {
	p, err := h.service.Republish(ctx, keyOf(ctx, req.GetRepo(), req.GetPrNumber()))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.RepublishPullRequestResponse{PullRequest: toPullRequest(p)}, nil
}

// ListThreads implements PullRequestService.
func (h *PullRequests) ListThreads(
	ctx context.Context, req *prwardenv1.ListThreadsRequest,
) (*prwardenv1.ListThreadsResponse, error) {
	list, err := h.service.Threads(ctx, keyOf(ctx, req.GetRepo(), req.GetPrNumber()))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListThreadsResponse{Threads: each(list, toThread)}, nil
}

func toPullRequest(p publish.PullRequest) *prwardenv1.PullRequest {
	out := &prwardenv1.PullRequest{
		Repo: p.Repository.Name, PrNumber: p.Number, ConnectionId: p.Connection, Title: finding.Shown(p.Title),
		Author: finding.Shown(p.Author), HeadSha: p.HeadSHA, BaseRef: finding.Shown(p.BaseRef), Draft: p.Draft,
		Fork: p.Fork, Labels: each(p.Labels, finding.Shown), Url: given(p.URL), CreatedAt: toTime(p.CreatedAt),
		Publication: &prwardenv1.PullRequest_Publication{
			Pending: p.Publication.Pending, PublishedAt: toTime(p.Publication.PublishedAt),
			Failures: clamp(p.Publication.Failures), Problem: finding.Shown(p.Publication.Problem),
		},
	}
	if state := enum[prwardenv1.PullRequest_State](string(p.State), prwardenv1.PullRequest_State_value); state != nil {
		out.State = *state
	}

	return out
}

func toThread(t publish.Thread) *prwardenv1.Thread {
	out := &prwardenv1.Thread{
		Fingerprint: t.Fingerprint, RuleId: given(t.RuleID), File: given(finding.Shown(t.Path)),
		UpdatedAt: toTime(t.UpdatedAt),
	}
	if state := enum[prwardenv1.Thread_State](string(t.State), prwardenv1.Thread_State_value); state != nil {
		out.State = *state
	}

	return out
}
