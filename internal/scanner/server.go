package scanner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// How ends talk: see ScanStart.protocol. A client says the oldest that has what
// it asks for, so that older scanners do what they can.
const (
	protocolPlaces  = 1
	protocolCommits = 2
	protocol        = protocolCommits // the newest one
)

const (
	// maxRules is how many rules one scan may be sent: the default ruleset and
	// an organization's 5,000 many times over. It bounds what a client can make
	// the scanner hold.
	maxRules = 50_000
	// defaultRoom is how many calls wait for a place. One that waits holds some
	// tens of KB.
	defaultRoom = 256
	// aliveEvery is how often a scanner says something at least.
	aliveEvery = 3 * time.Second
	// answerWithin is how long a client may take to answer: to say what to scan
	// when it has called, to take a place that it is offered, to send rules.
	answerWithin = 5 * time.Second
	// maxLimit bounds a call from the moment that its client took a place: the
	// scan, which has a shorter limit of its own, and the time until the client
	// has read all.
	maxLimit = 2 * scan.MaxTime
)

// Options are the numbers of a Server. Zero fields mean the values in
// parentheses.
type Options struct {
	Places int           // scans at once (the number of processors)
	Room   int           // calls that wait for a place; the next one is refused (256)
	Alive  time.Duration // a client hears something at least so often (3 s)
	Answer time.Duration // a client that was asked, or is told that it waits, reads and answers within (5 s)
}

// Server is the ScannerService over a scan.Scanner. It does a bounded number of
// scans at once, first come, first served.
type Server struct {
	scannerv1.UnimplementedScannerServiceServer

	scanner *scan.Scanner
	line    *line
	o       Options
	log     *slog.Logger

	drained  chan struct{} // closed when nobody gets a place any more
	drain    sync.Once
	stopping context.Context
	stop     context.CancelFunc
}

// NewServer returns a server over a scanner.
func NewServer(scanner *scan.Scanner, o Options, log *slog.Logger) *Server {
	o.Places = cmp.Or(o.Places, runtime.GOMAXPROCS(0))
	o.Room = cmp.Or(o.Room, defaultRoom)
	o.Alive = cmp.Or(o.Alive, aliveEvery)
	o.Answer = cmp.Or(o.Answer, answerWithin)
	s := &Server{scanner: scanner, line: newLine(o.Places, o.Room), o: o, log: log, drained: make(chan struct{})}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Register registers the server.
func (s *Server) Register(r grpc.ServiceRegistrar) { scannerv1.RegisterScannerServiceServer(r, s) }

// Load is how busy a scanner is.
type Load struct {
	Places  int // scans at once, at most
	Working int // places that are taken
	Waiting int // calls that wait for one
}

// Load says how busy the scanner is now.
func (s *Server) Load() Load {
	working, waiting := s.line.load()
	return Load{Places: s.o.Places, Working: working, Waiting: waiting}
}

// Drain refuses calls that have no place yet; scans that run go on. Twice is
// once.
func (s *Server) Drain() { s.drain.Do(func() { close(s.drained) }) }

// HandBack drains and breaks off the scans that run. Their callers are told
// that it is not the pull requests' fault. Twice is once.
func (s *Server) HandBack() {
	s.Drain()
	s.stop()
}

var (
	errLate = errors.New("scannergrpc: the client did not answer in time")
	errDeaf = errors.New("scannergrpc: the client did not read in time")
)

// Scan implements ScannerService.
func (s *Server) Scan(stream scannerv1.ScannerService_ScanServer) error {
	ears := listen(stream)
	first, err := ears.next(stream.Context(), s.o.Answer)
	if err != nil {
		return clientError(err)
	}
	start := first.GetStart()
	if start == nil {
		return status.Error(codes.InvalidArgument, "the first message must be `start`")
	}
	if p := start.GetProtocol(); p < 0 || p > protocol {
		return failureStatus(codes.FailedPrecondition, reasonProtocol, fmt.Sprintf(
			"The server speaks protocol %d and this scanner no newer one than %d; upgrade the scanner.", p, protocol), false)
	}
	request, err := requestOf(start)
	if err != nil {
		return err
	}
	voice := speak(stream, s.o.Alive)
	defer voice.stop()

	place, ok := s.line.enter()
	if !ok {
		return failureStatus(codes.ResourceExhausted, reasonBusy, "The scanner has no room for another call that waits.", false)
	}
	defer place.leave()
	limit, err := s.await(stream.Context(), start, place, voice, ears)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), limit)
	defer cancel()

	if request.Rules, err = s.rules(ctx, voice, ears, start.GetRulesDigest()); err != nil {
		return err
	}
	return s.scan(ctx, start, request, voice)
}

// await returns when the call has a place and the client took it, with the time
// that the scan may take.
func (s *Server) await(ctx context.Context, start *scannerv1.ScanStart, place *ticket, v *voice, e *ears) (time.Duration, error) {
	silent := start.GetProtocol() == 0 // it knows no message for this
	select {
	case <-place.turn:
	default:
		if !silent {
			hears, cancel := context.WithTimeout(ctx, s.o.Answer)
			defer cancel()
			if err := v.become(hears, func() *scannerv1.ScanResponse { return waitingMessage(place.ahead(), s.o.Places) }); err != nil {
				return 0, clientError(err)
			}
		}
	}
	select {
	case <-place.turn:
	case <-s.drained:
	case <-ctx.Done():
		return 0, status.FromContextError(ctx.Err()).Err()
	}
	select {
	case <-s.drained:
		return 0, stoppingStatus()
	default:
	}
	if silent {
		return maxLimit, nil
	}
	hears, cancel := context.WithTimeout(ctx, s.o.Answer)
	defer cancel()
	if err := v.say(hears, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Ready{
		Ready: &scannerv1.ScanReady{Places: int32(s.o.Places)},
	}}); err != nil {
		return 0, clientError(err)
	}
	m, err := e.next(ctx, s.o.Answer)
	if err != nil {
		return 0, clientError(err)
	}
	if m.GetGo() == nil {
		return 0, status.Error(codes.InvalidArgument, "after `ready` only `go` may follow")
	}
	if ms := m.GetGo().GetLimitMs(); ms > 0 && ms < maxLimit.Milliseconds() {
		return time.Duration(ms) * time.Millisecond, nil
	}
	return maxLimit, nil
}

// rules returns the rules with that digest, and has the client send them when
// they are not there.
func (s *Server) rules(ctx context.Context, v *voice, e *ears, digest string) (*scan.Ruleset, error) {
	if rules, ok := s.scanner.Rules(digest); ok {
		return rules, nil
	}
	if err := v.say(ctx, &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_NeedRules{NeedRules: &scannerv1.NeedRules{}}}); err != nil {
		return nil, clientError(err)
	}
	var all []rule.Rule
	for last := false; !last; {
		m, err := e.next(ctx, s.o.Answer)
		if err != nil {
			return nil, clientError(err)
		}
		chunk := m.GetRules()
		if chunk == nil {
			return nil, status.Error(codes.InvalidArgument, "after `need_rules` only `rules` may follow")
		}
		part, err := fromProtoRules(chunk.GetRules())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		all = append(all, part...)
		if len(all) > maxRules {
			return nil, status.Errorf(codes.InvalidArgument, "more than %d rules", maxRules)
		}
		last = chunk.GetLast()
	}
	rules, err := s.scanner.AddRules(digest, all)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return rules, nil
}

// scan scans and tells what came out, before ctx ends.
func (s *Server) scan(ctx context.Context, start *scannerv1.ScanStart, request scan.Request, v *voice) error {
	var mu sync.Mutex
	var now scan.Progress
	state := func() *scannerv1.ScanResponse {
		mu.Lock()
		defer mu.Unlock()
		return progressMessage(now)
	}
	// The first message says that the scan begins. A client that is gone is
	// noticed by its context; what is said to it can wait until then.
	if err := v.become(ctx, state); err != nil {
		return clientError(err)
	}
	scanning, giveUp := context.WithCancel(ctx)
	defer giveUp()
	defer context.AfterFunc(s.stopping, giveUp)()
	result, err := s.scanner.Scan(scanning, request, func(p scan.Progress) {
		mu.Lock()
		now = p
		mu.Unlock()
		_ = v.say(scanning, progressMessage(p))
	})
	switch {
	case err == nil:
		s.log.InfoContext(ctx, "scanned", "review_id", start.GetReviewId(), "files", result.FilesTotal, "findings", len(result.Findings), "suppressed", len(result.Suppressed), "ms", result.Times)
		return clientError(tell(ctx, v, result))
	case s.stopping.Err() != nil:
		return stoppingStatus()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failureStatus(codes.FailedPrecondition, scan.CodeScanTimeout, "The scan took more than the server's limit.", true)
	}
	return s.failed(ctx, start, err)
}

// failed turns a scan's error into a status that the client turns back.
func (s *Server) failed(ctx context.Context, start *scannerv1.ScanStart, err error) error {
	var f *scan.Failure
	if !errors.As(err, &f) {
		s.log.InfoContext(ctx, "scan given up by its server", "review_id", start.GetReviewId(), "error", err)
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
		return status.Error(codes.DeadlineExceeded, "the client did not answer in time")
	case errors.Is(err, errDeaf):
		return status.Error(codes.DeadlineExceeded, "the client did not read in time")
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

func failureStatus(code codes.Code, reason, message string, lasting bool) error {
	st, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{
		Reason: reason, Domain: errorDomain, Metadata: map[string]string{metaLasting: strconv.FormatBool(lasting)},
	})
	if err != nil {
		return fmt.Errorf("failure %s: %w", reason, err)
	}
	return st.Err()
}
