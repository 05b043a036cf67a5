package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prwarden/prwarden/internal/review"
)

// newDiffTimes makes the metric of calls for source code, with all results that there are.
func newDiffTimes(with promauto.Factory) *prometheus.HistogramVec {
	times := with.NewHistogramVec(prometheus.HistogramOpts{
		Name: "prwarden_diff_duration_seconds", Buckets: seconds(),
		Help: "Time of calls for source code of reviews, by what they led to.",
	}, []string{"result"})
	for _, result := range []string{
		string(review.DiffAvailable), string(review.DiffGone), string(review.DiffDisabled), string(review.DiffTooLarge),
		"unavailable", "refused", "failed",
	} {
		times.WithLabelValues(result)
	}

	return times
}

// diffShown is the OnEnd of diffs.
func (m *metrics) diffShown(result string, took time.Duration) {
	m.diffs.WithLabelValues(result).Observe(took.Seconds())
}
