package scanner

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
)

// call is one call of a scanner. It is ended when the scanner was silent for
// too long.
type call struct {
	peer   *peer
	pool   *Pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	stream scannerv1.ScannerService_ScanClient

	heard atomic.Bool // something, since the last look
}

// kind is what became of a call while it seeks a place.
type kind int

const (
	waits  kind = iota // it stands in line
	place              // it is offered a place
	failed             // it ended
)

// answer is what a scanner said to a call that seeks a place.
type answer struct {
	call *call
	kind kind
	err  error // of failed
}

// silentLooks is how many looks in a row find that nothing was heard until a
// scanner counts as lost. Looks are counted, and not time: when this process
// itself stood still, the scanner was not silent.
const silentLooks = 5

// newCall makes a call of p that ends with ctx, or when p is silent. It must be
// ended.
func (p *Pool) newCall(ctx context.Context, to *peer) *call {
	c := &call{peer: to, pool: p}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	p.began(to)
	looks := 0
	var look *time.Timer
	every := p.o.Silence / silentLooks
	look = time.AfterFunc(time.Hour, func() {
		switch {
		case c.ctx.Err() != nil:
			return
		case c.heard.Swap(false):
			looks = 0
		default:
			looks++
		}
		if looks < silentLooks {
			look.Reset(every)
			return
		}
		p.silent(to)
		c.cancel(errSilent)
	})
	look.Reset(every)
	context.AfterFunc(c.ctx, func() { look.Stop() })
	return c
}

// end ends the call, whatever its state, and forgets it. It is called once.
func (c *call) end() {
	c.cancel(nil)
	c.pool.ended(c.peer)
}

// hear returns the scanner's next message. The error of a call that was ended
// for silence is errSilent.
func (c *call) hear() (*scannerv1.ScanResponse, error) {
	m, err := c.stream.Recv()
	if err != nil {
		return nil, c.reason(err)
	}
	c.heard.Store(true)
	return m, nil
}

func (c *call) reason(err error) error {
	if context.Cause(c.ctx) == errSilent { //nolint:errorlint // it is set as it is
		return errSilent
	}
	return err
}

// ask asks for a place and tells what the scanner says, until it offers one,
// the call ends, or nobody listens any more because over is closed.
func (c *call) ask(j review.Job, answers chan<- answer, over <-chan struct{}) {
	tell := func(k kind, err error) {
		select {
		case answers <- answer{c, k, err}:
		case <-over:
		}
	}
	var err error
	if c.stream, err = c.peer.rpc.Scan(c.ctx, callOptions()...); err != nil {
		tell(failed, c.reason(err))
		return
	}
	if err := send(c.stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: startOf(j)}}); err != nil {
		tell(failed, c.reason(err))
		return
	}
	for {
		m, err := c.hear()
		if err != nil {
			tell(failed, err)
			return
		}
		switch m := m.GetMessage().(type) {
		case *scannerv1.ScanResponse_Waiting:
			c.pool.heard(c.peer, int(m.Waiting.GetPlaces()))
			tell(waits, nil)
		case *scannerv1.ScanResponse_Ready:
			c.pool.heard(c.peer, int(m.Ready.GetPlaces()))
			tell(place, nil)
			return
		default:
			tell(failed, fmt.Errorf("%w: %T came before a place was offered", errProtocol, m))
			return
		}
	}
}
