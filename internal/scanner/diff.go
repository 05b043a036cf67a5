package scanner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
)

const (
	// maxDiffs is how many diffs a scanner makes at once, beside its scans.
	maxDiffs = 8
	// maxDiffAnswer is what a server takes of a scanner, in bytes as protobuf.
	maxDiffAnswer = 5 << 20
)

// Diff implements ScannerService.
func (s *Server) Diff(stream scannerv1.ScannerService_DiffServer) error {
	first, err := next(stream)
	if err != nil {
		return err
	}
	start := first.GetStart()
	request, err := diffRequestOf(start)
	if err != nil {
		return err
	}

	if !take(stream.Context(), s.diffs, maxWait) {
		return failureStatus(codes.ResourceExhausted, reasonBusy, "The scanner makes as many diffs as it can.", false)
	}
	defer func() { <-s.diffs }()
	if s.draining.Load() {
		return stoppingStatus()
	}
	ctx, giveUp := context.WithCancel(stream.Context())
	defer giveUp()
	defer context.AfterFunc(s.stopping, giveUp)()
	request.Rules, err = s.rules(ctx, start.GetScan(), func(a *scannerv1.ScanAccepted) error {
		return stream.Send(&scannerv1.DiffResponse{Message: &scannerv1.DiffResponse_Accepted{Accepted: a}})
	}, func() (*scannerv1.RuleBatch, error) {
		m, err := next(stream)
		return m.GetRules(), err
	})
	if err != nil {
		return err
	}

	began := time.Now()
	diff, err := s.scanner.Diff(ctx, request)
	log := s.log.With("review_id", start.GetScan().GetReviewId())
	failure, isFailure := errors.AsType[*scan.Failure](err)
	switch {
	case err == nil && ctx.Err() == nil:
		log.DebugContext(ctx, "made a diff", "files", len(diff.Files), "ms", time.Since(began).Milliseconds())
		return stream.Send(&scannerv1.DiffResponse{Message: &scannerv1.DiffResponse_Result{Result: toProtoDiff(diff)}})
	case s.stopping.Err() != nil:
		return stoppingStatus()
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case !isFailure:
		return err
	}

	log.InfoContext(ctx, "a diff could not be made", "code", failure.Code, "error", err)
	return failureStatus(codes.FailedPrecondition, failure.Code, failure.Message, failure.Lasting)
}

func diffRequestOf(p *scannerv1.DiffStart) (scan.DiffRequest, error) {
	request, err := requestOf(p.GetScan())
	lines := scan.LineRange{First: int(p.GetFrom()), Last: int(p.GetTo())}
	switch {
	case err != nil:
		return scan.DiffRequest{}, err
	case request.Commits.Head == "" || request.Commits.Base == "":
		return scan.DiffRequest{}, status.Error(codes.InvalidArgument, "scan: head_sha and base_sha must be given")
	case len(p.GetPaths()) > scan.MaxDiffPaths || p.GetContext() < 0 || p.GetContext() > scan.MaxDiffContext,
		lines.First < 0 || lines.Last < lines.First || lines.Last-lines.First >= scan.MaxDiffUnfold:
		return scan.DiffRequest{}, status.Error(codes.InvalidArgument, "paths, context or lines are out of bounds")
	}

	out := scan.DiffRequest{Request: request, Context: int(p.GetContext()), Lines: lines}
	for _, path := range p.GetPaths() {
		out.Paths = append(out.Paths, string(path))
	}

	return out, nil
}

// Diff implements review.DiffScanner. It asks the scanner that the repository prefers for
// scans, because that has it in its cache, and others while that can't answer.
func (c *Client) Diff(ctx context.Context, j review.DiffJob) (finding.Diff, error) {
	asked := map[*peer]bool{}
	reason := errors.New("scanner: none can be reached")
	for {
		p := c.chooseForDiff(j.Organization+"\x00"+j.Repo, asked)
		if p == nil {
			return finding.Diff{}, scanError(reason, false)
		}
		asked[p] = true

		found, err := callForDiff(ctx, p, j)
		switch {
		case err == nil:
			return found, nil
		case ctx.Err() != nil:
			return finding.Diff{}, ctx.Err()
		case !elsewhere(err):
			return finding.Diff{}, scanError(err, true)
		}
		reason = err
	}
}

// chooseForDiff returns the next scanner to ask; nil when all were asked.
func (c *Client) chooseForDiff(repo string, asked map[*peer]bool) *peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var usable []*peer
	for _, p := range c.peers {
		if p.usable() && !asked[p] {
			usable = append(usable, p)
		}
	}
	if len(usable) == 0 {
		return nil
	}

	return preferred(usable, repo)
}

func callForDiff(ctx context.Context, p *peer, j review.DiffJob) (found finding.Diff, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.rpc.Diff(ctx, grpc.MaxCallRecvMsgSize(maxDiffAnswer))
	if err != nil {
		return found, err
	}

	start := &scannerv1.DiffStart{
		Scan: startOf(j.Job), Context: int32(j.Context), From: int32(j.From), To: int32(j.To),
	}
	for _, path := range j.Paths {
		start.Paths = append(start.Paths, []byte(path))
	}
	if err := send(stream, &scannerv1.DiffRequest{Message: &scannerv1.DiffRequest_Start{Start: start}}); err != nil {
		return found, err
	}
	m, err := stream.Recv()
	if err == nil && m.GetAccepted() == nil {
		err = status.Errorf(codes.Unimplemented, "unexpected message %T", m.GetMessage())
	}
	if err != nil {
		return found, err
	}

	if m.GetAccepted().GetNeedRules() {
		err := sendRules(j.Rules.Rules, func(batch *scannerv1.RuleBatch) error {
			return send(stream, &scannerv1.DiffRequest{Message: &scannerv1.DiffRequest_Rules{Rules: batch}})
		})
		if err != nil {
			return found, err
		}
	}
	m, err = stream.Recv()
	switch {
	case err != nil:
		return found, err
	case m.GetResult() == nil:
		return found, status.Errorf(codes.Unimplemented, "unexpected message %T", m.GetMessage())
	}

	return fromProtoDiff(m.GetResult(), len(j.Paths))
}

func toProtoDiff(d finding.Diff) *scannerv1.DiffResult {
	return &scannerv1.DiffResult{Files: converted(d.Files, toProtoFile), Done: int32(d.Done)}
}

func toProtoFile(f finding.FileDiff) *scannerv1.DiffFile {
	return &scannerv1.DiffFile{
		Path: []byte(f.Path), OldPath: []byte(f.OldPath), Change: string(f.Change),
		Added: int32(f.Added), Removed: int32(f.Removed), Hunks: converted(f.Hunks, toProtoHunk),
		Truncated: f.Truncated, NotShown: f.NotShown,
	}
}

func toProtoHunk(h finding.Hunk) *scannerv1.DiffHunk {
	return &scannerv1.DiffHunk{
		OldStart: int32(h.OldStart), NewStart: int32(h.NewStart), Section: h.Section,
		Lines: converted(h.Lines, toProtoLine),
	}
}

// toProtoLine makes a line one for the wire, where kinds have the same numbers.
func toProtoLine(l finding.DiffLine) *scannerv1.DiffTextLine {
	out := &scannerv1.DiffTextLine{
		Kind: scannerv1.DiffTextLine_Kind(l.Kind), Text: l.Text, NoNewline: l.NoNewline, Cut: l.Cut,
	}
	for _, s := range l.Masked {
		out.Masked = append(out.Masked, int32(s.Start), int32(s.End))
	}

	return out
}

// fromProtoDiff fails when a scanner that keeps to the protocol would not have sent it.
func fromProtoDiff(p *scannerv1.DiffResult, paths int) (finding.Diff, error) {
	out := finding.Diff{Done: int(p.GetDone())}
	if len(p.GetFiles()) > paths || out.Done < 0 || out.Done > paths || out.Done == 0 && paths > 0 {
		return finding.Diff{}, fmt.Errorf("%d files, done with %d of %d paths", len(p.GetFiles()), out.Done, paths)
	}
	for _, f := range p.GetFiles() {
		file := finding.FileDiff{
			Path: string(f.GetPath()), OldPath: string(f.GetOldPath()), Change: finding.Change(f.GetChange()),
			Added: int(f.GetAdded()), Removed: int(f.GetRemoved()), Truncated: f.GetTruncated(), NotShown: f.GetNotShown(),
		}
		for _, h := range f.GetHunks() {
			hunk := finding.Hunk{OldStart: int(h.GetOldStart()), NewStart: int(h.GetNewStart()), Section: h.GetSection()}
			for _, l := range h.GetLines() {
				hunk.Lines = append(hunk.Lines, fromProtoLine(l))
			}
			file.Hunks = append(file.Hunks, hunk)
		}
		out.Files = append(out.Files, file)
	}

	return out, nil
}

func fromProtoLine(p *scannerv1.DiffTextLine) finding.DiffLine {
	out := finding.DiffLine{
		Kind: finding.LineKind(p.GetKind()), Text: p.GetText(), NoNewline: p.GetNoNewline(), Cut: p.GetCut(),
	}
	for m := p.GetMasked(); len(m) >= 2; m = m[2:] {
		out.Masked = append(out.Masked, finding.TextSpan{Start: int(m[0]), End: int(m[1])})
	}

	return out
}
