package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/gen/openapi"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/store"
)

// Server is a whole server: store, queue, scanner or the way to scanners, and
// the three listeners.
type Server struct {
	services
	log     *slog.Logger
	tracing tracing
	metrics *metrics
	ready   *readiness

	store         *store.Store
	organizations *organization.Directory
	policies      *policy.Service
	keys          *auth.Keys
	dispatcher    *review.Dispatcher
	listener      *store.Listener
	retention     *review.Retention
	watches       *api.Reviews

	grpc                  *rpc.Server
	http                  *http.Server
	httpAt, grpcAt, opsAt net.Listener // opsAt is nil for none
}

// Addresses are where a server listens, as HOST:PORT. Ops is empty when there
// are no metrics.
type Addresses struct{ HTTP, GRPC, Ops string }

// NewServer opens the database, which it brings to this version's schema, puts
// back what a server before lost, makes everything and listens. It serves from
// Start on. c must be valid for config.Serve. An error is a sentence for the
// operator.
func NewServer(ctx context.Context, c config.Config, env Environment, log *slog.Logger) (_ *Server, err error) {
	s := &Server{log: withTraceIDs(log), services: services{failed: make(chan error, 3)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.free())
		}
	}()

	if s.tracing, err = s.newTracing(ctx, env, "prwarden", s.log); err != nil {
		return nil, err
	}
	if err = s.openStore(ctx, c); err != nil {
		return nil, err
	}

	if s.organizations, err = organization.NewDirectory(ctx, s.store, s.log); err != nil {
		return nil, err
	}

	client, err := s.linkScanner(c, env, s.metrics.registry, s.tracing, s.log)
	if err != nil {
		return nil, err
	}
	if err = s.openPorts(ctx, c.Listen); err != nil {
		return nil, err
	}
	return s, s.assemble(c, client)
}

// openStore opens the database, an SQLite one for this server alone, makes it
// ready, and puts back what a server before this one lost.
func (s *Server) openStore(ctx context.Context, c config.Config) (err error) {
	s.store, err = store.Open(ctx, store.Options{
		Database: c.Database, Connections: c.DatabaseConnections, Exclusive: !c.Shared(),
	})
	if err != nil {
		return err
	}
	s.own(s.store.Close)

	// The schema of a shared database is changed only when that was asked for, and
	// its leases may be others': they run out by themselves.
	if c.Shared() && !c.Migrate {
		err = s.store.CheckSchema(ctx)
	} else {
		err = s.store.Migrate(ctx)
	}
	if err != nil {
		return err
	}

	if !c.Shared() {
		lost, err := s.store.ReleaseLeases(ctx, review.MaxLost)
		if err != nil {
			return err
		}

		for _, r := range lost {
			s.log.Warn("a server before this one ended without giving back a review",
				"review_id", r.ReviewID, "status", r.Status)
		}
	}

	schema, err := s.store.Schema(ctx)
	if err != nil {
		return err
	}
	s.metrics = newMetrics(schema.Needed)
	return organization.Apply(ctx, s.store, c.Organizations, s.log)
}

// assemble makes everything between the store and the listeners.
func (s *Server) assemble(c config.Config, client review.Scanner) error {
	builtin, err := defaults.Load()
	if err != nil {
		return err
	}

	notifier := review.NewNotifier()
	rules := rule.NewService(s.store, s.organizations, builtin)

	reviews := review.NewService(s.store, s.organizations, notifier, client, c.ScanWorkers)
	s.keys = auth.NewKeys(s.store, s.store.Now, s.log)
	s.ready = newReadiness(s.store.Ping, s.log)
	s.listener = s.store.NewListener(notifier, s.log)
	s.watches = api.NewReviews(reviews, s.keys, api.SARIF{
		Rules: rule.ByID(builtin), Version: build.Read().Version,
	})

	scans := tracedScanner{client, s.tracing.tracer}
	s.policies = policy.NewService(s.store, builtin)
	s.dispatcher = review.NewDispatcher(s.store, scans, rules, notifier, review.DispatcherOptions{
		Name: workerName(), Workers: c.ScanWorkers, Organizations: s.organizations, Policies: s.policies,
		Log: s.log, OnEnd: s.metrics.scanEnded,
	})
	s.retention = review.NewRetention(s.store, review.Keep{
		Reviews: time.Duration(c.KeepReviews), Events: time.Duration(c.KeepAudit),
	}, s.log)

	s.metrics.registry.MustRegister(s.store.Collectors()...)
	watchQueue(s.metrics.registry, s.store, s.organizations.MaxQueued)
	if c.Shared() {
		gauge(s.metrics.registry, "prwarden_notifications_listening",
			"Whether this server hears what others write to the same Postgres; 0 while it only polls.",
			func() float64 { return number(s.listener.Listening()) })
	}
	return s.assembleFace(c, rules, client, review.NewTrials(s.store, scans, rules, s.policies, s.organizations))
}

// assembleFace makes what callers talk to.
func (s *Server) assembleFace(
	c config.Config, rules *rule.Service, client review.Scanner, trials *review.Trials,
) (err error) {
	limiter := auth.NewLimiter(s.store.Windows(), time.Now)
	admission := rpc.Admission{
		Admitter: auth.NewAdmitter(s.keys, limiter, c.TrustedProxies, auth.DefaultLimit),
		Guard:    overload.NewGuard(overload.DefaultLimits(), c.TrustedProxies, s.log, s.metrics.tooMany),
	}

	s.grpc = rpc.New(rpc.Config{
		Admission: admission, Metrics: s.metrics.grpc, Log: s.log, Options: s.tracing.server,
		Register: func(r grpc.ServiceRegistrar) {
			prwardenv1.RegisterReviewServiceServer(r, s.watches)
			prwardenv1.RegisterRuleServiceServer(r, api.NewRules(rules, trials))
			prwardenv1.RegisterKeyServiceServer(r, api.NewKeys(s.keys))
			prwardenv1.RegisterPolicyServiceServer(r, api.NewPolicies(s.policies))
			prwardenv1.RegisterStatsServiceServer(r, api.NewStats(stats.NewService(s.store, s.store.Now)))
			prwardenv1.RegisterAuditServiceServer(r, api.NewAudit(audit.NewService(s.store)))
			healthpb.RegisterHealthServer(r, s.ready.health)
			if with, ok := r.(reflection.GRPCServer); ok {
				reflection.Register(with)
			}
		},
	})
	gateway, err := rest.New(rest.Config{
		Conn: s.grpc.Conn(), Admission: admission, OpenAPI: openapi.JSON(), Log: s.log,
		Ready: s.ready.Check, Scanner: client.Available,
		Observe: s.metrics.answered, Tracer: s.tracing.tracer,
	})
	if err != nil {
		return err
	}
	s.http = rest.NewServer(gateway, s.log)
	return nil
}

// Addresses says where the server listens.
func (s *Server) Addresses() Addresses {
	a := Addresses{HTTP: s.httpAt.Addr().String(), GRPC: s.grpcAt.Addr().String()}
	if s.opsAt != nil {
		a.Ops = s.opsAt.Addr().String()
	}
	return a
}

// Start begins to serve and to scan.
func (s *Server) Start() {
	s.keys.Start()
	s.ready.start()
	s.listener.Start()
	s.dispatcher.Start()
	s.retention.Start()
	s.serve("gRPC", func() error { return s.grpc.Serve(s.grpcAt) })
	s.serve("HTTP", func() error { return s.http.Serve(s.httpAt) })
	s.serveOps(s.opsAt, s.metrics.registry, s.ready)
}

// Stop ends the server in good order: it is not ready any more, accepts
// nothing new, ends the watches, lets running requests finish until ctx ends,
// gives running scans back to the queue, and closes the database. Stopping
// twice is stopping once. Only what was left undone is an error; requests that
// had to be cut off are logged.
func (s *Server) Stop(ctx context.Context) error {
	return s.stopOnce(func() error {
		s.ready.stop()
		s.watches.EndWatches()

		// Both ports close, and scans end, at the same time: none waits for the
		// other. Whatever it took, the last steps have their time.
		var requests sync.WaitGroup
		requests.Go(func() {
			if err := s.http.Shutdown(ctx); err != nil {
				s.log.Warn("running HTTP requests were cut off", "error", err)
				_ = s.http.Close() // there is nothing more to do about it
			}
		})

		requests.Go(func() {
			if err := s.grpc.Shutdown(ctx); err != nil {
				s.log.Warn("running gRPC calls were cut off", "error", err)
			}
		})
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSteps)
		defer cancel()
		err := s.dispatcher.Stop(stopping)
		requests.Wait()

		s.listener.Stop()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSteps)
		defer cancel()
		return errors.Join(err, s.retention.Stop(last), s.keys.Stop(last))
	})
}

// workerName tells this process's claims from others'.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
