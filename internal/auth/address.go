package auth

import (
	"net/netip"
	"strings"
)

// ClientAddress returns the address that a request without a key counts
// against: the peer's, or, while that is one of the trusted proxies, the one
// that it says it forwards for. forwardedFor are the values of the
// X-Forwarded-For headers in order; proxies append, so they are read from the
// right, and only as far as trusted proxies wrote them. The result is invalid
// when the peer has no IP address. IPv6 addresses are cut to their /64, which
// is what one subscriber has.
func ClientAddress(peer string, forwardedFor []string, trusted []netip.Prefix) netip.Addr {
	addr := parseAddress(peer)
	if addr.IsValid() && contains(trusted, addr) {
		hops := strings.Split(strings.Join(forwardedFor, ","), ",")
		for i := len(hops) - 1; i >= 0; i-- {
			hop := parseAddress(strings.TrimSpace(hops[i]))
			if !hop.IsValid() {
				break
			}
			addr = hop
			if !contains(trusted, hop) {
				break
			}
		}
	}
	if addr.Is6() {
		p, _ := addr.Prefix(64) // 64 fits every IPv6 address
		return p.Addr()
	}
	return addr
}

// IsTrusted reports whether a peer, an IP address with or without a port, is
// one of the trusted proxies.
func IsTrusted(peer string, trusted []netip.Prefix) bool {
	a := parseAddress(peer)
	return a.IsValid() && contains(trusted, a)
}

// parseAddress reads an IP address with or without a port.
func parseAddress(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
