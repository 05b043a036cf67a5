package scanner

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
)

// PoolOptions are what a Pool needs, and its numbers. Zero numbers mean the
// values in parentheses.
type PoolOptions struct {
	// Scanners are the HOST:PORT of scanners. A name stands for all of its
	// addresses.
	Scanners []string
	// Dial makes a connection to an address, an IP:PORT, of the scanner that is
	// configured as authority, a HOST:PORT. It must not wait.
	Dial func(address, authority string) (*grpc.ClientConn, error)
	// Lookup returns the addresses of a name (net.DefaultResolver.LookupHost).
	Lookup func(ctx context.Context, name string) ([]string, error)
	Log    *slog.Logger

	Silence time.Duration // after which a scanner counts as lost (15 s)
	Hedge   time.Duration // after which others are asked beside one that does not answer (1 s)
	Again   time.Duration // until a scanner whose line was full is asked again; up to twice that (1 s)
	Refresh time.Duration // between two lookups of names (10 s)
}

func (o PoolOptions) withDefaults() PoolOptions {
	o.Silence = cmp.Or(o.Silence, 15*time.Second)
	o.Hedge = cmp.Or(o.Hedge, time.Second)
	o.Again = cmp.Or(o.Again, time.Second)
	o.Refresh = cmp.Or(o.Refresh, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Pool is the connections to scanners: one each, watched, so that calls go only
// where they can be answered. It is safe for concurrent use.
type Pool struct {
	o     PoolOptions
	done  context.Context
	close context.CancelFunc
	loops sync.WaitGroup

	mu      sync.Mutex
	peers   []*peer
	changed chan struct{} // closed, and made anew, when other peers are ready
}

// peer is a scanner and the connection to it.
type peer struct {
	name string // the address, for logs and metrics
	rpc  scannerv1.ScannerServiceClient
	conn *grpc.ClientConn // nil for one that needs no watching

	// Guarded by the pool's mu.
	ready   bool
	gone    bool // its name does not lead to it any more
	calls   int  // that are open
	places  int  // as the scanner said last; 0 while it did not
	silent  bool // it counts as lost since it was last heard
	trouble string
}

// SinglePool returns a pool of one scanner that is always there: that of this
// process. There is nothing to close.
func SinglePool(conn grpc.ClientConnInterface) *Pool {
	p := emptyPool(PoolOptions{})
	p.peers = []*peer{{name: "local", rpc: scannerv1.NewScannerServiceClient(conn), ready: true}}
	return p
}

func emptyPool(o PoolOptions) *Pool {
	p := &Pool{o: o.withDefaults(), changed: make(chan struct{})}
	p.done, p.close = context.WithCancel(context.Background())
	return p
}

// NewPool returns a pool that connects to its scanners until Close.
func NewPool(o PoolOptions) *Pool {
	p := emptyPool(o)
	p.loops.Go(p.follow)
	return p
}

// Close ends the connections, and with them the calls that are still open.
func (p *Pool) Close() error {
	p.close()
	p.loops.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []error
	for _, m := range p.peers {
		if m.conn != nil {
			all = append(all, m.conn.Close())
		}
	}
	p.peers = nil
	return errors.Join(all...)
}

// ScannerState is what a pool knows of one scanner.
type ScannerState struct {
	Address string // IP:PORT, or `local`
	Ready   bool   // it can be reached and says that it serves
	Calls   int    // of this pool, that wait or scan
	Places  int    // scans that it does at once, for all servers; 0 while not known
}

// States are those of all scanners, in the order of their addresses.
func (p *Pool) States() []ScannerState {
	p.mu.Lock()
	defer p.mu.Unlock()
	states := make([]ScannerState, 0, len(p.peers))
	for _, m := range p.peers {
		states = append(states, ScannerState{Address: m.name, Ready: m.ready, Calls: m.calls, Places: m.places})
	}
	slices.SortFunc(states, func(a, b ScannerState) int { return cmp.Compare(a.Address, b.Address) })
	return states
}

// ready returns the scanners that can be reached, those first that have the
// fewest of our calls for their places. Among equals, a repository always
// prefers the same ones: they have it in their cache. changed is closed when
// others are ready.
func (p *Pool) ready(organization, repo string) (peers []*peer, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	preference := make(map[*peer]uint64, len(p.peers))
	for _, m := range p.peers {
		if m.ready {
			peers = append(peers, m)
			preference[m] = affinity(m.name, organization, repo)
		}
	}
	slices.SortFunc(peers, func(a, b *peer) int {
		if a.silent != b.silent {
			if a.silent {
				return 1
			}
			return -1
		}
		return cmp.Or(
			cmp.Compare(a.calls*max(1, b.places), b.calls*max(1, a.places)),
			cmp.Compare(preference[b], preference[a]),
		)
	})
	return peers, p.changed
}

// affinity is how much a repository likes a scanner (rendezvous hashing): when
// scanners come and go, only the repositories of those move.
func affinity(scanner, organization, repo string) uint64 {
	h := fnv.New64a()
	for _, part := range []string{scanner, organization, repo} {
		_, _ = io.WriteString(h, part) // it never fails
		_, _ = h.Write([]byte{0})
	}
	// FNV's last bytes hardly reach its upper bits; this mixes them (splitmix64).
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (p *Pool) anyReady() (ready bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.peers, func(m *peer) bool { return m.ready }), p.changed
}

func (p *Pool) began(m *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.calls++
}

func (p *Pool) ended(m *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.calls--
	p.closeUnused(m)
}

// closeUnused ends the connection of a scanner that is gone when nobody calls
// it. p.mu must be held.
func (p *Pool) closeUnused(m *peer) {
	if m.gone && m.calls == 0 {
		_ = m.conn.Close() // it fails only when it was closed before
	}
}

// heard notes a sign of life of a scanner, and its number of places.
func (p *Pool) heard(m *peer, places int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.silent, m.places = false, places
}

// silent notes that a scanner gave no sign of life: it is asked last.
func (p *Pool) silent(m *peer) {
	p.mu.Lock()
	m.silent = true
	p.mu.Unlock()
	p.complain(m, "a scanner gave no sign of life", errSilent)
}

// refusedBy notes why a scanner that can be reached takes no scans.
func (p *Pool) refusedBy(m *peer, err error) {
	p.complain(m, "a scanner takes no scans", err)
}

// complain logs trouble with a scanner, the same only once until it is over.
func (p *Pool) complain(m *peer, what string, err error) {
	p.mu.Lock()
	known := m.trouble == err.Error()
	m.trouble = err.Error()
	p.mu.Unlock()
	if !known {
		p.o.Log.Warn(what, "scanner", m.name, "error", err)
	}
}

// watch keeps m.ready up to date until the pool is closed or the peer gone. A
// connection that keeps failing stays in one state whatever the reason, which
// is asked for anew less and less often: the first one may be no more than that
// the connection was reset.
func (p *Pool) watch(m *peer) {
	again := firstAgain
	for {
		state := m.conn.GetState()
		if state != connectivity.TransientFailure {
			again = firstAgain
		}
		wait, cancel := p.done, func() {}
		switch state {
		case connectivity.Shutdown:
			p.setReady(m, false)
			return
		case connectivity.Idle:
			m.conn.Connect()
		case connectivity.TransientFailure:
			p.setReady(m, false)
			p.complain(m, "a scanner can't be reached", p.whyNot(m))
			wait, cancel = context.WithTimeout(p.done, again)
			again = min(2*again, lastAgain)
		default:
			p.setReady(m, state == connectivity.Ready)
		}
		m.conn.WaitForStateChange(wait, state)
		cancel()
		if p.done.Err() != nil {
			return
		}
	}
}

// How often is asked why a scanner can't be reached.
const (
	firstAgain = time.Second
	lastAgain  = time.Minute
)

// whyNot asks the connection what is wrong.
func (p *Pool) whyNot(m *peer) error {
	ctx, cancel := context.WithTimeout(p.done, time.Second)
	defer cancel()
	if _, err := healthpb.NewHealthClient(m.conn).Check(ctx, &healthpb.HealthCheckRequest{}); err != nil {
		return err
	}
	return errors.New("it was gone for a moment")
}

func (p *Pool) setReady(m *peer, ready bool) {
	p.mu.Lock()
	ready = ready && !m.gone
	was := m.ready
	m.ready = ready
	if ready {
		m.silent, m.trouble = false, ""
	}
	if was != ready {
		close(p.changed)
		p.changed = make(chan struct{})
	}
	p.mu.Unlock()
	if ready && !was {
		p.o.Log.Info("a scanner can be reached", "scanner", m.name)
	}
}
