package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// scopes are those of a token that publishing needs, each with a call that asks for it
// and changes nothing: an owner can't be named `-`, and the scope is looked at first.
var scopes = []struct {
	name, path string
	in         any
}{
	{"write:repository", "/repos/-/-/statuses/0", commitStatus{Context: statusContext}},
	{"write:issue", "/repos/-/-/issues/1/comments", text{"-"}},
}

// Access names the scopes that the token lacks.
func (h *Host) Access(ctx context.Context) (codehost.Access, error) {
	var a codehost.Access
	me, err := h.me(ctx)
	switch {
	case lacksScope(err):
		a.Missing = append(a.Missing, "read:user")
	case err != nil:
		return codehost.Access{}, err
	default:
		a.Account, a.ID = me.Login, me.id()
	}

	for _, scope := range scopes {
		err := h.send(ctx, http.MethodPost, scope.path, scope.in, nil)
		switch fault := codehost.FaultOf(err); {
		case lacksScope(err):
			a.Missing = append(a.Missing, scope.name)
		case err != nil && fault != codehost.Gone && fault != codehost.Invalid:
			return codehost.Access{}, err
		}
	}

	return a, nil
}

// lacksScope tells whether Gitea says that a token lacks a scope.
func lacksScope(err error) bool {
	var e *codehost.Error
	return errors.As(err, &e) && e.Fault == codehost.Forbidden && strings.Contains(e.Scope, "required scope")
}

// Repositories lists those of the account, of its organizations, and those that it
// works on with others.
func (h *Host) Repositories(ctx context.Context, limit int) ([]codehost.Repository, error) {
	var out []codehost.Repository
	err := pages(ctx, h, "/user/repos", nil, func(some []repository) bool {
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
	fault := codehost.FaultOf(err)
	lost := err != nil && (fault == codehost.Gone || fault == codehost.Moved)
	if r.ID == "" || err != nil && !lost || err == nil && p.Repository.ID == r.ID {
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

func (h *Host) pull(ctx context.Context, r codehost.Repository, n int32) (codehost.PullRequest, error) {
	var p pullRequest
	if err := h.get(ctx, pullPath(r, n), &p); err != nil {
		return codehost.PullRequest{}, err
	}

	return p.plain(), nil
}

func pullPath(r codehost.Repository, n int32) string {
	return fmt.Sprintf("%s/pulls/%d", repoPath(r), n)
}

// byID is a repository under the name that it has now.
func (h *Host) byID(ctx context.Context, id string) (codehost.Repository, error) {
	var r repository
	if err := h.get(ctx, "/repositories/"+url.PathEscape(id), &r); err != nil {
		return codehost.Repository{}, err
	}

	return r.plain(), nil
}

// OpenPullRequests lists by name, and by ID when the name leads elsewhere.
func (h *Host) OpenPullRequests(
	ctx context.Context, r codehost.Repository, since time.Time,
) ([]codehost.PullRequest, error) {
	if r.ID != "" {
		now, err := h.byID(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		r = now
	}

	var out []codehost.PullRequest
	query := url.Values{"state": {"open"}, "sort": {"recentupdate"}}
	err := pages(ctx, h, repoPath(r)+"/pulls", query, func(some []pullRequest) bool {
		for _, p := range some {
			if p.UpdatedAt.Before(since) {
				return false
			}
			out = append(out, p.plain())
		}

		return true
	})

	return out, err
}

// MayCommand needs an account that administers the repository: to others Gitea tells
// nobody's permission but their own.
func (h *Host) MayCommand(ctx context.Context, r codehost.Repository, c codehost.Comment) (bool, error) {
	var who struct {
		User       *user  `json:"user"`
		Permission string `json:"permission"`
	}
	err := h.get(ctx, repoPath(r)+"/collaborators/"+url.PathEscape(c.Author)+"/permission", &who)
	switch {
	case codehost.FaultOf(err) == codehost.Gone && err != nil:
		return false, nil
	case err != nil:
		return false, err
	case who.User == nil || who.User.id() != c.AuthorID: // the name is somebody else's now
		return false, nil
	}

	return who.Permission == "write" || who.Permission == "admin" || who.Permission == "owner", nil
}
