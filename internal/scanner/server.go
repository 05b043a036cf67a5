package scanner

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

const (
	// maxRules is how many rules one scan may be sent: the default ruleset and
	// an organization's 5,000 many times over. It bounds what a client can make
	// the scanner hold.
	maxRules = 50_000

	// answerWithin is how long a client may take to say what it has to say next.
	answerWithin = 5 * time.Second

	// maxCall bounds a call: the scan, which has a shorter limit of its own, and
	// the time until the client has read all.
	maxCall = scan.MaxTime + time.Minute

	// maxWaiting is how many calls wait for a slot; the next one is refused.
	maxWaiting = 256

	// maxWait is how long one may wait.
	maxWait = time.Second
)

// Options are the numbers of a Server. Zero fields mean the values in
// parentheses.
type Options struct {
	Slots  int           // scans at once (the number of processors)
	Answer time.Duration // in which a client must send what is expected of it (5 s)
	Limit  time.Duration // of a call (6 m)
}

// Server is the ScannerService over a scan.Scanner. It does a bounded number of
// scans at once and refuses the others.
type Server struct {
	scannerv1.UnimplementedScannerServiceServer

	scanner *scan.Scanner
	o       Options
	log     *slog.Logger
	slots   chan struct{} // has an element for each slot that is taken
	waiting atomic.Int32  // calls that wait for a slot

	draining atomic.Bool
	stopping context.Context
	stop     context.CancelFunc
}

// NewServer returns a server over a scanner.
func NewServer(scanner *scan.Scanner, o Options, log *slog.Logger) *Server {
	o.Slots = cmp.Or(o.Slots, runtime.GOMAXPROCS(0))
	o.Answer = cmp.Or(o.Answer, answerWithin)
	o.Limit = cmp.Or(o.Limit, maxCall)
	s := &Server{scanner: scanner, o: o, log: log, slots: make(chan struct{}, o.Slots)}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Register registers the server.
func (s *Server) Register(r grpc.ServiceRegistrar) { scannerv1.RegisterScannerServiceServer(r, s) }

// Slots says how many scans the server does at once, and how many slots are
// taken now.
func (s *Server) Slots() (all, taken int) { return s.o.Slots, len(s.slots) }

// Drain refuses new scans; those that run go on. Twice is once.
func (s *Server) Drain() { s.draining.Store(true) }

// HandBack drains and breaks off the scans that run. Their callers are told
// that it is not the pull requests' fault. Twice is once.
func (s *Server) HandBack() {
	s.Drain()
	s.stop()
}

var errLate = errors.New("scanner: the client neither reads nor answers in time")

// Scan implements ScannerService.
func (s *Server) Scan(stream scannerv1.ScannerService_ScanServer) error {
	ctx, cancel := context.WithTimeoutCause(stream.Context(), s.o.Limit, errLate)
	defer cancel()
	c := &call{stream: stream, answer: s.o.Answer}
	first, err := c.next(ctx)
	if err != nil {
		return clientError(err)
	}
	start := first.GetStart()
	request, err := requestOf(start)
	if err != nil {
		return err
	}
	if !s.takeSlot(ctx, time.Duration(start.GetWaitMs())*time.Millisecond) {
		return failureStatus(codes.ResourceExhausted, reasonBusy, "The scanner has no free slot.", false)
	}
	defer func() { <-s.slots }()
	if s.draining.Load() {
		return stoppingStatus()
	}
	if request.Rules, err = s.rules(ctx, c, start.GetRulesDigest()); err != nil {
		return err
	}

	return s.scan(ctx, c, start, request)
}

// takeSlot takes a slot, and waits for one if need be; first come, first served.
func (s *Server) takeSlot(ctx context.Context, wait time.Duration) bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > maxWaiting || wait <= 0 {
		return false
	}
	timer := time.NewTimer(min(wait, maxWait))
	defer timer.Stop()
	select {
	case s.slots <- struct{}{}: // senders get their turns in order
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// rules accepts a scan and returns the rules with that digest, which it has the
// client send when they are not there.
func (s *Server) rules(ctx context.Context, c *call, digest string) (*scan.Ruleset, error) {
	known, ok := s.scanner.Rules(digest)
	if err := c.send(ctx, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Accepted{
		Accepted: &scannerv1.ScanAccepted{Slots: int32(s.o.Slots), NeedRules: !ok},
	}}); err != nil {
		return nil, clientError(err)
	}
	if ok {
		return known, nil
	}
	var all []rule.Rule
	for last := false; !last; {
		m, err := c.next(ctx)
		if err != nil {
			return nil, clientError(err)
		}
		batch := m.GetRules()
		if batch == nil {
			return nil, status.Error(codes.InvalidArgument, "after `start` only `rules` may follow")
		}
		part, err := fromProtoRules(batch.GetRules())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		all = append(all, part...)
		if len(all) > maxRules {
			return nil, status.Errorf(codes.InvalidArgument, "more than %d rules", maxRules)
		}
		last = batch.GetLast()
	}

	rules, err := s.scanner.AddRules(digest, all)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}

	return rules, nil
}

// scan scans and sends what came out, before ctx ends.
func (s *Server) scan(ctx context.Context, c *call, start *scannerv1.ScanStart, request scan.Request) error {
	// The first message says that the scan begins.
	if err := c.send(ctx, progressMessage(scan.Progress{})); err != nil {
		return clientError(err)
	}
	scanning, giveUp := context.WithCancel(ctx)
	defer giveUp()
	defer context.AfterFunc(s.stopping, giveUp)()
	result, err := s.scanner.Scan(scanning, request, func(p scan.Progress) {
		_ = c.send(scanning, progressMessage(p)) // a client that is gone ends the context
	})
	switch {
	case err == nil && scanning.Err() == nil:
		s.log.InfoContext(ctx, "scanned", "review_id", start.GetReviewId(), "files", result.FilesTotal,
			"findings", len(result.Findings), "suppressed", len(result.Suppressed), "ms", result.Times)
		return clientError(c.sendResult(ctx, result))
	case s.stopping.Err() != nil:
		return stoppingStatus()
	case ctx.Err() != nil:
		s.log.InfoContext(ctx, "scan given up by its server", "review_id", start.GetReviewId(), "error", context.Cause(ctx))
		return clientError(context.Cause(ctx))
	}
	return s.failed(ctx, start, err)
}

// failed turns a scan's error into a status that the client turns back.
func (s *Server) failed(ctx context.Context, start *scannerv1.ScanStart, err error) error {
	var f *scan.Failure
	if !errors.As(err, &f) {
		return status.FromContextError(err).Err()
	}
	s.log.WarnContext(ctx, "scan failed", "review_id", start.GetReviewId(), "organization", start.GetOrganization(),
		"repo", start.GetRepo(), "pr_number", start.GetPrNumber(), "code", f.Code, "error", err)
	code := codes.Unavailable
	if f.Lasting {
		code = codes.FailedPrecondition
	}

	return failureStatus(code, f.Code, f.Message, f.Lasting)
}

// clientError is the status of a call whose client did not go on.
func clientError(err error) error {
	switch {
	case errors.Is(err, errLate):
		return status.Error(codes.DeadlineExceeded, "the client neither reads nor answers in time")
	case errors.Is(err, io.EOF):
		return status.Error(codes.InvalidArgument, "the client ended before it said all")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return err
}

func stoppingStatus() error {
	return failureStatus(codes.Unavailable, reasonStopping, "The scanner is stopping.", false)
}

// call is a call from the scanner's side. gRPC's own Recv and Send wait for a
// client for as long as the call lasts. These have a limit; after it the handler
// must return, which ends the call and with it what still waits.
type call struct {
	stream scannerv1.ScannerService_ScanServer
	answer time.Duration
}

// next returns the client's next message, for which it has a limited time.
func (c *call) next(ctx context.Context) (*scannerv1.ScanRequest, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.answer, errLate)
	defer cancel()
	var m *scannerv1.ScanRequest
	err := within(ctx, func() (err error) {
		m, err = c.stream.Recv()
		return err
	})
	if err != nil {
		return nil, err
	}

	return m, nil
}

// send sends a message before ctx ends.
func (c *call) send(ctx context.Context, m *scannerv1.ScanResponse) error {
	return within(ctx, func() error { return c.stream.Send(m) })
}

// within does something that may hang, and waits for it no longer than until
// ctx ends.
func within(ctx context.Context, do func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sendResult sends what a scan found, in messages of bounded size. In all it has
// what a server takes: a scan is truncated by that.
func (c *call) sendResult(ctx context.Context, r *scan.Result) error {
	var messages []*scannerv1.ScanResponse
	findings, suppressed := converted(r.Findings, toProtoFinding), converted(r.Suppressed, toProtoFinding)
	for _, part := range append(batches(findings), batches(suppressed)...) {
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
		if err := c.send(ctx, m); err != nil {
			return err
		}
	}

	return nil
}

// batches cuts messages into runs of about batchSize bytes.
func batches[M proto.Message](all []M) [][]M {
	var parts [][]M
	size, first := 0, 0
	for i, m := range all {
		size += proto.Size(m)
		if size >= batchSize || i == len(all)-1 {
			parts = append(parts, all[first:i+1])
			size, first = 0, i+1
		}
	}

	return parts
}
