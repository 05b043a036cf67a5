package api

import (
	"context"
	"errors"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// Diffs is what the handlers need to show changed lines.
type Diffs interface {
	Get(ctx context.Context, org string, in review.DiffInput) (review.ShownDiff, error)
}

// Bounds of diffs at once: each may wait for a code host, and the places for requests
// that are worked on are for all.
const (
	maxDiffs     = 16
	maxOwnDiffs  = 8 // of one organization
	maxDiffWait  = 2 * time.Second
	diffBusyWait = time.Second
)

func newDiffSemaphore() *overload.Semaphore {
	return overload.NewSemaphore(overload.Bounds{Total: maxDiffs, PerOwner: maxOwnDiffs, Wait: maxDiffWait})
}

// GetDiff implements ReviewService.
func (h *Reviews) GetDiff(
	ctx context.Context, req *prwardenv1.GetDiffRequest,
) (*prwardenv1.GetDiffResponse, error) {
	in := review.DiffInput{
		ReviewID: req.GetReviewId(), Files: req.GetFiles(), Context: review.DefaultContext, PageToken: req.GetPageToken(),
		From: int(req.GetFrom()), To: int(req.GetTo()),
	}
	if req.Context != nil {
		in.Context = int(req.GetContext())
	}
	org := auth.FromContext(ctx).Organization
	done, err := h.showing.Acquire(ctx, org, 1)
	if errors.Is(err, overload.ErrFull) {
		e := errs.New(errs.Unavailable, errs.ReasonUnavailable,
			"Too many diffs are being made, of this organization or of others; try again.")
		e.RetryAfter = diffBusyWait
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	defer done()

	shown, err := h.diffs.Get(ctx, org, in)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.GetDiffResponse{
		Availability: enum[prwardenv1.GetDiffResponse_Availability](
			string(shown.Availability), prwardenv1.GetDiffResponse_Availability_value),
		Files: each(shown.Files, toFileDiff), NextPageToken: shown.NextPageToken,
	}, nil
}

func toFileDiff(f finding.FileDiff) *prwardenv1.FileDiff {
	out := &prwardenv1.FileDiff{
		File: text(f.Path), FileBytes: rawPath(f.Path), OldFile: given(text(f.OldPath)),
		Change: enum[prwardenv1.FileChange_Kind](string(f.Change), prwardenv1.FileChange_Kind_value),
		Added:  clamp(f.Added), Removed: clamp(f.Removed), Truncated: f.Truncated, Hunks: each(f.Hunks, toHunk),
	}
	if f.NotShown != "" {
		out.NotShown = enum[prwardenv1.FileDiff_Reason](f.NotShown, prwardenv1.FileDiff_Reason_value)
	}

	return out
}

func toHunk(h finding.Hunk) *prwardenv1.Hunk {
	return &prwardenv1.Hunk{
		OldStart: clamp(h.OldStart), NewStart: clamp(h.NewStart), Section: text(h.Section),
		Lines: each(h.Lines, toDiffLine),
	}
}

// toDiffLine encodes a line, whose kinds have the numbers of the API.
func toDiffLine(l finding.DiffLine) *prwardenv1.DiffLine {
	return &prwardenv1.DiffLine{
		Kind: prwardenv1.DiffLine_Kind(l.Kind).Enum(), Text: text(l.Text), Masked: each(l.Masked, toSpan),
		NoNewline: l.NoNewline, Cut: l.Cut,
	}
}

func toSpan(s finding.TextSpan) *prwardenv1.Span {
	return &prwardenv1.Span{Column: clamp(s.Start + 1), EndColumn: clamp(s.End + 1)}
}
