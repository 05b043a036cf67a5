package auth

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
)

// GateLimits are what a server does and holds at once, over both protocols.
type GateLimits struct {
	// Working is how many requests are worked on; one that waits for its
	// client, to send a body or to read an answer, is not. Waiting is how many
	// more wait for a place there. Who gets one has waited for at most Wait, and
	// who gets none is told so later: see places.
	Working, Waiting int
	Wait             time.Duration
	// Open is how many requests there are, whatever they wait for, and
	// OpenPerAddress how many of them one address has. Watches are counted
	// apart.
	Open, OpenPerAddress int
	// Watches is how many there are, Bodies how many large bodies are read or
	// held, and Answers how many large answers are written. Of each, a key may
	// have an eighth and an organization a quarter. A body or an answer that
	// finds no place waits for BulkWait, once for each of those three bounds.
	Watches, Bodies, Answers int
	BulkWait                 time.Duration
}

// Large is the size, in bytes, over which a body or an answer needs a place.
// Smaller ones fit into what a connection has anyway.
const Large = 64 << 10

// DefaultGateLimits are those of a server. A body has at most 1 MiB, an answer
// some MiB.
func DefaultGateLimits() GateLimits {
	return GateLimits{
		Working: 64, Waiting: 2_048, Wait: 600 * time.Millisecond,
		Open: 2_048, OpenPerAddress: 512, Watches: 2_000,
		Bodies: 64, Answers: 32, BulkWait: time.Second,
	}
}

// Crowd is what there was too much of when a request was shed.
type Crowd string

// The crowds.
const (
	CrowdWork    Crowd = "work"    // requests that are worked on and wait
	CrowdOpen    Crowd = "open"    // requests
	CrowdAddress Crowd = "address" // requests from the same address
	CrowdWatches Crowd = "watches" // open watches
	CrowdBodies  Crowd = "bodies"  // large bodies
	CrowdAnswers Crowd = "answers" // large answers
)

// Crowds are all of them.
func Crowds() []Crowd {
	return []Crowd{CrowdWork, CrowdOpen, CrowdAddress, CrowdWatches, CrowdBodies, CrowdAnswers}
}

const (
	// shedRetry is when to try again after having been shed.
	shedRetry = 2 * time.Second
	// shedLogEvery is the least time between two log lines about it: one for
	// each request would cost more than refusing it.
	shedLogEvery = 10 * time.Second
)

// Gate sheds load before memory and time run out: a request enters before
// anything is done for it, and is refused when there are too many.
type Gate struct {
	limits  GateLimits
	trusted []netip.Prefix
	log     *slog.Logger
	observe func(Crowd)

	work                     *places
	watches, bodies, answers *shares

	addresses *Quota[netip.Addr] // open requests by address

	mu     sync.Mutex
	open   int
	shed   int // since the last log line
	logged time.Time
}

// NewGate makes one. trusted are the proxies whose X-Forwarded-For is believed;
// what they don't say whom they forward for has no limit for its address, since
// it is many people's. observe hears of every request that is shed; nil for
// nobody.
func NewGate(l GateLimits, trusted []netip.Prefix, log *slog.Logger, observe func(Crowd)) *Gate {
	if observe == nil {
		observe = func(Crowd) {}
	}
	return &Gate{
		limits: l, trusted: trusted, log: log, observe: observe,
		work:      newPlaces(l.Working, l.Waiting, l.Wait),
		watches:   newShares(newPlaces(l.Watches, 0, 0)),
		bodies:    newShares(newPlaces(l.Bodies, l.Bodies, l.BulkWait)),
		answers:   newShares(newPlaces(l.Answers, l.Answers, l.BulkWait)),
		addresses: NewQuota[netip.Addr](l.OpenPerAddress),
	}
}

// Apart makes a gate of its own, with other limits, behind the same proxies.
func (g *Gate) Apart(l GateLimits) *Gate { return NewGate(l, g.trusted, g.log, nil) }

// Pass is a request that has entered. One goroutine uses it at a time.
type Pass struct {
	gate    *Gate
	addr    netip.Addr // invalid when it is not counted
	caller  Caller     // the zero Caller until it is known
	working bool
	watch   func() // gives its place back; nil for none
	body    func() // gives its place back; nil for none
	left    bool
}

// Admitted tells who makes the request. Until then it takes from its address's
// part of the places.
func (p *Pass) Admitted(c Caller) {
	if p != nil {
		p.caller = c
	}
}

func (p *Pass) owners() []owner {
	if p.caller.KeyID == "" {
		return []owner{{addressPrefix + p.addr.String(), addressPart}}
	}
	return []owner{{"key:" + p.caller.KeyID, keyPart}, {"org:" + p.caller.Organization, organizationPart}}
}

// Enter lets a request in and gives it a place among those that are worked on.
// Of c it looks at the addresses. It fails with Unavailable when there are too
// many, and with the context's error. Leave must be called on the Pass.
func (g *Gate) Enter(ctx context.Context, c Credentials) (*Pass, error) {
	p := &Pass{gate: g, addr: g.counted(c)}
	if crowd := g.admit(p.addr); crowd != "" {
		return nil, g.refuse(crowd)
	}
	if err := p.Resume(ctx); err != nil {
		p.Leave()
		return nil, err
	}
	return p, nil
}

// counted is the address that a request counts for; invalid for none.
func (g *Gate) counted(c Credentials) netip.Addr {
	addr := ClientAddress(c.PeerAddr, c.ForwardedFor, g.trusted)
	if contains(g.trusted, addr) {
		return netip.Addr{}
	}
	return addr
}

func (g *Gate) admit(addr netip.Addr) Crowd {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.open >= g.limits.Open:
		return CrowdOpen
	case addr.IsValid() && !g.addresses.Take(addr):
		return CrowdAddress
	}
	g.open++
	return ""
}

// refuse notes that a request is shed and returns what it is told.
func (g *Gate) refuse(crowd Crowd) error {
	g.observe(crowd)
	g.mu.Lock()
	g.shed++
	shed, now := g.shed, time.Now()
	tell := now.Sub(g.logged) >= shedLogEvery
	if tell {
		g.shed, g.logged = 0, now
	}
	g.mu.Unlock()
	if tell {
		g.log.Warn("the server has more requests than it can take and refuses some", "crowd", string(crowd), "refused", shed)
	}
	return Shed()
}

// Shed is what every request is told that is shed.
func Shed() error {
	e := errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server has more requests than it can take right now; try again.")
	e.RetryAfter = shedRetry
	return e
}

// Pause gives up the request's place among those that are worked on, while it
// waits for its client.
func (p *Pass) Pause() {
	if p != nil && p.working {
		p.working = false
		p.gate.work.giveBack()
	}
}

// Resume takes such a place again; its errors are those of Enter.
func (p *Pass) Resume(ctx context.Context) error {
	if p == nil || p.working {
		return nil
	}
	err := p.gate.work.take(ctx)
	p.working = err == nil
	return p.gate.verdict(ctx, err, CrowdWork)
}

// verdict is what a request is told whose wait for a place ended with err.
func (g *Gate) verdict(ctx context.Context, err error, crowd Crowd) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return g.refuse(crowd)
}

// Body takes a place for a large body, until Leave; its errors are those of
// Enter.
func (p *Pass) Body(ctx context.Context) error {
	if p == nil || p.body != nil {
		return nil
	}
	giveBack, err := p.gate.bodies.take(ctx, p.owners())
	p.body = giveBack
	return p.gate.verdict(ctx, err, CrowdBodies)
}

// Answer takes a place for a large answer that is to be written, and returns
// what gives it back; its errors are those of Enter.
func (p *Pass) Answer(ctx context.Context) (done func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	done, err = p.gate.answers.take(ctx, p.owners())
	return done, p.gate.verdict(ctx, err, CrowdAnswers)
}

// Watch makes the request a watch: it is worked on and open no more, and counts
// among the watches until Leave. It fails with Unavailable when there are too
// many.
func (p *Pass) Watch() error {
	if p == nil || p.watch != nil {
		return nil
	}
	g := p.gate
	p.Pause()
	giveBack, err := g.watches.take(context.Background(), p.owners()) // which waits for nobody
	if err != nil {
		return g.refuse(CrowdWatches)
	}
	p.watch = giveBack
	g.closeOne(p.addr)
	return nil
}

// Leave ends the request. It may be called twice.
func (p *Pass) Leave() {
	if p == nil || p.left {
		return
	}
	p.left = true
	p.Pause()
	if p.body != nil {
		p.body()
	}
	if p.watch != nil {
		p.watch()
		return
	}
	p.gate.closeOne(p.addr)
}

// closeOne counts one open request less.
func (g *Gate) closeOne(addr netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	if addr.IsValid() {
		g.addresses.GiveBack(addr)
	}
}

// GateState is how full a gate is.
type GateState struct{ Working, Waiting, Open, Watches int }

// State says how full the gate is, for metrics.
func (g *Gate) State() GateState {
	working, waiting := g.work.state()
	watches, _ := g.watches.all.state()
	g.mu.Lock()
	defer g.mu.Unlock()
	return GateState{Working: working, Waiting: waiting, Open: g.open, Watches: watches}
}
