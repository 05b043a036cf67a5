package auth

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
)

// MaxNameLength is the most characters that the name of a key may have.
const MaxNameLength = 100

// Quota is how many keys that work an organization may have.
const Quota = 100

// MaxListed is how many keys of an organization are listed at most.
const MaxListed = 1000

// RevokedWithin is how long a revoked key may still work on other servers.
const RevokedWithin = 5 * time.Second

// Keys knows which keys there are. It authenticates, makes, lists and revokes
// them, and notes when they were last used. Start must be called once for the
// notes to be stored; Stop stores the last of them.
type Keys struct {
	store  KeyStore
	now    func() time.Time
	lookup *Lookup[Key]
	used   *LastUsed
}

// NewKeys returns Keys on a store. now is the clock that keys expire by: the
// store's, which all servers share.
func NewKeys(store KeyStore, now func() time.Time, log *slog.Logger) *Keys {
	return &Keys{
		store: store, now: now, lookup: NewLookup(store.KeyByHash), used: NewLastUsed("keys", store.TouchKeys, log),
	}
}

// Start starts the loop that stores last-used times, once a minute.
func (k *Keys) Start() { k.used.Start() }

// Stop ends the loop and stores what is left; ctx bounds that. It may be
// called twice, and without Start.
func (k *Keys) Stop(ctx context.Context) error { return k.used.Stop(ctx) }

// Authenticate returns who a request is from by the values of its
// Authorization header. It fails with Unauthenticated (KEY_MISSING,
// KEY_INVALID, KEY_EXPIRED, KEY_REVOKED), and with Unavailable while the store
// is away.
func (k *Keys) Authenticate(ctx context.Context, authorization []string) (Caller, error) {
	token, err := bearer(authorization)
	if err != nil {
		return Caller{}, err
	}

	c, err := k.check(ctx, HashToken(token))
	if err != nil {
		return Caller{}, err
	}
	k.used.Touch(c.KeyID, k.now())

	return c, nil
}

// Recheck returns an error when the caller's key is no longer good; its errors
// are those of Authenticate. A call that lasts long does it every few seconds.
func (k *Keys) Recheck(ctx context.Context, c Caller) error {
	_, err := k.check(ctx, c.KeyHash)

	return err
}

// Remembered is Authenticate from memory alone; ok is false when that knows no
// valid key.
func (k *Keys) Remembered(authorization []string) (c Caller, ok bool) {
	token, err := bearer(authorization)
	if err != nil {
		return Caller{}, false
	}

	key, ok := k.lookup.remembered(HashToken(token))
	c, err = key.bearer(k.now())

	return c, ok && err == nil
}

func (k *Keys) check(ctx context.Context, hash string) (Caller, error) {
	key, ok, err := k.lookup.Find(ctx, hash)
	switch {
	case err != nil:
		return Caller{}, err
	case !ok:
		return Caller{}, errs.New(errs.Unauthenticated, errs.ReasonKeyInvalid, "There is no such API key on this server.")
	}

	return key.bearer(k.now())
}

// Now returns the time on the clock that keys expire by.
func (k *Keys) Now() time.Time { return k.now() }

// NewKey is what a key is made from.
type NewKey struct {
	Name      string    // 1 to MaxNameLength characters
	Scopes    []Scope   // at least one; DefaultScopes when nil
	ExpiresAt time.Time // in the future; zero for never
	RateLimit int       // requests a minute; 0 for the default
	parent    string    // identifier of the key that makes it
}

// Create makes a key for the caller's organization and returns it with its
// token, which is stored nowhere. The key can't do more than the caller's own,
// nor longer. It fails with PermissionDenied (SCOPE_MISSING) for a scope that
// the caller's own key does not have, with InvalidArgument for a later end or a
// higher limit, and as Issue does.
func (k *Keys) Create(ctx context.Context, c Caller, n NewKey) (Key, string, error) {
	if n.Scopes == nil {
		n.Scopes = DefaultScopes()
	}
	if err := k.validate(n); err != nil {
		return Key{}, "", err
	}

	for _, s := range n.Scopes {
		if !c.Has(s) {
			return Key{}, "", scopeMissing(s,
				"A key can grant only the scopes that it has itself; yours has %s, not %s.", join(c.Scopes), s)
		}
	}
	if err := n.bequeath(c); err != nil {
		return Key{}, "", err
	}

	return k.issue(ctx, c.Organization, n)
}

// bequeath bounds what a key gets from the one that makes it.
func (n *NewKey) bequeath(c Caller) error {
	n.parent = c.KeyID

	switch {
	case n.ExpiresAt.IsZero():
		n.ExpiresAt = c.ExpiresAt
	case !c.ExpiresAt.IsZero() && n.ExpiresAt.After(c.ExpiresAt):
		return errs.Invalid("expires_at", "must not be later than %s, when your own key ends", stamp(c.ExpiresAt))
	}

	most := cmp.Or(c.RateLimit, DefaultLimit)
	switch {
	case n.RateLimit == 0 && most < DefaultLimit:
		n.RateLimit = most
	case n.RateLimit > most:
		return errs.Invalid("rate_limit", "must be at most %d requests a minute, as your own key has", most)
	}

	return nil
}

// Issue makes a key with any scopes for an organization, as an operator may. It
// fails with InvalidArgument for a bad name, scope or expiry, and as
// KeyStore.CreateKey does.
func (k *Keys) Issue(ctx context.Context, org string, n NewKey) (Key, string, error) {
	if n.Scopes == nil {
		n.Scopes = DefaultScopes()
	}
	if err := k.validate(n); err != nil {
		return Key{}, "", err
	}

	return k.issue(ctx, org, n)
}

// issue makes a key that was found valid.
func (k *Keys) issue(ctx context.Context, org string, n NewKey) (Key, string, error) {
	token := NewToken()
	key, err := k.store.CreateKey(ctx, Key{
		ID: NewKeyID(), Organization: org, Name: n.Name, Hash: HashToken(token),
		Scopes: n.Scopes, RateLimit: n.RateLimit, ExpiresAt: n.ExpiresAt.UTC().Truncate(time.Microsecond),
		CreatedBy: audit.FromContext(ctx).String(), Parent: n.parent,
	}, Quota)
	if err != nil {
		return Key{}, "", err
	}

	return key, token, nil
}

// List returns the organization's keys as KeyStore.ListKeys does.
func (k *Keys) List(ctx context.Context, org string) ([]Key, error) {
	return k.store.ListKeys(ctx, org)
}

// Revoke makes a key of the organization, or of any for "", useless, and with
// children all that descend from it: here at once, on other servers within
// RevokedWithin. It returns and fails as KeyStore.RevokeKey does.
func (k *Keys) Revoke(ctx context.Context, org, id string, children bool) ([]string, error) {
	revoked, err := k.store.RevokeKey(ctx, org, id, children)
	if err != nil {
		return nil, err
	}
	k.lookup.Forget()

	return revoked, nil
}

func (k *Keys) validate(n NewKey) error {
	var bad errs.Violations
	if l := utf8.RuneCountInString(n.Name); l < 1 || l > MaxNameLength || !utf8.ValidString(n.Name) ||
		strings.ContainsRune(n.Name, 0) {
		bad.Add("name", "must be text of 1 to %d characters; it has %d", MaxNameLength, l)
	}

	if len(n.Scopes) == 0 {
		bad.Add("scopes", "must name at least one of %s", join(Scopes()))
	}
	for i, s := range n.Scopes {
		if !slices.Contains(Scopes(), s) {
			bad.Add(fmt.Sprintf("scopes[%d]", i), "there is no scope %q; the scopes are %s", s, join(Scopes()))
		} else if slices.Contains(n.Scopes[:i], s) {
			bad.Add(fmt.Sprintf("scopes[%d]", i), "%s is given twice", s)
		}
	}

	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(k.now()) {
		bad.Add("expires_at", "must be in the future; it is now %s", stamp(k.now()))
	}
	if n.RateLimit < 0 {
		bad.Add("rate_limit", "must be at least 1 request a minute, or 0 for the default")
	}

	return bad.Err()
}

// bearer returns the token in the values of an Authorization header.
func bearer(values []string) (string, error) {
	const how = "Send it in the header `Authorization: Bearer <API key>`."
	if len(values) == 0 || (len(values) == 1 && values[0] == "") {
		return "", errs.New(errs.Unauthenticated, errs.ReasonKeyMissing, "This needs an API key. %s", how)
	}

	scheme, token, found := strings.Cut(values[0], " ")
	if len(values) > 1 || !found || !strings.EqualFold(scheme, "Bearer") {
		return "", errs.New(errs.Unauthenticated, errs.ReasonKeyInvalid, "The Authorization header can't be read. %s", how)
	}

	token = strings.TrimLeft(token, " ")
	if !WellFormed(token) {
		return "", errs.New(errs.Unauthenticated, errs.ReasonKeyInvalid,
			"This is not an API key: a key is `prw_` and 36 letters and digits, and the last 6 of them are a checksum. "+
				"Check that it was copied whole.")
	}

	return token, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
