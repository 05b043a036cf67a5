package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
)

// Service manages webhooks.
type Service struct {
	Store  Store
	Sealer *seal.Sealer
}

// secrets are what is sealed of a webhook. The address is one of them: whoever has that
// of Slack can write there.
type secrets struct {
	URL     string   `json:"url"`
	Signing []string `json:"signing,omitempty"` // the newest first, at most two
}

// Created is a webhook that was made, or got a new secret.
type Created struct {
	Webhook
	Secret string // told this once; "" for Slack
}

// New is a webhook to be made.
type New struct {
	Name   string
	URL    string
	Events []Event // all for none
	Format Format  // Standard for ""
}

// Create makes a webhook; nothing is sent. The errors are those of
// WebhookService.CreateWebhook in the API.
func (s *Service) Create(ctx context.Context, org string, n New) (Created, error) {
	w := Webhook{
		ID: "whk_" + strings.ToLower(rand.Text()), Organization: org, Name: n.Name, Events: n.Events, Format: n.Format,
		State: Active, CreatedBy: audit.FromContext(ctx).String(),
	}
	if len(w.Events) == 0 {
		w.Events = Events()
	}
	if w.Format == "" {
		w.Format = Standard
	}
	if err := validate(w, &n.URL); err != nil {
		return Created{}, err
	}
	w.URL = shownURL(n.URL, w.Format)

	plain, made := secrets{URL: n.URL}, ""
	if w.Format == Standard {
		made = newSecret()
		plain.Signing = []string{made}
	}
	sealed, err := s.seal(w, plain)
	if err != nil {
		return Created{}, err
	}
	stored, err := s.Store.CreateWebhook(ctx, Stored{Webhook: w, Sealed: sealed}, MaxWebhooks)

	return Created{Webhook: stored.Webhook, Secret: made}, err
}

// newSecret returns 256 random bits as Standard Webhooks writes them.
func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails

	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// validate refuses fields that are wrong. nil stands for the address that it has.
func validate(w Webhook, address *string) error {
	var v errs.Violations
	if !namePattern.MatchString(w.Name) {
		v.Add("name", "%q is not allowed; it must be 1 to 63 lower-case letters, digits, dots, hyphens and "+
			"underscores, starting with a letter or digit", errs.Cut(w.Name, maxName))
	}
	if address != nil {
		u, err := url.Parse(*address)
		if err != nil || len(*address) > maxURL || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
			v.Add("url", "it must be an https address of at most %d bytes, without user and fragment", maxURL)
		}
	}
	if w.Format != Standard && w.Format != Slack {
		v.Add("format", "%q is not known; there are %s and %s", errs.Cut(string(w.Format), maxName), Standard, Slack)
	}
	for i, e := range w.Events {
		if !slices.Contains(Events(), e) || slices.Contains(w.Events[:i], e) {
			v.Add(fmt.Sprintf("events[%d]", i), "%q is not known, or there twice; there are %v",
				errs.Cut(string(e), maxName), Events())
		}
	}

	return v.Err()
}

// shownURL is an address without what may be secret in it.
func shownURL(address string, f Format) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	shown := u.Scheme + "://" + u.Host
	if f == Slack {
		return shown + "/…"
	}
	shown += u.EscapedPath()
	if u.RawQuery != "" {
		shown += "?…"
	}

	return shown
}

// row identifies the secrets of a webhook for the sealer.
func row(w Webhook) string { return "webhooks/" + w.Organization + "/" + w.ID }

func (s *Service) seal(w Webhook, plain secrets) ([]byte, error) {
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	sealed, err := s.Sealer.Seal(text, row(w))
	if errors.Is(err, seal.ErrNoKey) {
		return nil, errs.New(errs.FailedPrecondition, errs.ReasonSecretsKeyMissing,
			"Webhooks need a key that seals their secrets, and on Postgres none is made by itself. "+
				"Name one under secrets.keys in the configuration file of the server.")
	}

	return sealed, err
}

// unseal returns the secrets of a webhook. The error is a sentence for whoever can give
// the key back.
func unseal(sealer *seal.Sealer, w Stored) (out secrets, err error) {
	plain, err := sealer.Open(w.Sealed, row(w.Webhook))
	if err != nil {
		return out, fmt.Errorf("the secrets can't be read: %w; give the key back, or make the webhook anew", err)
	}
	err = json.Unmarshal(plain, &out)

	return out, err
}

// shown returns a webhook as callers see it, with what keeps it from being sent to.
func (s *Service) shown(w Stored) Webhook {
	if _, err := unseal(s.Sealer, w); err != nil && w.Reason == "" {
		w.Reason = errs.Cut(err.Error(), maxText)
	}

	return w.Webhook
}

// Get returns a webhook; NotFound.
func (s *Service) Get(ctx context.Context, org, id string) (Webhook, error) {
	w, err := s.Store.ReadWebhook(ctx, org, id)
	if err != nil {
		return Webhook{}, err
	}

	return s.shown(w), nil
}

// List returns the webhooks of an organization, the oldest first.
func (s *Service) List(ctx context.Context, org string) ([]Webhook, error) {
	list, err := s.Store.ListWebhooks(ctx, org)
	out := make([]Webhook, len(list))
	for i, w := range list {
		out[i] = s.shown(w)
	}

	return out, err
}

// Change is what a webhook gets. What is nil or empty stays.
type Change struct {
	Name    *string
	URL     *string
	Events  []Event
	Enabled *bool
}

// Update changes a webhook; NotFound. One that is enabled begins anew: what it missed
// is not sent by itself.
func (s *Service) Update(ctx context.Context, org, id string, c Change) (Webhook, error) {
	stored, err := s.Store.ChangeWebhook(ctx, org, id, func(w *Stored) (audit.Change, error) {
		before := w.Audited()
		if c.Name != nil {
			w.Name = *c.Name
		}
		if len(c.Events) > 0 {
			w.Events = c.Events
		}
		switch {
		case c.Enabled == nil:
		case !*c.Enabled && w.State == Active:
			w.State, w.Reason = Disabled, ReasonAsked
		case *c.Enabled && w.State == Disabled:
			w.State, w.Reason = Active, ""
			w.FailingSince = time.Time{}
		}
		if err := validate(w.Webhook, c.URL); err != nil {
			return audit.Change{}, err
		}

		var fields []audit.Field
		if c.URL != nil {
			if err := s.move(w, *c.URL); err != nil {
				return audit.Change{}, err
			}
			fields = []audit.Field{{Name: "address", After: "(replaced)"}}
		}
		if fields = append(audit.Diff(before, w.Audited()), fields...); len(fields) == 0 {
			return audit.Change{}, nil
		}

		return audit.Change{Action: audit.WebhookUpdate, Target: id, Fields: fields}, nil
	})
	if err != nil {
		return Webhook{}, err
	}

	return s.shown(stored), nil
}

// move gives a webhook another address. Its secrets stay.
func (s *Service) move(w *Stored, address string) error {
	plain, err := unseal(s.Sealer, *w)
	if err != nil {
		return errs.New(errs.FailedPrecondition, errs.ReasonSecretsKeyMissing, "%s.", err)
	}
	plain.URL, w.URL = address, shownURL(address, w.Format)
	w.Sealed, err = s.seal(w.Webhook, plain)

	return err
}

// Delete deletes a webhook with its messages; NotFound.
func (s *Service) Delete(ctx context.Context, org, id string) error {
	return s.Store.DeleteWebhook(ctx, org, id)
}

// Rotate makes a new secret. Messages are signed with the one before, too, until the next
// rotation. NotFound, and InvalidArgument for Slack.
func (s *Service) Rotate(ctx context.Context, org, id string) (Created, error) {
	made := newSecret()
	stored, err := s.Store.ChangeWebhook(ctx, org, id, func(w *Stored) (audit.Change, error) {
		if w.Format == Slack {
			return audit.Change{}, errs.Invalid("webhook_id", "messages of the format slack are not signed")
		}
		plain, err := unseal(s.Sealer, *w)
		if err != nil {
			return audit.Change{}, errs.New(errs.FailedPrecondition, errs.ReasonSecretsKeyMissing, "%s.", err)
		}
		plain.Signing = append([]string{made}, plain.Signing[:min(1, len(plain.Signing))]...)
		w.Sealed, err = s.seal(w.Webhook, plain)

		return audit.Change{
			Action: audit.WebhookRotate, Target: id, Fields: []audit.Field{{Name: "secret", After: "(replaced)"}},
		}, err
	})
	if err != nil {
		return Created{}, err
	}

	return Created{Webhook: stored.Webhook, Secret: made}, nil
}

// Messages returns the newest messages of a webhook with their attempts, the newest
// first; NotFound.
func (s *Service) Messages(ctx context.Context, org, id string) ([]Message, error) {
	if _, err := s.Store.ReadWebhook(ctx, org, id); err != nil {
		return nil, err
	}

	return s.Store.ListMessages(ctx, org, id, MaxListed)
}

// Redeliver has a message sent once more; NotFound, and WEBHOOK_DISABLED.
func (s *Service) Redeliver(ctx context.Context, org, id, message string) error {
	return s.Store.RequeueMessage(ctx, org, id, message)
}

// SendTest has a Test message sent and returns its identifier; NotFound, and
// WEBHOOK_DISABLED.
func (s *Service) SendTest(ctx context.Context, org, id string) (message string, err error) {
	message = NewMessageID()

	return message, s.Store.QueueTest(ctx, org, id, message)
}

// NewMessageID returns a new identifier: `msg_` and 128 random bits.
func NewMessageID() string { return "msg_" + strings.ToLower(rand.Text()) }

// Reseal wraps the secrets of all webhooks by the key that seals now, and returns how
// many it wrapped anew and why others can't be, by their identifiers.
func (s *Service) Reseal(ctx context.Context) (resealed int, failed map[string]string, err error) {
	list, err := s.Store.ListWebhooks(ctx, "")
	if err != nil {
		return 0, nil, err
	}

	failed = map[string]string{}
	for _, w := range list {
		sealed, changed, err := s.Sealer.Reseal(w.Sealed, row(w.Webhook))
		switch {
		case errors.Is(err, seal.ErrNoKey):
			return resealed, failed, err
		case err != nil:
			failed[w.ID] = err.Error()
		case changed:
			if err := s.Store.ResealWebhook(ctx, w.Organization, w.ID, w.Sealed, sealed); err != nil {
				return resealed, failed, err
			}
			resealed++
		}
	}

	return resealed, failed, nil
}
