// Package codehost knows where organizations' repositories are and how the code
// hosts there tell what a pull request's ends are.
package codehost

import (
	"context"
	"fmt"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/scan"
)

// Hosts is the scan.Source of all organizations.
type Hosts struct {
	organizations map[string]opener
}

var _ scan.Source = (*Hosts)(nil)

// opener is one organization's host of one kind.
type opener interface {
	open(ctx context.Context, t scan.Target) (scan.Change, error)
}

// New makes the hosts of organizations, by name. getenv gives the tokens that
// settings name; os.Getenv does.
func New(store *git.Store, organizations map[string]Settings, getenv func(string) string) (*Hosts, error) {
	h := &Hosts{organizations: make(map[string]opener, len(organizations))}
	for name, settings := range organizations {
		if err := settings.Validate(); err != nil {
			return nil, fmt.Errorf("organization %s: host: %w", name, err)
		}
		settings = settings.withDefaults()
		var token string
		if settings.TokenEnv != "" {
			if token = getenv(settings.TokenEnv); token == "" {
				return nil, fmt.Errorf("organization %s: host: token_env: the environment variable %s is not set", name, settings.TokenEnv)
			}
		}
		h.organizations[name] = &gitHost{store: store, settings: settings, token: token}
	}
	return h, nil
}

// Open implements scan.Source.
func (h *Hosts) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	o, ok := h.organizations[t.Organization]
	if !ok {
		return nil, &scan.Failure{Code: scan.CodeOrganizationNotFound, Lasting: true,
			Message: fmt.Sprintf("The scanner has no configuration for the organization %q.", t.Organization)}
	}
	return o.open(ctx, t)
}
