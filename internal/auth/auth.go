// Package auth decides who is calling and whether they may still: API keys,
// what they allow, and how many requests they have left. The gRPC chain and the
// REST gateway both ask it.
package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
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
	PolicyRead   Scope = "policy:read"
	PolicyWrite  Scope = "policy:write"
	AuditRead    Scope = "audit:read"
	HostsRead    Scope = "hosts:read"
	HostsWrite   Scope = "hosts:write"

	WebhooksRead  Scope = "webhooks:read"
	WebhooksWrite Scope = "webhooks:write"

	FindingsTriage Scope = "findings:triage"

	// SourceRead shows source code around findings, with its secrets hidden.
	SourceRead        Scope = "source:read"
	MembersAdmin      Scope = "members:admin"
	OrganizationAdmin Scope = "organization:admin"
)

// Scopes returns all of them.
func Scopes() []Scope {
	return append(DefaultScopes(), KeysAdmin, PolicyRead, PolicyWrite, AuditRead, FindingsTriage, HostsRead, HostsWrite,
		WebhooksRead, WebhooksWrite, SourceRead, MembersAdmin, OrganizationAdmin)
}

// DefaultScopes returns those of a key that is created without naming any. A
// scope that is added later is not among them.
func DefaultScopes() []Scope { return []Scope{ReviewsRead, ReviewsWrite, RulesRead, RulesWrite} }

// Key is what is stored of an API key. The token itself is not.
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
	CreatedBy    string    // the actor, as audit.Actor.String has it
	Parent       string    // identifier of the key that made it; empty when an operator did

	// OrganizationLimit is how many requests a minute all keys of the organization
	// may make together; 0 for the default. Only KeyByHash tells it.
	OrganizationLimit int
}

// Limit is how many requests a minute the key may make.
func (k Key) Limit() int { return cmp.Or(k.RateLimit, DefaultLimit) }

// State says whether a key works.
type State string

// The states of a key.
const (
	Active  State = "active"
	Expired State = "expired"
	Revoked State = "revoked"
)

// State returns the state of the key at a time.
func (k Key) State(now time.Time) State {
	switch {
	case !k.RevokedAt.IsZero():
		return Revoked
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return Expired
	}

	return Active
}

// Audited returns what the event of the key's creation says of it.
func (k Key) Audited() []audit.Field {
	expires := ""
	if !k.ExpiresAt.IsZero() {
		expires = stamp(k.ExpiresAt)
	}

	return audit.Diff(nil, map[string]any{
		"name": k.Name, "scopes": k.Scopes, "rate_limit": k.RateLimit, "expires_at": expires, "parent": k.Parent,
	})
}

// Check returns nil for a key that works at a time, and otherwise Unauthenticated
// (KEY_REVOKED, KEY_EXPIRED).
func (k Key) Check(now time.Time) error {
	switch k.State(now) {
	case Revoked:
		return errs.New(errs.Unauthenticated, errs.ReasonKeyRevoked,
			"The API key %s was revoked at %s.", k.ID, stamp(k.RevokedAt))
	case Expired:
		return errs.New(errs.Unauthenticated, errs.ReasonKeyExpired,
			"The API key %s expired at %s.", k.ID, stamp(k.ExpiresAt))
	}

	return nil
}

// bearer returns whom the key makes its bearer. It fails as Check does.
func (k Key) bearer(now time.Time) (Caller, error) {
	if err := k.Check(now); err != nil {
		return Caller{}, err
	}

	return Caller{
		KeyID: k.ID, Organization: k.Organization, Scopes: k.Scopes, RateLimit: k.RateLimit, ExpiresAt: k.ExpiresAt,
		KeyHash: k.Hash, OrganizationLimit: k.OrganizationLimit,
	}, nil
}

// KeyStore stores keys.
type KeyStore interface {
	// CreateKey stores a key and returns it with CreatedAt set. It fails with
	// FailedPrecondition (KEY_QUOTA) while the organization has quota keys that
	// work, and with Unauthenticated when the key Parent does not work any more.
	CreateKey(ctx context.Context, k Key, quota int) (Key, error)
	// KeyByHash returns the key that has exactly this hash, revoked and expired
	// ones too; ok is false when there is none. It is the one call that knows no
	// organization yet.
	KeyByHash(ctx context.Context, hash string) (k Key, ok bool, err error)
	// ListKeys returns the organization's keys: those that work first, the newest
	// first among each, at most MaxListed. Those of all organizations, without a
	// limit, are for "".
	ListKeys(ctx context.Context, org string) ([]Key, error)
	// RevokeKey revokes a key of the organization, or of any for "", and with
	// children all that descend from it and work. It returns the identifiers of
	// those that were not revoked before, and NotFound (KEY_NOT_FOUND).
	RevokeKey(ctx context.Context, org, id string, children bool) ([]string, error)
	// TouchKeys stores when keys were last used, by id. A time before the
	// stored one changes nothing.
	TouchKeys(ctx context.Context, used map[string]time.Time) error
}

// Caller is who makes a request: what its key says, or a person who has signed in.
// The zero Caller is nobody.
type Caller struct {
	KeyID        string // empty for a person
	UserID       string // empty for a key
	Organization string // empty for a person who looks at none
	Scopes       []Scope
	RateLimit    int       // requests a minute; 0 for the default
	ExpiresAt    time.Time // of the key; zero when never

	Role        Role   // of a person in the organization
	Fresh       bool   // whether a person has just shown the password
	SessionHash string // of a person, to check the session again in a long call; never logged

	OrganizationLimit int // requests a minute of all keys of the organization; 0 for the default

	KeyHash string // of the token, to check the key again in a long call; never logged
}

// Actor returns who makes the caller's changes, without where from; the zero Actor
// for nobody.
func (c Caller) Actor() audit.Actor {
	switch {
	case c.UserID != "":
		return audit.Actor{Kind: audit.User, ID: c.UserID}
	case c.KeyID != "":
		return audit.Actor{Kind: audit.Key, ID: c.KeyID}
	}

	return audit.Actor{}
}

// Has reports whether the caller has the scope.
func (c Caller) Has(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Require returns nil when the caller has the scope, and otherwise
// PermissionDenied (SCOPE_MISSING).
func (c Caller) Require(s Scope) error {
	switch {
	case c.Has(s):
		return nil
	case c.UserID != "" && c.Role == "":
		return scopeMissing(s, "You are not a member of an organization here; ask one of its admins for an invitation.")
	case c.UserID != "":
		return scopeMissing(s, "This needs the role %s; yours is %s.", weakest(s), c.Role)
	}

	return scopeMissing(s, "This needs a key with the scope %s; yours has %s.", s, join(c.Scopes))
}

// MayGive returns nil when the caller may give or take a role, having all of its
// scopes, and otherwise PermissionDenied (SCOPE_MISSING).
func (c Caller) MayGive(r Role) error {
	for _, s := range r.Scopes() {
		if !c.Has(s) {
			return scopeMissing(s, "Nobody gives or takes a role that may do more than he himself: %s has the scope %s.", r, s)
		}
	}

	return nil
}

func scopeMissing(s Scope, format string, args ...any) error {
	e := errs.New(errs.PermissionDenied, errs.ReasonScopeMissing, format, args...)
	e.Metadata = map[string]string{"scope": string(s)}

	return e
}

func join(scopes []Scope) string {
	if len(scopes) == 0 {
		return "none"
	}

	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}

	return strings.Join(words, ", ")
}

type callerKey struct{}

// NewContext returns a context that carries the caller.
func NewContext(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// FromContext returns the caller that was admitted; the zero Caller for none.
func FromContext(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)

	return c
}

// The form of a token: `prw_`, 30 random base62 characters (178 bits), and the
// CRC-32 (IEEE) of those 30 as 6 base62 digits. The fixed form lets secret
// scanners recognise a token without asking anyone, and lets a mistyped one be
// refused before a store is asked.
const (
	TokenPrefix   = "prw_"
	tokenRandom   = 30
	tokenChecksum = 6
	tokenLength   = len(TokenPrefix) + tokenRandom + tokenChecksum
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken returns a new random token of an API key.
func NewToken() string {
	body := randomBase62(tokenRandom)

	return TokenPrefix + body + checksum(body)
}

// secretRandom are the base62 characters of 256 bits.
const secretRandom = 43

// NewSecret returns a new random token of a session or a link. It is not WellFormed,
// and MaskTokens hides it as it does those of keys.
func NewSecret() string { return TokenPrefix + randomBase62(secretRandom) }

func randomBase62(n int) string {
	body := make([]byte, 0, n)
	for len(body) < n {
		var buf [secretRandom]byte
		_, _ = rand.Read(buf[:]) // never fails
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte: taking more
			// would make some characters likelier than others.
			if b < 248 && len(body) < n {
				body = append(body, base62[b%62])
			}
		}
	}

	return string(body)
}

// WellFormed reports whether token has the form of a token and a checksum that
// fits. It says nothing of whether there is such a key.
func WellFormed(token string) bool {
	if len(token) != tokenLength || !strings.HasPrefix(token, TokenPrefix) {
		return false
	}
	body := token[len(TokenPrefix) : tokenLength-tokenChecksum]
	for i := range len(body) {
		if !strings.ContainsRune(base62, rune(body[i])) {
			return false
		}
	}
	return token[tokenLength-tokenChecksum:] == checksum(body)
}

// HashToken returns what is stored of a token: its SHA-256 in hexadecimal. A
// slow hash would add nothing: nobody guesses 178 random bits.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewKeyID returns a new key identifier: `key_` and 128 random bits.
func NewKeyID() string { return "key_" + strings.ToLower(rand.Text()) }

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	digits := make([]byte, tokenChecksum)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return string(digits)
}

// MaskTokens takes API keys out of a text that a caller made up and that is
// going to be logged, such as a path: some put their key where it does not
// belong.
func MaskTokens(text string) string {
	if !strings.Contains(text, TokenPrefix) {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, TokenPrefix)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString(TokenPrefix + "***")
		text = strings.TrimLeft(after, base62+"_") // one may follow another
	}
}
