package sso

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"golang.org/x/oauth2"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/errs"
)

// identity has the provider say whose code it is.
func (s *Service) identity(
	ctx context.Context, from account.Client, code string, a attempt,
) (account.Identity, error) {
	subject, says, err := s.claims(ctx, from, code, a)
	if err != nil {
		return account.Identity{}, err
	}

	return s.identityOf(subject, says, a.Again), nil
}

// claims has the provider say what it knows of whose code it is. No token of the
// provider is kept.
func (s *Service) claims(
	ctx context.Context, from account.Client, code string, a attempt,
) (subject string, says claims, err error) {
	at, err := s.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	ctx = s.clientContext(ctx)
	tokens, err := at.oauth.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < 500:
		return "", nil, s.refuse(from, "the provider refused the code: "+errs.Cut(refused.ErrorCode, 100))
	case err != nil:
		s.Log.Warn("the identity provider could not be asked for a token", "error", errs.Cut(err.Error(), 500))
		return "", nil, errAway()
	}

	raw, _ := tokens.Extra("id_token").(string)
	token, err := at.verifier.Verify(ctx, raw)
	if err != nil {
		return "", nil, s.refuse(from, errs.Cut(err.Error(), 500))
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return "", nil, s.refuse(from, "the nonce is another one")
	}
	says = claims{}
	if err := token.Claims(&says); err != nil {
		return "", nil, s.refuse(from, "the claims can't be read")
	}
	if party := says.text("azp"); party != "" && party != s.Provider.ClientID {
		return "", nil, s.refuse(from, "the token was issued to another client")
	}
	if err := s.askMore(ctx, at, tokens, token.Subject, says); err != nil {
		return "", nil, s.refuse(from, errs.Cut(err.Error(), 500))
	}

	return token.Subject, says, nil
}

// askMore adds what only the provider's endpoint for that says of a person, when the
// token lacks something.
func (s *Service) askMore(
	ctx context.Context, at *endpoints, tokens *oauth2.Token, subject string, says claims,
) error {
	_, hasEmail := says["email"]
	_, hasGroups := says[s.Provider.GroupsClaim]
	if at.provider.UserInfoEndpoint() == "" || hasEmail && (hasGroups || s.Provider.GroupsClaim == "") {
		return nil
	}

	info, err := at.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return err
	}
	if info.Subject != subject {
		return errors.New("the provider tells of another person than the token")
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return err
	}
	for name, value := range more {
		if _, ok := says[name]; !ok {
			says[name] = value
		}
	}

	return nil
}

// identityOf is what the claims of a person mean here.
func (s *Service) identityOf(subject string, says claims, again bool) account.Identity {
	i := account.Identity{
		Issuer: s.Provider.Issuer, Subject: subject, Name: says.text("name"), Managed: s.Provider.Managed(),
		Roles: s.Provider.RolesOf(says.texts(s.Provider.GroupsClaim)),
	}
	verified := says["email_verified"] == true || says["email_verified"] == "true"
	switch email := says.text("email"); {
	case !verified:
	case s.breaksGlass(email):
		i.BreakGlass = true
	default:
		i.Email = email
	}
	if seconds, ok := says["auth_time"].(float64); ok {
		i.ShownAt = time.Unix(int64(seconds), 0)
	} else if again { // it was told to ask, and doesn't say when
		i.ShownAt = s.Now()
	}

	return i
}

// breaksGlass reports whether an email is that of who signs in with a password always.
// He is never linked by it: he is there for when the provider can't be trusted.
func (s *Service) breaksGlass(email string) bool {
	owner := account.CleanEmail(s.Provider.BreakGlass)

	return owner != "" && account.CleanEmail(email) == owner
}

// claims are what a provider says of a person.
type claims map[string]any

// text returns a claim that is a text, else "".
func (c claims) text(name string) string {
	text, _ := c[name].(string)

	return text
}

// texts returns the texts of a claim that is a list, or one text.
func (c claims) texts(name string) (all []string) {
	switch value := c[name].(type) {
	case string:
		return []string{value}
	case []any:
		for _, item := range value {
			if text, ok := item.(string); ok {
				all = append(all, text)
			}
		}
	}

	return all
}
