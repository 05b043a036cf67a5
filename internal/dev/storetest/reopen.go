package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func reopenTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"everything is still there": everythingStays,
		"a closed store is away":    closedStore,
	}
}

func everythingStays(t *testing.T, h Harness) {
	ctx := t.Context()
	o := outcome(30)
	o.RulesFileValid, o.RulesFile = true, []rule.Rule{fileRule("x")}
	complete := finish(t, h, "rev_complete", o)
	h.Clock.Advance(time.Second)
	create(t, h, acme, "rev_running")
	running := claim(t, h)
	_, err := h.Store.CreateReview(ctx, keyed(acme, "rev_queued", "key", "hash"), 10)
	require.NoError(t, err)
	stored := addRule(t, h, acme, orgRule("a"))
	key := addKey(t, h, acme, "key_a")

	h.Store = h.Reopen(t)
	got, err := h.Store.GetReview(ctx, acme, complete.ID)
	require.NoError(t, err)
	assert.Equal(t, complete, got)
	again, err := h.Store.CreateReview(ctx, keyed(acme, "rev_other", "key", "hash"), 10)
	require.NoError(t, err)
	assert.Equal(t, review.Accepted{ReviewID: "rev_queued", EstimatedMS: 4_200, Replayed: true}, again)
	gotRule, err := h.Store.GetRule(ctx, acme, "custom/a")
	require.NoError(t, err)
	assert.Equal(t, stored, gotRule)
	fromFile, err := h.Store.RulesFileRules(ctx, acme, repo)
	require.NoError(t, err)
	assert.Equal(t, o.RulesFile, fromFile)
	gotKey, err := keyByHash(ctx, h.Store, key.Hash)
	require.NoError(t, err)
	assert.Equal(t, key, gotKey)

	// Leases and turns go on: the claim still holds, and its end is counted.
	require.NoError(t, extend(t, h, running, lease, review.Progress{}))
	assert.Equal(t, "rev_queued", claim(t, h).ReviewID)
	require.NoError(t, h.Store.Finish(ctx, running, outcome(1)))
	h.Clock.Advance(lease)
	assert.Equal(t, queuedAgain("rev_queued"), reap(t, h, 10))
}

func closedStore(t *testing.T, h Harness) {
	closed := h.Store
	h.Store = h.Reopen(t)
	ctx := t.Context()
	away := func(err error) {
		t.Helper()
		wantError(t, err, errs.Unavailable, errs.ReasonUnavailable)
	}
	_, err := closed.GetReview(ctx, acme, "rev_a")
	away(err)
	_, err = closed.CreateReview(ctx, newReview(acme, "rev_a"), 10)
	away(err)
	_, err = closed.Claim(ctx, "worker", lease)
	away(err)
	_, err = closed.ListOrgRules(ctx, acme)
	away(err)
	_, err = closed.CreateKey(ctx, auth.Key{ID: "key_a", Organization: acme, Name: "x", Hash: hashOf("key_a")})
	away(err)
	create(t, h, acme, "rev_a")
}
