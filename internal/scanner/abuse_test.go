package scanner_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scanner"
)

func startMessage(protocol int32) *scannerv1.ScanRequest {
	return &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: &scannerv1.ScanStart{
		Organization: "acme", Repo: "acme/api", PrNumber: 1, Selection: scannerv1.ScanStart_repository,
		RulesDigest: rule.Digest(nil), MaxFindings: 10, Protocol: protocol,
	}}}
}

func goMessage() *scannerv1.ScanRequest {
	return &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Go{Go: &scannerv1.ScanGo{LimitMs: 60_000}}}
}

// A client that does not say what it should, or not in time, is sent away, and
// its place goes to another.
func TestClientsThatMisbehave(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Places: 1, Answer: time.Second})
		conn, err := dial(a.addr, a.addr)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close()) })
		client := scannerv1.NewScannerServiceClient(conn)
		tooNew := startMessage(99)
		rules := &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: &scannerv1.RuleChunk{Last: true}}}
		unknown := startMessage(1)
		unknown.GetStart().Selection = scannerv1.ScanStart_unspecified
		commits := func(head, base, ref string) *scannerv1.ScanRequest {
			m := startMessage(2)
			m.GetStart().HeadSha, m.GetStart().BaseSha, m.GetStart().BaseRef = head, base, ref
			return m
		}
		sha := strings.Repeat("a", 40)
		someDay := startMessage(1)
		someDay.GetStart().Today = "tomorrow"
		for name, c := range map[string]struct {
			says []*scannerv1.ScanRequest
			code codes.Code
		}{
			"nothing":               {nil, codes.DeadlineExceeded},
			"rules first":           {[]*scannerv1.ScanRequest{rules}, codes.InvalidArgument},
			"a newer protocol":      {[]*scannerv1.ScanRequest{tooNew}, codes.FailedPrecondition},
			"an unknown selection":  {[]*scannerv1.ScanRequest{unknown}, codes.InvalidArgument},
			"a head that is none":   {[]*scannerv1.ScanRequest{commits("--upload-pack=x", sha, "")}, codes.InvalidArgument},
			"a base that is none":   {[]*scannerv1.ScanRequest{commits(sha, "-x", "")}, codes.InvalidArgument},
			"no base":               {[]*scannerv1.ScanRequest{commits(sha, "", "")}, codes.InvalidArgument},
			"two bases":             {[]*scannerv1.ScanRequest{commits(sha, sha, "main")}, codes.InvalidArgument},
			"a base without a head": {[]*scannerv1.ScanRequest{commits("", sha, "")}, codes.InvalidArgument},
			"a day that is none":    {[]*scannerv1.ScanRequest{someDay}, codes.InvalidArgument},
			"no go":                 {[]*scannerv1.ScanRequest{startMessage(1)}, codes.DeadlineExceeded},
			"something for go":      {[]*scannerv1.ScanRequest{startMessage(1), rules}, codes.InvalidArgument},
			"no rules":              {[]*scannerv1.ScanRequest{startMessage(1), goMessage()}, codes.DeadlineExceeded},
			"go where rules belong": {[]*scannerv1.ScanRequest{startMessage(1), goMessage(), goMessage()}, codes.InvalidArgument},
		} {
			// One after the other: there is one place.
			stream, err := client.Scan(t.Context())
			require.NoError(t, err)
			for _, m := range c.says {
				require.NoError(t, stream.Send(m))
			}
			for err == nil {
				_, err = stream.Recv()
			}
			assert.Equal(t, c.code, status.Code(err), "%s: %v", name, err)
			assert.Zero(t, len(a.scans), name)
		}
		require.Eventually(t, func() bool { return a.service.Load().Working == 0 }, patience, time.Millisecond)
	})
}

// A server of the version before knows neither waiting nor places, and is
// served all the same: scanners are upgraded first.
func TestServerOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Places: 1, Alive: 5 * time.Millisecond})
		conn, err := dial(a.addr, a.addr)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close()) })
		call := func() scannerv1.ScannerService_ScanClient {
			stream, err := scannerv1.NewScannerServiceClient(conn).Scan(t.Context())
			require.NoError(t, err)
			require.NoError(t, stream.Send(startMessage(0)))
			return stream
		}
		first := call()
		m, err := first.Recv()
		require.NoError(t, err)
		require.NotNil(t, m.GetNeedRules())
		second := call()
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 1 }, patience, time.Millisecond)
		for _, stream := range []scannerv1.ScannerService_ScanClient{first, second} {
			if stream == first {
				require.NoError(t, stream.Send(&scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: &scannerv1.RuleChunk{Last: true}}}))
			}
			a.next(t).end <- nil
			for done := false; !done; {
				m, err := stream.Recv()
				require.NoError(t, err)
				done = m.GetResult() != nil
				assert.Nil(t, m.GetWaiting())
				assert.Nil(t, m.GetReady())
			}
		}
	})
}

// The port has limits of its own: for metadata, for calls of a connection, and
// for connections that never say anything.
func TestLimitsOfThePort(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Places: 1, Room: 5})
		conn, err := dial(a.addr, a.addr)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close()) })

		large := metadata.AppendToOutgoingContext(t.Context(), "x", strings.Repeat("x", 64<<10))
		_, err = healthpb.NewHealthClient(conn).Check(large, &healthpb.HealthCheckRequest{})
		require.Error(t, err, "metadata")

		refused := 0
		for range 20 {
			stream, err := scannerv1.NewScannerServiceClient(conn).Scan(t.Context())
			require.NoError(t, err)
			require.NoError(t, stream.Send(startMessage(1)))
			if _, err = stream.Recv(); status.Code(err) == codes.ResourceExhausted {
				refused++
			} else {
				require.NoError(t, err)
			}
		}
		assert.Equal(t, 14, refused, "one has the place, and five wait")
	})
}

// Connections that say nothing, however many, keep nobody out who comes from
// another address.
func TestStrangerCantTakeAllConnections(t *testing.T) {
	t.Parallel()
	service, _ := waiting(scanner.Options{Places: 1})
	a := serveTCP(t, service)
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 300 {
		if c, err := from.DialContext(t.Context(), "tcp", a.addr); err == nil { // else it was closed already
			t.Cleanup(func() { c.Close() })
		}
	}
	poolOf(t, scanner.PoolOptions{}, a)
	assert.Positive(t, a.refused.Load())
}
