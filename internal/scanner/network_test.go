package scanner_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/prwarden/prwarden/internal/scanner"
)

// A scanner that does not serve any more, and one that is gone, gets no scans;
// when it comes back it is used again, within seconds.
func TestScannerGoesAndComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := startScanner(t, 0)
		client := clientOf(t, a)
		client.Await(t.Context())

		a.health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
		awaitReady(t, client, 0)
		a.health.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
		awaitReady(t, client, 1)

		a.server.Stop()
		awaitReady(t, client, 0)
		back := make(chan struct{})
		go func() {
			client.Await(t.Context())
			close(back)
		}()
		again := startScannerOn(t, a.addr, 0)
		await(t, "the scanner to be reached", back)
		end := start(t.Context(), client, "acme/api")
		again.next(t).end <- nil
		require.NoError(t, await(t, "the scan", end).err)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		none := scanner.NewClient(scanner.ClientOptions{Log: slog.New(slog.DiscardHandler)})
		none.Await(ctx) // not for ever
		require.NoError(t, none.Close())
	})
}

// A name stands for all of its addresses, which may change; what runs at an
// address that the name does not lead to any more goes on.
func TestNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := startScanner(t, 0)
		_, port, err := net.SplitHostPort(a.addr)
		require.NoError(t, err)
		b := startScannerOn(t, net.JoinHostPort("127.0.0.2", port), 0)
		addr := netip.MustParseAddr
		var found atomic.Pointer[[]netip.Addr]
		found.Store(&[]netip.Addr{addr("127.0.0.1")})
		client := scanner.NewClient(scanner.ClientOptions{
			Scanners: []string{net.JoinHostPort("scanners.example", port)},
			Dial:     dial,
			Log:      slog.New(slog.DiscardHandler),
			Lookup: func(_ context.Context, network, name string) ([]netip.Addr, error) {
				assert.Equal(t, "scanners.example", name)
				if f := found.Load(); f != nil && network == "ip4" {
					return *f, nil
				}

				return nil, errors.New("no such name")
			},
		})

		t.Cleanup(func() { require.NoError(t, client.Close()) })
		leadsTo := func(want ...string) {
			t.Helper()
			require.Eventually(t, func() bool {
				return assert.ObjectsAreEqual(want, addresses(client))
			}, patience, time.Millisecond)
		}
		leadsTo(a.addr)
		running := start(t.Context(), client, "acme/api")
		scan := a.next(t)

		found.Store(&[]netip.Addr{addr("127.0.0.2"), addr("127.0.0.1")})
		leadsTo(a.addr, b.addr)
		found.Store(&[]netip.Addr{addr("127.0.0.2")})
		leadsTo(b.addr)
		found.Store(nil)
		end := start(t.Context(), client, "acme/api")
		b.next(t).end <- nil
		require.NoError(t, await(t, "the scan", end).err, "a name that can't be looked up leads where it led")
		leadsTo(b.addr)

		require.NoError(t, scan.ctx.Err())
		scan.end <- nil
		require.NoError(t, await(t, "the scan that ran before", running).err)
	})
}

// The log has the reason why a scanner can't be reached.
func TestWhyAScannerCantBeReached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		addr := newAddress()
		listener := listen(t, addr)
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
					_, _ = io.Copy(io.Discard, c)
				}()
			}
		}()

		lines := &bytes.Buffer{}
		client := scanner.NewClient(scanner.ClientOptions{
			Scanners: []string{addr}, Dial: dial, Log: slog.New(slog.NewTextHandler(lines, nil)),
		})
		<-time.After(10 * time.Second)
		require.NoError(t, client.Close())
		assert.Contains(t, lines.String(), "a scanner can't be reached")
		assert.Contains(t, lines.String(), "HTTP/1.1")
	})
}
