package app

import (
	"context"
	"strings"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/server/web"
)

// pages makes the dashboard, unless it is switched off.
func (s *Server) pages(c config.Config, admission rpc.Admission) rest.Pages {
	if !c.Dashboard {
		return nil
	}

	made := web.Config{
		Conn: s.grpc.Conn(), Admission: admission, Accounts: s.accounts, Sessions: s.sessions,
		Organizations: s.organizationNames,
		Secure:        c.ListenTLSCert != "" || strings.HasPrefix(c.PublicURL, "https://"),
		Source:        c.DashboardSource, Now: s.store.Now, Log: s.log,
		Stopping: s.watches.Stopping(),
	}
	if s.singleSignOn != nil {
		made.SSO = s.singleSignOn
	}

	return web.New(made)
}

// noPage tells pages that are switched off from other paths; nil where they are on.
func noPage(c config.Config) func(path string) bool {
	if c.Dashboard {
		return nil
	}

	return web.IsPage
}

func (s *Server) organizationNames(ctx context.Context) ([]string, error) {
	all, err := s.store.Organizations(ctx)
	if err != nil {
		return nil, err
	}

	names := make([]string, len(all))
	for i, o := range all {
		names[i] = o.Name
	}

	return names, nil
}

// offerSetUp logs where the first user is made, when there is none.
func (s *Server) offerSetUp(ctx context.Context, c config.Config) error {
	if !c.Dashboard {
		return nil
	}
	address := strings.TrimSuffix(c.PublicURL, "/")
	if address == "" {
		scheme := "http://"
		if c.ListenTLSCert != "" {
			scheme = "https://"
		}
		address = scheme + s.httpAt.Addr().String()
	}

	return s.accounts.OfferSetUp(ctx, address)
}
