package connection

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
)

// Options are what a host is opened with.
type Options struct {
	Connection Connection
	Secrets    Secrets
	Client     *http.Client // calls the host; it follows no redirect
}

// Factory opens hosts by their kind.
type Factory map[codehost.Kind]func(Options) (codehost.Host, error)

// Config is what a Service needs.
type Config struct {
	Store  Store
	Sealer *seal.Sealer
	Hosts  Factory

	// Client calls hosts that organizations choose, and checks where that leads;
	// TrustedClient those of the operator.
	Client, TrustedClient *http.Client
	// Listed tells whether the operator lets organizations choose an address that is
	// not https, or not public.
	Listed func(*url.URL) bool

	// Apps makes GitHub Apps, for set-ups, and PublicURL is where browsers and code hosts
	// reach the server; "" while that is not known.
	Apps      Apps
	PublicURL string

	Log *slog.Logger
}

const (
	// knownFor is how long it may take until a server knows a connection that another
	// one made, for Service.For.
	knownFor = 2 * time.Second
	// maxKnown and maxOpen bound what is kept in memory: organizations and hosts.
	maxKnown = 10_000
	maxOpen  = 1_000
	// readTimeout bounds the look at the connections of an organization.
	readTimeout = 5 * time.Second
	// testTimeout bounds what a test or a list asks of a host.
	testTimeout = 20 * time.Second
	// maxListed is the most repositories that a list has.
	maxListed = 1000
	// maxReason bounds the words of a host that are kept, in bytes.
	maxReason = 300
)

// Service manages connections and opens them. It implements Hosts.
type Service struct {
	Config
	known   *lru.Cache[string, known] // by organization
	reading singleflight.Group
	open    *lru.Cache[string, opened] // by connection
}

// known are the connections of an organization, as For goes through them.
type known struct {
	list []Connection
	read time.Time
}

// opened is a host with the version of its connection. It has secrets in memory, so the
// next one takes its place.
type opened struct {
	host    codehost.Host
	updated time.Time
}

// NewService makes a service.
func NewService(c Config) *Service {
	open, err := lru.New[string, opened](maxOpen)
	if err != nil {
		panic(err) // the size is positive
	}
	byOrganization, err := lru.New[string, known](maxKnown)
	if err != nil {
		panic(err) // likewise
	}

	return &Service{Config: c, known: byOrganization, open: open}
}

// Caller is who manages connections.
type Caller struct {
	Organization string
	// Operator says that it is the operator at the server: addresses may be private, and
	// what is trusted can be changed.
	Operator bool
}

// Created is a connection that was made, or got new secrets.
type Created struct {
	Connection
	WebhookSecret string // that the server made, told this once; "" when it was given
}

// Create stores a connection; its host is not called. The errors are those of
// ConnectionService.CreateConnection in the API.
func (s *Service) Create(ctx context.Context, by Caller, c Connection, secrets Secrets) (Created, error) {
	c = c.withDefaults()
	c.ID, c.Organization = newID(), by.Organization
	c.State, c.Trusted, c.CreatedBy = Active, by.Operator, audit.FromContext(ctx).String()
	made := ""
	if len(secrets.Webhook) == 0 {
		made = newWebhookSecret(c.Kind)
		secrets.Webhook = []string{made}
	}
	if err := s.check(c, &secrets); err != nil {
		return Created{}, err
	}
	stored, err := s.create(ctx, c, secrets)

	return Created{Connection: stored, WebhookSecret: made}, err
}

func (s *Service) create(ctx context.Context, c Connection, secrets Secrets) (Connection, error) {
	sealed, err := s.seal(c, secrets)
	if err != nil {
		return Connection{}, err
	}
	stored, err := s.Store.CreateConnection(ctx, Stored{Connection: c, Sealed: sealed}, MaxConnections)
	s.known.Remove(c.Organization)

	return stored.Connection, err
}

// check refuses kinds without a host here, and fields that are wrong. nil stands for
// the secrets that the connection has.
func (s *Service) check(c Connection, secrets *Secrets) error {
	if s.Hosts[c.Kind] == nil {
		if c.Kind == codehost.Git {
			return errs.Invalid("kind", "a git server without an API needs no connection: it is the organization's host")
		}

		return errs.Invalid("kind", "%q is not supported by this server; there are %v", errs.Cut(string(c.Kind), 100),
			slices.Sorted(maps.Keys(s.Hosts)))
	}

	v := c.validate(s.Listed)
	if secrets != nil {
		v = append(v, secrets.validate(c)...)
	}

	return v.Err()
}

// newID returns a new identifier: `con_` and 128 random bits.
func newID() string { return "con_" + strings.ToLower(rand.Text()) }

// newWebhookSecret returns at least 256 random bits. GitLab signs by nothing but a signing
// token of Standard Webhooks, of just as many.
func newWebhookSecret(k codehost.Kind) string {
	if k != codehost.GitLab {
		return rand.Text() + rand.Text()
	}
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails

	return "whsec_" + base64.StdEncoding.EncodeToString(key[:])
}

// row identifies the secrets of a connection for the sealer.
func row(c Connection) string { return "connections/" + c.Organization + "/" + c.ID }

func (s *Service) seal(c Connection, secrets Secrets) ([]byte, error) {
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, err
	}
	sealed, err := s.Sealer.Seal(plain, row(c))
	if errors.Is(err, seal.ErrNoKey) {
		return nil, errs.New(errs.FailedPrecondition, errs.ReasonSecretsKeyMissing,
			"Connections need a key that seals their secrets, and on Postgres none is made by itself. "+
				"Name one under secrets.keys in the configuration file of the server.")
	}

	return sealed, err
}

// unseal returns the secrets of a connection. The error is a sentence for whoever can
// give the key back.
func (s *Service) unseal(c Stored) (Secrets, error) {
	plain, err := s.Sealer.Open(c.Sealed, row(c.Connection))
	if err != nil {
		return Secrets{}, fmt.Errorf("the secrets can't be read: %w; give the key back, or give the connection new "+
			"secrets", err)
	}
	var secrets Secrets
	err = json.Unmarshal(plain, &secrets)

	return secrets, err
}

// shown returns a connection as callers see it: broken without its secrets.
func (s *Service) shown(c Stored) Connection {
	if _, err := s.unseal(c); err != nil {
		c.State, c.Reason = Broken, sentence(err.Error())
	}

	return c.Connection
}

// sentence begins a text as a sentence does, and bounds it.
func sentence(text string) string {
	text = errs.Cut(text, maxReason)

	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// Get returns a connection; NotFound.
func (s *Service) Get(ctx context.Context, by Caller, id string) (Connection, error) {
	c, err := s.Store.ReadConnection(ctx, by.Organization, id)
	if err != nil {
		return Connection{}, err
	}

	return s.shown(c), nil
}

// List returns the connections of an organization, the oldest first. For the operator
// "" is all organizations.
func (s *Service) List(ctx context.Context, by Caller) ([]Connection, error) {
	list, err := s.Store.ListConnections(ctx, by.Organization)
	out := make([]Connection, len(list))
	for i, c := range list {
		out[i] = s.shown(c)
	}

	return out, err
}

// mayChange refuses what a caller must not change.
func (by Caller) mayChange(c Connection) error {
	const format = "%s The connection %q can't be changed here."
	switch {
	case c.Declared:
		return errs.New(errs.FailedPrecondition, errs.ReasonConnectionDeclared, format,
			"A configuration file declares it; change it there.", c.Name)
	case c.Trusted && !by.Operator:
		return errs.New(errs.FailedPrecondition, errs.ReasonConnectionDeclared, format,
			"The operator made it, and changes it on the server's command line.", c.Name)
	}

	return nil
}

// Change is what a connection gets. What is nil stays. Addresses do, because secrets
// belong to them.
type Change struct {
	Name         *string
	Repositories []string
	Account      *string
	Installation *int64
}

// Update changes a connection; NotFound, and CONNECTION_EXISTS for a name that is taken.
func (s *Service) Update(ctx context.Context, by Caller, id string, change Change) (Connection, error) {
	stored, err := s.Store.ChangeConnection(ctx, by.Organization, id, func(c *Stored) (audit.Change, error) {
		if err := by.mayChange(c.Connection); err != nil {
			return audit.Change{}, err
		}
		before := c.Audited()
		set(&c.Name, change.Name)
		set(&c.Account, change.Account)
		set(&c.Installation, change.Installation)
		if len(change.Repositories) > 0 {
			c.Repositories = change.Repositories
		}
		if err := s.check(c.Connection, nil); err != nil {
			return audit.Change{}, err
		}

		return changed(*c, before), nil
	})
	s.known.Remove(stored.Organization)
	if err != nil {
		return Connection{}, err
	}

	return s.shown(stored), nil
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// changed is the event of a change; none when nothing did.
func changed(c Stored, before map[string]any, more ...audit.Field) audit.Change {
	fields := append(audit.Diff(before, c.Audited()), more...)
	if len(fields) == 0 {
		return audit.Change{}
	}

	return audit.Change{Action: audit.ConnectionUpdate, Target: c.ID, Fields: fields}
}

// Delete deletes a connection with its secrets; NotFound.
func (s *Service) Delete(ctx context.Context, by Caller, id string) error {
	organization := ""
	err := s.Store.DeleteConnection(ctx, by.Organization, id, func(c Connection) error {
		organization = c.Organization

		return by.mayChange(c)
	})
	s.known.Remove(organization)
	if err == nil {
		s.open.Remove(id)
	}

	return err
}

// compareOrder puts the operator's connections first, and then the oldest.
func compareOrder(a, b Connection) int {
	if a.Trusted != b.Trusted {
		if a.Trusted {
			return -1
		}

		return 1
	}

	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}
