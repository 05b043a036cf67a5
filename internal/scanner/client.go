// Package scanner is the two ends of the scanner's gRPC interface: a server
// over scan, and a client that is the review side's Scanner. Both ends are
// always used, in one process over memory and between machines over TCP.
package scanner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// ClientOptions are what a Client needs, and its numbers. Zero numbers mean the
// values in parentheses.
type ClientOptions struct {
	// Scanners are the HOST:PORT of scanners. A name stands for all of its
	// addresses.
	Scanners []string

	// Dial makes a connection to an address, an IP:PORT, of the scanner that is
	// configured as authority, a HOST:PORT. It must not wait.
	Dial func(address, authority string) (*grpc.ClientConn, error)

	// Lookup returns the addresses of a name (net.DefaultResolver.LookupHost).
	Lookup func(ctx context.Context, name string) ([]string, error)
	Log    *slog.Logger // (none)

	Limit   time.Duration // of one call; the scanner's own limit of a scan is 5 m (5 m 30 s)
	Accept  time.Duration // in which a scanner must accept or refuse a scan (5 s)
	Wait    time.Duration // at a scanner for a free slot, when none has one (250 ms)
	Retry   time.Duration // until a scanner that failed is asked again (1 s)
	Refresh time.Duration // between two lookups of names (10 s)
}

func (o ClientOptions) withDefaults() ClientOptions {
	o.Limit = cmp.Or(o.Limit, scan.MaxTime+30*time.Second)
	o.Accept = cmp.Or(o.Accept, 5*time.Second)
	o.Wait = cmp.Or(o.Wait, 250*time.Millisecond)
	o.Retry = cmp.Or(o.Retry, time.Second)
	o.Refresh = cmp.Or(o.Refresh, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	return o
}

// Client has scanners do scans. It keeps a connection to each and watches it, so
// that calls go only where they can be answered. It is a review.Scanner, and
// safe for concurrent use.
type Client struct {
	o     ClientOptions
	done  context.Context
	close context.CancelFunc
	loops sync.WaitGroup

	mu      sync.Mutex
	peers   []*peer
	changed chan struct{} // closed, and made anew, when a scan may begin that could not before

	scans, running atomic.Int64 // all, and those that have a slot
}

// NewClient returns a client that connects to its scanners until Close.
func NewClient(o ClientOptions) *Client {
	c := emptyClient(o)
	c.loops.Go(c.followNames)
	return c
}

// NewLocalClient returns a client of one scanner that is always there: that of
// this process. There is nothing to close.
func NewLocalClient(conn grpc.ClientConnInterface) *Client {
	c := emptyClient(ClientOptions{})
	c.peers = []*peer{{address: "local", rpc: scannerv1.NewScannerServiceClient(conn), ready: true}}
	return c
}

func emptyClient(o ClientOptions) *Client {
	c := &Client{o: o.withDefaults(), changed: make(chan struct{})}
	c.done, c.close = context.WithCancel(context.Background())
	return c
}

// Close ends the connections, and with them the calls that are still open.
func (c *Client) Close() error {
	c.close()
	c.loops.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, p := range c.peers {
		if p.conn != nil {
			all = append(all, p.conn.Close())
		}
	}

	c.peers = nil
	return errors.Join(all...)
}

// Scan implements review.Scanner. A repository always prefers the same
// scanners, because they have it in their caches. The scan goes to the first of
// them that has a free slot, and waits while none has one. Once
// it began it is never tried again here: its outcome, and whether that counts,
// are the caller's.
func (c *Client) Scan(ctx context.Context, j review.Job, progress func(review.Progress)) (finding.Result, error) {
	c.scans.Add(1)
	defer c.scans.Add(-1)
	for {
		p, busy, err := c.reserve(ctx, j.Organization, j.Repo)
		if err != nil {
			return finding.Result{}, err
		}
		start := startOf(j)
		if busy {
			start.WaitMs = int32(c.o.Wait.Milliseconds())
		}
		outcome, begun, err := c.call(ctx, p, start, j, progress)
		if err != nil && !begun && ctx.Err() == nil && elsewhere(err) {
			c.release(p, err)
			continue
		}
		c.release(p, nil)
		switch {
		case err == nil:
			return outcome, nil
		case ctx.Err() != nil:
			return finding.Result{}, ctx.Err()
		}
		return finding.Result{}, scanError(err)
	}
}

// call scans at one scanner. begun tells whether the scan began, or may have.
func (c *Client) call(
	ctx context.Context, p *peer, start *scannerv1.ScanStart, j review.Job, progress func(review.Progress),
) (o finding.Result, begun bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Limit)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	late := time.AfterFunc(c.o.Accept, func() { giveUp(errSilent) })
	defer late.Stop()

	accepted, stream, err := ask(ctx, p, start)
	if context.Cause(ctx) == errSilent { //nolint:errorlint // it is set as it is
		return o, false, errSilent
	}
	if err != nil {
		return o, false, err
	}
	late.Stop()
	c.accepted(p, int(accepted.GetSlots()))
	c.running.Add(1)
	defer c.running.Add(-1)

	if accepted.GetNeedRules() {
		if err := sendRules(stream, j.Rules.Rules); err != nil {
			return o, false, err
		}
	}

	o, begun, err = receive(stream, j.MaxFindings, progress)

	// Of a scanner that is lost now it can't be told whether it began.
	return o, begun || isLost(err), err
}

// ask asks a scanner for a slot.
func ask(ctx context.Context, p *peer, start *scannerv1.ScanStart) (
	*scannerv1.ScanAccepted, scannerv1.ScannerService_ScanClient, error,
) {
	stream, err := p.rpc.Scan(ctx, grpc.MaxCallRecvMsgSize(maxAnswer), grpc.MaxCallSendMsgSize(MaxMessage))
	if err != nil {
		return nil, nil, err
	}
	if err := send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: start}}); err != nil {
		return nil, nil, err
	}
	m, err := stream.Recv()
	if err != nil {
		return nil, nil, err
	}
	if m.GetAccepted() == nil {
		return nil, nil, fmt.Errorf("%w: %T came before `accepted`", errProtocol, m.GetMessage())
	}

	return m.GetAccepted(), stream, nil
}

// receive follows an accepted scan to its end.
func receive(stream scannerv1.ScannerService_ScanClient, most int, progress func(review.Progress)) (
	_ finding.Result, begun bool, err error,
) {
	received := outcome{most: most}
	for {
		m, err := stream.Recv()
		if err != nil {
			return finding.Result{}, begun, err
		}
		switch m := m.GetMessage().(type) {
		case *scannerv1.ScanResponse_Progress:
			begun = true
			progress(review.Progress{FilesDone: int(m.Progress.GetFilesDone()), FilesTotal: int(m.Progress.GetFilesTotal())})
		case *scannerv1.ScanResponse_Findings:
			err = received.addFindings(m.Findings.GetFindings())
		case *scannerv1.ScanResponse_Skips:
			err = received.addSkips(m.Skips.GetSkips())
		case *scannerv1.ScanResponse_Result:
			if err := received.addResult(m.Result); err != nil {
				return finding.Result{}, begun, err
			}

			// The slot is free when the call has ended. Whatever ends it, the result is there.
			_, _ = stream.Recv()
			return received.Result, begun, nil
		default:
			err = fmt.Errorf("%w: unexpected message %T", errProtocol, m)
		}
		if err != nil {
			return finding.Result{}, begun, err
		}
	}
}

// send hides the io.EOF of a broken stream, whose real error Recv has.
func send(stream scannerv1.ScannerService_ScanClient, m *scannerv1.ScanRequest) error {
	if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	return nil
}

func sendRules(stream scannerv1.ScannerService_ScanClient, rules []rule.Rule) error {
	parts := batches(converted(rules, toProtoRule))
	if len(parts) == 0 {
		parts = [][]*scannerv1.ScanRule{nil}
	}
	for i, part := range parts {
		batch := &scannerv1.RuleBatch{Rules: part, Last: i == len(parts)-1}
		if err := send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: batch}}); err != nil {
			return err
		}
	}

	return nil
}
