package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc/filters"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rest"
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
	registry *prometheus.Registry
	grpc     *grpcprom.ServerMetrics
	requests *prometheus.HistogramVec
	attempts *prometheus.HistogramVec
	diffs    *prometheus.HistogramVec
	shed     *prometheus.CounterVec

	deliveries *prometheus.CounterVec
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
		diffs: newDiffTimes(with),
		shed: with.NewCounterVec(prometheus.CounterOpts{
			Name: "prwarden_requests_shed_total",
			Help: "Requests that were refused because there were too many, by what there was too much of.",
		}, []string{"limit"}),
		deliveries: newDeliveryCounter(with),
	}

	registry.MustRegister(m.grpc)
	for _, limit := range overload.All() {
		m.shed.WithLabelValues(string(limit))
	}
	return m
}

// answered is the gateway's Observe.
func (m *metrics) answered(a rest.Answered) {
	m.requests.WithLabelValues(a.Method, a.Route, strconv.Itoa(a.Status)).Observe(a.Took.Seconds())
}

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
	for p := range scan.PhaseTotal {
		m.phases.WithLabelValues(p.String())
	}
	return m
}

// observe counts a scan that has ended.
func (m *scannerMetrics) observe(outcome string, times scan.Times) {
	m.scans.WithLabelValues(outcome).Observe(times[scan.PhaseTotal].Seconds())
	for p := range scan.PhaseTotal {
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

// tracing sends OpenTelemetry traces when the standard variables name where to.
// Otherwise there are no options, and its tracer records nothing.
type tracing struct {
	tracer trace.Tracer
	server []grpc.ServerOption
	client []grpc.DialOption
}

const tracerName = "github.com/prwarden/prwarden/internal/app"

// newTracing reads what else there is to say (headers, sampling, service name)
// from the standard variables of the process. service is the name when they
// don't give one.
func (s *services) newTracing(
	ctx context.Context, env Environment, service string, log *slog.Logger,
) (tracing, error) {
	off := strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || env("OTEL_TRACES_EXPORTER") == "none"
	to := env("OTEL_EXPORTER_OTLP_ENDPOINT") + env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if off || to == "" {
		return tracing{tracer: noop.NewTracerProvider().Tracer(tracerName)}, nil
	}
	name := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" // it goes before the one for all signals
	if env(name) == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
	}
	if p := env(name); p != "" && p != "http/protobuf" {
		return tracing{}, fmt.Errorf("%s: %q is not supported; traces are sent as http/protobuf", name, p)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return tracing{}, fmt.Errorf("OpenTelemetry: %w", err)
	}

	// Later options win, so the variables come last.
	description, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", service)), resource.WithFromEnv())
	if err != nil {
		return tracing{}, fmt.Errorf("OpenTelemetry: %w", err)
	}

	// The SDK reports in one place for the whole process, by default as text.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("OpenTelemetry", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(description))
	s.own(func() error {
		last, cancel := context.WithTimeout(context.Background(), lastSteps)
		defer cancel()
		if err := provider.Shutdown(last); err != nil {
			log.Warn("OpenTelemetry: the last traces were not sent", "error", err)
		}
		return nil
	})

	options := []otelgrpc.Option{
		otelgrpc.WithTracerProvider(provider),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(filters.All(filters.Not(filters.HealthCheck()), known)),
	}
	return tracing{
		tracer: provider.Tracer(tracerName),
		server: []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(options...))},
		client: []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(options...))},
	}, nil
}

// known lets only calls of methods that there are be traced. Callers make up
// the names of others, without a key too, and may put anything into them.
func known(info *stats.RPCTagInfo) bool {
	name := strings.Replace(strings.TrimPrefix(info.FullMethodName, "/"), "/", ".", 1)
	_, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	return err == nil
}

// withTraceIDs makes every line that is logged with the context of a traced
// request name its trace.
func withTraceIDs(log *slog.Logger) *slog.Logger { return slog.New(traceHandler{log.Handler()}) }

type traceHandler struct{ slog.Handler }

func (h traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if c := trace.SpanContextFromContext(ctx); c.HasTraceID() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", c.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traceHandler{h.Handler.WithAttrs(attrs)}
}

func (h traceHandler) WithGroup(name string) slog.Handler {
	return traceHandler{h.Handler.WithGroup(name)}
}

// tracedScanner traces the scans of the dispatcher. The span of an attempt is a
// child of the request that created the review, so one trace shows it all.
type tracedScanner struct {
	review.Scanner
	tracer trace.Tracer
}

func (o tracedScanner) Scan(
	ctx context.Context, j review.Job, progress func(review.Progress),
) (finding.Result, error) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": j.TraceParent})
	ctx, span := o.tracer.Start(ctx, "process review", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("prwarden.review_id", j.ReviewID), attribute.Int("prwarden.attempt", j.Attempt),
		attribute.String("prwarden.organization", j.Organization), attribute.String("prwarden.repo", j.Repo),
		attribute.Int("prwarden.pr_number", int(j.PRNumber)),
	))
	defer span.End()

	found, err := o.Scanner.Scan(ctx, j, progress)
	if err != nil {
		// The error itself may hold what a code host said, so it is for the log only.
		code := "canceled"
		if failed := (*review.ScanError)(nil); errors.As(err, &failed) {
			code = failed.Code
		}
		span.SetAttributes(attribute.String("error.type", code))
		span.SetStatus(otelcodes.Error, code)
	}
	return found, err
}
