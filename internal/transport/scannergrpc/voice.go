package scannergrpc

import (
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
	ended  chan struct{}
	loop   sync.WaitGroup

	mu    sync.Mutex
	last  time.Time                      // when something was said
	state func() *scannerv1.ScanResponse // what is said when there is nothing new; nil for nothing
}

// speak begins to speak in a call, so that something is said at least every so
// often once there is a state. stop must be called before the call ends.
func speak(stream scannerv1.ScannerService_ScanServer, every time.Duration) *voice {
	v := &voice{stream: stream, every: every, ended: make(chan struct{}), last: time.Now()}
	v.loop.Go(func() {
		tick := time.NewTicker(every / 2)
		defer tick.Stop()
		for {
			select {
			case <-v.ended:
				return
			case <-stream.Context().Done():
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
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state != nil && time.Since(v.last) >= v.every/2 {
		v.last = time.Now()
		_ = v.stream.Send(v.state())
	}
}

// become says state, and from now on again and again.
func (v *voice) become(state func() *scannerv1.ScanResponse) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state, v.last = state, time.Now()
	return v.stream.Send(state())
}

// say says m.
func (v *voice) say(m *scannerv1.ScanResponse) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = time.Now()
	return v.stream.Send(m)
}

// stop ends what the voice says by itself.
func (v *voice) stop() {
	close(v.ended)
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
// time.
func (e *ears) next(within time.Duration) (*scannerv1.ScanRequest, error) {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case h := <-e.messages:
		return h.message, h.err
	case <-e.stream.Context().Done():
		return nil, e.stream.Context().Err()
	case <-late.C:
		return nil, errLate
	}
}
