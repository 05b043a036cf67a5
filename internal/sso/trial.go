package sso

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/errs"
)

// Configured is what the operator has configured, and where the provider sends people
// back to.
func (s *Service) Configured() (p account.OIDC, redirectURL string) { return s.Provider, s.RedirectURL }

// Check asks the provider for its endpoints, also when it was asked before. It returns
// where people are sent to sign in, and what went wrong; "" for nothing.
func (s *Service) Check(ctx context.Context) (authorizationEndpoint, problem string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	provider, err := oidc.NewProvider(s.clientContext(ctx), s.Provider.Issuer)
	if err != nil {
		return "", errs.Cut(err.Error(), 500)
	}

	return provider.Endpoint().AuthURL, ""
}

// maxClaim is how much is shown of a claim, in bytes.
const maxClaim = 500

// BeginTrial is Begin for somebody who tries whether single sign-on works.
func (s *Service) BeginTrial(
	ctx context.Context, userID, returnTo string,
) (redirectURL, cookie string, err error) {
	return s.begin(ctx, attempt{ReturnTo: returnTo, Again: true, Trial: userID})
}

// FinishTrial is Finish for what BeginTrial began; ok is false for everything else.
func (s *Service) FinishTrial(
	ctx context.Context, from account.Client, cookie string, query url.Values,
) (t account.Trial, ok bool, err error) {
	a, err := s.opened(cookie)
	if err != nil || a.Trial == "" {
		return account.Trial{}, false, nil
	}
	t = account.Trial{UserID: a.Trial, ReturnTo: a.ReturnTo}
	if err := s.answered(from, a, query); err != nil {
		return t, true, err
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	subject, says, err := s.claims(ctx, from, query.Get("code"), a)
	if err != nil {
		return t, true, err
	}
	i := s.identityOf(subject, says, true)
	t.Email, t.BreakGlass, t.Roles = account.CleanEmail(i.Email), i.BreakGlass, i.Roles
	for _, name := range slices.Sorted(maps.Keys(says)) {
		if slices.Contains([]string{"nonce", "at_hash", "c_hash", "s_hash", "sid", "jti"}, name) {
			continue // they are about the token
		}
		value, _ := json.Marshal(says[name]) // it was JSON
		t.Claims = append(t.Claims, account.Claim{Name: errs.Cut(name, maxClaim), Value: errs.Cut(string(value), maxClaim)})
	}

	return t, true, nil
}
