package blackbox_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
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

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	tok := s.keyWithRate(t, "acme", 0)
	c, rpc := s.client(tok), s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, tok))

	// 60 a minute over all operations and both protocols, errors included.
	began := time.Now()
	remaining := func(want int, header string) {
		t.Helper()
		assert.Equal(t, strconv.Itoa(want), header)
	}
	for i := range 30 {
		a := c.do(t, "GET", []string{"/v1/rules", "/v1/reviews", "/v1/nothing", "/v1/reviews?x=1"}[i%4], nil)
		remaining(59-2*i, a.header.Get("X-RateLimit-Remaining"))
		assert.Equal(t, "60", a.header.Get("X-RateLimit-Limit"))
		reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
		require.NoError(t, err)
		assert.WithinDuration(t, began.Add(time.Minute), time.Unix(reset, 0), 10*time.Second)

		var header metadata.MD
		if i%2 == 0 {
			_, err = rpc.rules.ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{}, grpc.Header(&header))
			require.NoError(t, err)
		} else {
			var trailer metadata.MD
			_, err = rpc.reviews.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_x"}, grpc.Header(&header), grpc.Trailer(&trailer))
			require.Equal(t, codes.NotFound, status.Code(err))
			header = metadata.Join(header, trailer)
		}
		require.NotEmpty(t, header.Get("x-ratelimit-remaining"))
		remaining(58-2*i, header.Get("x-ratelimit-remaining")[0])
	}
	a := c.do(t, "GET", "/v1/rules", nil)
	assert.Equal(t, 429, a.status)
	assert.Equal(t, "RATE_LIMITED", a.reason(t))
	remaining(0, a.header.Get("X-RateLimit-Remaining"))
	after, err := strconv.Atoi(a.header.Get("Retry-After"))
	require.NoError(t, err)
	assert.LessOrEqual(t, after, 60)
	assert.Positive(t, after)
	_, err = rpc.rules.ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{})
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))

	// Another key is not touched by it.
	assert.Equal(t, 200, s.client(s.keyWithRate(t, "acme", 0)).do(t, "GET", "/v1/rules", nil).status)
}

func TestRateLimitUnderConcurrency(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	c := s.client(s.keyWithRate(t, "acme", 40))
	var accepted atomic.Int32
	var all sync.WaitGroup
	for range 120 {
		all.Go(func() {
			if c.do(t, "GET", "/v1/rules", nil).status == 200 {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	assert.Equal(t, int32(40), accepted.Load())
}

// Requests without a valid key count against the address that they come from.
func TestRateLimitByAddress(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	c := s.client("")
	for range 60 {
		require.Equal(t, 401, c.do(t, "GET", "/v1/rules", nil).status)
	}
	a := c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "203.0.113.9")
	assert.Equal(t, 429, a.status, "a forwarded address counts from trusted proxies only")
	assert.NotEmpty(t, a.header.Get("Retry-After"))
	_, err := s.services(t).rules.ListRulesets(context.Background(), &prwardenv1.ListRulesetsRequest{})
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), "over both protocols")
	assert.Equal(t, 200, s.client(s.key(t, "acme")).do(t, "GET", "/v1/rules", nil).status, "a valid key is not its address")
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{config: "trusted_proxies: [127.0.0.0/8]\n"})
	c := s.client("")
	for range 60 {
		require.Equal(t, 401, c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "203.0.113.9").status)
	}
	assert.Equal(t, 429, c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "203.0.113.9").status)
	assert.Equal(t, 401, c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "203.0.113.10").status)
	assert.Equal(t, 429, c.do(t, "GET", "/v1/rules", nil, "X-Forwarded-For", "198.51.100.1, 203.0.113.9").status, "the rightmost counts")
}
