package scanner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func diffJob(rules ...rule.Rule) review.DiffJob {
	j := review.DiffJob{Job: jobWith(rules...), Context: 3}
	j.Commits = finding.Commits{Head: strings.Repeat("a", 40), Base: strings.Repeat("b", 40)}

	return j
}

func TestDiff(t *testing.T) {
	t.Parallel()
	client, _ := setup(t, func(_ context.Context, target scan.Target) (scan.Change, error) {
		assert.True(t, target.ForDiff)
		assert.Equal(t, diffJob().Commits, target.Commits)
		return &change{files: []*scan.File{added("a\xff.go", "func f() {\n\x01todo x\nend\n"), added("b", "1\n2\n3\n")}}, nil
	})

	hide := todo("hide", rule.OriginCustom)
	hide.Redact = true
	job := diffJob(hide)
	job.Paths = []string{"a\xff.go"}
	for range 2 { // the second time the scanner has the rules
		got, err := client.Diff(t.Context(), job)
		require.NoError(t, err)
		assert.Equal(t, finding.Diff{Done: 1, Files: []finding.FileDiff{{
			Path: "a\xff.go", Change: finding.FileAdded, Added: 3,
			Hunks: []finding.Hunk{{OldStart: 1, NewStart: 1, Lines: []finding.DiffLine{
				{Kind: finding.LineAdded, Text: "func f() {"},
				{Kind: finding.LineAdded, Text: "\ufffd**** x", Masked: []finding.TextSpan{{Start: 3, End: 7}}},
				{Kind: finding.LineAdded, Text: "end"},
			}}},
		}}}, got)
	}

	job.Paths, job.From, job.To = []string{"b"}, 2, 3
	got, err := client.Diff(t.Context(), job)
	require.NoError(t, err)
	assert.Equal(t, 2, got.Files[0].Hunks[0].NewStart)
	assert.Len(t, got.Files[0].Hunks[0].Lines, 2)
}

func TestDiffFails(t *testing.T) {
	t.Parallel()
	client, s := setup(t, func(context.Context, scan.Target) (scan.Change, error) {
		return nil, &scan.Failure{Code: scan.CodeCommitNotFound, Message: "Gone.", Lasting: true}
	})
	job := diffJob()
	job.Paths = []string{"a"}
	var failed *review.ScanError
	_, err := client.Diff(t.Context(), job)
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, review.Failure{Code: scan.CodeCommitNotFound, Message: "Gone."}, failed.Failure)
	assert.True(t, failed.Lasting)

	for name, change := range map[string]func(*review.DiffJob){
		"without commits": func(j *review.DiffJob) { j.Commits = finding.Commits{} },
		"context":         func(j *review.DiffJob) { j.Context = 51 },
		"lines":           func(j *review.DiffJob) { j.From, j.To = 1, 201 },
		"paths":           func(j *review.DiffJob) { j.Paths = make([]string, 65) },
	} {
		bad := job
		change(&bad)
		_, err := client.Diff(t.Context(), bad)
		require.ErrorAs(t, err, &failed, name)
		assert.Equal(t, codes.InvalidArgument, status.Code(failed.Err), name)
	}

	s.service.Drain()
	_, err = client.Diff(t.Context(), job)
	require.ErrorAs(t, err, &failed)
	assert.False(t, failed.Lasting)
}

// A diff goes to another scanner when the first can't make it, and fails when none can.
func TestDiffElsewhere(t *testing.T) {
	t.Parallel()
	first, second := startScanner(t, 1), startScanner(t, 1)
	client := clientOf(t, first, second)
	job := diffJob()
	job.Paths = []string{"a"}
	first.service.Drain()
	done := make(chan error, 1)
	go func() {
		_, err := client.Diff(t.Context(), job)
		done <- err
	}()
	second.next(t).end <- nil
	require.NoError(t, await(t, "the diff", done))

	second.service.Drain()
	_, err := client.Diff(t.Context(), job)
	var failed *review.ScanError
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.Uncounted)
	assert.False(t, failed.Lasting)
}

// Diffs have places of their own, and so many.
func TestDiffsHaveTheirOwnPlaces(t *testing.T) {
	t.Parallel()
	s := startScanner(t, 1)
	client := clientOf(t, s)
	scanned := start(t.Context(), client, "acme/api")
	scanning := s.next(t)
	job := diffJob()
	job.Paths = []string{"a"}
	done := make(chan error, 8)
	var making []*running
	for range 8 {
		go func() {
			_, err := client.Diff(t.Context(), job)
			done <- err
		}()
		making = append(making, s.next(t))
	}

	_, err := client.Diff(t.Context(), job)
	var failed *review.ScanError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, codes.ResourceExhausted, status.Code(failed.Err))
	for _, m := range making {
		m.end <- nil
		require.NoError(t, await(t, "a diff", done))
	}
	scanning.end <- nil
	require.NoError(t, await(t, "the scan", scanned).err)
}

// What a scanner that keeps to the protocol would not send is refused.
func TestDiffOfAnOddScanner(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]*scannerv1.DiffResult{
		"no progress":    {},
		"too many files": {Done: 1, Files: []*scannerv1.DiffFile{{}, {}}},
		"too far":        {Done: 2},
	} {
		s := serve(t, newAddress(), odd{result: result})
		job := diffJob()
		job.Paths = []string{"a"}
		_, err := clientOf(t, s).Diff(t.Context(), job)
		var failed *review.ScanError
		require.ErrorAs(t, err, &failed, name)
		assert.Equal(t, "scanner_fault", failed.Code, name)
	}
}

// odd answers each diff with a result.
type odd struct {
	made
	result *scannerv1.DiffResult
}

func (o odd) Diff(stream scannerv1.ScannerService_DiffServer) error {
	accepted := &scannerv1.DiffResponse_Accepted{Accepted: &scannerv1.ScanAccepted{Slots: 1}}
	if err := stream.Send(&scannerv1.DiffResponse{Message: accepted}); err != nil {
		return err
	}
	return stream.Send(&scannerv1.DiffResponse{Message: &scannerv1.DiffResponse_Result{Result: o.result}})
}
