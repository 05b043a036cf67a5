package scanner

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

const (
	// maxRules is how many rules one scan may be sent: the default ruleset and
	// an organization's 5,000 many times over. It bounds what a client can make
	// the scanner hold.
	maxRules = 50_000

	// maxWait is how long a call may wait for a slot.
	maxWait = time.Second
)

// Server is the ScannerService over a scan.Scanner. It does a bounded number of
// scans at once and refuses the others.
type Server struct {
	scannerv1.UnimplementedScannerServiceServer

	scanner *scan.Scanner
	log     *slog.Logger
	slots   chan struct{} // has an element for each slot that is taken
	diffs   chan struct{} // likewise for each diff that is made

	draining atomic.Bool
	stopping context.Context
	stop     context.CancelFunc
}

// NewServer returns a server over a scanner that does as many scans at once as it
// has slots; 0 stands for the number of processors.
func NewServer(scanner *scan.Scanner, slots int, log *slog.Logger) *Server {
	slots = cmp.Or(slots, background.Processors())
	s := &Server{scanner: scanner, log: log, slots: make(chan struct{}, slots), diffs: make(chan struct{}, maxDiffs)}
	s.stopping, s.stop = context.WithCancel(context.Background())

	return s
}

// Slots says how many scans the server does at once, and how many slots are
// taken now.
func (s *Server) Slots() (all, taken int) { return cap(s.slots), len(s.slots) }

// Drain refuses new scans; those that run go on. Twice is once.
func (s *Server) Drain() { s.draining.Store(true) }

// HandBack drains and breaks off the scans that run. Their callers are told
// that it is not the pull requests' fault. Twice is once.
func (s *Server) HandBack() {
	s.Drain()
	s.stop()
}

// Scan implements ScannerService. A client that is gone, or late by the deadline
// that it gave, ends the stream's context and with it every wait for it.
func (s *Server) Scan(stream scannerv1.ScannerService_ScanServer) error {
	first, err := next(stream)
	if err != nil {
		return err
	}
	start := first.GetStart()
	request, err := requestOf(start)
	if err != nil {
		return err
	}

	if !take(stream.Context(), s.slots, time.Duration(start.GetWaitMs())*time.Millisecond) {
		return failureStatus(codes.ResourceExhausted, reasonBusy, "The scanner has no free slot.", false)
	}
	defer func() { <-s.slots }()
	if s.draining.Load() {
		return stoppingStatus()
	}
	request.Rules, err = s.rules(stream.Context(), start, func(a *scannerv1.ScanAccepted) error {
		return stream.Send(&scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Accepted{Accepted: a}})
	}, func() (*scannerv1.RuleBatch, error) {
		m, err := next(stream)
		return m.GetRules(), err
	})
	if err != nil {
		return err
	}

	return s.scan(stream, start, request)
}

// take takes a slot, and waits for one if need be; first come, first served.
func take(ctx context.Context, slots chan<- struct{}, wait time.Duration) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}

	ctx, cancel := context.WithTimeout(ctx, min(wait, maxWait))
	defer cancel()
	select {
	case slots <- struct{}{}: // senders get their turns in order
		return true
	case <-ctx.Done():
		return false
	}
}

// rules accepts a call and returns the rules with the digest of its start, which it has
// the client send when they are not there.
func (s *Server) rules(
	ctx context.Context, start *scannerv1.ScanStart,
	accept func(*scannerv1.ScanAccepted) error, batch func() (*scannerv1.RuleBatch, error),
) (*scan.Ruleset, error) {
	organization, digest := start.GetOrganization(), start.GetRulesDigest()
	known, ok := s.scanner.Rules(organization, digest)
	err := accept(&scannerv1.ScanAccepted{Slots: int32(cap(s.slots)), NeedRules: !ok})
	if err != nil || ok {
		return known, err
	}

	var all []rule.Rule
	for last := false; !last; {
		batch, err := batch()
		if err != nil {
			return nil, err
		}
		if batch == nil {
			return nil, status.Error(codes.InvalidArgument, "after `start` only `rules` may follow")
		}
		part, err := fromProtoRules(batch.GetRules())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}

		if all = append(all, part...); len(all) > maxRules {
			return nil, status.Errorf(codes.InvalidArgument, "more than %d rules", maxRules)
		}
		last = batch.GetLast()
	}

	rules, err := s.scanner.AddRules(ctx, organization, digest, all)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}

	return rules, nil
}

// next returns the client's next message.
func next[M any](stream interface{ Recv() (M, error) }) (M, error) {
	m, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return m, status.Error(codes.InvalidArgument, "the client ended before it said all")
	}

	return m, err
}

// scan scans and sends what came out.
func (s *Server) scan(
	stream scannerv1.ScannerService_ScanServer, start *scannerv1.ScanStart, request scan.Request,
) error {
	ctx, giveUp := context.WithCancel(stream.Context())
	defer giveUp()
	defer context.AfterFunc(s.stopping, giveUp)()

	result, err := s.scanner.Scan(ctx, request, func(p scan.Progress) {
		progress := &scannerv1.ScanProgress{FilesDone: int32(p.Done), FilesTotal: int32(p.Total)}
		// A client that is gone ends the context.
		_ = stream.Send(&scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Progress{Progress: progress}})
	})
	log := s.log.With("review_id", start.GetReviewId())
	var failure *scan.Failure
	switch {
	case err == nil && ctx.Err() == nil:
		log.InfoContext(ctx, "scanned", "files", result.FilesTotal,
			"findings", len(result.Findings),
			"suppressed", len(result.Suppressed), "observed", len(result.Observed), "ms", result.Times)
		return sendResult(stream, result)
	case s.stopping.Err() != nil:
		return stoppingStatus()
	case ctx.Err() != nil:
		log.InfoContext(ctx, "scan given up by its server", "error", ctx.Err())
		return status.FromContextError(ctx.Err()).Err()
	case !errors.As(err, &failure):
		return err
	}

	log.WarnContext(ctx, "scan failed", "organization", start.GetOrganization(),
		"repo", start.GetRepo(), "pr_number", start.GetPrNumber(), "code", failure.Code, "error", err)
	code := codes.Unavailable
	if failure.Lasting {
		code = codes.FailedPrecondition
	}

	return failureStatus(code, failure.Code, failure.Message, failure.Lasting)
}

func stoppingStatus() error {
	return failureStatus(codes.Unavailable, reasonStopping, "The scanner is stopping.", false)
}

// sendResult sends what a scan found, in messages of bounded size.
func sendResult(stream scannerv1.ScannerService_ScanServer, r *scan.Result) error {
	var messages []*scannerv1.ScanResponse
	findings := slices.Concat(converted(r.Findings, toProtoFinding), converted(r.Suppressed, toProtoFinding),
		converted(r.Observed, toProtoObserved))
	for _, part := range batches(findings) {
		messages = append(messages, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{
			Findings: &scannerv1.FindingBatch{Findings: part},
		}})
	}
	for _, part := range batches(converted(r.Skips, toProtoSkip)) {
		messages = append(messages, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Skips{
			Skips: &scannerv1.SkipBatch{Skips: part},
		}})
	}
	messages = append(messages, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Result{Result: toProtoResult(r)}})

	for _, m := range messages {
		if err := stream.Send(m); err != nil {
			return err
		}
	}

	return nil
}

// batches cuts messages into runs of about batchSize bytes, at least one.
func batches[M proto.Message](all []M) [][]M {
	var parts [][]M
	size, first := 0, 0
	for i, m := range all {
		if size += proto.Size(m); size >= batchSize {
			parts = append(parts, all[first:i+1])
			size, first = 0, i+1
		}
	}

	if first < len(all) || len(parts) == 0 {
		parts = append(parts, all[first:])
	}

	return parts
}
