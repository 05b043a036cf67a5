package scanner_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

func startMessage() *scannerv1.ScanRequest {
	return &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: &scannerv1.ScanStart{
		Organization: "acme", Repo: "acme/api", PrNumber: 1, Selection: scannerv1.ScanStart_repository,
		RulesDigest: rule.Digest(nil), MaxFindings: 10,
	}}}
}

// stubOf is a client that does as a test says.
func stubOf(t *testing.T, s *testScanner) scannerv1.ScannerServiceClient {
	t.Helper()
	conn, err := dial(s.addr, s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return scannerv1.NewScannerServiceClient(conn)
}

// A client that does not say what it should is sent away, and its slot goes to
// another.
func TestClientsThatMisbehave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := startScanner(t, 1)
		client := stubOf(t, a)
		start := func(change func(*scannerv1.ScanStart)) []*scannerv1.ScanRequest {
			m := startMessage()
			change(m.GetStart())
			return []*scannerv1.ScanRequest{m}
		}
		for name, says := range map[string][]*scannerv1.ScanRequest{
			"nothing":              nil,
			"rules first":          {{Message: &scannerv1.ScanRequest_Rules{}}},
			"an unknown selection": start(func(s *scannerv1.ScanStart) { s.Selection = 99 }),
			"no repository":        start(func(s *scannerv1.ScanStart) { s.Repo = "" }),
			"no rules":             {startMessage()},
			"something for rules":  {startMessage(), startMessage()},
		} {
			// One after the other: there is one slot.
			stream, err := client.Scan(t.Context())
			require.NoError(t, err)
			for _, m := range says {
				require.NoError(t, stream.Send(m))
			}
			require.NoError(t, stream.CloseSend())
			for err == nil {
				_, err = stream.Recv()
			}
			assert.Equal(t, codes.InvalidArgument, status.Code(err), "%s: %v", name, err)
			assert.Empty(t, a.scans, name)
		}

		a.awaitTaken(t, 0)
	})
}

// says returns a scanner that begins a scan and then says the same again and
// again.
func says(m *scannerv1.ScanResponse, times int) made {
	return made{scan: func(stream scannerv1.ScannerService_ScanServer) error {
		for _, first := range []*scannerv1.ScanResponse{accepted(), progressed()} {
			if err := stream.Send(first); err != nil {
				return err
			}
		}

		for range times {
			if err := stream.Send(m); err != nil {
				return err
			}
		}

		return stream.Send(&scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Result{Result: &scannerv1.ScanResult{}}})
	}}
}

func findings(all ...*scannerv1.ScanFinding) *scannerv1.ScanResponse {
	batch := &scannerv1.FindingBatch{Findings: all}
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{Findings: batch}}
}

func skips(all ...*scannerv1.ScanSkip) *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Skips{Skips: &scannerv1.SkipBatch{Skips: all}}}
}

func of(bytes int) string { return strings.Repeat("x", bytes) }

// A scanner that was taken over can't make a server hold more than a result may
// have.
func TestScannerThatSaysTooMuch(t *testing.T) {
	t.Parallel()
	with := func(snippet string) *scannerv1.ScanFinding {
		return &scannerv1.ScanFinding{RuleId: "a/b", Severity: "low", Snippet: snippet}
	}
	finding := func(bytes int) *scannerv1.ScanFinding { return with(of(bytes)) }
	skip := func(bytes int) *scannerv1.ScanSkip {
		return &scannerv1.ScanSkip{Path: []byte(of(bytes)), Reason: "binary"}
	}
	for name, c := range map[string]struct {
		says  *scannerv1.ScanResponse
		times int
		ok    bool
	}{
		"a little":        {findings(finding(500)), 10, true},
		"too many":        {findings(finding(1)), 10_001, false},
		"large in all":    {findings(finding(15<<10), finding(15<<10), finding(15<<10), finding(15<<10)), 600, false},
		"skips, in all":   {skips(skip(15<<10), skip(15<<10), skip(15<<10), skip(15<<10)), 600, false},
		"large in JSON":   {findings(with(strings.Repeat("\x01", 15<<10))), 400, false},
		"a large message": {findings(finding(2 << 20)), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := clientOf(t, serve(t, newAddress(), says(c.says, c.times)))
				got := await(t, "the end", start(t.Context(), client, "acme/api"))
				if c.ok {
					require.NoError(t, got.err)
					assert.Len(t, got.Findings, c.times)
					return
				}

				var e *review.ScanError
				require.ErrorAs(t, got.err, &e)
				assert.Equal(t, "scanner_fault", e.Code)
				assert.False(t, e.Lasting)
			})
		})
	}
}
