// Package audit is who changed what: the actor of a request or command, which
// travels in its context, and the events that its changes leave.
package audit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/page"
)

// Kind is what sort of actor makes a change.
type Kind string

// The kinds of actors.
const (
	Key    Kind = "key"    // an API key
	User   Kind = "user"   // a person who has signed in
	CLI    Kind = "cli"    // the operator's command line
	System Kind = "system" // the server itself, such as what a configuration file declares

	Connection Kind = "connection" // a connection to a code host, whose webhooks cause it
	Host       Kind = "host"       // somebody who writes a command into a pull request
)

// Actor is who makes a change, and from where.
type Actor struct {
	Kind      Kind
	ID        string // a key's, user's or connection's identifier, user@host, or host's kind and login; empty for System
	Address   string // IP address of the caller; empty when there is none
	RequestID string // of the request; empty when there is none
}

// String returns the actor's word, such as `key:key_01k9`, as it is stored and shown.
func (a Actor) String() string {
	if a.ID == "" {
		return string(a.Kind)
	}

	return string(a.Kind) + ":" + a.ID
}

// ParseActor returns the actor of a word, without an address.
func ParseActor(word string) Actor {
	kind, id, _ := strings.Cut(word, ":")

	return Actor{Kind: Kind(kind), ID: id}
}

type actorKey struct{}

// NewContext returns a context in which a makes the changes.
func NewContext(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// FromContext returns who makes changes in a context: System unless NewContext
// said otherwise.
func FromContext(ctx context.Context) Actor {
	a, ok := ctx.Value(actorKey{}).(Actor)
	if !ok {
		return Actor{Kind: System}
	}

	return a
}

// Action is what was done to what, such as `key.create`.
type Action string

// The actions. The proto annotation `audit` of each method names one of them.
const (
	KeyCreate          Action = "key.create"
	KeyRevoke          Action = "key.revoke"
	RuleCreate         Action = "rule.create"
	RuleUpdate         Action = "rule.update"
	RuleDelete         Action = "rule.delete"
	RulePush           Action = "rule.push"
	PolicyUpdate       Action = "policy.update"
	PullRepublish      Action = "publication.repeat"
	FindingTriage      Action = "finding.triage"
	FindingTriageUndo  Action = "finding.triage.undo"
	OrganizationCreate Action = "organization.create"
	OrganizationUpdate Action = "organization.update"
	OrganizationRemove Action = "organization.remove"
	ConnectionCreate   Action = "connection.create"
	ConnectionSetUp    Action = "connection.setup"
	ConnectionUpdate   Action = "connection.update"
	ConnectionDelete   Action = "connection.delete"
	ConnectionRotate   Action = "connection.rotate"
	ConnectionReseal   Action = "connection.reseal" // another key seals its secrets
	WebhookCreate      Action = "webhook.create"
	WebhookUpdate      Action = "webhook.update"
	WebhookDelete      Action = "webhook.delete"
	WebhookRotate      Action = "webhook.rotate"
	WebhookReseal      Action = "webhook.reseal" // another key seals its secret
	UserCreate         Action = "user.create"
	UserDisable        Action = "user.disable"
	UserEnable         Action = "user.enable"
	UserRemove         Action = "user.remove"
	UserPassword       Action = "user.password" // the password was changed
	UserName           Action = "user.name"
	UserReset          Action = "user.reset" // a link to set it was made
	UserLink           Action = "user.link"  // what single sign-on calls the user was stored
	SessionCreate      Action = "session.create"
	SessionRevoke      Action = "session.revoke"
	MemberAdd          Action = "member.add"
	MemberRole         Action = "member.role"
	MemberRemove       Action = "member.remove"
	InvitationCreate   Action = "invitation.create"
	InvitationRevoke   Action = "invitation.revoke"
)

// Actions are all of them. In the proto, ListEventsRequest.action has them too.
func Actions() []Action {
	return []Action{
		KeyCreate, KeyRevoke, RuleCreate, RuleUpdate, RuleDelete, RulePush, PolicyUpdate,
		PullRepublish, FindingTriage, FindingTriageUndo, OrganizationCreate, OrganizationUpdate, OrganizationRemove,
		ConnectionCreate, ConnectionSetUp, ConnectionUpdate, ConnectionDelete, ConnectionRotate,
		ConnectionReseal, WebhookCreate, WebhookUpdate, WebhookDelete, WebhookRotate, WebhookReseal,
		UserCreate, UserDisable, UserEnable, UserRemove, UserPassword, UserName, UserReset, UserLink,
		SessionCreate, SessionRevoke, MemberAdd, MemberRole, MemberRemove, InvitationCreate, InvitationRevoke,
	}
}

// Installation is the organization of events that belong to none, such as that
// one was removed. Only the operator sees them.
const Installation = "*"

// Field is one field of what was changed. It never holds a token, a password or
// source code.
type Field struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"` // empty where there was none
	After  string `json:"after,omitempty"`  // empty where there is none
}

// Change is what an event says of a change, beside who made it and when.
type Change struct {
	Action Action
	Target string // identifier of what was changed
	Fields []Field
}

// What an event holds at most, in bytes of JSON. The rest is cut off, which it
// says.
const (
	maxValue  = 2 << 10
	maxSize   = 16 << 10 // of all fields together
	maxFields = 100
)

// Bounded returns the change as an event stores it.
func (c Change) Bounded() Change {
	fields, size := make([]Field, 0, len(c.Fields)), 0
	for i, f := range c.Fields {
		f = Field{Name: cut(f.Name), Before: cut(f.Before), After: cut(f.After)}
		encoded, _ := json.Marshal(f) // texts always can be
		if size += len(encoded) + len(","); size > maxSize || i == maxFields-1 && len(c.Fields) > maxFields {
			fields = append(fields, Field{Name: "…", After: fmt.Sprintf("%d more fields were cut off", len(c.Fields)-i)})
			break
		}
		fields = append(fields, f)
	}
	c.Fields = fields

	return c
}

// cut returns s as valid UTF-8, and an ellipsis in place of what is too much.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	size := 0
	for i, r := range s {
		switch {
		case r < ' ', strings.ContainsRune("<>&\u2028\u2029", r):
			size += len(`\u0000`)
		case r == '"', r == '\\':
			size += 2
		default:
			size += utf8.RuneLen(r)
		}
		if size > maxValue {
			return s[:i] + "…"
		}
	}

	return s
}

// Store keeps events. They are written in the transactions of the changes.
type Store interface {
	// Events returns events of an organization, newest first; those of all
	// organizations and of the installation for "".
	Events(ctx context.Context, organization string, f Filter) ([]Event, error)
}

// Filter selects events. Zero fields select all.
type Filter struct {
	Action Action
	Actor  string      // as Event has it
	Since  time.Time   // the first moment
	Until  time.Time   // the moment after the last
	After  page.Cursor // the last event of the page before
	Limit  int
}

// Event is a change that was made.
type Event struct {
	ID           string // `evt_` and an opaque suffix
	Organization string
	At           time.Time
	Actor        string // Actor.String
	Address      string
	RequestID    string
	Change
}

// NewID returns a new identifier of an event: `evt_` and 128 random bits.
func NewID() string { return "evt_" + strings.ToLower(rand.Text()) }
