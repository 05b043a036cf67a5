package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// patience bounds every wait; it is only reached when something is broken.
const patience = 5 * time.Minute

// onPipes runs a test on a clock that moves when nothing else does, against both
// servers in memory. A busy machine takes no time there.
func onPipes(t *testing.T, o servertest.Options, test func(*testing.T, *servertest.Bundle)) {
	t.Helper()
	t.Parallel()
	o.Pipes = true
	synctest.Test(t, func(t *testing.T) { test(t, servertest.Start(t, o)) })
}

func pause(d time.Duration) { <-time.After(d) }

// get sends a request for a path and returns the connection, from which nothing
// was read.
func get(t *testing.T, b *servertest.Bundle, path, token string) net.Conn {
	t.Helper()
	c := b.Dial(t, false)
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	require.NoError(t, err)
	return c
}

func readStatus(t *testing.T, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	return resp.StatusCode
}

func as(t *testing.T, token string) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
}

// closedAfter reads until the server closes and returns how long that took.
func closedAfter(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	_, err := io.Copy(io.Discard, c)
	if err != nil {
		assert.ErrorIs(t, err, io.ErrClosedPipe)
	}

	return time.Since(start)
}

// slowly writes a text and then a byte each second until the server closes.
func slowly(c net.Conn, text string) (wait func()) {
	var writer sync.WaitGroup
	writer.Go(func() {
		_, err := io.WriteString(c, text)
		for ; err == nil; pause(time.Second) {
			_, err = c.Write([]byte{' '})
		}
	})

	return writer.Wait
}

func TestSlowClientsAreCutOff(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		assert.LessOrEqual(t, closedAfter(t, b.Dial(t, false)), 11*time.Second, "nothing is sent")
		assert.LessOrEqual(t, closedAfter(t, b.Dial(t, true)), 11*time.Second, "half a handshake")

		c := b.Dial(t, false)
		defer slowly(c, "GET /v1/rules HTTP/1.1\r\nX-Long: ")()
		assert.LessOrEqual(t, closedAfter(t, c), 11*time.Second, "a slow header")

		c = b.Dial(t, false)
		_, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		assert.LessOrEqual(t, closedAfter(t, c), 2*time.Minute+time.Second, "idle")
	})
}

// A body that comes slowly ends, and holds no place among the requests that
// are worked on.
func TestSlowBody(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		c := b.Dial(t, false)
		defer slowly(c, "POST /v1/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+token+
			"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")()

		pause(10 * time.Second)
		assert.EqualValues(t, 1, b.Guard.Used(overload.LimitOpen))
		assert.Zero(t, b.Guard.Used(overload.LimitWork))
		assert.LessOrEqual(t, closedAfter(t, c), 21*time.Second)
		synctest.Wait()
		assert.Zero(t, b.Guard.Used(overload.LimitOpen))
	})
}

// large makes reviews whose answers are some MB.
func large(_, id string) (review.Review, error) {
	r := review.Review{ID: id, Status: review.Complete, CreatedAt: servertest.Epoch}
	for i := range 10_000 {
		r.Findings = append(r.Findings,
			finding.Finding{RuleID: "a/b", File: "f", Line: i + 1, Message: strings.Repeat("x", 200)})
	}

	return r, nil
}

// An answer that is read at one byte a second ends, and everybody else's work
// goes on meanwhile.
func TestSlowReader(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		c := get(t, b, "/v1/reviews/rev_1", token)

		start := time.Now()
		for open := int64(1); open > 0; open = b.Guard.Used(overload.LimitOpen) {
			pause(time.Second)
			_, err := c.Read(make([]byte, 1))
			require.NoError(t, err)
			synctest.Wait()
			require.Zero(t, b.Guard.Used(overload.LimitWork))
		}

		assert.LessOrEqual(t, time.Since(start), 62*time.Second)
		assert.Zero(t, b.Guard.Used(overload.LimitAnswers))
	})
}

// A client that reads nothing keeps what its organization or address may have,
// and nothing that others need.
func TestUnreadAnswersLeaveRoomForOthers(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		_, other := b.KeyOf(t, "other")
		for range 40 {
			get(t, b, "/openapi.json", "")
		}

		synctest.Wait()
		assert.Zero(t, b.Guard.Used(overload.LimitOpen), "documents take no memory")
		for range 40 {
			get(t, b, "/v1/reviews/rev_1", token)
		}

		pause(100 * time.Millisecond)
		start := time.Now()
		assert.Equal(t, http.StatusOK, readStatus(t, get(t, b, "/v1/reviews/rev_1", other)))
		assert.Less(t, time.Since(start), 100*time.Millisecond)

		pause(2 * time.Second)
		assert.Equal(t, http.StatusServiceUnavailable, readStatus(t, get(t, b, "/v1/reviews/rev_1", token)))
		pause(time.Minute)
		assert.Equal(t, http.StatusOK, readStatus(t, get(t, b, "/v1/reviews/rev_1", token)), "the unread ones are cut off")
	})
}

// Over gRPC, who doesn't read an answer keeps room for as long as its
// organization likes, and nothing else. Compression changes nothing in that.
func TestUnreadAnswersOverGRPC(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		b.Reviews.GetFunc = large
		_, token := b.Key(t)
		_, other := b.KeyOf(t, "other")
		greedy, cancel := context.WithCancel(as(t, token))
		defer cancel()
		conn := b.Conn(t, grpc.WithStaticStreamWindowSize(64<<10))
		for range 40 {
			s, err := conn.NewStream(greedy, &grpc.StreamDesc{ServerStreams: true},
				prwardenv1.ReviewService_GetReview_FullMethodName, grpc.StaticMethod(), grpc.UseCompressor(gzip.Name))
			require.NoError(t, err)
			require.NoError(t, s.SendMsg(&prwardenv1.GetReviewRequest{ReviewId: "rev_1"}))
			require.NoError(t, s.CloseSend())
		}

		pause(5 * time.Second)
		most := overload.DefaultLimits()[overload.LimitAnswers].PerOwner
		assert.LessOrEqual(t, b.Guard.Used(overload.LimitAnswers), most, "the others were refused")
		assert.Greater(t, b.Guard.Used(overload.LimitAnswers), most/2)
		assert.Zero(t, b.Guard.Used(overload.LimitWork)+b.Guard.Used(overload.LimitOpen))

		_, err := prwardenv1.NewReviewServiceClient(b.Conn(t)).GetReview(as(t, other),
			&prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
		require.NoError(t, err)
		cancel()
		synctest.Wait()
		assert.Zero(t, b.Guard.Used(overload.LimitAnswers), "what is canceled is given back")
	})
}

// handlers counts those that run, and holds them until it is told.
type handlers struct {
	running, most atomic.Int64
	release       chan struct{}
}

func hold(b *servertest.Bundle) *handlers {
	h := &handlers{release: make(chan struct{})}
	b.Reviews.GetFunc = func(_, id string) (review.Review, error) {
		n := h.running.Add(1)
		defer h.running.Add(-1)
		for m := h.most.Load(); n > m && !h.most.CompareAndSwap(m, n); m = h.most.Load() {
		}

		<-h.release
		return review.Review{ID: id, Status: review.Queued, CreatedAt: servertest.Epoch}, nil
	}

	return h
}

// What there is no room for is refused within a moment over both protocols, is
// not counted, and says where the key stands.
func TestRequestsBeyondTheLimitAreRefused(t *testing.T) {
	limits := overload.Limits{overload.LimitWork: {Total: 1, Wait: time.Millisecond}}
	onPipes(t, servertest.Options{Limit: 10, Limits: limits}, func(t *testing.T, b *servertest.Bundle) {
		h := hold(b)
		_, token := b.Key(t)
		conn := b.Conn(t)
		rules := prwardenv1.NewRuleServiceClient(conn)
		get(t, b, "/v1/reviews/rev_1", token)
		synctest.Wait()
		require.EqualValues(t, 1, h.running.Load())

		for range 3 {
			a := b.Do(t, "POST", "/v1/rules", strings.Repeat("x", 1000), servertest.Bearer(token))
			assert.Equal(t, 503, a.Status)
			assert.Equal(t, errs.ReasonUnavailable, a.Reason())
			assert.Equal(t, "2", a.Header.Get("Retry-After"))
			assert.Equal(t, "9", a.Header.Get("X-RateLimit-Remaining"))
			assertCommonHeaders(t, a)

			var header metadata.MD
			_, err := rules.ListRulesets(as(t, token), &prwardenv1.ListRulesetsRequest{}, grpc.Header(&header))
			require.Equal(t, codes.Unavailable, status.Code(err))
			assert.Equal(t, 2*time.Second, rpc.RetryAfter(status.Convert(err)))
			assert.Equal(t, []string{"9"}, header.Get("x-ratelimit-remaining"))
		}

		stranger := b.Do(t, "GET", "/v1/rules", "")
		assert.Equal(t, 503, stranger.Status)
		assert.Equal(t, "10", stranger.Header.Get("X-RateLimit-Remaining"))
		assert.Equal(t, 200, b.Do(t, "GET", "/readyz", "").Status, "a server that is busy is healthy")
		_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
		require.NoError(t, err)

		close(h.release)
		synctest.Wait()
		assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", servertest.Bearer(token)).Status)
		_, err = rules.ListRulesets(as(t, token), &prwardenv1.ListRulesetsRequest{})
		require.NoError(t, err)
	})
}

// CVE-2023-44487: a call that is taken back at once makes room for the next by
// the client's count, while the server still works on it.
func TestRapidReset(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		h := hold(b)
		_, token := b.Key(t)
		client := prwardenv1.NewReviewServiceClient(b.Conn(t))
		var calls sync.WaitGroup
		for range 2_000 {
			ctx, cancel := context.WithTimeout(as(t, token), time.Millisecond)
			calls.Go(func() {
				defer cancel()
				_, _ = client.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
			})
		}

		calls.Wait()
		synctest.Wait()
		work := overload.DefaultLimits()[overload.LimitWork].Total
		assert.LessOrEqual(t, h.most.Load(), work)
		assert.Positive(t, h.running.Load())
		assert.Equal(t, h.running.Load(), b.Guard.Used(overload.LimitWork), "they are counted until they end")
		close(h.release)
		synctest.Wait()
		assert.Zero(t, b.Guard.Used(overload.LimitWork)+b.Guard.Used(overload.LimitOpen))
	})
}

// Health needs no key, so its watches have bounds of their own, and leave room
// for checks.
func TestHealthWatchesAreBounded(t *testing.T) {
	t.Parallel()
	limits := overload.Limits{overload.LimitHealthWatches: {Total: 10, PerOwner: 3},
		overload.LimitHealth: {Total: 10, PerOwner: 1}}
	b := servertest.Start(t, servertest.Options{Limits: limits})
	client := healthpb.NewHealthClient(b.Conn(t))
	for i := range 4 {
		s, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
		require.NoError(t, err)
		_, err = s.Recv()
		assert.Equal(t, i == 3, status.Code(err) == codes.Unavailable)
	}

	_, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
}

// Refusals that wait for their answer are bounded, too.
func TestRefusalsBeyondSomeDoNotWait(t *testing.T) {
	limits := overload.Limits{overload.LimitOpen: {Total: 1}}
	onPipes(t, servertest.Options{Limits: limits}, func(t *testing.T, b *servertest.Bundle) {
		request, err := b.Guard.Open(t.Context(), overload.LimitOpen, auth.Credentials{})
		require.NoError(t, err)
		defer request.Close()
		for range 1_500 {
			get(t, b, "/v1/rules", "")
		}

		synctest.Wait()
		start := time.Now()
		assert.Equal(t, 503, readStatus(t, get(t, b, "/v1/rules", "")))
		assert.Zero(t, time.Since(start))
		pause(3 * time.Second)
		start = time.Now()
		assert.Equal(t, 503, readStatus(t, get(t, b, "/v1/rules", "")))
		assert.Equal(t, 2*time.Second, time.Since(start))
	})
}

// Patterns that are tried have places of their own: they keep nobody else from
// being worked on.
func TestTrialsKeepNobodyOut(t *testing.T) {
	limits := overload.Limits{overload.LimitWork: {Total: 1, Wait: 10 * time.Second}}
	onPipes(t, servertest.Options{Limits: limits}, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		b.Rules.Hold = make(chan struct{})
		var trials sync.WaitGroup
		conn := b.Conn(t)
		for range 20 {
			trials.Go(func() {
				a := b.Do(t, "POST", "/v1/rules:test", `{"pattern":"x","text":"y"}`, servertest.Bearer(token))
				assert.Equal(t, 200, a.Status)
			})
			trials.Go(func() {
				_, err := prwardenv1.NewRuleServiceClient(conn).TestRule(as(t, token),
					&prwardenv1.TestRuleRequest{Pattern: "x", Text: "y"})
				assert.NoError(t, err)
			})
		}

		pause(time.Second / 2)
		require.Zero(t, b.Guard.Used(overload.LimitWork))
		assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", servertest.Bearer(token)).Status)
		close(b.Rules.Hold)
		trials.Wait()
	})
}
