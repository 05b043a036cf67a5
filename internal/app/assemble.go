package app

import (
	"context"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/gen/openapi"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/rest"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/store"
)

// assemble makes everything between the store and the listeners.
func (s *Server) assemble(ctx context.Context, c config.Config) error {
	builtin, err := defaults.Load()
	if err != nil {
		return err
	}
	policy := s.organizations
	notifier := review.NewNotifier()
	rules := rule.NewService(s.store, policy, builtin)
	reviews := review.NewService(s.store, policy, notifier, c.ScanWorkers)
	m := s.metrics
	m.registry.MustRegister(newQueueCollector(s.store, policy.MaxQueued))
	m.registry.MustRegister(s.store.Collectors()...)
	s.keys = auth.NewKeys(s.store, s.store.Now, s.log)
	s.ready = newReadiness(s.store.Ping, s.log)
	s.watches = api.NewReviews(observedReviews{reviews, m}, s.keys, api.SARIF{
		Rules: sarif.NewCatalog(builtin), Version: build.Read().Version,
	})
	s.listener = s.store.NewListener(notifier, store.ListenerOptions{Log: s.log})
	if c.Shared() {
		m.watchListener(s.listener)
	}
	observed := observedScanner{s.scanner.client, m, s.tracing.tracer()}
	s.dispatcher = review.NewDispatcher(observedQueue{s.store, m}, observed, rules, notifier, review.DispatcherOptions{
		Name: workerName(), Workers: c.ScanWorkers, Policy: policy,
		Log: s.log, OnEnd: m.scanEnded,
	})

	s.retention = s.newRetention(c)

	admission := rpc.Admission{Admitter: s.admit(c, m.admitted), Guard: s.newGuard(c.Listen)}
	s.grpc, err = rpc.New(rpc.Config{
		Admission: admission, Metrics: m.grpc, Log: s.log, Telemetry: s.tracing.handler(),
		Register: func(r grpc.ServiceRegistrar) {
			prwardenv1.RegisterReviewServiceServer(r, s.watches)
			prwardenv1.RegisterRuleServiceServer(r, api.NewRules(rules))
			prwardenv1.RegisterKeyServiceServer(r, api.NewKeys(s.keys))
			healthpb.RegisterHealthServer(r, s.ready.health)
			if with, ok := r.(reflection.GRPCServer); ok {
				reflection.Register(with)
			}
		},
	})
	if err != nil {
		return err
	}
	gateway, err := rest.New(rest.Config{
		Conn: s.grpc.Conn(), Admission: admission, OpenAPI: openapi.JSON(), Ready: s.ready.Check, Log: s.log,
		Observe: m.answered, Tracer: s.tracing.tracer(),
	})
	if err != nil {
		return err
	}
	s.http = rest.NewServer(gateway, s.log)
	if s.listeners.ops != nil {
		s.ops = newOpsServer(m.registry, s.ready)
	}
	return nil
}
