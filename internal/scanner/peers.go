package scanner

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/grpc"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
)

// peer is a scanner and the connection to it. What follows rpc is guarded by
// the client's mu.
type peer struct {
	address string           // for logs and metrics
	conn    *grpc.ClientConn // nil for one that needs no watching
	rpc     scannerv1.ScannerServiceClient

	ready   bool      // the connection is up, and the scanner says that it serves
	removed bool      // its name does not lead to it any more
	calls   int       // that are open
	slots   int       // as the scanner said last; 0 while it said nothing
	busy    bool      // it had no free slot when it was asked last
	failure error     // the fault for which the last scan did not begin there; nil for none
	retryAt time.Time // when it is asked again after a failure
	logged  string    // the trouble that was logged last
}

// free reports whether a scan may be sent to the peer. While it is not known how
// many slots a scanner has, and after it failed, it gets one scan at a time.
func (p *peer) free(now time.Time) bool {
	limit := p.slots
	if p.failure != nil {
		limit = 1
	}

	return p.ready && !now.Before(p.retryAt) && p.calls < max(limit, 1)
}

// hopeful reports whether it is worth waiting for the peer.
func (p *peer) hopeful(now time.Time) bool { return p.ready && !now.Before(p.retryAt) }

// preference is how much a repository likes a scanner (rendezvous hashing): when
// scanners come and go, only the repositories of those move.
func preference(address, organization, repo string) uint64 {
	return xxhash.Sum64String(strings.Join([]string{address, organization, repo}, "\x00"))
}

// reserve chooses a scanner that may have a free slot and counts the scan as one
// of its calls. busy tells that it had none when it was asked last, and that the
// same is true of all others that may be asked. It fails when no scanner takes
// scans.
func (c *Client) reserve(ctx context.Context, organization, repo string) (_ *peer, busy bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		now := time.Now()
		if p := c.choose(now, organization, repo); p != nil {
			p.calls++
			return p, p.busy, nil
		}
		if !slices.ContainsFunc(c.peers, func(p *peer) bool { return p.hopeful(now) }) {
			return nil, false, c.noScanner()
		}
		c.wait(ctx, now)
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
	}
}

// choose returns the scanner to ask for a slot, nil when none may be asked now.
// While all are busy it is any of them, so that the scans that wait spread.
func (c *Client) choose(now time.Time, organization, repo string) *peer {
	var idle, busy []*peer
	for _, p := range c.peers {
		switch {
		case !p.free(now):
		case p.busy:
			busy = append(busy, p)
		default:
			idle = append(idle, p)
		}
	}

	if len(idle) > 0 {
		return slices.MaxFunc(idle, func(a, b *peer) int {
			return cmp.Compare(preference(a.address, organization, repo), preference(b.address, organization, repo))
		})
	}

	if len(busy) > 0 {
		return busy[rand.IntN(len(busy))] //nolint:gosec // whichever
	}

	return nil
}

// Await implements review.Scanner: it returns when a scanner has a free slot as
// far as is known.
func (c *Client) Await(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ctx.Err() == nil {
		now := time.Now()
		if slices.ContainsFunc(c.peers, func(p *peer) bool { return p.free(now) }) {
			return
		}
		c.wait(ctx, now)
	}
}

// wait returns when something changed, when a scanner may be asked again, or
// when ctx is done. It gives up mu meanwhile.
func (c *Client) wait(ctx context.Context, now time.Time) {
	changed := c.changed
	pause := time.Minute
	for _, p := range c.peers {
		if p.ready && p.retryAt.After(now) {
			pause = min(pause, p.retryAt.Sub(now))
		}
	}

	c.mu.Unlock()
	defer c.mu.Lock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
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
	p.slots, p.busy, p.failure, p.logged = slots, false, nil, ""
	c.wake()
}

// release ends the count of a call. refused is why its scan may begin elsewhere;
// nil when it began, or had another reason to end.
func (c *Client) release(p *peer, refused error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.calls--
	c.closeUnused(p)
	switch {
	case refused == nil:
		p.busy = false // a slot is free now
	case isBusy(refused):
		p.busy, p.failure = true, nil
	default:
		p.failure, p.retryAt = refused, time.Now().Add(c.o.Retry)
		c.complain(p, "a scanner takes no scans", refused)
	}
	c.wake()
}

// noScanner is why no scan can begin. mu must be held.
func (c *Client) noScanner() *review.ScanError {
	reason := errNoScanner
	for _, p := range c.peers {
		if p.ready && p.failure != nil {
			reason = p.failure
		}
	}

	return notBegun(reason)
}

// complain logs trouble with a scanner, the same only once until it is over. mu
// must be held.
func (c *Client) complain(p *peer, what string, err error) {
	if p.logged == err.Error() {
		return
	}
	p.logged = err.Error()
	c.o.Log.Warn(what, "scanner", p.address, "error", err)
}

// setReady notes whether a scanner can be reached and serves.
func (c *Client) setReady(p *peer, ready bool) {
	c.mu.Lock()
	ready = ready && !p.removed
	was := p.ready
	p.ready = ready
	if ready && !was {
		p.busy, p.failure, p.retryAt, p.logged = false, nil, time.Time{}, ""
	}
	if ready != was {
		c.wake()
	}
	c.mu.Unlock()
	if ready && !was {
		c.o.Log.Info("a scanner can be reached", "scanner", p.address)
	}
}

// closeUnused ends the connection of a removed scanner when nobody calls it. mu
// must be held.
func (c *Client) closeUnused(p *peer) {
	if p.removed && p.calls == 0 {
		_ = p.conn.Close() // it fails only when it was closed before
	}
}

// PeerState is what a client knows of one scanner.
type PeerState struct {
	Address string // IP:PORT, or `local`
	Ready   bool   // it can be reached and says that it serves
	Calls   int    // of this client
}

// Peers is what a client knows of its scanners, in the order of their addresses.
func (c *Client) Peers() []PeerState {
	c.mu.Lock()
	defer c.mu.Unlock()
	peers := make([]PeerState, 0, len(c.peers))
	for _, p := range c.peers {
		peers = append(peers, PeerState{Address: p.address, Ready: p.ready, Calls: p.calls})
	}
	slices.SortFunc(peers, func(a, b PeerState) int { return cmp.Compare(a.Address, b.Address) })
	return peers
}

// Waiting counts the scans that no scanner has accepted yet.
func (c *Client) Waiting() int { return int(c.scans.Load() - c.running.Load()) }
