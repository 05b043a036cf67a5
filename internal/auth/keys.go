// Package auth decides who is calling and whether they may still: API
// keys, what they allow, and how many requests they have left. It is one
// implementation; the gRPC chain and the REST gateway each have a thin adapter
// to it.
package auth

import (
	"context"
	"time"
)

// Scope is something that a key may do.
type Scope string

// The scopes.
const (
	ReviewsRead  Scope = "reviews:read"
	ReviewsWrite Scope = "reviews:write"
	RulesRead    Scope = "rules:read"
	RulesWrite   Scope = "rules:write"
	KeysAdmin    Scope = "keys:admin"
)

// Scopes are all of them.
func Scopes() []Scope { return []Scope{ReviewsRead, ReviewsWrite, RulesRead, RulesWrite, KeysAdmin} }

// DefaultScopes are those of a key that is created without naming any: all but
// KeysAdmin.
func DefaultScopes() []Scope { return []Scope{ReviewsRead, ReviewsWrite, RulesRead, RulesWrite} }

// Key is what is kept of an API key. The token itself is not.
type Key struct {
	ID           string // `key_` and an opaque suffix
	Organization string
	Name         string
	Hash         string // SHA-256 of the token, in hexadecimal
	Scopes       []Scope
	RateLimit    int // requests a minute; 0 for the default
	CreatedAt    time.Time
	ExpiresAt    time.Time // zero when never
	LastUsedAt   time.Time // zero when never
	RevokedAt    time.Time // zero unless revoked
}

// KeyStore keeps keys.
type KeyStore interface {
	// CreateKey stores a key and returns it with CreatedAt set.
	CreateKey(ctx context.Context, k Key) (Key, error)
	// KeysByHash returns the keys that have one of the hashes, revoked and
	// expired ones too, in any order. Hashes without a key are left out. It is
	// the one call that knows no organization yet.
	KeysByHash(ctx context.Context, hashes []string) ([]Key, error)
	// ListKeys returns the organization's keys that are not revoked, newest
	// first; those of all organizations for "".
	ListKeys(ctx context.Context, org string) ([]Key, error)
	// RevokeKey revokes a key of the organization, or of any for ""; NotFound
	// (KEY_NOT_FOUND), also when it is revoked already.
	RevokeKey(ctx context.Context, org, id string) error
	// TouchKeys stores when keys were last used, by id. A time before the
	// stored one changes nothing.
	TouchKeys(ctx context.Context, used map[string]time.Time) error
}
