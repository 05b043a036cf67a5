package auth_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestAuthenticateKnowsTheCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key, header := b.issue(t, auth.NewKey{Scopes: []auth.Scope{auth.RulesRead}, RateLimit: 7})
	c, err := b.keys.Authenticate(t.Context(), header)
	require.NoError(t, err)
	assert.Equal(t, key.ID, c.KeyID)
	assert.Equal(t, "acme", c.Organization)
	assert.Equal(t, []auth.Scope{auth.RulesRead}, c.Scopes)
	assert.Equal(t, 7, c.RateLimit)
}

func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, good := b.issue(t, auth.NewKey{})
	token := strings.TrimPrefix(good[0], "Bearer ")
	tests := map[string]struct {
		header []string
		reason string
	}{
		"no header":        {nil, errs.ReasonKeyMissing},
		"empty header":     {[]string{""}, errs.ReasonKeyMissing},
		"two headers":      {[]string{good[0], good[0]}, errs.ReasonKeyInvalid},
		"other scheme":     {[]string{"Basic " + token}, errs.ReasonKeyInvalid},
		"no scheme":        {[]string{token}, errs.ReasonKeyInvalid},
		"empty token":      {[]string{"Bearer "}, errs.ReasonKeyInvalid},
		"trailing space":   {[]string{good[0] + " "}, errs.ReasonKeyInvalid},
		"bad checksum":     {[]string{"Bearer " + token[:39] + "!"}, errs.ReasonKeyInvalid},
		"made up, checked": {[]string{"Bearer " + auth.NewToken()}, errs.ReasonKeyInvalid},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := b.keys.Authenticate(t.Context(), tc.header)
			assert.Equal(t, errs.Unauthenticated, errs.KindOf(err))
			assert.Equal(t, tc.reason, errs.ReasonOf(err))
			assert.NotContains(t, err.Error(), token)
		})
	}
	c, err := b.keys.Authenticate(t.Context(), []string{"bearer  " + token})
	require.NoError(t, err, "the scheme has no case, and spaces may follow it")
	assert.Equal(t, "acme", c.Organization)
}

func TestMistypedTokenNeverReachesTheStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, header := b.issue(t, auth.NewKey{})
	typo := []byte(header[0])
	typo[20] ^= 1
	_, err := b.keys.Authenticate(t.Context(), []string{string(typo)})
	require.Error(t, err)
	assert.Zero(t, b.store.questions())
}

func TestLookupsAreRememberedForLessThanFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		_, known := b.issue(t, auth.NewKey{})
		unknown := []string{"Bearer " + auth.NewToken()}
		for range 10 {
			_, err := b.keys.Authenticate(t.Context(), known)
			require.NoError(t, err)
			_, err = b.keys.Authenticate(t.Context(), unknown)
			require.Error(t, err)
		}
		assert.Equal(t, 2, b.store.questions())
		b.advance(5 * time.Second)
		_, err := b.keys.Authenticate(t.Context(), known)
		require.NoError(t, err)
		_, err = b.keys.Authenticate(t.Context(), unknown)
		require.Error(t, err)
		assert.Equal(t, 4, b.store.questions())
	})
}

func TestConcurrentLookupsAskOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, header := b.issue(t, auth.NewKey{})
	b.store.hold, b.store.reading = make(chan struct{}), make(chan struct{}, 1)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := b.keys.Authenticate(t.Context(), header)
			assert.NoError(t, err)
		})
	}
	<-b.store.reading
	close(b.store.hold)
	wg.Wait()
	assert.Equal(t, 1, b.store.questions())
}

func TestOneCallerLeavingDoesNotFailTheOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, header := b.issue(t, auth.NewKey{})
	b.store.hold, b.store.reading = make(chan struct{}), make(chan struct{}, 1)
	ctx, leave := context.WithCancel(t.Context())
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() { _, err := b.keys.Authenticate(ctx, header); left <- err }()
	<-b.store.reading
	go func() { _, err := b.keys.Authenticate(t.Context(), header); stayed <- err }()
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	close(b.store.hold)
	require.NoError(t, <-stayed)
}

func TestRevocationAndExpiry(t *testing.T) {
	t.Parallel()
	t.Run("here: at once", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, header := b.issue(t, auth.NewKey{})
		_, err := b.keys.Authenticate(t.Context(), header)
		require.NoError(t, err)
		_, err = b.keys.Revoke(t.Context(), "acme", key.ID, false)
		require.NoError(t, err)
		c, err := b.keys.Authenticate(t.Context(), header)
		assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(err))
		assert.Empty(t, c)
	})
	t.Run("here: also with a lookup under way", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, header := b.issue(t, auth.NewKey{})
		b.store.hold, b.store.reading = make(chan struct{}), make(chan struct{}, 2)
		before := make(chan error, 1)
		go func() { _, err := b.keys.Authenticate(t.Context(), header); before <- err }()
		<-b.store.reading // it has read the key as it was
		_, err := b.keys.Revoke(t.Context(), "acme", key.ID, false)
		require.NoError(t, err)
		after := make(chan error, 1)
		go func() { _, err := b.keys.Authenticate(t.Context(), header); after <- err }()
		close(b.store.hold)
		require.NoError(t, <-before)
		assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(<-after))
		_, err = b.keys.Authenticate(t.Context(), header)
		assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(err), "the earlier answer must not be remembered")
	})
	t.Run("elsewhere: within 5 seconds", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			key, header := b.issue(t, auth.NewKey{})
			c, err := b.keys.Authenticate(t.Context(), header)
			require.NoError(t, err)
			_, err = b.store.RevokeKey(t.Context(), "", key.ID, false)
			require.NoError(t, err)
			b.advance(5 * time.Second)
			_, err = b.keys.Authenticate(t.Context(), header)
			assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(err))
			assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(b.keys.Recheck(t.Context(), c)))
		})
	})
	t.Run("expiry: to the moment, remembered or not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			_, header := b.issue(t, auth.NewKey{ExpiresAt: b.clock.Now().Add(2 * time.Second)})
			_, err := b.keys.Authenticate(t.Context(), header)
			require.NoError(t, err)
			b.advance(2 * time.Second)
			_, err = b.keys.Authenticate(t.Context(), header)
			assert.Equal(t, errs.ReasonKeyExpired, errs.ReasonOf(err))
		})
	})
	t.Run("of another organization", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		key, _ := b.issue(t, auth.NewKey{})
		_, err := b.keys.Revoke(t.Context(), "other", key.ID, false)
		assert.Equal(t, errs.ReasonKeyNotFound, errs.ReasonOf(err))
	})
}

// Whatever is done to the store's clock, a key that is revoked elsewhere is of
// no use within 5 seconds, and one that is not is not asked for more often.
func TestClockThatStepsDoesNotChangeHowLongAKeyIsRemembered(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forward": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				k, header := b.issue(t, auth.NewKey{})
				_, err := b.keys.Authenticate(t.Context(), header)
				require.NoError(t, err)
				asked := b.store.questions()
				b.clock.Advance(step)
				_, err = b.keys.Authenticate(t.Context(), header)
				require.NoError(t, err)
				assert.Equal(t, asked, b.store.questions())
				_, err = b.store.RevokeKey(t.Context(), "acme", k.ID, false) // on another server
				require.NoError(t, err)
				b.advance(5 * time.Second)
				_, err = b.keys.Authenticate(t.Context(), header)
				assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(err))
			})
		})
	}
}

func TestAuthenticateSaysWhenTheStoreIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, header := b.issue(t, auth.NewKey{})
	b.store.setDown(errs.New(errs.Unavailable, errs.ReasonUnavailable, "away"))
	_, err := b.keys.Authenticate(t.Context(), header)
	assert.Equal(t, errs.Unavailable, errs.KindOf(err))
	b.store.setDown(nil)
	_, err = b.keys.Authenticate(t.Context(), header)
	assert.NoError(t, err, "a failure is not remembered")
}

func TestCreate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.clock.Now()
	admin := auth.Caller{Organization: "acme", Scopes: []auth.Scope{auth.KeysAdmin, auth.RulesRead}}
	tests := map[string]struct {
		in     auth.NewKey
		kind   errs.Kind
		reason string
		fields []string
	}{
		"scope that the caller lacks": {auth.NewKey{Name: "x", Scopes: []auth.Scope{auth.RulesWrite}},
			errs.PermissionDenied, errs.ReasonScopeMissing, nil},
		"default scopes that the caller lacks": {auth.NewKey{Name: "x"}, errs.PermissionDenied, errs.ReasonScopeMissing, nil},
		"no name, no scopes": {auth.NewKey{Scopes: []auth.Scope{}},
			errs.InvalidArgument, errs.ReasonInvalidArgument, []string{"name", "scopes"}},
		"long name": {auth.NewKey{Name: strings.Repeat("é", 101), Scopes: admin.Scopes},
			errs.InvalidArgument, errs.ReasonInvalidArgument, []string{"name"}},
		"unknown and repeated scope": {auth.NewKey{Name: "x", Scopes: []auth.Scope{"root", auth.RulesRead, auth.RulesRead}},
			errs.InvalidArgument, errs.ReasonInvalidArgument, []string{"scopes[0]", "scopes[2]"}},
		"expired already": {auth.NewKey{Name: "x", Scopes: admin.Scopes, ExpiresAt: now},
			errs.InvalidArgument, errs.ReasonInvalidArgument, []string{"expires_at"}},
		"negative limit": {auth.NewKey{Name: "x", Scopes: admin.Scopes, RateLimit: -1},
			errs.InvalidArgument, errs.ReasonInvalidArgument, []string{"rate_limit"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, token, err := b.keys.Create(t.Context(), admin, tc.in)
			assert.Empty(t, token)
			assert.Equal(t, tc.kind, errs.KindOf(err))
			assert.Equal(t, tc.reason, errs.ReasonOf(err))
			var e *errs.Error
			require.ErrorAs(t, err, &e)
			var fields []string
			for _, f := range e.Fields {
				fields = append(fields, f.Field)
			}
			assert.Equal(t, tc.fields, fields)
		})
	}
	t.Run("works", func(t *testing.T) {
		t.Parallel()
		expires := now.Add(time.Hour)
		k, token, err := b.keys.Create(t.Context(), admin,
			auth.NewKey{Name: strings.Repeat("é", 100), Scopes: []auth.Scope{auth.RulesRead}, ExpiresAt: expires})
		require.NoError(t, err)
		assert.True(t, auth.WellFormed(token))
		assert.Equal(t, auth.HashToken(token), k.Hash)
		assert.Equal(t, expires, k.ExpiresAt)
		assert.Regexp(t, `^key_[a-z2-7]{26}$`, k.ID)
		c, err := b.keys.Authenticate(t.Context(), []string{"Bearer " + token})
		require.NoError(t, err)
		assert.Equal(t, "acme", c.Organization)
	})
}

func TestLastUsedIsStoredInBatches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key, header := b.issue(t, auth.NewKey{})
	b.keys.Start()
	for range 50 {
		_, err := b.keys.Authenticate(t.Context(), header)
		require.NoError(t, err)
		b.clock.Advance(time.Second)
	}
	assert.Empty(t, b.store.touched, "using a key writes nothing")
	b.store.setDown(errors.New("away"))
	require.Error(t, b.keys.Stop(t.Context()))
	b.store.setDown(nil)
	require.NoError(t, b.keys.Stop(t.Context()), "what could not be stored is kept")
	require.NoError(t, b.keys.Stop(t.Context()))
	last := time.Date(2026, 11, 20, 10, 0, 49, 0, time.UTC)
	assert.Equal(t, []map[string]time.Time{{key.ID: last}}, b.store.touched)
}

// A flood of made-up tokens reads a bounded number of keys at a time, and keeps
// no key waiting that is in use.
func TestFloodOfUnknownTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		_, used := b.issue(t, auth.NewKey{})
		_, err := b.keys.Authenticate(t.Context(), used)
		require.NoError(t, err)
		<-time.After(5 * time.Second)

		b.store.hold = make(chan struct{})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, err := b.keys.Authenticate(t.Context(), []string{"Bearer " + auth.NewToken()})
				assert.Equal(t, errs.ReasonKeyInvalid, errs.ReasonOf(err))
			})
		}
		synctest.Wait()
		assert.Equal(t, 1+8, b.store.questions())

		all.Go(func() {
			_, err := b.keys.Authenticate(t.Context(), used)
			assert.NoError(t, err)
		})
		synctest.Wait()
		assert.Equal(t, 1+8+1, b.store.questions(), "it is read at once")
		close(b.store.hold)
		all.Wait()
	})
}

// A key that a key makes can't do more than that one.
func TestChildrenOfKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.clock.Now()
	day := now.Add(24 * time.Hour)
	scopes := []auth.Scope{auth.RulesRead}
	for name, tc := range map[string]struct {
		parent, child, want auth.NewKey // of want: ExpiresAt and RateLimit
		field               string      // that is refused
	}{
		"nothing said": {},
		"ends with its parent": {
			parent: auth.NewKey{ExpiresAt: day}, want: auth.NewKey{ExpiresAt: day},
		},
		"may end sooner": {
			parent: auth.NewKey{ExpiresAt: day}, child: auth.NewKey{ExpiresAt: now.Add(time.Hour)},
			want: auth.NewKey{ExpiresAt: now.Add(time.Hour)},
		},
		"not later": {
			parent: auth.NewKey{ExpiresAt: day}, child: auth.NewKey{ExpiresAt: day.Add(time.Microsecond)}, field: "expires_at",
		},
		"may end where its parent does not": {
			child: auth.NewKey{ExpiresAt: day}, want: auth.NewKey{ExpiresAt: day},
		},
		"a low limit is passed on": {parent: auth.NewKey{RateLimit: 8}, want: auth.NewKey{RateLimit: 8}},
		"a high one is not":        {parent: auth.NewKey{RateLimit: 600}},
		"unless it is asked for": {
			parent: auth.NewKey{RateLimit: 600}, child: auth.NewKey{RateLimit: 600}, want: auth.NewKey{RateLimit: 600},
		},
		"not higher": {
			parent: auth.NewKey{RateLimit: 8}, child: auth.NewKey{RateLimit: 9}, field: "rate_limit",
		},
		"not higher than the default":    {child: auth.NewKey{RateLimit: 61}, field: "rate_limit"},
		"the default may be asked for":   {child: auth.NewKey{RateLimit: 60}, want: auth.NewKey{RateLimit: 60}},
		"nor higher than nearly nothing": {parent: auth.NewKey{RateLimit: 1}, want: auth.NewKey{RateLimit: 1}},
	} {
		tc.parent.Scopes, tc.child.Scopes, tc.child.Name = scopes, scopes, "child"
		parent, header := b.issue(t, tc.parent)
		c, err := b.keys.Authenticate(t.Context(), header)
		require.NoError(t, err)
		ctx := audit.NewContext(t.Context(), audit.Actor{Kind: audit.Key, ID: c.KeyID})
		got, _, err := b.keys.Create(ctx, c, tc.child)
		if tc.field != "" {
			var e *errs.Error
			require.ErrorAs(t, err, &e, name)
			require.Len(t, e.Fields, 1, name)
			assert.Equal(t, tc.field, e.Fields[0].Field, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, tc.want.ExpiresAt, got.ExpiresAt, name)
		assert.Equal(t, tc.want.RateLimit, got.RateLimit, name)
		assert.Equal(t, parent.ID, got.Parent, name)
		assert.Equal(t, "key:"+parent.ID, got.CreatedBy, name)
		assert.Empty(t, parent.Parent, name)
	}
}
