package scan

import (
	"time"

	"github.com/prwarden/prwarden/internal/match"
)

// Observer hears of scans, for metrics. Its methods are called by many
// goroutines at once and must be quick.
type Observer interface {
	// Started hears that a scan begins.
	Started()
	// Ended hears how a scan that had begun ended.
	Ended(Report)
}

// Report is how a scan ended.
type Report struct {
	// Outcome is OutcomeComplete, OutcomeCanceled or one of the Code constants.
	Outcome string
	Took    time.Duration
	Times   Times   // without PhaseTotal when the scan failed
	Result  *Result // nil when the scan failed
}

// Outcomes of scans that are no failures.
const (
	OutcomeComplete = "complete"
	OutcomeCanceled = "canceled" // the caller has no use for it any more, or takes it back
)

// CacheStats are the counts of the cache of compiled rules.
func (s *Scanner) CacheStats() match.CacheStats { return s.cache.Stats() }

type noObserver struct{}

func (noObserver) Started()     {}
func (noObserver) Ended(Report) {}
