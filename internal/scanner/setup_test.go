package scanner_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// patience bounds every wait; it is only reached when something is broken. Most
// tests run on synctest's clock, which moves when nothing else does: neither end is
// ever too late there because the machine is busy.
const patience = 10 * time.Minute

// scanner is a scanner with a port.
type testScanner struct {
	addr    string
	server  *grpc.Server
	health  *health.Server
	service *scanner.Server // nil for a made-up one
	scans   chan *running   // that begin
}

// running is a scan that runs until it is ended.
type running struct {
	ctx context.Context
	end chan error
}

// wires are the ports in memory, by address.
var wires sync.Map

var lastPort atomic.Int32

// newAddress is the address of a port in memory that nobody had.
func newAddress() string { return fmt.Sprintf("127.0.0.1:%d", 1<<16+lastPort.Add(1)) }

// listen opens a port in memory. An address can be used again when the listener
// is closed.
func listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	l := bufconn.Listen(64 << 10)
	wires.Store(addr, l)
	t.Cleanup(func() {
		wires.CompareAndDelete(addr, l)
		_ = l.Close()
	})
	return l
}

// connect connects to a port in memory.
func connect(ctx context.Context, addr string) (net.Conn, error) {
	if l, ok := wires.Load(addr); ok {
		return l.(*bufconn.Listener).DialContext(ctx)
	}

	return nil, syscall.ECONNREFUSED
}

// serve serves a service in memory.
func serve(t testing.TB, addr string, service scannerv1.ScannerServiceServer) *testScanner {
	t.Helper()
	s := &testScanner{addr: addr, health: health.NewServer(), server: grpc.NewServer(scanner.NetworkServerOptions()...)}
	scannerv1.RegisterScannerServiceServer(s.server, service)
	healthpb.RegisterHealthServer(s.server, s.health)
	l := listen(t, addr)
	go func() { _ = s.server.Serve(l) }()
	t.Cleanup(s.server.Stop)

	return s
}

// startScanner starts a real scanner whose scans run until they are told to
// end.
func startScanner(t *testing.T, slots int) *testScanner {
	t.Helper()
	return startScannerOn(t, newAddress(), slots)
}

func startScannerOn(t *testing.T, addr string, slots int) *testScanner {
	t.Helper()
	scans := make(chan *running, 1000)
	service := serviceOf(func(ctx context.Context, _ scan.Target) (scan.Change, error) {
		r := &running{ctx, make(chan error, 1)}
		scans <- r
		select {
		case err := <-r.end:
			return &change{}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, slots)

	s := serve(t, addr, service)
	s.service, s.scans = service, scans

	return s
}

// serviceOf makes a scanner of the pull requests of a source.
func serviceOf(from source, slots int) *scanner.Server {
	return scanner.NewServer(scan.NewScanner(from, scan.Options{}), slots, slog.New(slog.DiscardHandler))
}

// next waits for a scan to begin.
func (s *testScanner) next(t *testing.T) *running {
	t.Helper()
	select {
	case r := <-s.scans:
		return r
	case <-time.After(patience):
		require.FailNow(t, "no scan began")
		panic("unreachable")
	}
}

// made is a scanner that does as a test says.
type made struct {
	scannerv1.UnimplementedScannerServiceServer
	scan func(scannerv1.ScannerService_ScanServer) error
}

func (m made) Scan(stream scannerv1.ScannerService_ScanServer) error { return m.scan(stream) }

func accepted() *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Accepted{Accepted: &scannerv1.ScanAccepted{Slots: 1}}}
}

func progressed() *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Progress{Progress: &scannerv1.ScanProgress{}}}
}

// dial is a ClientOptions.Dial in plain text.
func dial(address, authority string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address, append(scanner.NetworkDialOptions(),
		grpc.WithContextDialer(connect),
		grpc.WithAuthority(authority),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	)...)
}

// setup returns a client of a real scanner, as a server has one in its process.
func setup(t *testing.T, open func(context.Context, scan.Target) (scan.Change, error)) (*scanner.Client, *testScanner) {
	t.Helper()
	service := serviceOf(open, 0)
	s := serve(t, newAddress(), service)
	s.service = service
	conn, err := dial(s.addr, s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })

	return scanner.NewLocalClient(conn), s
}

// clientOf returns a client of scanners that all can be reached.
func clientOf(t *testing.T, scanners ...*testScanner) *scanner.Client {
	t.Helper()
	o := scanner.ClientOptions{Dial: dial, Log: slog.New(slog.DiscardHandler)}
	for _, s := range scanners {
		o.Scanners = append(o.Scanners, s.addr)
	}
	client := scanner.NewClient(o)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	awaitReady(t, client, len(scanners))
	return client
}

func awaitReady(t *testing.T, client *scanner.Client, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(addresses(client)) == n }, patience, time.Millisecond)
}

// addresses are those of the scanners that are ready, in order.
func addresses(client *scanner.Client) []string {
	ready := client.Ready()
	maps.DeleteFunc(ready, func(_ string, ready bool) bool { return !ready })
	return slices.Sorted(maps.Keys(ready))
}

// awaitTaken waits until so many slots of a scanner are taken.
func (s *testScanner) awaitTaken(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { _, taken := s.service.Slots(); return taken == n }, patience, time.Millisecond)
}

// outcome is how a scan ended.
type outcome struct {
	finding.Result
	err error
}

// start starts a scan of a repository.
func start(ctx context.Context, client *scanner.Client, repo string) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		job := jobWith()
		job.Repo = repo
		o, err := client.Scan(ctx, job, none)
		ended <- outcome{o, err}
	}()
	return ended
}

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "waited too long for "+what)
		panic("unreachable")
	}
}
