package scanner_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// A client that takes a place and then reads nothing loses it with the end of
// the call's limit, whatever there is still to tell it.
func TestClientThatReadsNothingKeepsNoPlace(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		const lines = 500
		path := strings.Repeat("d/", 2000) + "f"
		source := &source{open: func(context.Context, scan.Target) (scan.Change, error) {
			return &change{files: []*scan.File{added(path, strings.Repeat("todo\n", lines))}}, nil
		}}
		service := scanner.NewServer(scan.NewScanner(source, scan.Options{}), scanner.Options{Places: 1}, slog.New(slog.DiscardHandler))
		addr := serve(t, newAddress(), service).addr
		conn, err := dial(addr, addr)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close()) })
		stream, err := scannerv1.NewScannerServiceClient(conn).Scan(t.Context())
		require.NoError(t, err)

		rules := []rule.Rule{todo("x", rule.OriginCustom)}
		start := startMessage(1)
		start.GetStart().RulesDigest, start.GetStart().MaxFindings = rule.Digest(rules), lines
		require.NoError(t, stream.Send(start))
		for _, m := range []*scannerv1.ScanRequest{
			{Message: &scannerv1.ScanRequest_Go{Go: &scannerv1.ScanGo{LimitMs: 1000}}},
			{Message: &scannerv1.ScanRequest_Rules{Rules: &scannerv1.RuleChunk{Last: true, Rules: []*scannerv1.ScanRule{{
				Id: "x", Type: rule.TypeRegex, Pattern: "todo", Message: "Do it.", Severity: "high", Origin: scannerv1.ScanRule_custom,
			}}}}},
		} {
			_, err := stream.Recv() // it is ready, and needs rules
			require.NoError(t, err)
			require.NoError(t, stream.Send(m))
		}
		require.Eventually(t, func() bool { return source.opened.Load() == 1 }, patience, time.Millisecond)
		require.Eventually(t, func() bool { return service.Load().Working == 0 }, patience, time.Millisecond)

		// Who reads on learns why.
		for err == nil {
			_, err = stream.Recv()
		}
		assert.Equal(t, codes.DeadlineExceeded, status.Code(err), err)
	})
}
