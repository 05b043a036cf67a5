package app

import (
	"context"
	"strconv"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

const (
	// queueTimeout bounds the look at the queue that a scrape causes.
	queueTimeout = 2 * time.Second
	// maxOrganizations is how many organizations have time series of their own:
	// those with the longest queues.
	maxOrganizations = 100
)

// newRegistry returns a registry with what every process tells Prometheus.
// docs/operations/metrics.md lists all metrics, and a test holds it to that.
// schema is the version of the database schema that this program was made for,
// "" in a scanner.
func newRegistry(schema string) *prometheus.Registry {
	b := build.Read()
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	promauto.With(r).NewGauge(prometheus.GaugeOpts{
		Name: "prwarden_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go": b.Go, "schema": schema},
	}).Set(1)
	return r
}

// seconds are the bounds of all histograms: of calls, of parts of scans, and of
// scans, which may take five minutes.
func seconds() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
}

// gauge registers a value that is read when Prometheus asks.
func gauge(r prometheus.Registerer, name, help string, value func() float64) {
	promauto.With(r).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// counter does so with a count that only grows.
func counter(r prometheus.Registerer, name, help string, value func() uint64) {
	promauto.With(r).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return float64(value()) })
}

// labeled are gauges with one label whose values come and go. They are read when
// Prometheus asks.
type labeled func(set func(name, help string, value float64, label ...string))

// Describe implements prometheus.Collector: there is nothing to say before.
func (labeled) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. A label is a name and a value.
func (l labeled) Collect(out chan<- prometheus.Metric) {
	l(func(name, help string, value float64, label ...string) {
		var names, values []string
		if len(label) == 2 {
			names, values = label[:1], label[1:]
		}
		desc := prometheus.NewDesc(name, help, names, nil)
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, values...)
	})
}

// metrics are what a server tells Prometheus of requests and reviews.
type metrics struct {
	registry  *prometheus.Registry
	grpc      *grpcprom.ServerMetrics
	requests  *prometheus.HistogramVec
	attempts  *prometheus.HistogramVec
	running   prometheus.Gauge
	decisions *prometheus.CounterVec
	shed      *prometheus.CounterVec
}

func newMetrics(schema int64) *metrics {
	registry := newRegistry(strconv.FormatInt(schema, 10))
	with := promauto.With(registry)
	m := &metrics{
		registry: registry,
		grpc: grpcprom.NewServerMetrics(
			grpcprom.WithServerHandlingTimeHistogram(grpcprom.WithHistogramBuckets(seconds())),
		),
		requests: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_http_request_duration_seconds", Buckets: seconds(),
			Help: "Time of REST requests by method, route and status, refused ones and watches included.",
		}, []string{"method", "route", "code"}),
		attempts: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_scan_duration_seconds", Buckets: seconds(),
			Help: "Time of attempts to scan a pull request, by the status that they led the review to and the failure code.",
		}, []string{"status", "code"}),
		running: with.NewGauge(prometheus.GaugeOpts{
			Name: "prwarden_scans_running",
			Help: "Attempts of this server that are at a scanner now, those that wait for a place there included.",
		}),
		decisions: with.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_rate_limit_decisions_total",
			Help: "What the rate limit said of requests over both protocols; refused_from_memory did not ask the database.",
		}, []string{"decision"}),
		shed: with.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_requests_shed_total",
			Help: "Requests that were refused because there were too many, by what there was too much of.",
		}, []string{"limit"}),
	}

	registry.MustRegister(m.grpc)
	for _, limit := range overload.All() {
		m.shed.WithLabelValues(string(limit))
	}

	for _, outcome := range auth.Outcomes() {
		m.decisions.WithLabelValues(string(outcome))
	}
	return m
}

// answered is the gateway's Observe.
func (m *metrics) answered(a rest.Answered) {
	m.requests.WithLabelValues(a.Method, a.Route, strconv.Itoa(a.Status)).Observe(a.Took.Seconds())
}

// admitted is what the admitter tells of each request.
func (m *metrics) admitted(o auth.Outcome) { m.decisions.WithLabelValues(string(o)).Inc() }

// tooMany is what the guard tells of each request that it refuses.
func (m *metrics) tooMany(l overload.Limit) { m.shed.WithLabelValues(string(l)).Inc() }

// scanEnded is the dispatcher's OnEnd.
func (m *metrics) scanEnded(status review.Status, code string, took time.Duration) {
	m.attempts.WithLabelValues(string(status), code).Observe(took.Seconds())
}

// watchQueue looks at the queue, which all servers of a database see the same.
// most says how many reviews of an organization may wait.
func watchQueue(r prometheus.Registerer, store review.Queue, most func(organization string) int) {
	r.MustRegister(labeled(func(set func(string, string, float64, ...string)) {
		const up, upHelp = "prwarden_database_up", "Whether the database answered this scrape."
		ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
		defer cancel()
		waiting, err := store.Waiting(ctx)
		if err != nil {
			set(up, upHelp, 0)
			return
		}
		set(up, upHelp, 1)

		all := 0
		for i, w := range waiting {
			all += w.Queued
			if i >= maxOrganizations {
				continue
			}

			set("prwarden_organization_reviews_queued", "Reviews that wait, of the 100 organizations with the longest queues.",
				float64(w.Queued), "organization", w.Organization)
			set("prwarden_organization_reviews_queued_limit", "How many reviews may wait, of the organizations that have any.",
				float64(most(w.Organization)), "organization", w.Organization)
			set("prwarden_organization_oldest_queued_seconds", "Age of the oldest review that waits.",
				max(0, w.Oldest.Seconds()), "organization", w.Organization)
		}
		set("prwarden_reviews_queued", "Reviews that wait, of all organizations; missing while the database is away.",
			float64(all))
	}))
}

// watchScanners shows what a server knows of its scanners.
func watchScanners(r prometheus.Registerer, client *scanner.Client) {
	gauge(r, "prwarden_scans_waiting", "Scans of this server that wait for a free slot of a scanner.",
		func() float64 { return float64(client.Waiting()) })
	r.MustRegister(labeled(func(set func(string, string, float64, ...string)) {
		for address, ready := range client.Ready() {
			set("prwarden_scanner_ready", "Whether a scanner can be reached and serves, by its address.",
				number(ready), "scanner", address)
		}
	}))
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// watchCertificate registers when a certificate ends, if there is one. use is
// ports, the public ones, or link, between server and scanner.
func watchCertificate(r prometheus.Registerer, use string, l *tlsfile.Loader) {
	if l.NotAfter().IsZero() {
		return
	}
	gauge(prometheus.WrapRegistererWith(prometheus.Labels{"use": use}, r),
		"prwarden_tls_certificate_expiry_timestamp_seconds",
		"When a certificate of this process ends, in seconds since 1970, by its use: the public ports, or the link "+
			"between server and scanner.",
		func() float64 { return float64(l.NotAfter().Unix()) })
}

// scannerMetrics are what a scanner tells Prometheus, in a process of its own
// and in a server alike.
type scannerMetrics struct{ scans, phases *prometheus.HistogramVec }

func newScannerMetrics(r prometheus.Registerer) *scannerMetrics {
	with := promauto.With(r)
	m := &scannerMetrics{
		scans: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_scanner_scan_duration_seconds", Buckets: seconds(),
			Help: "Time of scans by outcome: complete, canceled, or a failure code.",
		}, []string{"outcome"}),
		phases: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_scanner_phase_duration_seconds", Buckets: seconds(),
			Help: "Time of the phases of scans. Those of match and mask are sums over all workers.",
		}, []string{"phase"}),
	}

	m.scans.WithLabelValues(scan.OutcomeComplete)
	for _, p := range scan.Phases() {
		m.phases.WithLabelValues(p.String())
	}
	return m
}

// observe counts a scan that has ended.
func (m *scannerMetrics) observe(outcome string, times scan.Times) {
	m.scans.WithLabelValues(outcome).Observe(times[scan.PhaseTotal].Seconds())
	for _, p := range scan.Phases() {
		if times[p] > 0 {
			m.phases.WithLabelValues(p.String()).Observe(times[p].Seconds())
		}
	}
}

// watchScanner registers how busy a scanner is, and what the cache of
// repositories counts. limit is the size of that cache, in bytes.
func watchScanner(r prometheus.Registerer, service *scanner.Server, repositories *git.Store, limit int64) {
	gauge(r, "prwarden_scanner_slots", "Scans that this scanner does at once.",
		func() float64 { all, _ := service.Slots(); return float64(all) })
	gauge(r, "prwarden_scanner_slots_taken", "Slots that are taken.",
		func() float64 { _, taken := service.Slots(); return float64(taken) })

	gauge(r, "prwarden_git_cache_bytes", "Size of the cache of repositories.",
		func() float64 { return float64(repositories.Size()) })
	gauge(r, "prwarden_git_cache_limit_bytes", "Size that the cache of repositories may have.",
		func() float64 { return float64(limit) })
	counter(r, "prwarden_git_cache_evictions_total", "Repositories removed from the cache to make room.",
		func() uint64 { return repositories.Stats().Evictions })
	for result, value := range map[string]func(git.Stats) uint64{
		"hit": func(s git.Stats) uint64 { return s.Hits }, "miss": func(s git.Stats) uint64 { return s.Misses },
	} {
		counter(prometheus.WrapRegistererWith(prometheus.Labels{"result": result}, r), "prwarden_git_cache_requests_total",
			"Openings of repositories by result; a miss fetches all that the scan needs.",
			func() uint64 { return value(repositories.Stats()) })
	}

	counter(r, "prwarden_git_fetches_total", "Commands that fetch from code hosts.",
		func() uint64 { return repositories.Stats().Fetches })
	counter(r, "prwarden_git_fetch_failures_total", "Commands that fetch from code hosts and failed.",
		func() uint64 { return repositories.Stats().FailedFetches })
}
