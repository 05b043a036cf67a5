// Package bitbucketserver is Bitbucket Data Center from version 8 on. It makes a dozen
// calls of its API by hand: the clients that there are know no reports.
package bitbucketserver

import (
	"cmp"
	"context"
	"errors"
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
	URL      string // such as https://bitbucket.example.com
	APIURL   string // "" for URL with /rest
	Token    string // HTTP access token that reads and publishes
	GitToken string // reads by git; Token when empty
}

// Host is a Bitbucket Data Center.
type Host struct {
	api, git *hosthttp.Client
	gitToken string

	// Neither changes while a token is valid, so each is asked for once.
	mu      sync.Mutex
	account *user
	gitName string
}

var _ codehost.Host = (*Host)(nil)

// New makes a host.
func New(o Options) *Host {
	base := cmp.Or(o.APIURL, strings.TrimRight(o.URL, "/")+"/rest")
	git := cmp.Or(o.GitToken, o.Token)

	return &Host{
		api: hosthttp.New(o.Client, base, "Bearer "+o.Token), git: hosthttp.New(o.Client, base, "Bearer "+git), gitToken: git,
	}
}

// Limits have the documented ones for annotations, which an administrator can change.
// Those for texts and calls are ours.
func (h *Host) Limits() codehost.Limits {
	return codehost.Limits{
		AnnotationsPerCall: 100, Annotations: 1000, CommentsPerCall: 1, Body: 30_000, Title: 250, CallsPerMinute: 240,
		CallsPerHour: 6000,
	}
}

// Credential lasts until somebody revokes it or it expires: Bitbucket has no other.
func (h *Host) Credential(ctx context.Context, _ codehost.Repository) (codehost.Credential, error) {
	h.mu.Lock()
	name := h.gitName
	h.mu.Unlock()
	if name == "" {
		var err error
		if name, err = whoami(ctx, h.git); err != nil {
			return codehost.Credential{}, err
		}
		if strings.HasPrefix(name, tokenUser) {
			name = "x-token-auth"
		}
		h.mu.Lock()
		h.gitName = name
		h.mu.Unlock()
	}

	return codehost.Credential{Username: name, Token: h.gitToken}, nil
}

// tokenUser begins the name of the user that the token of a project or repository has.
const tokenUser = "access-token-user"

// whoami is the name of a token's user, which each answer has in a header.
func whoami(ctx context.Context, api *hosthttp.Client) (string, error) {
	header, err := api.Do(ctx, hosthttp.Call{
		Method: http.MethodGet, Path: "/api/latest/repos", Query: url.Values{"limit": {"1"}},
	})
	if err != nil {
		return "", err
	}
	name, err := url.PathUnescape(header.Get("X-Ausername"))
	if err != nil || name == "" {
		return "", &codehost.Error{Fault: codehost.Invalid, Err: errors.New(
			"the host does not say whose the token is; its answers need the header X-AUSERNAME, which a proxy may take out")}
	}

	return name, nil
}

// call makes a call. To a token that lacks a permission Bitbucket answers 401 like to one
// that is not valid, so it is asked whose it is then.
func (h *Host) call(ctx context.Context, c hosthttp.Call) error {
	_, err := h.api.Do(ctx, c)
	var refused *codehost.Error
	if !errors.As(err, &refused) || refused.Fault != codehost.Revoked {
		return err
	}
	if _, whoErr := whoami(ctx, h.api); whoErr != nil {
		return err
	}

	return &codehost.Error{Fault: codehost.Forbidden, Scope: refused.Err.Error(), Err: refused.Err}
}

// get reads.
func (h *Host) get(ctx context.Context, path string, query url.Values, out any) error {
	return h.call(ctx, hosthttp.Call{Method: http.MethodGet, Path: path, Query: query, Out: out})
}

// send writes.
func (h *Host) send(ctx context.Context, method, path string, in any) error {
	return h.call(ctx, hosthttp.Call{Method: method, Path: path, In: in})
}

const (
	perPage  = 100
	maxPages = 400
)

// pages reads a list page by page until there are no more, or until use wants none.
func pages[T any](ctx context.Context, h *Host, path string, query url.Values, use func([]T) (more bool)) error {
	if query == nil {
		query = url.Values{}
	}
	query.Set("limit", strconv.Itoa(perPage))
	for range maxPages {
		var page struct {
			Values []T  `json:"values"`
			IsLast bool `json:"isLastPage"`
			Next   *int `json:"nextPageStart"`
		}
		if err := h.get(ctx, path, query, &page); err != nil {
			return err
		}
		if !use(page.Values) || page.IsLast || page.Next == nil {
			return nil
		}
		query.Set("start", strconv.Itoa(*page.Next))
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("%s has more than %d pages", path, maxPages)}
}

// inRepo is a path in a repository, by its name, of one of the APIs.
func inRepo(api string, r codehost.Repository) string {
	project, name, _ := strings.Cut(r.Name, "/")
	return "/" + api + "/latest/projects/" + url.PathEscape(project) + "/repos/" + url.PathEscape(name)
}

// me is the account of the token. Users of tokens have no page, and so no number.
func (h *Host) me(ctx context.Context) (user, error) {
	h.mu.Lock()
	known := h.account
	h.mu.Unlock()
	if known != nil {
		return *known, nil
	}

	name, err := whoami(ctx, h.api)
	if err != nil {
		return user{}, err
	}
	me := user{Name: name}
	err = pages(ctx, h, "/api/latest/users", url.Values{"filter": {name}}, func(some []user) bool {
		for _, u := range some {
			if u.Name == name {
				me = u
			}
		}

		return me.ID == 0
	})
	if err != nil {
		return user{}, err
	}
	h.mu.Lock()
	h.account = &me
	h.mu.Unlock()

	return me, nil
}
