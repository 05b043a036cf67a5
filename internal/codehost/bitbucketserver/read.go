package bitbucketserver

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// writes is the permission that a token needs for comments, build statuses and reports.
const writes = "REPO_WRITE"

// Access tells that the token may write to no repository.
func (h *Host) Access(ctx context.Context) (codehost.Access, error) {
	me, err := h.me(ctx)
	if err != nil {
		return codehost.Access{}, err
	}
	a := codehost.Access{Account: me.Name, ID: me.id(), Missing: []string{writes}}
	err = pages(ctx, h, "/api/latest/repos", url.Values{"permission": {writes}}, func(some []repository) bool {
		if len(some) > 0 {
			a.Missing = nil
		}

		return false
	})

	return a, err
}

// Repositories lists those that the token may read.
func (h *Host) Repositories(ctx context.Context, limit int) ([]codehost.Repository, error) {
	var out []codehost.Repository
	err := pages(ctx, h, "/api/latest/repos", url.Values{"permission": {"REPO_READ"}}, func(some []repository) bool {
		for _, r := range some {
			if len(out) < limit {
				out = append(out, r.plain())
			}
		}

		return len(out) < limit
	})

	return out, err
}

// PullRequest reads by name, and by ID when the name leads elsewhere.
func (h *Host) PullRequest(ctx context.Context, r codehost.Repository, n int32) (codehost.PullRequest, error) {
	p, err := h.pull(ctx, r, n)
	if r.ID == "" || err != nil && !isLost(err) || err == nil && p.Repository.ID == r.ID {
		return p, err
	}

	now, idErr := h.byID(ctx, r.ID)
	if idErr != nil {
		return codehost.PullRequest{}, idErr
	}
	if err != nil && now.Name == r.Name {
		return codehost.PullRequest{}, err
	}

	return h.pull(ctx, now, n)
}

// isLost tells whether a repository is not there under its name.
func isLost(err error) bool {
	fault := codehost.FaultOf(err)
	return err != nil && (fault == codehost.Gone || fault == codehost.Moved)
}

func (h *Host) pull(ctx context.Context, r codehost.Repository, n int32) (codehost.PullRequest, error) {
	var p pullRequest
	if err := h.get(ctx, pullPath("api", r, n), nil, &p); err != nil {
		return codehost.PullRequest{}, err
	}

	return p.plain(), nil
}

func pullPath(api string, r codehost.Repository, n int32) string {
	return fmt.Sprintf("%s/pull-requests/%d", inRepo(api, r), n)
}

// byID is a repository under the name that it has now. Bitbucket has no call for that, so
// it is looked for among all that the token may read.
func (h *Host) byID(ctx context.Context, id string) (out codehost.Repository, err error) {
	err = pages(ctx, h, "/api/latest/repos", url.Values{"permission": {"REPO_READ"}}, func(some []repository) bool {
		for _, r := range some {
			if p := r.plain(); p.ID == id {
				out = p
			}
		}

		return out.ID == ""
	})
	if err == nil && out.ID == "" {
		err = &codehost.Error{Fault: codehost.Gone, Err: fmt.Errorf("no repository has the number %s", id)}
	}

	return out, err
}

// OpenPullRequests lists by name, and by ID when the name leads elsewhere.
func (h *Host) OpenPullRequests(
	ctx context.Context, r codehost.Repository, since time.Time,
) ([]codehost.PullRequest, error) {
	out, err := h.open(ctx, r, since)
	isOther := err == nil && len(out) > 0 && out[0].Repository.ID != r.ID
	if r.ID == "" || !isLost(err) && !isOther {
		return out, err
	}
	now, err := h.byID(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	return h.open(ctx, now, since)
}

func (h *Host) open(
	ctx context.Context, r codehost.Repository, since time.Time,
) (out []codehost.PullRequest, err error) {
	query := url.Values{"state": {"OPEN"}} // no order goes by when they changed
	err = pages(ctx, h, inRepo("api", r)+"/pull-requests", query, func(some []pullRequest) bool {
		for _, p := range some {
			if one := p.plain(); !one.UpdatedAt.Before(since) {
				out = append(out, one)
			}
		}

		return true
	})
	slices.SortStableFunc(out, func(a, b codehost.PullRequest) int { return b.UpdatedAt.Compare(a.UpdatedAt) })

	return out, err
}

// MayCommand asks for the users who may write, also by a group or the project.
func (h *Host) MayCommand(ctx context.Context, r codehost.Repository, c codehost.Comment) (bool, error) {
	project, name, _ := strings.Cut(r.Name, "/")
	may := false
	query := url.Values{
		"filter": {c.Author}, "permission.1": {writes}, "permission.1.projectKey": {project},
		"permission.1.repositorySlug": {name},
	}
	err := pages(ctx, h, "/api/latest/users", query, func(some []user) bool {
		for _, u := range some {
			if u.Name == c.Author && strconv.FormatInt(u.ID, 10) == c.AuthorID {
				may = true
			}
		}

		return !may
	})

	return may, err
}
