// Package audit is who changed what: the actor of a request or command, which
// travels in its context, and the events that its changes leave.
package audit

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/page"
)

// Kind is what sort of actor makes a change.
type Kind string

// The kinds of actors.
const (
	User   Kind = "user"   // somebody who is signed in
	Key    Kind = "key"    // an API key
	CLI    Kind = "cli"    // the operator's command line
	System Kind = "system" // the server itself, such as what a configuration file declares
)

// Actor is who makes a change, and from where.
type Actor struct {
	Kind      Kind
	ID        string // a key's identifier, or user@host; empty for System
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
	PolicyUpdate       Action = "policy.update"
	RuleDelete         Action = "rule.delete"
	RulePush           Action = "rule.push"
	OrganizationCreate Action = "organization.create"
	OrganizationUpdate Action = "organization.update"
	OrganizationRemove Action = "organization.remove"
)

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

// What an event holds at most. The rest is cut off.
const (
	maxFields = 100
	maxValue  = 2 << 10 // bytes
)

// Bounded returns the change as an event stores it.
func (c Change) Bounded() Change {
	fields := make([]Field, 0, min(len(c.Fields), maxFields))
	for _, f := range c.Fields[:min(len(c.Fields), maxFields)] {
		fields = append(fields, Field{Name: f.Name, Before: cut(f.Before), After: cut(f.After)})
	}
	c.Fields = fields

	return c
}

// cut returns s as valid UTF-8 of at most maxValue bytes and an ellipsis.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxValue {
		return s
	}

	end := maxValue
	for !utf8.RuneStart(s[end]) {
		end--
	}

	return s[:end] + "…"
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
