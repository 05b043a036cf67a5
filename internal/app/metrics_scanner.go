package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// scannerMetrics are what a scanner tells Prometheus, in a process of its own
// and in a server alike. It is a scan.Observer.
type scannerMetrics struct {
	registry   *prometheus.Registry
	scans      *prometheus.HistogramVec
	phases     *prometheus.HistogramVec
	running    prometheus.Gauge
	files      prometheus.Counter
	findings   *prometheus.CounterVec
	suppressed *prometheus.CounterVec
	skips      *prometheus.CounterVec
}

// phaseBuckets are for parts of scans, in seconds: many take milliseconds.
func phaseBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
}

func newScannerMetrics(r *prometheus.Registry) *scannerMetrics {
	m := &scannerMetrics{
		registry: r,
		scans: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_scanner_scan_duration_seconds",
			Help: "Time of scans by outcome: complete, canceled, or a failure code.", Buckets: scanBuckets(),
		}, []string{"outcome"}),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prwarden_scanner_phase_duration_seconds",
			Help: "Time of the phases of scans. Those of match and mask are sums over all workers.", Buckets: phaseBuckets(),
		}, []string{"phase"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "prwarden_scanner_scans_running", Help: "Scans that run now.",
		}),
		files: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "prwarden_scanner_files_total", Help: "Changed files of complete scans.",
		}),
		findings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_scanner_findings_total",
			Help: "Findings of complete scans by severity, those over the limit included.",
		}, []string{"severity"}),
		suppressed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_scanner_suppressed_total",
			Help: "Findings of complete scans that comments suppress, by severity, without those over the limit.",
		}, []string{"severity"}),
		skips: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_scanner_skips_total", Help: "What complete scans did not look at, by reason.",
		}, []string{"reason"}),
	}
	m.scans.WithLabelValues(scan.OutcomeComplete)
	for _, p := range scan.Phases() {
		m.phases.WithLabelValues(p.String())
	}
	for _, s := range rule.Severities() {
		m.findings.WithLabelValues(s.String())
		m.suppressed.WithLabelValues(s.String())
	}
	for _, reason := range []string{
		finding.SkipBinary, finding.SkipFileTooLarge, finding.SkipLineTooLong, finding.SkipRuleTimeout,
		finding.SkipSubmodule,
	} {
		m.skips.WithLabelValues(reason)
	}
	r.MustRegister(m.scans, m.phases, m.running, m.files, m.findings, m.suppressed, m.skips)
	return m
}

// Started implements scan.Observer.
func (m *scannerMetrics) Started() { m.running.Inc() }

// Ended implements scan.Observer.
func (m *scannerMetrics) Ended(r scan.Report) {
	m.running.Dec()
	m.scans.WithLabelValues(r.Outcome).Observe(r.Took.Seconds())
	for _, p := range scan.Phases() {
		if r.Times[p] > 0 {
			m.phases.WithLabelValues(p.String()).Observe(r.Times[p].Seconds())
		}
	}
	if r.Result == nil {
		return
	}
	m.files.Add(float64(r.Result.FilesTotal))
	for severity, n := range r.Result.Summary {
		m.findings.WithLabelValues(severity.String()).Add(float64(n))
	}
	for _, f := range r.Result.Suppressed {
		m.suppressed.WithLabelValues(f.Severity.String()).Inc()
	}
	for _, s := range r.Result.Skips {
		m.skips.WithLabelValues(s.Reason).Inc()
	}
}

// watchSlots registers how busy a scanner is.
func (m *scannerMetrics) watchSlots(service *scanner.Server) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "prwarden_scanner_slots", Help: "Scans that this scanner does at once.",
		}, func() float64 { all, _ := service.Slots(); return float64(all) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "prwarden_scanner_slots_taken", Help: "Slots that are taken.",
		}, func() float64 { _, taken := service.Slots(); return float64(taken) }),
	)
}

// watchCaches registers what the caches of a scanner count themselves. limit is
// the size of the cache of repositories, in bytes.
func (m *scannerMetrics) watchCaches(scanner *scan.Scanner, repositories *git.Store, limit int64) {
	counter := func(name, help string, labels prometheus.Labels, value func() uint64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value()) }))
	}
	gauge := func(name, help string, value func() int64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(value()) }))
	}
	hit, miss := prometheus.Labels{"result": "hit"}, prometheus.Labels{"result": "miss"}
	const rules, git = "Looks for compiled rules by result; a miss compiles them.", "Openings of repositories by " +
		"result; a miss fetches all that the scan needs."
	counter("prwarden_scanner_rules_cache_requests_total", rules, hit, func() uint64 { return scanner.CacheStats().Hits })
	counter("prwarden_scanner_rules_cache_requests_total", rules, miss, func() uint64 {
		return scanner.CacheStats().Misses
	})
	counter("prwarden_scanner_rules_cache_evictions_total", "Compiled rules removed to make room.", nil, func() uint64 {
		return scanner.CacheStats().Evictions
	})
	gauge("prwarden_scanner_rules_cache_bytes", "Estimated memory of the compiled rules that are kept.", func() int64 {
		return scanner.CacheStats().Bytes
	})
	counter("prwarden_git_cache_requests_total", git, hit, func() uint64 { return repositories.Stats().Hits })
	counter("prwarden_git_cache_requests_total", git, miss, func() uint64 { return repositories.Stats().Misses })
	counter("prwarden_git_cache_evictions_total", "Repositories removed from the cache to make room.", nil, func() uint64 {
		return repositories.Stats().Evictions
	})
	gauge("prwarden_git_cache_bytes", "Size of the cache of repositories.", func() int64 {
		bytes, _ := repositories.Size()
		return bytes
	})
	gauge("prwarden_git_cache_limit_bytes", "Size that the cache of repositories may have.", func() int64 { return limit })
	counter("prwarden_git_fetches_total", "Commands that fetch from code hosts.", nil, func() uint64 {
		return repositories.Stats().Fetches
	})
	counter("prwarden_git_fetch_failures_total", "Commands that fetch from code hosts and failed.", nil, func() uint64 {
		return repositories.Stats().FailedFetches
	})
	counter("prwarden_git_fetched_bytes_total", "Bytes of the packs that were fetched.", nil, func() uint64 {
		return repositories.Stats().FetchedBytes
	})
}
