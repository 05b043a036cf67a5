package app

import (
	"fmt"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/sso"
)

// openSingleSignOn makes single sign-on when the configuration names an identity
// provider. An error is a sentence for the operator.
func (s *Server) openSingleSignOn(c config.Config, env Environment) error {
	provider := c.SignIn.OIDC
	if provider == nil {
		return nil
	}

	secret := ""
	if name := provider.ClientSecretEnv; name != "" {
		if secret = env(name); secret == "" {
			return fmt.Errorf("the variable %s, which sign_in.oidc.client_secret_env names, is not set", name)
		}
	}
	s.singleSignOn = sso.New(sso.Options{
		Provider: *provider, ClientSecret: secret, RedirectURL: c.Page(sso.CallbackPath), Sealer: s.connections.Sealer,
		Client: egress.NewTrustedClient(), Now: s.store.Now, Log: s.log,
	})

	return nil
}

// linkSingleSignOn has single sign-on, when there is any, begin sessions, and where
// nothing else is wanted switches passwords off.
func (s *Server) linkSingleSignOn() {
	if s.singleSignOn == nil {
		return
	}

	s.singleSignOn.Accounts = s.accounts
	if s.singleSignOn.Only() {
		s.accounts.RequireProvider(s.singleSignOn.Provider.BreakGlass)
	}
}

// members makes the handlers of the people of organizations.
func (s *Server) members(c config.Config) *api.Members {
	h := api.NewMembers(s.accounts, c.Page)
	if s.singleSignOn != nil {
		h.SSO = s.singleSignOn
	}

	return h
}
