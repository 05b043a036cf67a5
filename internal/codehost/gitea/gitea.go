// Package gitea is Gitea from version 1.26 on, and Forgejo. It makes a dozen calls of
// their API by hand: Gitea's own client has one context for all calls.
package gitea

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
	URL      string // such as https://gitea.example.com
	APIURL   string // "" for URL with /api/v1
	Token    string // reads and publishes
	GitToken string // reads by git; Token when empty
}

// Host is a Gitea or a Forgejo.
type Host struct {
	api *hosthttp.Client
	git string

	// Neither changes while a token is valid, so each is asked for once.
	mu      sync.Mutex
	account *user
	version *string
}

var _ codehost.Host = (*Host)(nil)

// New makes a host.
func New(o Options) *Host {
	base := o.APIURL
	if base == "" {
		base = strings.TrimRight(o.URL, "/") + "/api/v1"
	}
	git := o.GitToken
	if git == "" {
		git = o.Token
	}

	return &Host{api: hosthttp.New(o.Client, base, "token "+o.Token), git: git}
}

// Limits are our own: Gitea has none for texts and calls, and takes 13 ms for a comment.
func (h *Host) Limits() codehost.Limits {
	return codehost.Limits{CommentsPerCall: 50, Body: 60_000, Title: 250, CallsPerMinute: 240, CallsPerHour: 6000}
}

// Credential is the same for all repositories and lasts until somebody deletes it: Gitea
// has no other.
func (h *Host) Credential(context.Context, codehost.Repository) (codehost.Credential, error) {
	return codehost.Credential{Username: "prwarden", Token: h.git}, nil
}

// get reads.
func (h *Host) get(ctx context.Context, path string, out any) error {
	_, err := h.api.Do(ctx, hosthttp.Call{Method: http.MethodGet, Path: path, Out: out})
	return err
}

// send writes.
func (h *Host) send(ctx context.Context, method, path string, in, out any) error {
	_, err := h.api.Do(ctx, hosthttp.Call{Method: method, Path: path, In: in, Out: out})
	return err
}

const (
	perPage  = 50 // the most that Gitea gives, unless its administrator says less
	maxPages = 400
)

// pages reads a list page by page until there are no more, or until use wants none.
func pages[T any](ctx context.Context, h *Host, path string, query url.Values, use func([]T) (more bool)) error {
	if query == nil {
		query = url.Values{}
	}
	size := 0 // of a whole page, as far as is known
	query.Set("limit", strconv.Itoa(perPage))
	for page := 1; page <= maxPages; page++ {
		query.Set("page", strconv.Itoa(page))
		var some []T
		header, err := h.api.Do(ctx, hosthttp.Call{Method: http.MethodGet, Path: path, Query: query, Out: &some})
		if err != nil {
			return err
		}
		if !use(some) {
			return nil
		}

		// A page can have less than its share or nothing, since reviews that others have
		// not sent are left out; the total counts them.
		size = max(size, len(some))
		total, err := strconv.Atoi(header.Get("X-Total-Count"))
		if err != nil && len(some) == 0 || err == nil && page*cmp.Or(size, perPage) >= total {
			return nil
		}
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("%s has more than %d pages", path, maxPages)}
}

// repoPath is the path of a repository by its name.
func repoPath(r codehost.Repository) string {
	owner, name, _ := strings.Cut(r.Name, "/")
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
}

// me is the account of the token.
func (h *Host) me(ctx context.Context) (user, error) {
	return once(h, &h.account, func() (u user, err error) {
		err = h.get(ctx, "/user", &u)
		return u, err
	})
}

// forgejo tells whether it is a Forgejo, whose version names the Gitea that it is like.
func (h *Host) forgejo(ctx context.Context) (bool, error) {
	version, err := once(h, &h.version, func() (string, error) {
		var v struct {
			Version string `json:"version"`
		}
		err := h.get(ctx, "/version", &v)
		return v.Version, err
	})

	return strings.Contains(version, "+gitea-"), err
}

// once is what was asked for before, or what ask returns.
func once[T any](h *Host, known **T, ask func() (T, error)) (T, error) {
	h.mu.Lock()
	have := *known
	h.mu.Unlock()
	if have != nil {
		return *have, nil
	}

	found, err := ask()
	if err == nil {
		h.mu.Lock()
		*known = &found
		h.mu.Unlock()
	}

	return found, err
}
