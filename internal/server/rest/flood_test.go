package rest_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/port"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// patience bounds every wait; it is only reached when something is broken.
const patience = 5 * time.Minute

// attack is one of the two ports of HTTP/2, and what an attacker needs there.
type attack struct {
	*servertest.Bundle
	gRPC   bool
	addr   string
	config *tls.Config
	token  string
}

// underAttack runs a test against both ports, and looks afterwards whether
// they still serve others.
func underAttack(t *testing.T, o servertest.Options, test func(*testing.T, *attack)) {
	t.Helper()
	t.Parallel()
	for _, name := range []string{"REST", "gRPC"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := tlsfiletest.NewAuthority(t)
			cert, key := ca.Issue(t, tlsfiletest.Leaf{Name: "server", Usage: x509.ExtKeyUsageServerAuth})
			quiet := slog.New(slog.DiscardHandler)
			server, err := tlsfile.Load(tlsfile.Files{Cert: cert, Key: key}, quiet)
			require.NoError(t, err)
			client, err := tlsfile.Load(tlsfile.Files{CA: ca.File}, quiet)
			require.NoError(t, err)
			o := o
			o.Port = port.Options{TLS: server.Server(tls.VersionTLS12, "h2", "http/1.1")}
			a := &attack{Bundle: servertest.Start(t, o), gRPC: name == "gRPC", config: client.Client(tls.VersionTLS12)}
			a.config.NextProtos, a.config.ServerName = []string{"h2"}, "127.0.0.1"
			a.addr = a.RESTAddr
			if a.gRPC {
				a.addr = a.GRPCAddr
			}
			_, a.token = a.Key(t)
			test(t, a)
			a.serves(t)
		})
	}
}

func (a *attack) serves(t *testing.T) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: a.config.Clone(), ForceAttemptHTTP2: true},
		Timeout: patience}
	defer client.CloseIdleConnections()
	resp, err := client.Get("https://" + a.RESTAddr + "/healthz")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	conn, err := grpc.NewClient(a.GRPCAddr, grpc.WithTransportCredentials(credentials.NewTLS(a.config)))
	require.NoError(t, err)
	defer conn.Close()
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
}

func (a *attack) dial(t *testing.T, settings ...http2.Setting) *servertest.HTTP2 {
	t.Helper()
	return servertest.DialHTTP2(t, a.addr, a.config, patience, settings...)
}

// fields are those of a request for a review.
func (a *attack) fields(more ...servertest.Field) []servertest.Field {
	path := "/v1/reviews/rev_1"
	if a.gRPC {
		path = prwardenv1.ReviewService_GetReview_FullMethodName
	}
	return append(servertest.Request(a.gRPC, path, servertest.Field{Name: "authorization", Value: "Bearer " + a.token}),
		more...)
}

// ask sends a whole request.
func (a *attack) ask(c *servertest.HTTP2) (stream uint32, err error) {
	if stream, err = c.Start(!a.gRPC, a.fields()...); err != nil || !a.gRPC {
		return stream, err
	}
	message, err := proto.Marshal(&prwardenv1.GetReviewRequest{ReviewId: "rev_1"})
	if err != nil {
		return stream, err
	}
	return stream, c.WriteData(stream, true,
		append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
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

// roomy lets everything through that HTTP/2 does.
func roomy() servertest.Options {
	many := overload.Bounds{Total: 10_000}
	return servertest.Options{Limits: overload.Limits{
		overload.LimitWork: many, overload.LimitOpen: many, overload.LimitMessages: many,
	}}
}

// discard reads frames until the connection ends.
func discard(c *servertest.HTTP2) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Skip(func(http2.Frame) bool { return false })
	}()
	return ended
}

// CVE-2023-44487: a request that is taken back at once makes room for the next
// by the client's count, while the server still works on it.
func TestRapidReset(t *testing.T) {
	underAttack(t, roomy(), func(t *testing.T, a *attack) {
		h := hold(a.Bundle)
		c := a.dial(t)
		discard(c)
		flooded := make(chan int, 1)
		go func() {
			n := 0
			for ; n < 5_000; n++ {
				stream, err := a.ask(c)
				if err == nil {
					err = c.WriteRSTStream(stream, http2.ErrCodeCancel)
				}
				if err != nil {
					break
				}
			}
			flooded <- n
		}()
		// The server hangs up, or reads no more: 5,000 requests are more than
		// the connection's buffers hold, or not, but it works on no more.
		require.Eventually(t, func() bool { return h.running.Load() >= 50 || len(flooded) > 0 }, patience, time.Millisecond)
		select {
		case <-flooded:
		case <-time.After(200 * time.Millisecond):
		}
		assert.LessOrEqual(t, h.most.Load(), int64(128))
		close(h.release)
		c.Close()
		require.Eventually(t, func() bool { return h.running.Load() == 0 && a.Guard.State() == overload.State{} }, patience,
			time.Millisecond)
		assert.LessOrEqual(t, h.most.Load(), int64(128))
	})
}

func TestTooManyStreams(t *testing.T) {
	underAttack(t, roomy(), func(t *testing.T, a *attack) {
		h := hold(a.Bundle)
		defer close(h.release)
		c := a.dial(t)
		// Limits hold from when the client has them.
		require.NotNil(t, c.Skip(func(f http2.Frame) bool { s, ok := f.(*http2.SettingsFrame); return ok && !s.IsAck() }))
		require.NoError(t, c.WriteSettingsAck())
		for range 128 {
			_, err := a.ask(c)
			require.NoError(t, err)
		}
		require.Eventually(t, func() bool { return h.running.Load() == 128 }, patience, time.Millisecond)
		extra, err := a.ask(c)
		require.NoError(t, err)
		refusal := c.Skip(func(f http2.Frame) bool {
			_, reset := f.(*http2.RSTStreamFrame)
			_, away := f.(*http2.GoAwayFrame)
			return reset || away
		})
		require.NotNil(t, refusal)
		if reset, ok := refusal.(*http2.RSTStreamFrame); ok {
			assert.Equal(t, extra, reset.StreamID)
			assert.Contains(t, []http2.ErrCode{http2.ErrCodeRefusedStream, http2.ErrCodeProtocol}, reset.ErrCode)
		}
		assert.EqualValues(t, 128, h.most.Load())
	})
}

// Header lists that are small on the wire, and large when they are read.
func TestHeaderBombs(t *testing.T) {
	for name, block := range map[string]func(a *attack, c *servertest.HTTP2) []byte{
		"one entry of the table, many times": func(a *attack, c *servertest.HTTP2) []byte {
			bomb := servertest.Field{Name: "x", Value: strings.Repeat("x", 4000)}
			block := c.Encode(append(a.fields(), bomb)...)
			for range 10_000 {
				block = append(block, c.Encode(bomb)...)
			}
			return block
		},
		"many small fields": func(a *attack, c *servertest.HTTP2) []byte {
			fields := a.fields()
			for i := range 5_000 {
				fields = append(fields, servertest.Field{Name: "x-" + strconv.Itoa(i), Value: "1"})
			}
			return c.Encode(fields...)
		},
		"a large field": func(a *attack, c *servertest.HTTP2) []byte {
			return c.Encode(a.fields(servertest.Field{Name: "x", Value: strings.Repeat("~", 200<<10)})...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			underAttack(t, servertest.Options{}, func(t *testing.T, a *attack) {
				a.Reviews.GetFunc = func(string, string) (review.Review, error) {
					t.Error("the request was taken")
					return review.Review{}, nil
				}
				c := a.dial(t)
				all := block(a, c)
				go func() {
					first := true
					for len(all) > 0 {
						part := all[:min(len(all), 16<<10)]
						all = all[len(part):]
						var err error
						if first {
							err = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: part, EndHeaders: len(all) == 0,
								EndStream: true})
						} else {
							err = c.WriteContinuation(1, len(all) == 0, part)
						}
						if err != nil {
							return
						}
						first = false
					}
				}()
				answer := c.Skip(func(f http2.Frame) bool {
					switch f := f.(type) {
					case *http2.RSTStreamFrame, *http2.GoAwayFrame:
						return true
					case *http2.HeadersFrame:
						assert.NotEqual(t, 200, servertest.Status(f.HeaderBlockFragment()))
						return true
					}
					return false
				})
				if answer == nil {
					_, err := c.ReadFrame()
					require.Error(t, err)
				}
			})
		})
	}
}
