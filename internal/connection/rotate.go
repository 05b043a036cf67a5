package connection

import (
	"context"
	"errors"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
)

// Rotation is what gets a new secret. What is empty stays.
type Rotation struct {
	Token, GitToken, PrivateKey string
	WebhookSecret               string
	NewWebhookSecret            bool // that the server makes
}

// Rotate replaces secrets of a connection and makes it active. Of the secrets for
// webhooks the one before still holds until the next rotation. Where the old secrets
// can't be read, the new ones must be all that the connection needs.
func (s *Service) Rotate(ctx context.Context, by Caller, id string, r Rotation) (Created, error) {
	if r == (Rotation{}) {
		return Created{}, errs.Invalid("token", "say which secret to replace: token, git_token, private_key, "+
			"webhook_secret or new_webhook_secret")
	}
	if r.WebhookSecret != "" && r.NewWebhookSecret {
		return Created{}, errs.Invalid("webhook_secret", "give one, or ask for a new one with new_webhook_secret")
	}

	made := ""
	stored, err := s.Store.ChangeConnection(ctx, by.Organization, id, func(c *Stored) (audit.Change, error) {
		if err := by.mayChange(c.Connection); err != nil {
			return audit.Change{}, err
		}
		secrets, err := s.unseal(*c)
		r := r
		r.NewWebhookSecret = r.NewWebhookSecret || err != nil && r.WebhookSecret == ""
		if made = ""; r.NewWebhookSecret {
			made = newWebhookSecret(c.Kind)
			r.WebhookSecret = made
		}
		replaced := secrets.replace(r)
		if err := s.check(c.Connection, &secrets); err != nil {
			return audit.Change{}, err
		}
		if c.Sealed, err = s.seal(c.Connection, secrets); err != nil {
			return audit.Change{}, err
		}
		c.State, c.Reason = Active, ""

		return audit.Change{Action: audit.ConnectionRotate, Target: c.ID, Fields: replaced}, nil
	})
	s.known.Remove(stored.Organization)
	if err == nil {
		s.open.Remove(id)
	}

	return Created{Connection: stored.Connection, WebhookSecret: made}, err
}

// replace puts new secrets in the place of old ones and says which.
func (s *Secrets) replace(r Rotation) (fields []audit.Field) {
	for _, one := range []struct {
		name string
		old  *string
		now  string
	}{
		{"token", &s.Token, r.Token}, {"git_token", &s.GitToken, r.GitToken}, {"private_key", &s.PrivateKey, r.PrivateKey},
	} {
		if one.now != "" {
			*one.old = one.now
			fields = append(fields, audit.Field{Name: one.name, After: "(replaced)"})
		}
	}
	if r.WebhookSecret != "" {
		s.Webhook = append([]string{r.WebhookSecret}, s.Webhook[:min(1, len(s.Webhook))]...)
		fields = append(fields, audit.Field{Name: "webhook_secret", After: "(replaced)"})
	}

	return fields
}

// Reseal wraps the secrets of all connections by the key that seals now, and returns
// how many it wrapped anew and why others can't be, by their identifiers.
func (s *Service) Reseal(ctx context.Context) (resealed int, failed map[string]string, err error) {
	list, err := s.Store.ListConnections(ctx, "")
	if err != nil {
		return 0, nil, err
	}

	failed = map[string]string{}
	for _, c := range list {
		sealed, changed, err := s.Sealer.Reseal(c.Sealed, row(c.Connection))
		switch {
		case errors.Is(err, seal.ErrNoKey):
			return resealed, failed, err
		case err != nil:
			failed[c.ID] = err.Error()
		case changed:
			if err := s.Store.ResealConnection(ctx, c.ID, c.Sealed, sealed); err != nil {
				return resealed, failed, err
			}
			resealed++
		}
	}

	return resealed, failed, nil
}
