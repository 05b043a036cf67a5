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

	"github.com/prwarden/prwarden/gen/openapi"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/background"
	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scanner"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/server/setup"
	"github.com/prwarden/prwarden/internal/sso"
	"github.com/prwarden/prwarden/internal/stats"
	"github.com/prwarden/prwarden/internal/store"
	"github.com/prwarden/prwarden/internal/triage"
	"github.com/prwarden/prwarden/internal/webhook"
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
	connections   *connection.Service
	sources       *sources
	policies      *policy.Service
	triage        *triage.Service
	keys          *auth.Keys
	sessions      *account.Sessions
	accounts      *account.Service
	singleSignOn  *sso.Service // nil for none
	dispatcher    *review.Dispatcher
	publisher     *publish.Publisher
	listener      *store.Listener
	deliveries    deliveries
	webhooks      *webhook.Service
	sender        *webhook.Sender
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
	background.Reserve()
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

	if s.connections, err = OpenConnections(ctx, c, env, s.store, s.log); err != nil {
		return nil, err
	}

	if err = s.openSingleSignOn(c, env); err != nil {
		return nil, err
	}

	s.sources = &sources{
		config: c, env: env, hostOf: s.organizations.Host, allowed: s.organizations.Allowed, hosts: s.connections,
		isListed: c.Guard().Lists, log: s.log,
	}
	if err = s.sources.check(); err != nil {
		return nil, err
	}

	client, err := s.linkScanner(c, env, s.metrics.registry, s.tracing, s.log)
	if err != nil {
		return nil, err
	}
	if err = s.openPorts(ctx, c.Listen); err != nil {
		return nil, err
	}
	if err = s.assemble(c, client); err != nil {
		return s, err
	}

	return s, s.offerSetUp(ctx, c)
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
func (s *Server) assemble(c config.Config, client *scanner.Client) error {
	builtin, err := defaults.Load()
	if err != nil {
		return err
	}

	notifier := review.NewNotifier()
	allowed := reach{s.organizations, s.connections}
	rules := rule.NewService(s.store, allowed, builtin)

	reviews := review.NewService(s.store, allowed, notifier, client, c.ScanWorkers)
	s.keys = auth.NewKeys(s.store, s.store.Now, s.log)
	s.ready = newReadiness(s.store.Ping, s.log)
	s.listener = s.store.NewListener(notifier, s.log)
	s.policies = policy.NewService(s.store, builtin)
	s.watches = api.NewReviews(reviews, s.keys, api.SARIF{
		Rules: rule.ByID(builtin), Version: build.Read().Version,
	}, publish.NewCheckPages(s.store, s.store, s.policies), review.NewDiffs(review.DiffsNeeds{
		Reviews: s.store, Scanner: client, Rules: rules, Policies: s.policies, Organizations: allowed, Sources: s.sources,
		Enabled: c.DashboardSource, Now: time.Now, OnEnd: s.metrics.diffShown,
	}))

	scans := tracedScanner{client, s.tracing.tracer}
	s.triage = triage.NewService(s.store, rules, s.policies)
	s.dispatcher = review.NewDispatcher(s.store, scans, rules, notifier, review.DispatcherOptions{
		Name: workerName(), Workers: c.ScanWorkers, Organizations: allowed, Sources: s.sources,
		Policies: s.policies, Log: s.log, OnEnd: s.metrics.scanEnded,
	})
	s.publisher = s.newPublisher(c)
	s.sender = s.newSender(c)
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
	trials := review.NewTrials(s.store, s.dispatcher.Scanner(), rules, s.policies, allowed, s.sources)
	s.deliveries = s.newDeliveries(c, reviews, rules)

	return s.assembleFace(c, rules, client, trials)
}

// assembleFace makes what callers talk to.
func (s *Server) assembleFace(
	c config.Config, rules *rule.Service, client review.Scanner, trials *review.Trials,
) (err error) {
	limiter := auth.NewLimiter(s.store.Windows(), time.Now)
	s.sessions = account.NewSessions(s.store, s.store.Now, s.log)
	s.accounts = account.NewService(s.store, s.sessions, account.NewPasswords(), limiter, s.store.Now, s.log)
	s.linkSingleSignOn()
	admission := rpc.Admission{
		Admitter: auth.NewAdmitter(s.keys, limiter, c.TrustedProxies, auth.DefaultLimit),
		Guard:    overload.NewGuard(overload.DefaultLimits(), c.TrustedProxies, s.log, s.metrics.tooMany),
	}

	numbers := stats.NewService(s.store, s.store.Now)
	s.grpc = rpc.New(rpc.Config{
		Admission: admission, Metrics: s.metrics.grpc, Log: s.log, Options: s.tracing.server,
		Register: api.Services{
			Reviews: s.watches, Rules: api.NewRules(rules, trials, numbers, c.DashboardSource), Keys: api.NewKeys(s.keys),
			Accounts: api.NewAccounts(s.accounts), Members: s.members(c),
			Policies: api.NewPolicies(s.policies), Stats: api.NewStats(numbers),
			Triage: api.NewTriage(s.triage),
			Audit:  api.NewAudit(audit.NewService(s.store)), Hosts: api.NewConnections(s.connections, c.HookURL),
			Webhooks: api.NewWebhooks(s.webhooks),
			Pulls:    api.NewPullRequests(publish.NewService(s.store)),
			Health:   s.ready.health,
		}.Register,
	})
	gateway, err := rest.New(rest.Config{
		Conn: s.grpc.Conn(), Admission: admission, OpenAPI: openapi.JSON(), Log: s.log,
		Hooks: s.hooks(c, admission.Guard), Setup: &setup.Handler{Service: s.connections, Log: s.log},
		Pages: s.pages(c, admission), NoPage: noPage(c),
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
	s.sessions.Start()
	s.ready.start()
	s.listener.Start()
	s.dispatcher.Start()
	s.publisher.Start()
	s.deliveries.start()
	s.sender.Start()
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
		requests.Go(func() {
			if err := s.publisher.Stop(stopping); err != nil {
				s.log.Warn("publishing was cut off; what it left is found out later", "error", err)
			}
		})
		requests.Go(func() {
			if err := s.sender.Stop(stopping); err != nil {
				s.log.Warn("sending to webhooks was cut off; what it left is sent again later", "error", err)
			}
		})
		err := errors.Join(s.deliveries.stop(stopping), s.dispatcher.Stop(stopping))
		requests.Wait()

		s.listener.Stop()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSteps)
		defer cancel()
		return errors.Join(err, s.retention.Stop(last), s.keys.Stop(last), s.sessions.Stop(last))
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
