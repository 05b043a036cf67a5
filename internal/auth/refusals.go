package auth

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// refusalsEvery is the time in which refusals are counted together, and
	// refusalLines how many of them have a line of their own in the log. A flood
	// is refused faster than it could be written down.
	refusalsEvery = 10 * time.Second
	refusalLines  = 100
)

// Refusals says which of the requests that were not admitted, for their key or
// for their number, are logged one by one: the first in 10 seconds. Of the
// others it logs how many there were.
type Refusals struct {
	log *slog.Logger

	mu    sync.Mutex
	began time.Time // of the time that is counted
	n     int       // since then
}

// NewRefusals makes one.
func NewRefusals(log *slog.Logger) *Refusals { return &Refusals{log: log} }

// Tell counts one more and reports whether it is logged by itself.
func (r *Refusals) Tell() bool {
	r.mu.Lock()
	now, untold := time.Now(), 0
	if now.Sub(r.began) >= refusalsEvery {
		untold = r.n - refusalLines
		r.began, r.n = now, 0
	}
	r.n++
	tell := r.n <= refusalLines
	r.mu.Unlock()
	if untold > 0 {
		r.log.Warn("many requests were refused, for their keys or their number, and not logged one by one", "refused", untold)
	}
	return tell
}
