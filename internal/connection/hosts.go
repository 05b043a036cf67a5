package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
)

var _ Hosts = (*Service)(nil)

// Open implements Hosts.
func (s *Service) Open(ctx context.Context, id string) (Connection, codehost.Host, error) {
	c, err := s.Store.ReadConnection(ctx, "", id)
	if err != nil {
		return Connection{}, nil, err
	}
	host, err := s.host(c)

	return c.Connection, host, err
}

// host returns the host of a connection. One that was opened before keeps what it
// learned, such as tokens that it made, until the connection is changed.
func (s *Service) host(c Stored) (codehost.Host, error) {
	secrets, err := s.unseal(c) // also of an open one: without its key it is closed
	if err != nil {
		s.open.Remove(c.ID)

		return nil, brokenError(c.Connection, err.Error())
	}
	if open, ok := s.open.Get(c.ID); ok && open.updated.Equal(c.UpdatedAt) {
		return open.host, nil
	}

	open := s.Hosts[c.Kind]
	if open == nil {
		return nil, brokenError(c.Connection, fmt.Sprintf("this server doesn't know the kind %q", c.Kind))
	}
	client := s.Client
	if c.Trusted {
		client = s.TrustedClient
	}
	host, err := open(Options{Connection: c.Connection, Secrets: secrets, Client: client})
	if err != nil {
		return nil, brokenError(c.Connection, err.Error())
	}
	s.open.Add(c.ID, opened{host, c.UpdatedAt})

	return host, nil
}

func brokenError(c Connection, why string) error {
	return errs.New(errs.FailedPrecondition, errs.ReasonConnectionBroken,
		"The connection %q is broken: %s.", c.Name, errs.Cut(why, maxReason))
}

// WebhookSecrets implements Hosts.
func (s *Service) WebhookSecrets(ctx context.Context, id string) (Connection, [][]byte, error) {
	c, err := s.Store.ReadConnection(ctx, "", id)
	if err != nil {
		return Connection{}, nil, err
	}
	secrets, err := s.unseal(c)
	if err != nil {
		return c.Connection, nil, brokenError(c.Connection, err.Error())
	}

	out := make([][]byte, len(secrets.Webhook))
	for i, secret := range secrets.Webhook {
		out[i] = []byte(secret)
	}

	return c.Connection, out, nil
}

// For implements Hosts. Connections of the operator go before those of the
// organization, so that nobody puts another host in the place of one. What another
// server changed is known within two seconds.
func (s *Service) For(ctx context.Context, org, repo string) (string, error) {
	k, ok := s.known.Get(org)
	if !ok || time.Since(k.read) > knownFor {
		read, err, _ := s.reading.Do(org, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
			defer cancel()
			k := known{read: time.Now()}
			stored, err := s.Store.ListConnections(ctx, org)
			if err != nil {
				return nil, err
			}
			for _, c := range stored {
				k.list = append(k.list, c.Connection)
			}
			slices.SortFunc(k.list, compareOrder)
			s.known.Add(org, k)

			return k, nil
		})
		if err != nil {
			return "", err
		}
		k = read.(known)
	}

	for _, c := range k.list {
		if c.IsFor(repo) {
			return c.ID, nil
		}
	}

	return "", nil
}

// Report implements Hosts. What the host says of the secrets themselves is left out.
func (s *Service) Report(ctx context.Context, c Connection) error {
	stored, err := s.Store.ReadConnection(ctx, "", c.ID)
	if err != nil {
		return err
	}
	c.Reason = errs.Cut(s.hide(stored, c.Reason), maxReason)

	return s.Store.ReportConnection(audit.NewContext(ctx, audit.Actor{Kind: audit.System}), c)
}

// hide takes the secrets of a connection out of a text.
func (s *Service) hide(c Stored, text string) string {
	secrets, err := s.unseal(c)
	if err != nil {
		return text // nobody sent them to a host then
	}

	return secrets.Hide(text)
}

// Test asks the host what the credentials may do and keeps the answer. Credentials
// that are refused break the connection. When the host can't tell now, the error is
// Unavailable (HOST_UNAVAILABLE) and nothing is kept.
func (s *Service) Test(ctx context.Context, by Caller, id string) (Connection, error) {
	c, err := s.Store.ReadConnection(ctx, by.Organization, id)
	if err != nil {
		return Connection{}, err
	}
	host, err := s.host(c)
	if err != nil { // Get shows why
		return s.shown(c), nil
	}

	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	access, err := host.Access(ctx)
	found := Tested{State: Active, Account: s.hide(c, access.Account)}
	for _, permission := range access.Missing {
		found.Missing = append(found.Missing, s.hide(c, permission))
	}
	if err != nil {
		if found.Reason = s.reason(c, err); found.Reason == "" {
			return Connection{}, s.hostError(c, err)
		}
		if found.State = Broken; errors.Is(err, codehost.ErrSuspended) {
			found.State = Suspended
		}
	}
	if c.AppID != 0 {
		found.Account = "" // the connection names it
	}
	stored, err := s.Store.TestedConnection(ctx, c.Connection, found)
	if err != nil {
		return Connection{}, err
	}

	return s.shown(stored), nil
}

// reason says why a connection is broken by what a call failed with, and what to do;
// "" for what may pass.
func (s *Service) reason(c Stored, err error) string {
	var e *codehost.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Fault {
	case codehost.Revoked:
		return c.Refused(err).Reason
	case codehost.Forbidden:
		return sentence(s.hide(c, "the credentials lack a permission: "+e.Scope))
	case codehost.Gone:
		return "The host has no such account, App or installation. Check the connection's address and account."
	case codehost.Moved, codehost.Invalid:
		return sentence(s.hide(c, fmt.Sprintf("the host can't be used: %v", e.Err)))
	}

	return ""
}

// hostError is what callers see of a call to a host that failed.
func (s *Service) hostError(c Stored, err error) error {
	if reason := s.reason(c, err); reason != "" {
		return errs.New(errs.FailedPrecondition, errs.ReasonConnectionBroken, "%s", reason)
	}
	out := errs.New(errs.Unavailable, errs.ReasonHostUnavailable,
		"The host of the connection %q can't be asked now: %s", c.Name, errs.Cut(s.hide(c, err.Error()), maxReason))
	var e *codehost.Error
	if errors.As(err, &e) {
		out.RetryAfter = e.After
	}

	return out
}

// Repositories lists the repositories that the credentials reach and the connection is
// for, at most 1,000 of the first that the host names. It fails as Test does, and with
// FailedPrecondition (CONNECTION_BROKEN).
func (s *Service) Repositories(ctx context.Context, by Caller, id string) ([]codehost.Repository, error) {
	c, err := s.Store.ReadConnection(ctx, by.Organization, id)
	if err != nil {
		return nil, err
	}
	host, err := s.host(c)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	list, err := host.Repositories(ctx, maxListed)
	if err != nil {
		return nil, s.hostError(c, err)
	}

	return slices.DeleteFunc(list, func(r codehost.Repository) bool { return !c.IsFor(r.Name) }), nil
}
