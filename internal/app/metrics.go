package app

import (
	"strconv"
	"sync"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/store"
)

// newRegistry returns a registry with what every process tells Prometheus.
// docs/operations/metrics.md lists all metrics, and a test holds it to that.
// schema is the version of the database schema that this program was made for,
// "" in a scanner.
func newRegistry(schema string) *prometheus.Registry {
	b := build.Read()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "prwarden_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{
			"version": b.Version, "commit": b.Commit, "go": b.Go, "schema": schema,
		},
	})
	info.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// metrics are what a server tells Prometheus, but for those of the scanner in
// it.
type metrics struct {
	registry *prometheus.Registry

	grpc        *grpcprom.ServerMetrics
	requests    *prometheus.CounterVec
	requestTime *prometheus.HistogramVec

	created     prometheus.Counter
	ended       *prometheus.CounterVec
	wait        prometheus.Histogram
	attempts    *prometheus.HistogramVec
	running     prometheus.Gauge
	leasesLost  *prometheus.CounterVec
	watches     prometheus.Gauge
	decisions   *prometheus.CounterVec
	shed        *prometheus.CounterVec
	failureCode *boundedLabel
}

// Buckets of histograms, in seconds: for calls, for waiting in the queue, and
// for scans, which may take five minutes.
func callBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 30}
}
func waitBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
}
func scanBuckets() []float64 { return []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300} }

func newMetrics(schema int64) *metrics {
	m := &metrics{
		registry: newRegistry(strconv.FormatInt(schema, 10)),
		grpc: grpcprom.NewServerMetrics(
			grpcprom.WithServerHandlingTimeHistogram(grpcprom.WithHistogramBuckets(callBuckets())),
		),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_http_requests_total", Help: "REST requests by method, route and status; refused ones too.",
		}, []string{"method", "route", "code"}),
		requestTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_http_request_duration_seconds", Help: "Time of REST requests, watches included.",
			Buckets: callBuckets(),
		}, []string{"method", "route"}),
		created: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prwarden_reviews_created_total",
			Help: "Reviews accepted by this server, without answers given again for an Idempotency-Key.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_reviews_ended_total", Help: "Reviews that this server ended, by final status and failure code.",
		}, []string{"status", "code"}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "prwarden_review_wait_seconds", Help: "Time from a review's creation to the begin of its first attempt.",
			Buckets: waitBuckets(),
		}),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "prwarden_scan_duration_seconds",
			Help:    "Time of attempts to scan a pull request, by the status that they led the review to and the failure code.",
			Buckets: scanBuckets(),
		}, []string{"status", "code"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prwarden_scans_running", Help: "Attempts of this server that are at a scanner now, those that wait " +
				"for a place there included.",
		}),
		leasesLost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_leases_lost_total", Help: "Leases that ended before their scans did: taken from a worker " +
				"that is lost, when they had run out or, with SQLite, when a server starts (seen_by=\"reaper\"); or this " +
				"server's own, also because the review was canceled (seen_by=\"worker\").",
		}, []string{"seen_by"}),
		watches: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prwarden_watches_open", Help: "Watches that are open now.",
		}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_rate_limit_decisions_total",
			Help: "What the rate limit said of requests over both protocols; refused_from_memory did not ask the database.",
		}, []string{"decision"}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_requests_shed_total",
			Help: "Requests that were refused because there were too many, by what there was too much of.",
		}, []string{"limit"}),
		failureCode: newBoundedLabel(),
	}
	for _, c := range overload.All() {
		m.shed.WithLabelValues(string(c))
	}
	for _, o := range auth.Outcomes() {
		m.decisions.WithLabelValues(string(o))
	}
	for _, who := range []string{seenByReaper, seenByWorker} {
		m.leasesLost.WithLabelValues(who)
	}
	for _, status := range []review.Status{review.Complete, review.Canceled} {
		m.ended.WithLabelValues(string(status), "")
	}
	m.registry.MustRegister(
		m.grpc, m.requests, m.requestTime, m.created, m.ended, m.wait, m.attempts, m.running, m.leasesLost, m.watches,
		m.decisions, m.shed,
	)
	return m
}

// Who noticed that a lease was lost.
const (
	seenByReaper = "reaper"
	seenByWorker = "worker"
)

// answered is the gateway's Observe.
func (m *metrics) answered(a rest.Answered) {
	m.requests.WithLabelValues(a.Method, a.Route, strconv.Itoa(a.Status)).Inc()
	m.requestTime.WithLabelValues(a.Method, a.Route).Observe(a.Took.Seconds())
}

// admitted is what the admitter tells of each request.
func (m *metrics) admitted(o auth.Outcome) { m.decisions.WithLabelValues(string(o)).Inc() }

// tooMany is what the guard tells of each request that it refuses.
func (m *metrics) tooMany(l overload.Limit) { m.shed.WithLabelValues(string(l)).Inc() }

// watchListener registers whether the server hears what others write to the
// same database.
func (m *metrics) watchListener(l *store.Listener) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prwarden_notifications_listening",
		Help: "Whether this server hears what others write to the same Postgres; 0 while it only polls.",
	}, func() float64 {
		if l.Listening() {
			return 1
		}
		return 0
	}))
}

// scanEnded is the dispatcher's OnEnd.
func (m *metrics) scanEnded(status review.Status, code string, took time.Duration) {
	m.attempts.WithLabelValues(string(status), m.failureCode.value(code)).Observe(took.Seconds())
	if code == review.CodeLeaseLost {
		m.leasesLost.WithLabelValues(seenByWorker).Inc()
	}
}

// boundedLabel bounds the values of a label that another process chooses: a
// scanner may be of another version, or not be what it should.
type boundedLabel struct {
	mu   sync.Mutex
	seen map[string]bool
}

// maxLabelValues is twice the number of failure codes that there are.
const maxLabelValues = 50

func newBoundedLabel() *boundedLabel { return &boundedLabel{seen: make(map[string]bool)} }

// value is v, or `other` when too many others came before it.
func (b *boundedLabel) value(v string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[v] {
		return v
	}
	if len(b.seen) >= maxLabelValues {
		return "other"
	}
	b.seen[v] = true
	return v
}
