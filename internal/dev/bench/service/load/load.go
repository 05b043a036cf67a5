// Package load puts load on a server: a number of callers, each with a
// connection of its own, each making the next call when it has the answer to
// the one before. They do as little as they can, because they share the
// machine with what is measured.
package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Caller makes one call at a time over one connection.
type Caller interface {
	// Call makes the call and reads the whole answer; it fails unless the
	// answer is a success.
	Call(ctx context.Context) error
	Close() error
}

// Result is what a load did.
type Result struct {
	Calls int
	Took  time.Duration
	// times of the calls, ascending
	times []time.Duration
}

// Rate is how many calls there were in a second.
func (r Result) Rate() float64 { return float64(r.Calls) / r.Took.Seconds() }

// Quantile is the time that the share q of the calls took at most; 0 when there
// were none.
func (r Result) Quantile(q float64) time.Duration { return Quantile(r.times, q) }

// Quantile is the least of ascending times that the share q, from 0 to 1, of
// them don't exceed; 0 when there are none.
func Quantile(ascending []time.Duration, q float64) time.Duration {
	if len(ascending) == 0 {
		return 0
	}
	i := int(q*float64(len(ascending))+0.999999) - 1
	return ascending[min(max(i, 0), len(ascending)-1)]
}

// Run lets all callers call until d has passed, or until calls were made when
// that is more than 0. The first error ends it.
func Run(ctx context.Context, callers []Caller, d time.Duration, calls int) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	places := make(chan struct{}, max(calls, 1))
	for range calls {
		places <- struct{}{}
	}
	close(places)
	var (
		mu  sync.Mutex
		all Result
		err error
		wg  sync.WaitGroup
	)
	began := time.Now()
	for _, c := range callers {
		wg.Go(func() {
			times, failed := loop(ctx, c, places, calls > 0)
			mu.Lock()
			defer mu.Unlock()
			all.times = append(all.times, times...)
			if failed != nil {
				err = errors.Join(err, failed)
				cancel()
			}
		})
	}
	wg.Wait()
	all.Took = time.Since(began)
	all.Calls = len(all.times)
	slices.Sort(all.times)
	return all, err
}

func loop(ctx context.Context, c Caller, places <-chan struct{}, counted bool) (times []time.Duration, err error) {
	// A call that is under way when time is up is finished, and counts.
	calling := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		if counted {
			if _, more := <-places; !more {
				return times, nil
			}
		}
		began := time.Now()
		if err := c.Call(calling); err != nil {
			return times, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}
