package blackbox_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// window follows a rate limit by what answers say of it. When it ends on the
// way, which takes a machine with far more to do than it can, the next one
// begins.
type window struct {
	limit, used int
	end         string
}

// next notes an answer, whose header has what is left, and returns whether it
// must be a refusal.
func (w *window) next(t *testing.T, remaining, reset string) (refused bool) {
	t.Helper()
	if reset != w.end {
		if w.end != "" {
			apart(t, w.end, reset)
		}
		w.used, w.end = 0, reset
	}

	if w.used == w.limit {
		require.Equal(t, "0", remaining)
		return true
	}
	w.used++
	require.Equal(t, strconv.Itoa(w.limit-w.used), remaining)
	return false
}

// apart checks that two ends of windows, one after the other, are of different
// ones: the later window begins when the earlier one is over, and takes a minute.
func apart(t *testing.T, earlier, later string) {
	t.Helper()
	a, err := strconv.ParseInt(earlier, 10, 64)
	require.NoError(t, err)
	b, err := strconv.ParseInt(later, 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, b-a, int64(60))
}

// over is next for an answer over REST.
func (w *window) over(t *testing.T, a answer) (refused bool) {
	t.Helper()
	assert.Equal(t, strconv.Itoa(w.limit), a.header.Get("X-RateLimit-Limit"))
	return w.next(t, a.header.Get("X-RateLimit-Remaining"), a.header.Get("X-RateLimit-Reset"))
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	tok := s.keyWithRate(t, "acme", 0)
	c, rpc := s.client(tok), s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, tok))

	// 60 a minute over all operations and both protocols, errors included.
	w := window{limit: 60}
	for i, refused := 0, false; !refused; i++ {
		sent := time.Now()
		a := c.do(t, "GET", []string{"/v1/rules", "/v1/reviews", "/v1/nothing", "/v1/reviews?x=1"}[i%4], nil)
		reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
		require.NoError(t, err)
		if a.header.Get("X-RateLimit-Reset") != w.end { // in whole seconds
			assert.False(t, time.Unix(reset, 0).Before(sent.Add(time.Minute-time.Second)))
			assert.False(t, time.Unix(reset, 0).After(time.Now().Add(time.Minute+time.Second)))
		}
		over := w.over(t, a)
		if over {
			assert.Equal(t, 429, a.status)
			assert.Equal(t, "RATE_LIMITED", a.reason(t))
			after, err := strconv.Atoi(a.header.Get("Retry-After"))
			require.NoError(t, err)
			assert.LessOrEqual(t, after, 60)
			assert.Positive(t, after)
		} else {
			require.NotEqual(t, 429, a.status)
		}

		var header, trailer metadata.MD
		if i%2 == 0 {
			_, err = rpc.rules.ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{}, grpc.Header(&header), grpc.Trailer(&trailer))
		} else {
			_, err = rpc.reviews.GetReview(
				ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_x"}, grpc.Header(&header), grpc.Trailer(&trailer),
			)
		}

		header = metadata.Join(header, trailer)
		require.NotEmpty(t, header.Get("x-ratelimit-remaining"))
		require.NotEmpty(t, header.Get("x-ratelimit-reset"))
		switch overToo := w.next(t, header.Get("x-ratelimit-remaining")[0], header.Get("x-ratelimit-reset")[0]); {
		case overToo:
			assert.Equal(t, codes.ResourceExhausted, status.Code(err))
			refused = over
		case i%2 == 0:
			require.NoError(t, err)
		default:
			require.Equal(t, codes.NotFound, status.Code(err))
		}
	}

	// Another key is not touched by it.
	assert.Equal(t, 200, s.client(s.keyWithRate(t, "acme", 0)).do(t, "GET", "/v1/rules", nil).status)
}

// Requests without a valid key count against the address that they come from.
func TestRateLimitByAddress(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	c, rules := s.client(""), s.services(t).rules
	w := window{limit: 60}
	for refused := false; !refused; {
		a := c.do(t, "GET", "/v1/rules", nil)
		if !w.over(t, a) {
			require.Equal(t, 401, a.status)
			continue
		}
		assert.Equal(t, 429, a.status)
		if a = c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "203.0.113.9"); !w.over(t, a) {
			continue
		}
		assert.Equal(t, 429, a.status, "a forwarded address counts from trusted proxies only")
		assert.NotEmpty(t, a.header.Get("Retry-After"))
		var header, trailer metadata.MD
		_, err := rules.ListRulesets(
			t.Context(), &prwardenv1.ListRulesetsRequest{}, grpc.Header(&header), grpc.Trailer(&trailer),
		)
		header = metadata.Join(header, trailer)
		require.NotEmpty(t, header.Get("x-ratelimit-reset"))
		if refused = w.next(t, header.Get("x-ratelimit-remaining")[0], header.Get("x-ratelimit-reset")[0]); refused {
			assert.Equal(t, codes.ResourceExhausted, status.Code(err), "over both protocols")
		}
	}

	assert.Equal(
		t, 200, s.client(s.key(t, "acme")).do(t, "GET", "/v1/rules", nil).status, "a valid key is not its address",
	)
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{config: "trusted_proxies: [127.0.0.0/8]\n"})
	c := s.client("")
	w := window{limit: 60}
	for n, refused := 0, false; !refused; n++ {
		from := []string{"203.0.113.9", "198.51.100.1, 203.0.113.9"}[n%2] // the rightmost counts
		a := c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", from)
		refused = w.over(t, a)
		assert.Equal(t, map[bool]int{false: 401, true: 429}[refused], a.status)
	}
	assert.Equal(t, 401, c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "203.0.113.10").status)
}
