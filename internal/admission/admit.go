package admission

import (
	"context"
	"net/netip"

	"github.com/prwarden/prwarden/internal/errs"
)

// Policy says who may make a call.
type Policy int

// The policies. The zero value is the strictest.
const (
	KeyRequired Policy = iota // needs a valid key
	Open                      // needs none, and is counted all the same
)

// Credentials are what a request says of who makes it.
type Credentials struct {
	Authorization []string // values of the Authorization header
	PeerAddr      string   // IP address and port of the other end of the connection
	ForwardedFor  []string // values of the X-Forwarded-For headers
}

// Authenticator says who a request is from; Keys does.
type Authenticator interface {
	Authenticate(ctx context.Context, authorization []string) (Caller, error)
}

// Admitter is the one place where requests are admitted: first who it is, then
// how many. The gRPC chain and the REST gateway call it exactly once for each
// request.
type Admitter struct {
	keys    Authenticator
	limiter Limiter
	trusted []netip.Prefix
	limit   int
}

// NewAdmitter makes one. trusted are the proxies whose X-Forwarded-For is
// believed; limit is how many requests a minute a key without a limit of its
// own has, and likewise an address: DefaultLimit when 0.
func NewAdmitter(keys Authenticator, limiter Limiter, trusted []netip.Prefix, limit int) *Admitter {
	if limit == 0 {
		limit = DefaultLimit
	}
	return &Admitter{keys: keys, limiter: limiter, trusted: trusted, limit: limit}
}

// Admit says who makes a request and counts it: against its key when that is
// valid, else against the client's address. The decision is there whenever
// the request was counted, also beside an error, because every response
// tells it; while keys can't be reached that is one about the address. It
// fails with Unauthenticated as Authenticate does,
// ResourceExhausted (RATE_LIMITED) when there are no requests left, and
// Unavailable while keys or counts can't be reached.
func (a *Admitter) Admit(ctx context.Context, c Credentials, p Policy) (Caller, Decision, error) {
	caller, authErr := a.keys.Authenticate(ctx, c.Authorization)
	name, limit := "key:"+caller.KeyID, caller.RateLimit
	if authErr != nil {
		caller = Caller{}
		name, limit = a.addressName(c), a.limit
	}
	if limit == 0 {
		limit = a.limit
	}
	d, err := a.limiter.Take(ctx, name, limit)
	switch {
	case err != nil:
		return caller, Decision{}, err
	case authErr != nil && errs.KindOf(authErr) != errs.Unauthenticated:
		// Nobody knows whether the key is valid, so nobody may say that it
		// isn't, or that it made too many requests.
		return Caller{}, d, authErr
	case !d.OK:
		return caller, d, limited(d, authErr)
	case authErr != nil && p == KeyRequired:
		return Caller{}, d, authErr
	}
	return caller, d, nil
}

func (a *Admitter) addressName(c Credentials) string {
	addr := ClientAddress(c.PeerAddr, c.ForwardedFor, a.trusted)
	if !addr.IsValid() {
		return "addr:unknown"
	}
	return "addr:" + addr.String()
}

func limited(d Decision, authErr error) error {
	who := "This API key"
	if authErr != nil {
		who = "This address, without a valid API key,"
	}
	e := errs.New(errs.ResourceExhausted, errs.ReasonRateLimited,
		"%s made more than %d requests in a minute; try again after %s.", who, d.Limit, stamp(d.Reset))
	e.RetryAfter = d.RetryAfter
	return e
}
