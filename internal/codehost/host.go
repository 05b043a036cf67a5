// Package codehost opens pull requests at the code hosts of organizations.
package codehost

import (
	"context"
	"fmt"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// Hosts is the scan.Source of all organizations. A target says which host its
// repository is on.
type Hosts struct {
	store *git.Store
	token func(name string) (string, error)
}

var _ scan.Source = (*Hosts)(nil)

// New makes a source that reads repositories into store. token gives the token
// in a variable that a host names; it fails with a sentence for the operator
// when there is none, or none that a host may use.
func New(store *git.Store, token func(name string) (string, error)) *Hosts {
	return &Hosts{store: store, token: token}
}

// Open implements scan.Source.
func (h *Hosts) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	host := t.Host.WithDefaults()
	if problems := host.Validate([]string{t.Repo}); len(problems) > 0 {
		return nil, misconfigured(t, problems[0].Field+": "+problems[0].Message)
	}
	if rule.CheckRepository(t.Repo) != nil { // what it lets through is safe in a URL
		return nil, lasting(scan.CodeRepositoryNotFound, "%q is no repository: it must be `owner/name`.", t.Repo)
	}
	if t.Number < 1 {
		return nil, lasting(scan.CodePullRequestNotFound, "%s has no pull request %d.", t.Repo, t.Number)
	}

	remote := git.Remote{URL: host.RepositoryURL(t.Repo), Username: host.Username}
	if host.TokenEnv != "" {
		token, err := h.token(host.TokenEnv)
		if err != nil {
			return nil, misconfigured(t, err.Error())
		}
		remote.Token = token
	}
	t.Host = host
	return h.store.Open(ctx, t, remote)
}

// misconfigured fails a scan until the operator has changed something.
func misconfigured(t scan.Target, why string) *scan.Failure {
	return lasting(scan.CodeHostMisconfigured, "The organization %s can't be scanned here: %s.", t.Organization, why)
}

// lasting is a failure that trying again does not change.
func lasting(code, format string, args ...any) *scan.Failure {
	return &scan.Failure{Code: code, Message: fmt.Sprintf(format, args...), Lasting: true}
}
