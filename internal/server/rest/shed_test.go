package rest_test

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// busy runs a test against servers of which one request takes all that there
// is, until it is released.
func busy(t *testing.T, test func(t *testing.T, b *servertest.Bundle, token string, h *handlers)) {
	t.Helper()
	limits := overload.Limits{overload.LimitWork: {Total: 1, Wait: time.Millisecond}}
	onPipes(t, servertest.Options{Limit: 10, Limits: limits}, func(t *testing.T, b *servertest.Bundle) {
		h := hold(b)
		_, token := b.Key(t)
		go func() { // what it is answered, others look at
			req, err := http.NewRequest(http.MethodGet, b.URL+"/v1/reviews/rev_1", nil)
			if err != nil {
				panic(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			if resp, err := b.Client.Do(req); err == nil {
				resp.Body.Close()
			}
		}()
		synctest.Wait()
		require.EqualValues(t, 1, h.running.Load())
		test(t, b, token, h)
	})
}

func TestShedOverREST(t *testing.T) {
	busy(t, func(t *testing.T, b *servertest.Bundle, token string, h *handlers) {
		for range 3 {
			a := b.Do(t, "POST", "/v1/rules", strings.Repeat("x", 1000), servertest.Bearer(token))
			assert.Equal(t, 503, a.Status)
			assert.Equal(t, errs.ReasonUnavailable, a.Reason())
			assert.Equal(t, "2", a.Header.Get("Retry-After"))
			assert.Equal(t, "9", a.Header.Get("X-RateLimit-Remaining"), "it is not counted, and told where the key stands")
			assertCommonHeaders(t, a)
		}
		stranger := b.Do(t, "GET", "/v1/rules", "")
		assert.Equal(t, 503, stranger.Status)
		assert.Equal(t, "10", stranger.Header.Get("X-RateLimit-Remaining"))
		assert.Equal(t, 200, b.Do(t, "GET", "/healthz", "").Status, "health is told at all times")
		assert.Equal(t, 200, b.Do(t, "GET", "/readyz", "").Status)
		close(h.release)
		synctest.Wait()
		require.Zero(t, b.Guard.State().Open)
		assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", servertest.Bearer(token)).Status)
	})
}

func TestShedOverGRPC(t *testing.T) {
	busy(t, func(t *testing.T, b *servertest.Bundle, token string, h *handlers) {
		conn := b.Conn(t)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		rules := prwardenv1.NewRuleServiceClient(conn)
		var header metadata.MD
		_, err := rules.ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{}, grpc.Header(&header))
		require.Equal(t, codes.Unavailable, status.Code(err))
		assert.Equal(t, errs.ReasonUnavailable, rpcerr.Reason(status.Convert(err)))
		assert.Equal(t, 2*time.Second, rpcerr.RetryAfter(status.Convert(err)))
		assert.Equal(t, []string{"9"}, header.Get("x-ratelimit-remaining"))
		assert.Equal(t, []string{"10"}, header.Get("x-ratelimit-limit"))
		_, err = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		require.NoError(t, err)
		close(h.release)
		synctest.Wait()
		require.Zero(t, b.Guard.State().Open)
		_, err = rules.ListRulesets(ctx, &prwardenv1.ListRulesetsRequest{})
		require.NoError(t, err)
	})
}

// Health needs no key, so its watches have bounds of their own.
func TestHealthWatchesAreBounded(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{})
	client := healthpb.NewHealthClient(b.Conn(t))
	for range 32 {
		s, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
		require.NoError(t, err)
		_, err = s.Recv()
		require.NoError(t, err)
	}
	s, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = s.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
	_, err = client.Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
}

// Behind a proxy that is named, 32 is each client's, not all clients'.
func TestHealthWatchesThroughAProxy(t *testing.T) {
	t.Parallel()
	b := servertest.Start(t, servertest.Options{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	client := healthpb.NewHealthClient(b.Conn(t))
	watches := func(forwarded string) (n int) {
		for ; n < 40; n++ {
			s, err := client.Watch(metadata.AppendToOutgoingContext(t.Context(), "x-forwarded-for", forwarded),
				&healthpb.HealthCheckRequest{})
			require.NoError(t, err)
			if _, err := s.Recv(); err != nil {
				assert.Equal(t, codes.Unavailable, status.Code(err))
				break
			}
		}
		return n
	}
	assert.Equal(t, 32, watches("192.0.2.1"))
	assert.Equal(t, 32, watches("192.0.2.2"))
}

// Patterns that are tried have places of their own: they keep nobody else from
// being worked on, over neither protocol.
func TestTrialsKeepNobodyOut(t *testing.T) {
	// They come one after the other.
	limits := overload.Limits{overload.LimitWork: {Total: 1, Wait: 10 * time.Second}}
	onPipes(t, servertest.Options{Limits: limits}, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		b.Rules.Hold = make(chan struct{})
		body := `{"pattern":"x","text":"y"}`
		var trials sync.WaitGroup
		for range 20 {
			trials.Go(func() {
				req, err := http.NewRequest(http.MethodPost, b.URL+"/v1/rules:test", strings.NewReader(body))
				if err != nil {
					panic(err)
				}
				req.Header.Set("Authorization", "Bearer "+token)
				req.Header.Set("Content-Type", "application/json")
				if resp, err := b.Client.Do(req); assert.NoError(t, err) {
					resp.Body.Close()
					assert.Equal(t, 200, resp.StatusCode)
				}
			})
		}
		conn := b.Conn(t)
		for range 20 {
			trials.Go(func() {
				_, err := prwardenv1.NewRuleServiceClient(conn).TestRule(metadata.AppendToOutgoingContext(t.Context(),
					"authorization", "Bearer "+token),
					&prwardenv1.TestRuleRequest{Pattern: "x", Text: "y"})
				assert.NoError(t, err)
			})
		}
		pause(time.Second)
		require.Equal(t, overload.State{Open: 40}, b.Guard.State())
		assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", servertest.Bearer(token)).Status)
		close(b.Rules.Hold)
		trials.Wait()
	})
}
