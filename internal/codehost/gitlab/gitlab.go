// Package gitlab is gitlab.com, and GitLab from version 16 on. It makes a dozen calls of
// its REST API by hand; docs/decisions say why not by GitLab's client.
package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
)

// Options are those of a host.
type Options struct {
	Client   *http.Client
	URL      string // such as https://gitlab.com
	APIURL   string // "" for URL with /api/v4
	Token    string // of a person, a group or a project; reads and publishes
	GitToken string // reads by git; Token when empty
}

// Host is a GitLab.
type Host struct {
	api *hosthttp.Client
	git string

	mu      sync.Mutex
	account user // of the token, which does not change; zero until it is known
}

var _ codehost.Host = (*Host)(nil)

// New makes a host.
func New(o Options) *Host {
	base := cmp.Or(o.APIURL, strings.TrimRight(o.URL, "/")+"/api/v4")
	return &Host{api: hosthttp.New(o.Client, base, "Bearer "+o.Token), git: cmp.Or(o.GitToken, o.Token)}
}

// Limits are those that GitLab has by default, but that of a text, which is 1,000,000:
// nobody reads that. A title is the description of a status (docs.gitlab.com/api/commits).
// gitlab.com takes 60 notes a minute of a user (docs.gitlab.com/user/gitlab_com), others
// 300 (docs.gitlab.com/administration/settings/rate_limit_on_notes_creation). Every
// comment on a line is a call.
func (h *Host) Limits() codehost.Limits {
	return codehost.Limits{
		CommentsPerCall: 1, Body: 60_000, Title: 255, CallsPerMinute: 60, CallsPerHour: 3600,
		Suggestions: codehost.SuggestionOfMore,
	}
}

// Credential is the same for all repositories and lasts until the token ends. GitLab
// takes any user name with it
// (docs.gitlab.com/user/profile/personal_access_tokens/#clone-repository-using-personal-access-token).
func (h *Host) Credential(context.Context, codehost.Repository) (codehost.Credential, error) {
	return codehost.Credential{Username: "oauth2", Token: h.git}, nil
}

// get reads.
func (h *Host) get(ctx context.Context, path string, out any) error {
	_, err := h.api.Do(ctx, hosthttp.Call{Method: http.MethodGet, Path: path, Out: out})
	return err
}

// send writes.
func (h *Host) send(ctx context.Context, method, path string, in any) error {
	_, err := h.api.Do(ctx, hosthttp.Call{Method: method, Path: path, In: in})
	return err
}

const (
	perPage  = 100 // the most that GitLab gives
	maxPages = 400
)

// pages reads a list page by page until there are no more, or until use wants none.
func pages[T any](ctx context.Context, h *Host, path string, query url.Values, use func([]T) (more bool)) error {
	query.Set("per_page", strconv.Itoa(perPage))
	for page := 1; page <= maxPages; page++ {
		query.Set("page", strconv.Itoa(page))
		var some []T
		header, err := h.api.Do(ctx, hosthttp.Call{Method: http.MethodGet, Path: path, Query: query, Out: &some})
		if err != nil {
			return err
		}
		if !use(some) || header.Get("X-Next-Page") == "" {
			return nil
		}
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("%s has more than %d pages", path, maxPages)}
}

// projectPath is the path of a repository by its ID, which a new name doesn't change, or
// else by its name with all its groups.
func projectPath(r codehost.Repository) string {
	return "/projects/" + url.PathEscape(cmp.Or(r.ID, r.Name))
}

func mergeRequestPath(r codehost.Repository, n int32) string {
	return fmt.Sprintf("%s/merge_requests/%d", projectPath(r), n)
}

// me is the account of the token. Tokens of groups and projects have one of their own.
func (h *Host) me(ctx context.Context) (user, error) {
	h.mu.Lock()
	known := h.account
	h.mu.Unlock()
	if known.ID != 0 {
		return known, nil
	}

	var u user
	if err := h.get(ctx, "/user", &u); err != nil {
		return user{}, err
	}
	h.mu.Lock()
	h.account = u
	h.mu.Unlock()

	return u, nil
}
