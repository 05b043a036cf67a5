package scanner_test

import (
	"context"
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
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

func startMessage() *scannerv1.ScanRequest {
	return &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: &scannerv1.ScanStart{
		Organization: "acme", Repo: "acme/api", PrNumber: 1, Selection: scannerv1.ScanStart_repository,
		RulesDigest: rule.Digest(nil), MaxFindings: 10,
	}}}
}

func rulesMessage(rules ...*scannerv1.ScanRule) *scannerv1.ScanRequest {
	batch := &scannerv1.RuleBatch{Rules: rules, Last: true}
	return &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: batch}}
}

// stubOf is a client that does as a test says.
func stubOf(t *testing.T, s *testScanner) scannerv1.ScannerServiceClient {
	t.Helper()
	conn, err := dial(s.addr, s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return scannerv1.NewScannerServiceClient(conn)
}

// A client that does not say what it should, or not in time, is sent away, and
// its slot goes to another.
func TestClientsThatMisbehave(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Slots: 1, Answer: time.Second})
		client := stubOf(t, a)
		start := func(change func(*scannerv1.ScanStart)) []*scannerv1.ScanRequest {
			m := startMessage()
			change(m.GetStart())
			return []*scannerv1.ScanRequest{m}
		}

		commits := func(head, base, ref string) []*scannerv1.ScanRequest {
			return start(func(s *scannerv1.ScanStart) { s.HeadSha, s.BaseSha, s.BaseRef = head, base, ref })
		}
		sha := strings.Repeat("a", 40)
		for name, c := range map[string]struct {
			says []*scannerv1.ScanRequest
			code codes.Code
		}{
			"nothing":               {nil, codes.DeadlineExceeded},
			"rules first":           {[]*scannerv1.ScanRequest{rulesMessage()}, codes.InvalidArgument},
			"an unknown selection":  {start(func(s *scannerv1.ScanStart) { s.Selection = 99 }), codes.InvalidArgument},
			"no repository":         {start(func(s *scannerv1.ScanStart) { s.Repo = "" }), codes.InvalidArgument},
			"a head that is none":   {commits("--upload-pack=x", sha, ""), codes.InvalidArgument},
			"a base that is none":   {commits(sha, "-x", ""), codes.InvalidArgument},
			"no base":               {commits(sha, "", ""), codes.InvalidArgument},
			"two bases":             {commits(sha, sha, "main"), codes.InvalidArgument},
			"a base without a head": {commits("", sha, ""), codes.InvalidArgument},
			"a day that is none":    {start(func(s *scannerv1.ScanStart) { s.Today = "tomorrow" }), codes.InvalidArgument},
			"no rules":              {[]*scannerv1.ScanRequest{startMessage()}, codes.DeadlineExceeded},
			"something for rules":   {[]*scannerv1.ScanRequest{startMessage(), startMessage()}, codes.InvalidArgument},
		} {
			// One after the other: there is one slot.
			stream, err := client.Scan(t.Context())
			require.NoError(t, err)
			for _, m := range c.says {
				require.NoError(t, stream.Send(m))
			}
			for err == nil {
				_, err = stream.Recv()
			}
			assert.Equal(t, c.code, status.Code(err), "%s: %v", name, err)
			assert.Empty(t, a.scans, name)
		}

		a.awaitTaken(t, 0)
	})
}

// A client that takes a slot and then reads nothing loses it with the end of the
// call's limit, whatever there is still to send.
func TestClientThatReadsNothingKeepsNoSlot(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		const lines = 500
		path := strings.Repeat("d/", 2000) + "f"
		source := &source{open: func(context.Context, scan.Target) (scan.Change, error) {
			return &change{files: []*scan.File{added(path, strings.Repeat("todo\n", lines))}}, nil
		}}
		service := serviceOf(source, scanner.Options{Slots: 1, Limit: time.Second})
		a := serve(t, newAddress(), service)
		a.service = service
		stream, err := stubOf(t, a).Scan(t.Context())
		require.NoError(t, err)

		start := startMessage()
		start.GetStart().RulesDigest = rule.Digest([]rule.Rule{todo("x", rule.OriginCustom)})
		start.GetStart().MaxFindings = lines
		require.NoError(t, stream.Send(start))
		m, err := stream.Recv()
		require.NoError(t, err)
		require.True(t, m.GetAccepted().GetNeedRules())
		require.NoError(t, stream.Send(rulesMessage(&scannerv1.ScanRule{
			Id: "x", Type: rule.TypeRegex, Pattern: "todo", Message: "Do it.", Severity: "high",
			Origin: scannerv1.ScanRule_custom,
		})))
		require.Eventually(t, func() bool { return source.opened.Load() == 1 }, patience, time.Millisecond)
		a.awaitTaken(t, 0)

		// Who reads on learns why.
		for err == nil {
			_, err = stream.Recv()
		}
		assert.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
	})
}

// The port has limits of its own: for metadata and for scans at once.
func TestLimitsOfThePort(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Slots: 3, Answer: time.Minute})
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
			require.NoError(t, stream.Send(startMessage()))
			if _, err = stream.Recv(); status.Code(err) == codes.ResourceExhausted {
				refused++
			} else {
				require.NoError(t, err)
			}
		}

		assert.Equal(t, 17, refused, "three have the slots")
	})
}

// Connections that say nothing, however many, keep nobody out who comes from
// another address.
func TestStrangerCantTakeAllConnections(t *testing.T) {
	t.Parallel()
	service, _ := waiting(scanner.Options{Slots: 1})
	a := serveTCP(t, service)
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 300 {
		if c, err := from.DialContext(t.Context(), "tcp", a.addr); err == nil { // else it was closed already
			t.Cleanup(func() { c.Close() })
		}
	}

	clientOf(t, scanner.ClientOptions{}, a)
	assert.Positive(t, a.refused.Load())
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
		"a large finding": {findings(finding(20 << 10)), 1, false},
		"a large skip":    {skips(skip(20 << 10)), 1, false},
		"large in all":    {findings(finding(15<<10), finding(15<<10), finding(15<<10), finding(15<<10)), 600, false},
		"skips, in all":   {skips(skip(15<<10), skip(15<<10), skip(15<<10), skip(15<<10)), 600, false},
		"large in JSON":   {findings(with(strings.Repeat("\x01", 15<<10))), 400, false},
		"a large message": {findings(finding(2 << 20)), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onClock(t, func(t *testing.T) {
				client := clientOf(t, scanner.ClientOptions{}, serve(t, newAddress(), says(c.says, c.times)))
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

// A pull request whose findings are more than a result may have is truncated by
// the scan, so that a server takes what is told of it.
func TestLargestResult(t *testing.T) {
	t.Parallel()
	const lines = 5_000
	path := strings.Repeat("d/", 2000) + "f"
	client, _ := setup(t, func(context.Context, scan.Target) (scan.Change, error) {
		return &change{files: []*scan.File{added(path, strings.Repeat("todo\n", lines))}}, nil
	})
	r := todo("x", rule.OriginCustom)
	r.Message = strings.Repeat("\U0001f41e", rule.MaxMessage)
	o, err := client.Scan(t.Context(), jobWith(r), none)
	require.NoError(t, err)
	assert.True(t, o.Truncated)
	assert.Less(t, len(o.Findings), lines)
	assert.Greater(t, len(o.Findings), lines/2)
	assert.Equal(t, lines, o.Summary[rule.High], "the summary counts all")
	assert.Equal(t, 1, o.Findings[0].Line)
	assert.Equal(t, len(o.Findings), o.Findings[len(o.Findings)-1].Line, "the first ones are told")
}
