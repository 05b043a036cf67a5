package scanner_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// What a job asks for reaches the scan, and all of a finding comes back.
func TestCommitsAndSuppressions(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("a", 40)
	text := "é todo\n" +
		"// prwarden:ignore note -- known until 2026-06-15\ntodo\n" +
		"// prwarden:ignore note -- known until 2026-06-14\ntodo\n" +
		"// prwarden:ignore note\ntodo\n"
	client, _ := setup(t, func(_ context.Context, target scan.Target) (scan.Change, error) {
		assert.Equal(t, scan.Commits{Head: head, BaseRef: "main"}, target.Commits)
		return &change{files: []*scan.File{added("a.go", text)}}, nil
	})
	job := jobWith(todo("note", rule.OriginCustom))
	job.Commits = review.Commits{Head: head, BaseRef: "main"}
	job.Today = "2026-06-15"
	scanned := func() (o review.Outcome, ids []string) {
		o, err := client.Scan(t.Context(), job, none)
		require.NoError(t, err)
		for _, f := range o.Findings {
			ids = append(ids, f.RuleID)
		}
		return o, ids
	}
	o, ids := scanned()
	assert.Equal(t, []string{"custom/note", "meta/suppression-expired", "custom/note"}, ids)
	require.Len(t, o.Suppressed, 2)
	o.Suppressed[0].Fingerprint = ""
	assert.Equal(t, review.Finding{
		RuleID: "custom/note", Severity: rule.High, File: "a.go", Line: 3, EndLine: 3, Column: 1, EndColumn: 5, Message: "Do it.", Snippet: "todo",
		UTF16Column: 1, UTF16EndColumn: 5, LineHash: o.Suppressed[0].LineHash,
		Suppression: &review.Suppression{Reason: "known", Until: "2026-06-15", Line: 2},
	}, o.Suppressed[0])
	assert.NotEmpty(t, o.Suppressed[0].LineHash)
	assert.Equal(t, &review.Suppression{Line: 6}, o.Suppressed[1].Suppression)
	assert.Equal(t, []int{4, 8, 3, 7}, []int{o.Findings[0].Column, o.Findings[0].EndColumn, o.Findings[0].UTF16Column, o.Findings[0].UTF16EndColumn})
	assert.Equal(t, 2, o.Summary[rule.High], "without the suppressed ones")

	job.RequireReason = true
	o, ids = scanned()
	assert.Equal(t, []string{"custom/note", "meta/suppression-expired", "custom/note", "meta/suppression-malformed", "custom/note"}, ids)
	assert.Len(t, o.Suppressed, 1)

	job.MaxFindings = 3
	job.RequireReason = false
	job.Today = "2026-06-01"
	o, _ = scanned()
	assert.Len(t, o.Suppressed, 3)
	assert.False(t, o.Truncated)
	job.MaxFindings = 2
	o, _ = scanned()
	assert.Len(t, o.Suppressed, 2)
	assert.True(t, o.Truncated)
}

// A server of the version before, which would take suppressed findings for
// others, has comments suppress nothing.
func TestServerThatDoesNotKnowSuppressions(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		rules := []rule.Rule{todo("todo", rule.OriginCustom)}
		source := &source{open: func(context.Context, scan.Target) (scan.Change, error) {
			return &change{files: []*scan.File{added("a.go", "todo // prwarden:ignore todo\n// prwarden:ignore\n")}}, nil
		}}
		testScanner := scan.NewScanner(source, scan.Options{})
		_, err := testScanner.AddRules(rule.Digest(rules), rules)
		require.NoError(t, err)
		a := serve(t, newAddress(), scanner.NewServer(testScanner, scanner.Options{}, slog.New(slog.DiscardHandler)))
		conn, err := dial(a.addr, a.addr)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, conn.Close()) })
		stream, err := scannerv1.NewScannerServiceClient(conn).Scan(t.Context())
		require.NoError(t, err)
		start := startMessage(1)
		start.GetStart().RulesDigest = rule.Digest(rules)
		require.NoError(t, stream.Send(start))
		require.NoError(t, stream.Send(goMessage()))
		var got []*scannerv1.ScanFinding
		for {
			m, err := stream.Recv()
			require.NoError(t, err)
			got = append(got, m.GetFindings().GetFindings()...)
			if m.GetResult() != nil {
				assert.Equal(t, int32(1), m.GetResult().GetSummary()["high"])
				break
			}
		}
		require.Len(t, got, 1)
		assert.Nil(t, got[0].GetSuppression())
	})
}

// A scanner of the version before does the scans that it knows, and is not given
// those of other commits: it would scan the pull request's own.
func TestScannerOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		old := made{scan: func(stream scannerv1.ScannerService_ScanServer) error {
			m, err := stream.Recv()
			if err != nil {
				return err
			}
			if p := m.GetStart().GetProtocol(); p > 1 {
				st, err := status.New(codes.FailedPrecondition, "upgrade").WithDetails(&errdetails.ErrorInfo{Reason: "scanner_protocol", Domain: "prwarden.scanner"})
				if err != nil {
					return err
				}
				return st.Err()
			}
			for _, m := range []*scannerv1.ScanResponse{ready(), progressed(),
				findings(&scannerv1.ScanFinding{RuleId: "a/b", Severity: "low", Line: 1, EndLine: 1, Column: 1}),
				{Message: &scannerv1.ScanResponse_Result{Result: &scannerv1.ScanResult{}}},
			} {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
			return nil
		}}
		client := scanner.NewClient(poolOf(t, scanner.PoolOptions{}, serve(t, newAddress(), old)))
		job := jobWith()
		job.Today = "2026-06-15"
		o, err := client.Scan(t.Context(), job, none)
		require.NoError(t, err)
		assert.Equal(t, []review.Finding{{RuleID: "a/b", Severity: rule.Low, Line: 1, EndLine: 1, Column: 1}}, o.Findings)

		job.Commits = review.Commits{Head: strings.Repeat("a", 40), Base: strings.Repeat("b", 40)}
		_, err = client.Scan(t.Context(), job, none)
		var e *review.ScanError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "scanner_protocol", e.Code)
		assert.True(t, e.Uncounted)
	})
}
