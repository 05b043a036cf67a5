// Package background has computations that may take seconds run behind everything
// that takes moments: on threads that the system lets run after others, and with
// room for other goroutines beside them.
package background

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// moment is how long a Worker computes before it goes on in the background.
const moment = 200 * time.Millisecond

// processors is what Go says as long as nothing computes in the background.
var processors = runtime.GOMAXPROCS(0)

// Processors is how many goroutines can compute at once.
func Processors() int { return processors }

var (
	reserved atomic.Bool  // see Reserve
	steps    atomic.Int64 // that compute in the background
	raised   atomic.Bool  // there is a goroutine in raise
)

// Reserve has Go run others, too, from now on while workers of a Pool and as many
// without one compute in the background. Without it they would wait for their turns of
// 10 ms. Otherwise Go keeps to its processors: more of them cost short work a tenth.
func Reserve() { reserved.Store(true) }

// raise raises what Go runs at once as long as there are steps in the background.
func raise() {
	for steps.Load() > 0 && raised.CompareAndSwap(false, true) {
		runtime.GOMAXPROCS(2*processors + 1)
		for busy := true; busy; busy = steps.Load() > 0 {
			<-time.After(time.Second) // each change stops the process for a moment
		}
		runtime.GOMAXPROCS(processors)
		raised.Store(false)
	}
}

// Pool lets at most as many workers compute in the background at once as there are
// processors.
type Pool struct{ places *semaphore.Weighted }

// NewPool returns a pool without workers.
func NewPool() *Pool { return &Pool{semaphore.NewWeighted(int64(processors))} }

// Worker returns a worker. That of no pool has no background.
func (p *Pool) Worker() *Worker {
	if p == nil {
		return nil
	}
	return &Worker{pool: p, left: moment}
}

// Worker computes one thing after the other, in the background once all that took a
// moment.
type Worker struct {
	pool *Pool
	left time.Duration
}

// NewWorker returns a worker that waits for no place.
func NewWorker() *Worker { return &Worker{left: moment} }

// Do calls f. In the background it waits for a place in the pool, unless ctx ends.
func (w *Worker) Do(ctx context.Context, f func()) {
	if w == nil {
		f()
		return
	}
	if w.left <= 0 && w.pool != nil && w.pool.places.Acquire(ctx, 1) == nil { // else f looks at ctx itself
		defer w.pool.places.Release(1)
	}

	began := time.Now()
	run(max(w.left, 0), f)
	w.left -= time.Since(began)
}

// run calls f, and lowers the priority of its thread after that time. An ordinary
// user can't raise it again, so f gets a goroutine that ends with the thread: who
// waits afterwards must not keep one.
func run(after time.Duration, f func()) {
	done, failed := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		id, lowered := threadID(), make(chan struct{})
		timer := time.AfterFunc(after, func() {
			defer close(lowered)
			lowerThread(id)
			steps.Add(1)
			if reserved.Load() && !raised.Load() {
				go raise()
			}
		})
		defer func() {
			if p := recover(); p != nil {
				failed = fmt.Errorf("%v\n%s", p, debug.Stack())
			}
			if timer.Stop() {
				runtime.UnlockOSThread()
				return
			}
			<-lowered // the id may be that of another thread later
			steps.Add(-1)
		}()
		f()
	}()

	<-done
	if failed != nil {
		panic(failed)
	}
}
