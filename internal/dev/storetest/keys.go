package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
)

// hashOf returns a hash for the key with that id.
func hashOf(id string) string { return strings.Repeat("0", 64-len(id)) + id }

// keyByHash returns the key that must be there.
func keyByHash(ctx context.Context, s Store, hash string) (auth.Key, error) {
	k, ok, err := s.KeyByHash(ctx, hash)
	if err == nil && !ok {
		err = fmt.Errorf("no key has the hash %s", hash)
	}

	return k, err
}

func addKey(t *testing.T, h Harness, org, id string) auth.Key {
	t.Helper()
	k, err := h.Store.CreateKey(t.Context(), auth.Key{ID: id, Organization: org, Name: "ci", Hash: hashOf(id)}, auth.Quota)
	require.NoError(t, err)
	return k
}

// revokeKey revokes a key, and not those that it made.
func revokeKey(ctx context.Context, h Harness, org, id string) error {
	_, err := h.Store.RevokeKey(ctx, org, id, false)

	return err
}

func foundKey(t *testing.T, h Harness) {
	_, ok, err := h.Store.KeyByHash(t.Context(), hashOf("key_a"))
	require.NoError(t, err)
	assert.False(t, ok)

	for _, k := range []auth.Key{
		{ID: "key_a", Organization: acme, Name: "", Hash: hashOf("key_a")},
		{
			ID: "key_b", Organization: other, Name: "CI – “main”", Hash: hashOf("key_b"), Scopes: auth.Scopes(),
			RateLimit: 600, ExpiresAt: h.Clock.Stored().Add(time.Hour),
		},
	} {
		got, err := h.Store.CreateKey(t.Context(), k, auth.Quota)
		require.NoError(t, err)
		k.CreatedAt = h.Clock.Stored()
		assert.Equal(t, k, got)
		h.Clock.Advance(2 * time.Hour)
		got, err = keyByHash(t.Context(), h.Store, k.Hash)
		require.NoError(t, err, "an expired key is found, too")
		assert.Equal(t, k, got)
	}

	// An id and a hash are taken once.
	for id, hash := range map[string]string{"key_a": "key_x", "key_x": "key_a"} {
		key := auth.Key{ID: id, Organization: other, Name: "x", Hash: hashOf(hash)}
		_, err := h.Store.CreateKey(t.Context(), key, auth.Quota)
		require.Error(t, err)
	}

	// Times come back as the store keeps them.
	k, err := h.Store.CreateKey(t.Context(), auth.Key{
		ID: "key_c", Organization: acme, Name: "c", Hash: hashOf("key_c"), ExpiresAt: h.Clock.Now(),
	}, auth.Quota)

	require.NoError(t, err)
	assert.Equal(t, h.Clock.Stored(), k.ExpiresAt)
}

func keyIDs(t *testing.T, h Harness, org string) []string {
	t.Helper()
	keys, err := h.Store.ListKeys(t.Context(), org)
	require.NoError(t, err)
	out := []string{}
	for _, k := range keys {
		out = append(out, k.ID)
	}

	return out
}

func listedKeys(t *testing.T, h Harness) {
	assert.Empty(t, keyIDs(t, h, ""))
	b := addKey(t, h, acme, "key_b")
	addKey(t, h, acme, "key_a")
	h.Clock.Advance(time.Microsecond)
	addKey(t, h, other, "key_o")
	h.Clock.Advance(time.Microsecond)
	addKey(t, h, acme, "key_0")
	assert.Equal(t, []string{"key_0", "key_b", "key_a"}, keyIDs(t, h, acme))
	assert.Equal(t, []string{"key_o"}, keyIDs(t, h, other))
	assert.Equal(t, []string{"key_0", "key_o", "key_b", "key_a"}, keyIDs(t, h, ""))
	assert.Empty(t, keyIDs(t, h, "nobody"))
	keys, err := h.Store.ListKeys(t.Context(), acme)
	require.NoError(t, err)
	assert.Equal(t, b, keys[1])

	// Those that work come first, and then the newest.
	k, err := h.Store.CreateKey(t.Context(), auth.Key{
		ID: "key_e", Organization: other, Name: "e", Hash: hashOf("key_e"), ExpiresAt: h.Clock.Now(),
	}, auth.Quota)

	require.NoError(t, err)
	h.Clock.Advance(time.Hour)
	require.NoError(t, revokeKey(t.Context(), h, other, "key_o"))
	assert.Equal(t, []string{"key_e", "key_o"}, keyIDs(t, h, other))
	assert.Equal(t, []string{"key_0", "key_b", "key_a", k.ID, "key_o"}, keyIDs(t, h, ""))
}

func revokedKey(t *testing.T, h Harness) {
	ctx := t.Context()
	addKey(t, h, acme, "key_a")
	addKey(t, h, acme, "key_b")
	wantError(t, revokeKey(ctx, h, other, "key_a"), errs.NotFound, errs.ReasonKeyNotFound)
	wantError(t, revokeKey(ctx, h, acme, "key_x"), errs.NotFound, errs.ReasonKeyNotFound)
	wantError(t, revokeKey(ctx, h, "", "key_x"), errs.NotFound, errs.ReasonKeyNotFound)

	h.Clock.Advance(time.Second)
	when := h.Clock.Stored()
	require.NoError(t, revokeKey(ctx, h, acme, "key_a"))
	require.NoError(t, revokeKey(ctx, h, "", "key_b"))
	h.Clock.Advance(time.Second)

	for _, id := range []string{"key_a", "key_b"} {
		for _, org := range []string{acme, ""} {
			revoked, err := h.Store.RevokeKey(ctx, org, id, false)
			require.NoError(t, err)
			assert.Empty(t, revoked, "it was before")
		}
		k, err := keyByHash(ctx, h.Store, hashOf(id))
		require.NoError(t, err, "a revoked key is found, too")
		assert.Equal(t, when, k.RevokedAt)
	}
	assert.Len(t, keyIDs(t, h, ""), 2, "they are still listed")
}

// addChild makes a key as another key does.
func addChild(h Harness, id, parent string, ends time.Time) error {
	_, err := h.Store.CreateKey(context.Background(), auth.Key{
		ID: id, Organization: acme, Name: "child", Hash: hashOf(id), CreatedBy: "key:" + parent, Parent: parent,
		ExpiresAt: ends,
	}, auth.Quota)

	return err
}

func revokedFamily(t *testing.T, h Harness) {
	ctx := t.Context()
	soon := h.Clock.Stored().Add(time.Minute)
	addKey(t, h, acme, "key_root")
	addKey(t, h, acme, "key_stranger")
	for _, k := range []struct{ id, parent string }{
		{"key_a", "key_root"}, {"key_b", "key_root"}, {"key_aa", "key_a"}, {"key_aaa", "key_aa"}, {"key_x", "key_stranger"},
	} {
		require.NoError(t, addChild(h, k.id, k.parent, time.Time{}))
	}
	require.NoError(t, addChild(h, "key_over", "key_b", soon))
	got, err := keyByHash(ctx, h.Store, hashOf("key_aaa"))
	require.NoError(t, err)
	assert.Equal(t, "key_aa", got.Parent)
	assert.Equal(t, "key:key_aa", got.CreatedBy)

	h.Clock.Advance(time.Hour)
	require.NoError(t, revokeKey(ctx, h, acme, "key_aa"))
	h.Clock.Advance(time.Second)
	_, err = h.Store.RevokeKey(ctx, other, "key_root", true)
	wantError(t, err, errs.NotFound, errs.ReasonKeyNotFound)
	revoked, err := h.Store.RevokeKey(ctx, acme, "key_root", true)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"key_root", "key_a", "key_b", "key_aaa"}, revoked,
		"what works, also below a key that was revoked before")
	e := events(t, h, acme, audit.Filter{Limit: 1})[0]
	assert.Equal(t, audit.Change{Action: audit.KeyRevoke, Target: "key_root", Fields: []audit.Field{
		{Name: "child", Before: "key_a"}, {Name: "child", Before: "key_aaa"}, {Name: "child", Before: "key_b"},
	}}, e.Change)
	revoked, err = h.Store.RevokeKey(ctx, acme, "key_root", true)
	require.NoError(t, err)
	assert.Empty(t, revoked)
	assert.Equal(t, e, events(t, h, acme, audit.Filter{Limit: 1})[0])

	// A server that still knows a key that was just revoked makes no key by it.
	wantError(t, addChild(h, "key_late", "key_aaa", time.Time{}), errs.Unauthenticated, errs.ReasonKeyRevoked)
	wantError(t, addChild(h, "key_late", "key_over", time.Time{}), errs.Unauthenticated, errs.ReasonKeyExpired)
	wantError(t, addChild(h, "key_late", "key_gone", time.Time{}), errs.Unauthenticated, errs.ReasonKeyInvalid)
	require.NoError(t, addChild(h, "key_xx", "key_x", time.Time{}))

	// The family of keys that are no more remembered is still one.
	require.NoError(t, addChild(h, "key_xxx", "key_xx", time.Time{}))
	require.NoError(t, addChild(h, "key_xxxx", "key_xxx", time.Time{}))
	for _, id := range []string{"key_x", "key_xx", "key_xxx"} {
		require.NoError(t, revokeKey(ctx, h, acme, id))
	}
	h.Clock.Advance(review.KeepKeys)
	purgeKeys(t, h)
	purgeKeys(t, h)
	assert.Equal(t, []string{"key_xxxx", "key_stranger"}, keyIDs(t, h, ""))
	revoked, err = h.Store.RevokeKey(ctx, "", "key_stranger", true)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"key_stranger", "key_xxxx"}, revoked)
}

func manyDeadKeys(t *testing.T, h Harness) {
	const beyond = 7
	addKey(t, h, acme, "key_valid")
	addKey(t, h, other, "key_other")
	for i := range auth.MaxListed + beyond {
		h.Clock.Advance(time.Millisecond)
		id := fmt.Sprintf("key_%d", i)
		require.NoError(t, addChild(h, id, "key_valid", h.Clock.Now().Add(time.Millisecond)))
		if i%10 == 0 {
			require.NoError(t, revokeKey(t.Context(), h, acme, id))
		}
	}
	h.Clock.Advance(time.Minute)
	require.NoError(t, revokeKey(t.Context(), h, acme, "key_valid"))
	addKey(t, h, acme, "key_late")
	assert.Equal(t, beyond, purgeKeys(t, h), "not the first of its family")
	ids := keyIDs(t, h, "")
	assert.Len(t, ids, auth.MaxListed+3)
	assert.Subset(t, ids, []string{"key_valid", "key_other", "key_late", fmt.Sprintf("key_%d", beyond)})
}

func keyQuota(t *testing.T, h Harness) {
	const quota = 3
	add := func(ctx context.Context, org, id string, ends time.Time) error {
		_, err := h.Store.CreateKey(ctx, auth.Key{
			ID: id, Organization: org, Name: "n", Hash: hashOf(id), ExpiresAt: ends,
		}, quota)

		return err
	}
	ctx := t.Context()
	require.NoError(t, add(ctx, acme, "key_a", time.Time{}))
	require.NoError(t, add(ctx, acme, "key_b", h.Clock.Now().Add(time.Hour)))
	require.NoError(t, add(ctx, acme, "key_c", time.Time{}))
	wantError(t, add(ctx, acme, "key_d", time.Time{}), errs.FailedPrecondition, errs.ReasonKeyQuota)
	require.NoError(t, add(ctx, other, "key_o", time.Time{}), "others have their own")
	require.NoError(t, revokeKey(ctx, h, acme, "key_a"))
	require.NoError(t, add(ctx, acme, "key_d", time.Time{}))
	h.Clock.Advance(time.Hour)
	require.NoError(t, add(ctx, acme, "key_e", time.Time{}), "an expired one counts no more")
	wantError(t, add(ctx, acme, "key_f", time.Time{}), errs.FailedPrecondition, errs.ReasonKeyQuota)
}

func keyQuotaRace(t *testing.T, h Harness) {
	require.NoError(t, h.Store.CreateOrganization(t.Context(), organizationOf(acme)))
	var made atomic.Int64
	together(t, 16, func(ctx context.Context, i int) error {
		id := fmt.Sprintf("key_%d", i)
		_, err := h.Store.CreateKey(ctx, auth.Key{ID: id, Organization: acme, Name: "n", Hash: hashOf(id)}, 5)
		if errs.ReasonOf(err) == errs.ReasonKeyQuota {
			return nil
		}
		made.Add(1)

		return err
	})
	assert.EqualValues(t, 5, made.Load())
}

func organizationLimit(t *testing.T, h Harness) {
	limit := func() int {
		t.Helper()
		k, err := keyByHash(t.Context(), h.Store, hashOf("key_a"))
		require.NoError(t, err)

		return k.OrganizationLimit
	}
	addKey(t, h, acme, "key_a")
	assert.Zero(t, limit())
	require.NoError(t, h.Store.CreateOrganization(t.Context(), organizationOf(acme)))
	assert.Equal(t, 700, limit())
	require.NoError(t, h.Store.UpdateOrganization(t.Context(), acme, func(o *organization.Organization) error {
		o.RateLimit = 0

		return nil
	}))
	assert.Zero(t, limit())
}

func touchedKeys(t *testing.T, h Harness) {
	ctx := t.Context()
	addKey(t, h, acme, "key_a")
	addKey(t, h, other, "key_b")
	addKey(t, h, other, "key_c")
	want := func(id string, at time.Time) {
		t.Helper()
		k, err := keyByHash(ctx, h.Store, hashOf(id))
		require.NoError(t, err)
		assert.Equal(t, at, k.LastUsedAt)
	}
	first := h.Clock.Now()
	later := first.Add(time.Minute)
	require.NoError(t, h.Store.TouchKeys(ctx, nil))
	require.NoError(t, h.Store.TouchKeys(ctx, map[string]time.Time{"key_a": later, "key_b": first, "key_gone": first}))
	want("key_a", later.UTC().Truncate(time.Microsecond))
	want("key_b", first.UTC().Truncate(time.Microsecond))
	want("key_c", time.Time{})
	require.NoError(t, h.Store.TouchKeys(ctx, map[string]time.Time{"key_a": first, "key_b": later}))
	want("key_a", later.UTC().Truncate(time.Microsecond)) // not backwards
	want("key_b", later.UTC().Truncate(time.Microsecond))
}
