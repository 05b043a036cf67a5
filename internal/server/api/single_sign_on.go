package api

import (
	"context"
	"slices"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// Provider is single sign-on as it is configured; see package sso.
type Provider interface {
	Name() string
	Configured() (p account.OIDC, redirectURL string)
	// Check asks the provider for its endpoints, and returns what went wrong, "" for
	// nothing, and where people are sent to sign in.
	Check(ctx context.Context) (authorizationEndpoint, problem string)
}

// GetSingleSignOn implements MemberService.
func (h *Members) GetSingleSignOn(
	ctx context.Context, req *prwardenv1.GetSingleSignOnRequest,
) (*prwardenv1.GetSingleSignOnResponse, error) {
	if h.SSO == nil {
		return &prwardenv1.GetSingleSignOnResponse{}, nil
	}
	caller := auth.FromContext(ctx)
	p, redirectURL := h.SSO.Configured()
	out := &prwardenv1.GetSingleSignOnResponse{Provider: &prwardenv1.SingleSignOn{
		Name: text(h.SSO.Name()), Issuer: text(p.Issuer), ClientId: text(p.ClientID),
		HasClientSecret: p.ClientSecretEnv != "", RedirectUrl: text(redirectURL), Scopes: each(p.Scopes, text),
		GroupsClaim: given(text(p.GroupsClaim)), Only: p.Only,
	}}
	for _, r := range p.Roles {
		if r.Organization == caller.Organization {
			out.Provider.Roles = append(out.Provider.Roles,
				&prwardenv1.SingleSignOn_GroupRole{Group: text(r.Group), Role: toRole(r.Role)})
		}
	}
	if email := account.CleanEmail(p.BreakGlass); email != "" {
		members, err := h.service.Members(ctx, caller)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(members, func(m account.Member) bool { return m.Email == email }) {
			out.Provider.BreakGlass = given(text(email))
		}
	}
	if req.GetCheck() {
		overload.FromContext(ctx).Release(overload.LimitWork) // the provider may take its time
		at, problem := h.SSO.Check(ctx)
		out.Check = &prwardenv1.SingleSignOn_Check{
			Reachable: problem == "", Problem: given(text(problem)), AuthorizationEndpoint: given(text(at)),
		}
	}

	return out, nil
}
