package bitbucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// probes are calls that ask for the scopes of publishing and change nothing: nobody has
// the workspace `-`.
var probes = []struct {
	method, path string
	in           any
}{
	{http.MethodGet, "/repositories/-/-/pullrequests", nil},
	{http.MethodPost, "/repositories/-/-/pullrequests/1/comments", content("-")},
	{http.MethodGet, "/repositories/-/-/commit/0", nil},
	{
		http.MethodPost, "/repositories/-/-/commit/0/statuses/build",
		status{Key: statusKey, State: "FAILED", URL: "https://-"},
	},
}

// Access names the scopes that the token lacks.
func (h *Host) Access(ctx context.Context) (codehost.Access, error) {
	var a codehost.Access
	missing := func(err error) {
		if scope := scopeIn(err); !slices.Contains(a.Missing, scope) {
			a.Missing = append(a.Missing, scope)
		}
	}
	me, err := h.me(ctx)
	switch {
	case lacksScope(err):
		missing(err)
	case err != nil:
		return codehost.Access{}, err
	default:
		a.Account, a.ID = me.login(), me.id()
		if !h.personal { // it is what the connection names
			a.Account = me.UUID
		}
	}

	for _, probe := range probes {
		err := h.send(ctx, probe.method, probe.path, probe.in)
		switch fault := codehost.FaultOf(err); {
		case lacksScope(err):
			missing(err)
		case err != nil && fault != codehost.Gone && fault != codehost.Invalid && fault != codehost.Forbidden:
			return codehost.Access{}, err
		}
	}

	return a, nil
}

// noScope begins what Bitbucket says of a token that lacks a scope. The names follow.
const noScope = "Your credentials lack one or more required privilege scopes."

func lacksScope(err error) bool {
	var e *codehost.Error
	return errors.As(err, &e) && e.Fault == codehost.Forbidden && strings.HasPrefix(e.Scope, noScope)
}

func scopeIn(err error) string {
	var e *codehost.Error
	if !errors.As(err, &e) {
		return ""
	}
	if scope := strings.TrimSpace(strings.TrimPrefix(e.Scope, noScope)); scope != "" {
		return scope
	}

	return e.Scope
}

// Repositories lists those of the workspaces that the token reaches. Bitbucket has no list
// over all workspaces any more.
func (h *Host) Repositories(ctx context.Context, limit int) ([]codehost.Repository, error) {
	if len(h.workspaces) == 0 {
		return nil, &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf(
			"Bitbucket lists the repositories of a workspace only; let the connection's repositories name one, as in acme/*")}
	}

	var out []codehost.Repository
	for _, workspace := range h.workspaces {
		query := url.Values{"pagelen": {"100"}, "role": {"member"}}
		err := pages(ctx, h, "/repositories/"+url.PathEscape(workspace), query, func(some []repository) bool {
			for _, r := range some {
				if len(out) < limit {
					out = append(out, r.plain())
				}
			}

			return len(out) < limit
		})
		if err != nil {
			return nil, err
		}
	}

	return out, nil
}

// PullRequest reads by name, and by ID when the name leads elsewhere.
func (h *Host) PullRequest(ctx context.Context, r codehost.Repository, n int32) (codehost.PullRequest, error) {
	p, err := h.pull(ctx, r, n)
	fault := codehost.FaultOf(err)
	lost := err != nil && (fault == codehost.Gone || fault == codehost.Moved)
	if err != nil && (!lost || r.ID == "") {
		return codehost.PullRequest{}, err
	}
	if lost || r.ID != "" && p.plain().Repository.ID != r.ID {
		now, idErr := h.byID(ctx, r.ID)
		if idErr != nil {
			return codehost.PullRequest{}, idErr
		}
		if err != nil && now.Name == r.Name {
			return codehost.PullRequest{}, err
		}
		if p, err = h.pull(ctx, now, n); err != nil {
			return codehost.PullRequest{}, err
		}
	}

	return h.whole(ctx, p, map[string]string{})
}

func (h *Host) pull(ctx context.Context, r codehost.Repository, n int32) (p pullRequest, err error) {
	return p, h.get(ctx, pullPath(r, n), nil, &p)
}

func pullPath(r codehost.Repository, n int32) string {
	return fmt.Sprintf("%s/pullrequests/%d", repoPath(r), n)
}

// byID is a repository under the name that it has now.
func (h *Host) byID(ctx context.Context, id string) (codehost.Repository, error) {
	var r repository
	path := "/repositories/" + url.PathEscape("{}") + "/" + url.PathEscape(braced(id))
	if err := h.get(ctx, path, nil, &r); err != nil {
		return codehost.Repository{}, err
	}

	return r.plain(), nil
}

// whole is a pull request with its commits, whose hashes Bitbucket shortens. known has
// those that were read before.
func (h *Host) whole(ctx context.Context, p pullRequest, known map[string]string) (codehost.PullRequest, error) {
	out := p.plain()
	var err error
	if out.HeadSHA, err = h.head(ctx, out, p.Source.Commit.Hash, known); err != nil {
		return codehost.PullRequest{}, err
	}
	out.BaseSHA, err = h.commit(ctx, out.Repository, p.Destination.Commit.Hash, known)
	if err != nil && codehost.FaultOf(err) != codehost.Gone { // its branch can be gone, too
		return codehost.PullRequest{}, err
	}

	return out, nil
}

// commit is the whole hash of a commit in a repository.
func (h *Host) commit(
	ctx context.Context, r codehost.Repository, short string, known map[string]string,
) (string, error) {
	if full := known[short]; full != "" {
		return full, nil
	}
	var c commit
	query := url.Values{"fields": {"hash"}}
	if err := h.get(ctx, repoPath(r)+"/commit/"+url.PathEscape(short), query, &c); err != nil {
		return "", err
	}
	if short == "" || !strings.HasPrefix(c.Hash, short) {
		return "", &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("the commit %q is not the one asked for", c.Hash)}
	}
	known[short] = c.Hash

	return c.Hash, nil
}

// head is the whole hash of the head. The commits of a fork are not in the repository
// itself, but the pull request lists them.
func (h *Host) head(
	ctx context.Context, p codehost.PullRequest, short string, known map[string]string,
) (string, error) {
	full, err := h.commit(ctx, p.Repository, short, known)
	if err == nil || codehost.FaultOf(err) != codehost.Gone {
		return full, err
	}
	query := url.Values{"pagelen": {"100"}, "fields": {"next,values.hash"}}
	listErr := pages(ctx, h, pullPath(p.Repository, p.Number)+"/commits", query, func(some []commit) bool {
		for _, c := range some {
			if strings.HasPrefix(c.Hash, short) {
				full = c.Hash
				return false
			}
		}

		return true
	})
	if listErr != nil || full == "" {
		return "", errors.Join(listErr, err)
	}
	known[short] = full

	return full, nil
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

	var changed []pullRequest
	query := url.Values{"state": {"OPEN"}, "sort": {"-updated_on"}, "pagelen": {"50"}}
	err := pages(ctx, h, repoPath(r)+"/pullrequests", query, func(some []pullRequest) bool {
		for _, p := range some {
			if p.UpdatedOn.Before(since) {
				return false
			}
			changed = append(changed, p)
		}

		return true
	})
	var out []codehost.PullRequest
	known := map[string]string{}
	for _, p := range changed {
		whole, wholeErr := h.whole(ctx, p, known)
		if wholeErr != nil {
			return nil, wholeErr
		}
		out = append(out, whole)
	}

	return out, err
}

// MayCommand needs a token with the rights of an administrator of the repository: to
// others Bitbucket tells nobody's permission.
func (h *Host) MayCommand(ctx context.Context, r codehost.Repository, c codehost.Comment) (bool, error) {
	if c.AuthorID == "" || strings.Trim(c.AuthorID, uuidCharacters) != "" {
		return false, nil
	}
	workspace, name, _ := strings.Cut(r.Name, "/")
	path := "/workspaces/" + url.PathEscape(workspace) + "/permissions/repositories/" + url.PathEscape(name)
	may := false
	type permission struct {
		User       *user  `json:"user"`
		Permission string `json:"permission"`
	}
	query := url.Values{"q": {fmt.Sprintf("user.uuid=%q", braced(c.AuthorID))}}
	err := pages(ctx, h, path, query, func(some []permission) bool {
		for _, p := range some {
			if by(p.User, user{UUID: c.AuthorID}) && (p.Permission == "write" || p.Permission == "admin") {
				may = true
			}
		}

		return !may
	})

	return may, err
}
