package auth

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/errs"
)

// Credentials are what a request says of who makes it.
type Credentials struct {
	Authorization []string // values of the Authorization header
	PeerAddr      string   // IP address and port of the other end of the connection
	ForwardedFor  []string // values of the X-Forwarded-For headers
}

// Admitter is the one place where requests are admitted: first who it is, then
// how many. The gRPC chain and the REST gateway call it exactly once for each
// request.
type Admitter struct {
	keys    *Keys
	limiter *Limiter
	trusted []netip.Prefix
	limit   int
}

// NewAdmitter makes one. trusted are the proxies whose X-Forwarded-For is
// believed; limit is how many requests a minute a key without a limit of its
// own has, and likewise an address.
func NewAdmitter(keys *Keys, limiter *Limiter, trusted []netip.Prefix, limit int) *Admitter {
	return &Admitter{keys: keys, limiter: limiter, trusted: trusted, limit: limit}
}

// Admit says who makes a request and counts it: against its key and the key's
// organization when that is valid, else against the client's address. The decision is there also beside
// an error, because every response tells it; while keys can't be reached that
// is one about the address, and while counts can't be, what this server knew
// last. It fails with Unauthenticated as Authenticate does, ResourceExhausted
// (RATE_LIMITED) when there are no requests left, and Unavailable while keys or
// counts can't be reached.
func (a *Admitter) Admit(ctx context.Context, c Credentials) (Caller, Decision, error) {
	caller, authErr := a.keys.Authenticate(ctx, c.Authorization)
	if authErr != nil {
		caller = Caller{}
	}
	own, group := a.countedAs(caller, c)
	d, err := a.limiter.Take(ctx, own, group)
	switch {
	case err != nil:
		return caller, a.limiter.Peek(own, group), err
	case authErr != nil && errs.KindOf(authErr) != errs.Unauthenticated:
		// Nobody knows whether the key is valid, so nobody may say that it
		// isn't, or that it made too many requests.
		return Caller{}, d, authErr
	case !d.OK:
		return caller, d, limitedKey(d, authErr)
	}
	return caller, d, authErr
}

// AdmitPerson counts a request of a person who has signed in. It fails with
// ResourceExhausted (RATE_LIMITED) when there are no requests left, and with
// Unavailable while counts can't be reached.
func (a *Admitter) AdmitPerson(ctx context.Context, caller Caller) (Decision, error) {
	own := Counter{"user:" + caller.UserID, PersonLimit}
	d, err := a.limiter.Take(ctx, own, Counter{})
	switch {
	case err != nil:
		return a.limiter.Peek(own, Counter{}), err
	case !d.OK:
		return d, limited(d, "user", "You")
	}

	return d, nil
}

// AdmitStranger counts a request of somebody who shows neither a key nor a session that
// is good, against the address, together with requests whose key was refused. It fails
// with ResourceExhausted (RATE_LIMITED).
func (a *Admitter) AdmitStranger(ctx context.Context, c Credentials) error {
	d, err := a.limiter.Take(ctx, a.address(c), Counter{})
	if err == nil && !d.OK {
		err = limited(d, "address", "This address, without having signed in,")
	}

	return err
}

// Peek says where a request's key or address stands, from memory and without
// counting it, for an answer to one that is not admitted at all.
func (a *Admitter) Peek(c Credentials) Decision {
	caller, _ := a.keys.Remembered(c.Authorization)
	return a.limiter.Peek(a.countedAs(caller, c))
}

// addressPrefix begins the names of addresses in a Limiter.
const addressPrefix = "addr:"

// AddressCounter counts something that a client does apart from requests, for its IP
// address, of an IPv6 address as ClientAddress cuts it.
func AddressCounter(what, address string, limit int) Counter {
	return Counter{addressPrefix + what + ClientAddress(address, nil, nil).String(), limit}
}

// countedAs is what a request counts for: the caller and its organization, or
// its address when nobody knows it.
func (a *Admitter) countedAs(caller Caller, c Credentials) (own, group Counter) {
	if caller.KeyID != "" {
		return Counter{"key:" + caller.KeyID, cmp.Or(caller.RateLimit, a.limit)},
			Counter{"org:" + caller.Organization, cmp.Or(caller.OrganizationLimit, DefaultOrganizationLimit)}
	}

	return a.address(c), Counter{}
}

func (a *Admitter) address(c Credentials) Counter {
	addr := ClientAddress(c.PeerAddr, c.ForwardedFor, a.trusted)
	if !addr.IsValid() {
		return Counter{addressPrefix + "unknown", a.limit}
	}

	return Counter{addressPrefix + addr.String(), a.limit}
}

// limitedKey says which limit was reached by requests that may have a key.
func limitedKey(d Decision, authErr error) error {
	switch {
	case authErr != nil:
		return limited(d, "address", "This address, without a valid API key,")
	case d.Organization:
		return limited(d, "organization", "The API keys of this organization together")
	}

	return limited(d, "key", "This API key")
}

// limited says that somebody reached a limit, and for programs which one.
func limited(d Decision, of, who string) error {
	e := errs.New(errs.ResourceExhausted, errs.ReasonRateLimited,
		"%s made more than %d requests in a minute; try again after %s.", who, d.Limit, stamp(d.Reset))
	e.RetryAfter = d.RetryAfter
	e.Metadata = map[string]string{"limit": of}

	return e
}

// Address returns where a request comes from, for people; "" when its peer has
// no IP address.
func (a *Admitter) Address(c Credentials) string {
	addr := clientAddress(c.PeerAddr, c.ForwardedFor, a.trusted)
	if !addr.IsValid() {
		return ""
	}

	return addr.String()
}

// ClientAddress returns the address that a request without a key counts
// against: that of its client, of which an IPv6 address is cut to its first
// addressBits. It is invalid when the peer has no IP address.
func ClientAddress(peer string, forwardedFor []string, trusted []netip.Prefix) netip.Addr {
	addr := clientAddress(peer, forwardedFor, trusted)
	if addr.Is6() {
		p, _ := addr.Prefix(addressBits) // they fit every IPv6 address
		return p.Addr()
	}

	return addr
}

// clientAddress returns the peer's address, or, while that is one of the trusted
// proxies, the one that it says it forwards for. forwardedFor are the values of
// the X-Forwarded-For headers in order; proxies append, so they are read from
// the right, and only as far as trusted proxies wrote them.
func clientAddress(peer string, forwardedFor []string, trusted []netip.Prefix) netip.Addr {
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
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}
