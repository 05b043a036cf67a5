// Package scanner is the two ends of the scanner's gRPC interface: a server
// over scan, and a client that is the review side's Scanner. Both ends are
// always used, in one process over memory and between machines over TCP.
package scanner

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/grpc"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

const (
	// callLimit bounds a call. The scanner's own limit of a scan is shorter.
	callLimit = scan.MaxTime + 30*time.Second
	// slotWait is how long a scan waits at one scanner when all have refused it.
	slotWait = 250 * time.Millisecond
	// retryAfter is how long a scanner that failed is left alone.
	retryAfter = time.Second
)

// ClientOptions are what a Client needs.
type ClientOptions struct {
	// Scanners are the HOST:PORT of scanners. A name stands for all of its
	// addresses.
	Scanners []string

	// Dial makes a connection to an address, an IP:PORT, of the scanner that is
	// configured as authority, a HOST:PORT. It must not wait.
	Dial func(address, authority string) (*grpc.ClientConn, error)

	// Lookup returns the addresses of a name, as net.Resolver.LookupNetIP does; nil
	// for the system's resolver.
	Lookup func(ctx context.Context, network, name string) ([]netip.Addr, error)

	Log *slog.Logger
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

// peer is a scanner and the connection to it. What follows rpc is guarded by
// the client's mu.
type peer struct {
	address string           // for logs and metrics
	conn    *grpc.ClientConn // nil for the scanner of this process
	rpc     scannerv1.ScannerServiceClient

	ready   bool      // the connection is up, and the scanner says that it serves
	removed bool      // its name does not lead to it any more
	calls   int       // that are open
	slots   int       // as the scanner said last; 0 while it said nothing
	retryAt time.Time // when it is asked again after a failure
	logged  string    // the trouble that was logged last
}

// usable reports whether the peer takes scans, now or when a call ends.
func (p *peer) usable() bool { return p.ready && !time.Now().Before(p.retryAt) }

// free reports whether the peer may have a free slot. While it is not known how
// many slots a scanner has, it gets one scan at a time.
func (p *peer) free() bool { return p.usable() && p.calls < max(p.slots, 1) }

// NewClient returns a client that connects to its scanners until Close.
func NewClient(o ClientOptions) *Client {
	if o.Lookup == nil {
		o.Lookup = net.DefaultResolver.LookupNetIP
	}

	c := &Client{o: o, changed: make(chan struct{})}
	c.done, c.close = context.WithCancel(context.Background())
	c.loops.Go(c.followNames)

	return c
}

// NewLocalClient returns a client of one scanner that is always there: that of
// this process. There is nothing to close.
func NewLocalClient(conn grpc.ClientConnInterface) *Client {
	local := &peer{address: "local", rpc: scannerv1.NewScannerServiceClient(conn), ready: true}
	o := ClientOptions{Log: slog.New(slog.DiscardHandler)}

	return &Client{o: o, peers: []*peer{local}, changed: make(chan struct{})}
}

// Close ends the connections, and with them the calls that are still open.
func (c *Client) Close() error {
	c.close()
	c.loops.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, p := range c.peers {
		all = append(all, p.conn.Close())
	}
	c.peers = nil

	return errors.Join(all...)
}

// Scan implements review.Scanner. A repository always prefers the same
// scanners, because they have it in their caches. The scan goes to the first of
// them that has a free slot, and waits while none has one. Once it began it is
// never tried again here, unless the scanner hands it back: its outcome, and
// whether that counts, are the caller's.
func (c *Client) Scan(ctx context.Context, j review.Job, progress func(review.Progress)) (finding.Result, error) {
	c.scans.Add(1)
	defer c.scans.Add(-1)

	asked := map[*peer]bool{}
	reason := errors.New("scanner: none can be reached")
	for {
		p, err := c.reserve(ctx, j, asked, reason)
		if err != nil {
			return finding.Result{}, err
		}

		start := startOf(j)
		if asked[p] {
			start.WaitMs = int32(slotWait.Milliseconds())
		}
		asked[p] = true

		result, begun, err := c.call(ctx, p, start, j, progress)
		again := err != nil && !begun && ctx.Err() == nil && elsewhere(err)
		c.release(p, err, again)

		switch {
		case again:
			reason = err
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			return finding.Result{}, ctx.Err()
		default:
			return finding.Result{}, scanError(err, true)
		}
	}
}

// reserve chooses a scanner that may have a free slot and counts the scan as one
// of its calls. It fails when no scanner takes scans; reason is why the last one
// did not.
func (c *Client) reserve(ctx context.Context, j review.Job, asked map[*peer]bool, reason error) (*peer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if p := c.choose(j.Organization+"\x00"+j.Repo, asked); p != nil {
			p.calls++
			return p, nil
		}
		if !slices.ContainsFunc(c.peers, (*peer).usable) {
			return nil, scanError(reason, false)
		}
		if c.wait(ctx); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// choose returns the scanner to ask for a slot, nil when none may be asked now.
// Of those that have not refused the scan it is the one that the repository
// prefers (rendezvous hashing): when scanners come and go, only the repositories
// of those move. When all have refused, it is any, so that waiting scans spread.
func (c *Client) choose(repo string, asked map[*peer]bool) *peer {
	var fresh, refused []*peer
	for _, p := range c.peers {
		switch {
		case !p.free():
		case asked[p]:
			refused = append(refused, p)
		default:
			fresh = append(fresh, p)
		}
	}

	if len(fresh) > 0 {
		return preferred(fresh, repo)
	}
	if len(refused) > 0 {
		return refused[rand.IntN(len(refused))] //nolint:gosec // whichever
	}

	return nil
}

// preferred is the one of peers that a repository prefers.
func preferred(peers []*peer, repo string) *peer {
	preference := func(p *peer) uint64 { return xxhash.Sum64String(p.address + "\x00" + repo) }
	return slices.MaxFunc(peers, func(a, b *peer) int { return cmp.Compare(preference(a), preference(b)) })
}

// Await implements review.Scanner: it returns when a scanner has a free slot as
// far as is known.
func (c *Client) Await(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ctx.Err() == nil && !slices.ContainsFunc(c.peers, (*peer).free) {
		c.wait(ctx)
	}
}

// Available implements review.Scanner.
func (c *Client) Available() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.peers, (*peer).usable)
}

// wait returns when something changed, when a scanner that failed may be asked
// again, or when ctx is done. It gives up mu meanwhile.
func (c *Client) wait(ctx context.Context) {
	changed := c.changed
	c.mu.Unlock()
	defer c.mu.Lock()

	select {
	case <-changed:
	case <-time.After(retryAfter):
	case <-ctx.Done():
	}
}

// wake wakes all that wait. mu must be held.
func (c *Client) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// accepted notes that a scanner took a scan, and how many it takes.
func (c *Client) accepted(p *peer, slots int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.slots, p.logged = slots, ""
	c.wake()
}

// release ends the count of a call. A scanner that failed before the scan began
// is left alone for a moment, unless all that it lacks is a free slot.
func (c *Client) release(p *peer, err error, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.calls--
	c.closeUnused(p)
	if reason, _ := reasonOf(err); failed && reason != reasonBusy {
		p.retryAt = time.Now().Add(retryAfter)
		c.complain(p, "a scanner takes no scans", err)
	}
	c.wake()
}

// closeUnused ends the connection of a removed scanner when nobody calls it. mu
// must be held.
func (c *Client) closeUnused(p *peer) {
	if p.removed && p.calls == 0 {
		_ = p.conn.Close() // it fails only when it was closed before
	}
}

// call scans at one scanner. begun tells whether the scan began, or may have, and
// was not handed back.
func (c *Client) call(
	ctx context.Context, p *peer, start *scannerv1.ScanStart, j review.Job, progress func(review.Progress),
) (result finding.Result, begun bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()

	stream, err := p.rpc.Scan(ctx, grpc.MaxCallRecvMsgSize(maxAnswer))
	if err != nil {
		return result, false, err
	}
	if err := send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: start}}); err != nil {
		return result, false, err
	}
	m, err := stream.Recv()
	accepted := m.GetAccepted()
	switch {
	case err != nil:
		return result, false, err
	case accepted == nil:
		return result, false, unexpected(m)
	}

	c.accepted(p, int(accepted.GetSlots()))
	c.running.Add(1)
	defer c.running.Add(-1)

	if accepted.GetNeedRules() {
		err := sendRules(j.Rules.Rules, func(batch *scannerv1.RuleBatch) error {
			return send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: batch}})
		})
		if err != nil {
			return result, false, err
		}
	}
	progress(review.Progress{})
	result, err = receive(stream, j.MaxFindings, progress)
	reason, _ := reasonOf(err)

	return result, reason != reasonStopping, err
}

// send hides the io.EOF of a broken stream, whose real error Recv has.
func send[M any](stream interface{ Send(M) error }, m M) error {
	if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	return nil
}

func sendRules(rules []rule.Rule, send func(*scannerv1.RuleBatch) error) error {
	parts := batches(converted(rules, toProtoRule))
	for i, part := range parts {
		if err := send(&scannerv1.RuleBatch{Rules: part, Last: i == len(parts)-1}); err != nil {
			return err
		}
	}

	return nil
}

// receive follows an accepted scan to its end.
func receive(
	stream scannerv1.ScannerService_ScanClient, most int, progress func(review.Progress),
) (finding.Result, error) {
	received := received{most: most}
	for {
		m, err := stream.Recv()
		if err != nil {
			return finding.Result{}, err
		}

		switch m.GetMessage().(type) {
		case *scannerv1.ScanResponse_Progress:
			p := m.GetProgress()
			progress(review.Progress{FilesDone: int(p.GetFilesDone()), FilesTotal: int(p.GetFilesTotal())})
		case *scannerv1.ScanResponse_Findings:
			err = received.addFindings(m.GetFindings().GetFindings())
		case *scannerv1.ScanResponse_Skips:
			err = received.addSkips(m.GetSkips().GetSkips())
		case *scannerv1.ScanResponse_Result:
			if err = received.addResult(m.GetResult()); err == nil {
				// The slot is free when the call has ended. Whatever ends it, the result is there.
				_, _ = stream.Recv()
				return received.Result, nil
			}
		default:
			err = unexpected(m)
		}
		if err != nil {
			return finding.Result{}, err
		}
	}
}
