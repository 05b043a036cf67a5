package auth_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := map[string]struct {
		peer string
		xff  []string
		want string
	}{
		"peer":                           {"192.0.2.1:5000", nil, "192.0.2.1"},
		"untrusted peer is not believed": {"192.0.2.1:5000", []string{"198.51.100.9"}, "192.0.2.1"},
		"trusted peer is":                {"10.1.1.1:5000", []string{"198.51.100.9"}, "198.51.100.9"},
		"rightmost untrusted, not leftmost": {
			"10.1.1.1:5000", []string{"203.0.113.7, 198.51.100.9, 10.2.2.2"}, "198.51.100.9",
		},
		"several headers are one list":    {"10.1.1.1:5000", []string{"203.0.113.7", "198.51.100.9"}, "198.51.100.9"},
		"all trusted: the first of them":  {"10.1.1.1:5000", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		"rubbish ends the chain":          {"10.1.1.1:5000", []string{"198.51.100.9, unknown, 10.2.2.2"}, "10.2.2.2"},
		"trusted peer without header":     {"10.1.1.1:5000", nil, "10.1.1.1"},
		"with ports":                      {"10.1.1.1:5000", []string{"198.51.100.9:1234"}, "198.51.100.9"},
		"IPv6 by /64":                     {"[2001:db8:1:2:3:4:5:6]:5000", nil, "2001:db8:1:2::"},
		"IPv6 with zone":                  {"[fe80::1%eth0]:5000", nil, "fe80::"},
		"IPv6 forwarded in brackets":      {"[fd00::1]:5000", []string{"[2001:db8::9]:443"}, "2001:db8::"},
		"IPv4 in IPv6":                    {"[::ffff:192.0.2.1]:5000", nil, "192.0.2.1"},
		"IPv4 in IPv6 is trusted as IPv4": {"[::ffff:10.0.0.1]:5000", []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
		"no address":                      {"@", []string{"198.51.100.9"}, "invalid IP"},
		"a client that names a proxy":     {"192.0.2.1:5000", []string{"10.1.1.1, 198.51.100.9"}, "192.0.2.1"},
		"what the client wrote first":     {"10.1.1.1:5000", []string{"10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		"a chain of both kinds of address": {
			"[fd00::1]:5000", []string{"2001:db8:1:2::9, 10.2.2.2, fd00::2"}, "2001:db8:1:2::",
		},
		"two of one /64 are one":            {"[fd00::1]:5000", []string{"2001:db8:1:2:ffff::1"}, "2001:db8:1:2::"},
		"IPv4 in IPv6 forwarded, with port": {"10.1.1.1:5000", []string{"[::ffff:192.0.2.7]:99"}, "192.0.2.7"},
		"empty header":                      {"10.1.1.1:5000", []string{""}, "10.1.1.1"},
		"empty parts end the chain":         {"10.1.1.1:5000", []string{"198.51.100.9,,10.2.2.2"}, "10.2.2.2"},
		"unknown and hidden ends":           {"10.1.1.1:5000", []string{"unknown"}, "10.1.1.1"},
		"an underscore name":                {"10.1.1.1:5000", []string{"_hidden, 198.51.100.9"}, "198.51.100.9"},
		"the memory of a gateway":           {"bufconn", nil, "invalid IP"},
		"a zone that a header gives":        {"10.1.1.1:5000", []string{"fe80::1%eth0"}, "fe80::"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, auth.ClientAddress(tc.peer, tc.xff, proxies).String())
		})
	}
}

func FuzzClientAddress(f *testing.F) {
	f.Add("10.1.1.1:5000", "198.51.100.9, 10.2.2.2")
	f.Add("[::1]:1", "[[::1]]")
	f.Fuzz(func(t *testing.T, peer, xff string) {
		a := auth.ClientAddress(peer, []string{xff}, []netip.Prefix{
			netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"),
		})
		if a.Is6() {
			p, err := a.Prefix(64)
			require.NoError(t, err)
			assert.Equal(t, p.Addr(), a)
		}
	})
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	peer := "192.0.2.1:1"

	t.Run("a key counts against itself, by its own limit", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		a := auth.NewAdmitter(b.keys, auth.NewLimiter(nil, b.clock.Now), nil, auth.DefaultLimit)
		key, header := b.issue(t, auth.NewKey{RateLimit: 2})
		_, other := b.issue(t, auth.NewKey{})
		cred := auth.Credentials{Authorization: header, PeerAddr: peer}
		for i := range 2 {
			c, d, err := a.Admit(t.Context(), cred)
			require.NoError(t, err)
			assert.Equal(t, key.ID, c.KeyID)
			assert.Equal(
				t, auth.Decision{Limit: 2, Remaining: 1 - i, Reset: b.clock.Now().Add(time.Minute), OK: true},
				d,
			)
		}
		c, d, err := a.Admit(t.Context(), cred)
		assert.Equal(t, errs.ReasonRateLimited, errs.ReasonOf(err))
		var e *errs.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, time.Minute, e.RetryAfter)
		assert.Equal(t, map[string]string{"limit": "key"}, e.Metadata)
		assert.Equal(t, key.ID, c.KeyID, "the log wants to know who")
		assert.False(t, d.OK)
		_, d, err = a.Admit(t.Context(), auth.Credentials{Authorization: other, PeerAddr: peer})
		require.NoError(t, err)
		assert.Equal(t, 60, d.Limit)
		assert.Equal(t, 59, d.Remaining)
	})

	t.Run("no key counts against the address, and then 429 goes before 401", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		a := auth.NewAdmitter(b.keys, auth.NewLimiter(nil, b.clock.Now), nil, 3)
		for i := range 3 {
			c, d, err := a.Admit(t.Context(), auth.Credentials{PeerAddr: peer})
			assert.Equal(t, errs.ReasonKeyMissing, errs.ReasonOf(err))
			assert.Empty(t, c)
			assert.Equal(t, 2-i, d.Remaining)
		}
		_, d, err := a.Admit(t.Context(), auth.Credentials{PeerAddr: peer})
		assert.Equal(t, errs.ReasonRateLimited, errs.ReasonOf(err))
		assert.Equal(t, 3, d.Limit)
		_, header := b.issue(t, auth.NewKey{})
		_, _, err = a.Admit(t.Context(), auth.Credentials{Authorization: header, PeerAddr: peer})
		assert.NoError(t, err, "a valid key from the same address is not affected")
	})

	t.Run("while the keys are away nobody is told that theirs is not valid", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { // each question to a store that is away takes a moment
			b := setup(t)
			a := auth.NewAdmitter(b.keys, auth.NewLimiter(nil, b.clock.Now), nil, auth.DefaultLimit)
			b.store.setDown(errs.New(errs.Unavailable, errs.ReasonUnavailable, "away"))
			cred := auth.Credentials{Authorization: []string{"Bearer " + auth.NewToken()}, PeerAddr: peer}
			for i := range auth.DefaultLimit + 1 {
				_, d, err := a.Admit(t.Context(), cred)
				require.Equal(t, errs.Unavailable, errs.KindOf(err), "request %d: %v", i, err)
				assert.Equal(t, max(0, auth.DefaultLimit-1-i), d.Remaining, "it is counted all the same")
			}
			_, _, err := a.Admit(t.Context(), auth.Credentials{PeerAddr: peer})
			assert.Equal(t, errs.ReasonRateLimited, errs.ReasonOf(err))
		})
	})

	t.Run("an organization has a limit for all of its keys", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.store.organizationLimit = 3
		a := auth.NewAdmitter(b.keys, auth.NewLimiter(nil, b.clock.Now), nil, auth.DefaultLimit)
		for i := range 5 {
			_, header := b.issue(t, auth.NewKey{RateLimit: 1000})
			_, d, err := a.Admit(t.Context(), auth.Credentials{Authorization: header, PeerAddr: peer})
			assert.Equal(t, 3, d.Limit)
			assert.Equal(t, max(0, 2-i), d.Remaining)
			if i < 3 {
				require.NoError(t, err)
				continue
			}
			var e *errs.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, errs.ReasonRateLimited, e.Reason)
			assert.Equal(t, map[string]string{"limit": "organization"}, e.Metadata)
			assert.Contains(t, e.Message, "of this organization together")
			assert.Equal(t, time.Minute, e.RetryAfter)
		}
	})

	t.Run("nothing passes uncounted", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, header := b.issue(t, auth.NewKey{})
		a := auth.NewAdmitter(b.keys, auth.NewLimiter(brokenWindows{}, b.clock.Now), nil, auth.DefaultLimit)
		_, d, err := a.Admit(t.Context(), auth.Credentials{Authorization: header})
		assert.ErrorIs(t, err, errBroken)
		assert.Equal(t, 60, d.Remaining, "every answer tells what is known")
	})
}

var errBroken = errors.New("broken")

type brokenWindows struct{}

func (brokenWindows) CountRequest(context.Context, string, int, string) (own, of auth.Counted, err error) {
	return auth.Counted{}, auth.Counted{}, errBroken
}

func TestRequire(t *testing.T) {
	t.Parallel()
	c := auth.Caller{Scopes: []auth.Scope{auth.RulesRead}}
	require.NoError(t, c.Require(auth.RulesRead))
	err := c.Require(auth.RulesWrite)
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, errs.PermissionDenied, e.Kind)
	assert.Equal(t, map[string]string{"scope": "rules:write"}, e.Metadata)
	assert.Contains(t, e.Message, "rules:read")
}
