// Package bitbucket is Bitbucket Cloud. It makes a dozen calls of its API by hand: the
// clients that there are know no reports and annotations.
package bitbucket

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/hosthttp"
)

// Options are those of a host. A token with a colon is an e-mail address and the API token
// of that account; another one is an access token of a repository, project or workspace.
type Options struct {
	Client     *http.Client
	URL        string   // https://bitbucket.org
	APIURL     string   // "" for that of URL
	Token      string   // reads and publishes
	GitToken   string   // reads by git; Token when empty
	Account    string   // UUID of an access token's user, which it can't ask for
	Workspaces []string // whose repositories are listed
}

// Host is Bitbucket Cloud.
type Host struct {
	api        *hosthttp.Client
	git        codehost.Credential
	personal   bool // the token is of an account, which it may ask for
	workspaces []string

	// It doesn't change while the token is valid, so it is asked for once.
	mu      sync.Mutex
	account *user
}

var _ codehost.Host = (*Host)(nil)

// New makes a host. An error is a sentence for people.
func New(o Options) (*Host, error) {
	base := o.APIURL
	if base == "" {
		base = strings.TrimRight(o.URL, "/") + "/2.0"
		if base == "https://bitbucket.org/2.0" {
			base = "https://api.bitbucket.org/2.0"
		}
	}
	authorization, personal := "Bearer "+o.Token, strings.Contains(o.Token, ":")
	if personal {
		authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(o.Token))
	}
	git := o.GitToken
	if git == "" {
		git = o.Token
	}

	h := &Host{
		api: hosthttp.New(o.Client, base, authorization), personal: personal, workspaces: o.Workspaces,
		git: codehost.Credential{Username: "x-token-auth", Token: git},
	}
	if _, token, personal := strings.Cut(git, ":"); personal {
		h.git = codehost.Credential{Username: "x-bitbucket-api-token-auth", Token: token}
	}
	if !personal && o.Account != "" {
		if strings.Trim(bare(o.Account), uuidCharacters) != "" {
			return nil, fmt.Errorf("the account %q is not the UUID of an access token's user, such as "+
				"{a54f16da-24e9-4d7f-a3a7-b1ba2cd98aa3}", o.Account)
		}
		h.account = &user{UUID: braced(o.Account)}
	}

	return h, nil
}

// Limits have the documented ones for annotations and calls, of which there may be 1,000
// an hour. Those for texts are ours: Bitbucket documents none for them.
func (h *Host) Limits() codehost.Limits {
	return codehost.Limits{
		AnnotationsPerCall: 100, Annotations: 1000, CommentsPerCall: 1, Body: 30_000, Title: 250, CallsPerMinute: 60,
		CallsPerHour: 400,
	}
}

// Credential lasts until somebody revokes it or it expires: Bitbucket has no other.
func (h *Host) Credential(context.Context, codehost.Repository) (codehost.Credential, error) {
	return h.git, nil
}

// get reads.
func (h *Host) get(ctx context.Context, path string, query url.Values, out any) error {
	_, err := h.api.Do(ctx, hosthttp.Call{Method: http.MethodGet, Path: path, Query: query, Out: out})
	return err
}

// send writes.
func (h *Host) send(ctx context.Context, method, path string, in any) error {
	_, err := h.api.Do(ctx, hosthttp.Call{Method: method, Path: path, In: in})
	return err
}

const maxPages = 400

// pages reads a list page by page until there are no more, or until use wants none. Of
// the address that leads to the next page only the query counts.
func pages[T any](ctx context.Context, h *Host, path string, query url.Values, use func([]T) (more bool)) error {
	for range maxPages {
		var page struct {
			Values []T    `json:"values"`
			Next   string `json:"next"`
		}
		if err := h.get(ctx, path, query, &page); err != nil {
			return err
		}
		if !use(page.Values) || page.Next == "" {
			return nil
		}
		next, err := url.Parse(page.Next)
		if err != nil {
			return &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("%s: the next page has no address", path)}
		}
		query = next.Query()
	}

	return &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf("%s has more than %d pages", path, maxPages)}
}

// repoPath is the path of a repository by its name.
func repoPath(r codehost.Repository) string {
	workspace, name, _ := strings.Cut(r.Name, "/")
	return "/repositories/" + url.PathEscape(workspace) + "/" + url.PathEscape(name)
}

// me is the account of the token.
func (h *Host) me(ctx context.Context) (user, error) {
	h.mu.Lock()
	known := h.account
	h.mu.Unlock()
	if known != nil {
		return *known, nil
	}

	var u user
	err := h.get(ctx, "/user", nil, &u)
	switch {
	case err != nil && !h.personal && codehost.FaultOf(err) == codehost.Forbidden:
		return user{}, &codehost.Error{Fault: codehost.Invalid, Err: fmt.Errorf(
			"an access token can't ask whose it is; name the UUID of its user in account, or give an API token: %w", err)}
	case err != nil:
		return user{}, err
	case u.UUID == "":
		return user{}, &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("the account has no UUID")}
	}
	h.mu.Lock()
	h.account = &u
	h.mu.Unlock()

	return u, nil
}
