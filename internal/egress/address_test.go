package egress_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/egress"
)

// TestPublicAddresses holds that addresses beside the ranges are public.
func TestPublicAddresses(t *testing.T) {
	t.Parallel()

	for _, a := range []string{
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
		"192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"::ffff:140.82.112.3", "2001:200::1", "2001:db7::1", "2003::1", "2606:4700::1111", "3ffe::1",
	} {
		assert.Empty(t, egress.KindOf(netip.MustParseAddr(a)), a)
	}
	assert.NotEmpty(t, egress.KindOf(netip.Addr{}))
}

// FuzzKindOf holds that what package netip takes for no public address isn't one here.
func FuzzKindOf(f *testing.F) {
	for _, a := range []string{"127.0.0.1", "::1", "fe80::1", "1.1.1.1", "2606:4700::1111"} {
		f.Add(netip.MustParseAddr(a).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		plain := a.Unmap()
		if ok && (plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast() ||
			plain.IsUnspecified() || !plain.IsGlobalUnicast()) {
			assert.NotEmpty(t, egress.KindOf(a), a)
		}
	})
}
