package scanner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// says returns a scanner that begins a scan and then says the same again and
// again.
func says(m *scannerv1.ScanResponse, times int) made {
	return made{scan: func(stream scannerv1.ScannerService_ScanServer) error {
		for _, first := range []*scannerv1.ScanResponse{ready(), progressed()} {
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
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{Findings: &scannerv1.FindingBatch{Findings: all}}}
}

func skips(all ...*scannerv1.ScanSkip) *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Skips{Skips: &scannerv1.SkipBatch{Skips: all}}}
}

func of(bytes int) string { return strings.Repeat("x", bytes) }

// A scanner that was taken over can't make a server hold more than a result may
// have.
func TestScannerThatSaysTooMuch(t *testing.T) {
	t.Parallel()
	finding := func(bytes int) *scannerv1.ScanFinding {
		return &scannerv1.ScanFinding{RuleId: "a/b", Severity: "low", Snippet: of(bytes)}
	}
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
		"large in JSON":   {findings(&scannerv1.ScanFinding{RuleId: "a/b", Severity: "low", Snippet: strings.Repeat("\x01", 15<<10)}), 400, false},
		"a large message": {findings(finding(2 << 20)), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onClock(t, func(t *testing.T) {
				pool := poolOf(t, scanner.PoolOptions{}, serve(t, newAddress(), says(c.says, c.times)))
				got := await(t, "the end", start(t.Context(), pool, "acme/api"))
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
