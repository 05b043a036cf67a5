// Package connection is how an organization reaches its code hosts: which, with
// which secrets, and whether that works.
package connection

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
)

// State is whether a connection works.
type State string

// The states.
const (
	Active    State = "active"
	Suspended State = "suspended" // by the host's owner
	Broken    State = "broken"    // see Connection.Reason
)

// Connection is an organization's way to a code host.
type Connection struct {
	ID           string // `con_…`
	Organization string
	Name         string // unique in the organization
	Kind         codehost.Kind
	URL          string   // of the host, such as https://github.com
	APIURL       string   // "" for the host's usual one
	GitURL       string   // where a repository is cloned from, with `{repo}`; "" for the usual one
	Repositories []string // doublestar globs of those that it is for, in which case counts
	Account      string   // owner of the installation, or whose the token is
	AppID        int64    // of a GitHub App; 0 for a token
	Installation int64    // likewise
	Missing      []string // permissions, at the last test
	State        State
	Reason       string // why it is broken, or what of it is to be known, and what to do
	Declared     bool   // in the configuration file: it can be changed there only
	Trusted      bool   // declared, or made by the operator: addresses may be private
	CreatedAt    time.Time
	CreatedBy    string
	UpdatedAt    time.Time
	TestedAt     time.Time // zero for never
}

// Secrets are what a connection must not tell anybody. They are kept sealed.
type Secrets struct {
	Token      string   `json:"token,omitempty"`       // reads and publishes
	GitToken   string   `json:"git_token,omitempty"`   // reads by git; Token when empty
	PrivateKey string   `json:"private_key,omitempty"` // of a GitHub App, PEM
	Webhook    []string `json:"webhook,omitempty"`     // sign deliveries; the newest first, at most two
}

// String returns no secret: a log may print what holds them.
func (Secrets) String() string { return "(secrets)" }

// Hide takes the secrets out of a text, such as what a host says back.
func (s Secrets) Hide(text string) string {
	for _, secret := range append([]string{s.Token, s.GitToken, s.PrivateKey}, s.Webhook...) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(secret)")
		}
	}

	return text
}

// GoString returns no secret either.
func (Secrets) GoString() string { return "(secrets)" }

// Hosts opens connections.
type Hosts interface {
	// Open reads a connection and returns its host; NotFound (CONNECTION_NOT_FOUND),
	// and FailedPrecondition (CONNECTION_BROKEN) when its secrets can't be opened.
	Open(ctx context.Context, id string) (Connection, codehost.Host, error)

	// WebhookSecrets are those of a connection; NotFound.
	WebhookSecrets(ctx context.Context, id string) (Connection, [][]byte, error)

	// For is the identifier of the oldest connection of an organization that is for a
	// repository; "" for none.
	For(ctx context.Context, org, repo string) (id string, err error)

	// Report keeps what a call said of a connection as it was opened: its state, reason
	// and installation. What was changed meanwhile, as by new secrets, stays as it is.
	Report(ctx context.Context, c Connection) error
}

// Refused is a connection whose credentials its host refused with an error.
func (c Connection) Refused(err error) Connection {
	if errors.Is(err, codehost.ErrSuspended) {
		c.State, c.Reason = Suspended, "The owner of "+c.Account+" suspended the App; it works again when they unsuspend it."

		return c
	}
	c.State, c.Reason = Broken, "The host does not accept the credentials. Give the connection new ones."

	return c
}
