package gitlab

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// developer is the role that may write to a project, and the least that may set a
// status (docs.gitlab.com/api/members/#roles, docs.gitlab.com/api/commits).
const developer = 30

// Access names the scopes that the token lacks, and says when it has no project to
// publish in. Any token may ask for its own scopes. One that is no access token, such as
// of OAuth, has none to ask for.
func (h *Host) Access(ctx context.Context) (codehost.Access, error) {
	var token struct {
		Scopes []string `json:"scopes"`
	}
	err := h.get(ctx, "/personal_access_tokens/self", &token)
	if fault := codehost.FaultOf(err); err != nil && fault != codehost.Gone && fault != codehost.Invalid {
		return codehost.Access{}, err
	}

	var a codehost.Access
	if len(token.Scopes) > 0 && !slices.Contains(token.Scopes, "api") && !slices.Contains(token.Scopes, "granular") {
		a.Missing = append(a.Missing, "api")
	}
	me, err := h.me(ctx)
	switch {
	case isForbidden(err) && len(a.Missing) > 0:
		return a, nil
	case err != nil:
		return codehost.Access{}, err
	}
	a.Account, a.ID = me.Username, me.id()

	some, err := h.projects(ctx, url.Values{"min_access_level": {"30"}}, 1)
	if err != nil && !isForbidden(err) {
		return codehost.Access{}, err
	}
	if err == nil && len(some) == 0 {
		a.Missing = append(a.Missing, "the role Developer in a project")
	}

	return a, nil
}

func isForbidden(err error) bool {
	var e *codehost.Error
	return errors.As(err, &e) && e.Fault == codehost.Forbidden
}

// Repositories lists the projects that the account is a member of, also by a group.
func (h *Host) Repositories(ctx context.Context, limit int) ([]codehost.Repository, error) {
	return h.projects(ctx, url.Values{}, limit)
}

func (h *Host) projects(ctx context.Context, query url.Values, limit int) ([]codehost.Repository, error) {
	for key, value := range map[string]string{
		"membership": "true", "archived": "false", "order_by": "id", "sort": "asc",
	} {
		query.Set(key, value)
	}
	var out []codehost.Repository
	err := pages(ctx, h, "/projects", query, func(some []project) bool {
		for _, p := range some[:min(len(some), limit-len(out))] {
			out = append(out, p.plain())
		}

		return len(out) < limit
	})

	return out, err
}

// project reads what a merge request doesn't say of its project.
func (h *Host) project(ctx context.Context, r codehost.Repository) (codehost.Repository, error) {
	var p project
	if err := h.get(ctx, projectPath(r), &p); err != nil {
		return codehost.Repository{}, err
	}

	return p.plain(), nil
}

// PullRequest reads a merge request and its project. GitLab looks at the commits of a
// new one only after it is there.
func (h *Host) PullRequest(ctx context.Context, r codehost.Repository, n int32) (codehost.PullRequest, error) {
	r, err := h.project(ctx, r)
	if err != nil {
		return codehost.PullRequest{}, err
	}
	m, err := h.mergeRequest(ctx, r, n)
	if err != nil {
		return codehost.PullRequest{}, err
	}
	p := m.plain(r)
	if p.HeadSHA == "" {
		return codehost.PullRequest{}, &codehost.Error{
			Fault: codehost.Passing, After: 5 * time.Second,
			Err: errors.New("GitLab has not looked at the commits of the merge request yet"),
		}
	}

	return p, nil
}

func (h *Host) mergeRequest(ctx context.Context, r codehost.Repository, n int32) (mergeRequest, error) {
	var m mergeRequest
	err := h.get(ctx, mergeRequestPath(r, n), &m)

	return m, err
}

// OpenPullRequests lists those of a project. The list doesn't say where heads branched off.
func (h *Host) OpenPullRequests(
	ctx context.Context, r codehost.Repository, since time.Time,
) ([]codehost.PullRequest, error) {
	r, err := h.project(ctx, r)
	if err != nil {
		return nil, err
	}

	var out []codehost.PullRequest
	query := url.Values{"state": {"opened"}, "scope": {"all"}, "order_by": {"updated_at"}, "sort": {"desc"}}
	err = pages(ctx, h, projectPath(r)+"/merge_requests", query, func(some []mergeRequest) bool {
		for _, m := range some {
			if m.UpdatedAt.Before(since) {
				return false
			}
			out = append(out, m.plain(r))
		}

		return true
	})

	return out, err
}

// MayCommand wants the role Developer, in the project, in a group of it, or in one that
// was invited.
func (h *Host) MayCommand(ctx context.Context, r codehost.Repository, c codehost.Comment) (bool, error) {
	var member struct {
		ID          int64  `json:"id"`
		State       string `json:"state"`
		AccessLevel int    `json:"access_level"`
	}
	err := h.get(ctx, projectPath(r)+"/members/all/"+url.PathEscape(c.AuthorID), &member)
	switch {
	case err != nil && codehost.FaultOf(err) == codehost.Gone:
		return false, nil
	case err != nil:
		return false, err
	}

	return user{ID: member.ID}.id() == c.AuthorID && member.State == "active" && member.AccessLevel >= developer, nil
}
