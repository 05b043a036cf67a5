package scanner

import (
	"context"
	"errors"
	"sync"
	"time"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
)

// voice is what a scanner says in one call. It lets one speak at a time, and
// says something by itself when nobody did for a while: a client takes silence
// for a scanner that is lost.
type voice struct {
	stream scannerv1.ScannerService_ScanServer
	every  time.Duration
	over   context.Context
	end    context.CancelFunc
	loop   sync.WaitGroup

	turn chan struct{} // has an element while somebody speaks
	// Belong to who speaks.
	last  time.Time                      // when something was said
	state func() *scannerv1.ScanResponse // what is said when there is nothing new; nil for nothing
}

// speak begins to speak in a call, so that something is said at least every so
// often once there is a state. stop must be called before the call ends.
func speak(stream scannerv1.ScannerService_ScanServer, every time.Duration) *voice {
	v := &voice{stream: stream, every: every, turn: make(chan struct{}, 1), last: time.Now()}
	v.over, v.end = context.WithCancel(stream.Context())
	v.loop.Go(func() {
		tick := time.NewTicker(every / 2)
		defer tick.Stop()
		for {
			select {
			case <-v.over.Done():
				return
			case <-tick.C:
				v.again()
			}
		}
	})
	return v
}

// again says the present state when nothing was said for a while. Who listens
// and does not hear is noticed by the call's context.
func (v *voice) again() {
	select {
	case v.turn <- struct{}{}:
	default: // somebody speaks
		return
	}
	if v.state == nil || time.Since(v.last) < v.every/2 {
		<-v.turn
		return
	}
	_ = v.send(v.over, v.state())
}

// become says state, and from now on again and again. It fails as say does.
func (v *voice) become(ctx context.Context, state func() *scannerv1.ScanResponse) error {
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return deaf(ctx)
	}
	v.state = state
	return v.send(ctx, state())
}

// say says m. A client that reads nothing blocks it until ctx ends; then it
// fails with errDeaf if that was for time, and the call must end, because what
// was being said still is.
func (v *voice) say(ctx context.Context, m *scannerv1.ScanResponse) error {
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return deaf(ctx)
	}
	return v.send(ctx, m)
}

// send sends m by the turn of its caller, and ends that. gRPC itself waits for
// a client for ever, until the call ends.
func (v *voice) send(ctx context.Context, m *scannerv1.ScanResponse) error {
	v.last = time.Now()
	sent := make(chan error, 1)
	go func() {
		err := v.stream.Send(m)
		<-v.turn
		sent <- err
	}()
	select {
	case err := <-sent:
		return err
	case <-ctx.Done():
		return deaf(ctx)
	}
}

// deaf is the error of what could not be said before ctx ended.
func deaf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errDeaf
	}
	return ctx.Err()
}

// stop ends what the voice says by itself.
func (v *voice) stop() {
	v.end()
	v.loop.Wait()
}

// ears are what a client says in one call, so that it can be waited for no
// longer than is right.
type ears struct {
	stream   scannerv1.ScannerService_ScanServer
	messages chan heard
}

type heard struct {
	message *scannerv1.ScanRequest
	err     error
}

// listen reads the client's messages, one ahead, until the call ends.
func listen(stream scannerv1.ScannerService_ScanServer) *ears {
	e := &ears{stream: stream, messages: make(chan heard)}
	go func() {
		for {
			m, err := stream.Recv()
			select {
			case e.messages <- heard{m, err}:
			case <-stream.Context().Done(): // at the latest when the call ends
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return e
}

// next returns the client's next message, and errLate when there is none in
// time or before ctx, which ends with the call, is over.
func (e *ears) next(ctx context.Context, within time.Duration) (*scannerv1.ScanRequest, error) {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case h := <-e.messages:
		return h.message, h.err
	case <-ctx.Done():
		if e.stream.Context().Err() == nil {
			return nil, errLate
		}
		return nil, e.stream.Context().Err()
	case <-late.C:
		return nil, errLate
	}
}
