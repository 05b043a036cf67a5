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

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/store"
)

// Server is a whole server: store, queue, scanner or the way to scanners, and
// the three listeners.
type Server struct {
	log *slog.Logger

	// In the order in which they are made; Stop goes the other way.
	tracing       tracing
	store         *store.Store
	organizations *organization.Directory
	metrics       *metrics
	scanner       scannerLink
	keys          *auth.Keys
	dispatcher    *review.Dispatcher
	listener      *store.Listener
	retention     *review.Retention
	watches       *api.Reviews
	ready         *readiness
	grpc          *rpc.Server
	http          *http.Server
	ops           *http.Server // nil for none
	listeners     listeners

	failed  chan error
	serving sync.WaitGroup
	start   sync.Once
	stop    sync.Once
	stopErr error
}

type listeners struct{ http, grpc, ops net.Listener }

// Addresses are where a server listens, as HOST:PORT. Ops is empty when there
// are no metrics.
type Addresses struct{ HTTP, GRPC, Ops string }

// NewServer opens the database, which it brings to this version's schema, puts
// back what a server before lost, makes everything and listens. It serves from
// Start on. c must be valid for config.Serve. An error is a sentence for the
// operator.
func NewServer(ctx context.Context, c config.Config, env Environment, log *slog.Logger) (_ *Server, err error) {
	log = withTraceIDs(log)
	s := &Server{log: log, failed: make(chan error, 3)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if s.tracing, err = newTracing(ctx, env, "prwarden", log); err != nil {
		return nil, err
	}
	var lost []review.Reaped
	if s.store, lost, err = openStore(ctx, c, log); err != nil {
		return nil, err
	}
	schema, err := s.store.Schema(ctx)
	if err != nil {
		return nil, err
	}
	s.metrics = newMetrics(schema.Needed)
	s.metrics.reaped(lost)
	if s.organizations, err = organization.NewDirectory(ctx, s.store, log); err != nil {
		return nil, err
	}
	if s.scanner, err = linkScanner(c, env, s.metrics.registry, log, s.tracing); err != nil {
		return nil, err
	}
	if err = s.listen(ctx, c.Listen); err != nil {
		return nil, err
	}
	return s, s.assemble(ctx, c)
}

// openStore opens the database, an SQLite one for this server alone, makes it
// ready, and puts back what a server before this one lost.
func openStore(
	ctx context.Context, c config.Config, log *slog.Logger,
) (_ *store.Store, lost []review.Reaped, err error) {
	store, err := store.Open(ctx, store.Options{
		Database: c.Database, Connections: c.DatabaseConnections, Exclusive: !c.Shared(),
	})
	if err != nil {
		return nil, nil, err
	}
	lost, err = prepare(ctx, store, c.Storage)
	if err == nil {
		err = organization.Apply(ctx, store, c.Organizations, log)
	}
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	for _, r := range lost {
		log.Warn("a server before this one ended without giving back a review", "review_id", r.ReviewID, "status", r.Status)
	}
	return store, lost, nil
}

// prepare brings the schema to this version, on a database that is shared only
// when that was asked for, and puts back what a server before this one lost. On
// a shared one others may hold leases, which run out by themselves.
func prepare(ctx context.Context, store *store.Store, c config.Storage) (lost []review.Reaped, err error) {
	if c.Shared() && !c.Migrate {
		return nil, store.CheckSchema(ctx)
	}
	if err := store.Migrate(ctx); err != nil || c.Shared() {
		return nil, err
	}
	return store.ReleaseLeases(ctx, review.MaxLost)
}

func (s *Server) listen(ctx context.Context, l config.Listen) (err error) {
	if s.listeners.http, err = listen(ctx, "http-addr", l.HTTPAddr); err != nil {
		return err
	}
	if s.listeners.grpc, err = listen(ctx, "grpc-addr", l.GRPCAddr); err != nil {
		return err
	}
	if err = s.openPorts(l); err != nil {
		return err
	}
	if l.OpsAddr == config.OpsNone {
		return nil
	}
	s.listeners.ops, err = listenOps(ctx, l.OpsAddr, s.log)
	return err
}

// Addresses says where the server listens.
func (s *Server) Addresses() Addresses {
	a := Addresses{HTTP: s.listeners.http.Addr().String(), GRPC: s.listeners.grpc.Addr().String()}
	if s.listeners.ops != nil {
		a.Ops = s.listeners.ops.Addr().String()
	}
	return a
}

// Start begins to serve and to scan. Starting twice is starting once.
func (s *Server) Start() {
	s.start.Do(func() {
		s.organizations.Start()
		s.keys.Start()
		s.ready.start()
		s.listener.Start()
		s.dispatcher.Start()
		s.retention.Start()
		s.serve("gRPC", func() error { return s.grpc.Serve(s.listeners.grpc) })
		s.serve("HTTP", func() error { return s.http.Serve(s.listeners.http) })
		if s.ops != nil {
			s.serve("metrics", func() error { return s.ops.Serve(s.listeners.ops) })
		}
	})
}

func (s *Server) serve(what string, serve func() error) {
	s.serving.Go(func() {
		if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve %s: %w", what, err)
		}
	})
}

// Failed tells when a listener ended by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// lastSteps bounds what is done after ctx of Stop has ended: each step is
// quick unless a disk hangs.
const lastSteps = 10 * time.Second

// Stop ends the server in good order: it is not ready any more, accepts
// nothing new, ends the watches, lets running requests finish until ctx ends,
// gives running scans back to the queue, and closes the database. Stopping
// twice is stopping once. Only what was left undone is an error; requests that
// had to be cut off are logged.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		s.stopErr = s.shutdown(ctx)
	})
	return s.stopErr
}

func (s *Server) shutdown(ctx context.Context) error {
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
	err := s.dispatcher.Stop(stopping)
	cancel()
	requests.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSteps)
	defer cancel()
	err = errors.Join(err, s.retention.Stop(last))
	err = errors.Join(err, s.listener.Stop(last))
	err = errors.Join(err, s.keys.Stop(last))
	if s.ops != nil {
		err = errors.Join(err, s.ops.Close())
	}
	err = errors.Join(err, s.release())
	s.serving.Wait()
	return err
}

// release frees what NewServer took, also when it got only part of the way.
func (s *Server) release() error {
	var all []error
	if s.grpc != nil {
		// It may have begun in part. After shutdown this does nothing.
		all = append(all, s.grpc.Shutdown(context.Background()))
	}
	all = append(all, closeListeners(s.listeners.http, s.listeners.grpc, s.listeners.ops))
	if s.scanner.stop != nil {
		all = append(all, s.scanner.stop())
	}
	if s.organizations != nil {
		s.organizations.Stop()
	}
	if s.store != nil {
		all = append(all, s.store.Close())
	}
	last, cancel := context.WithTimeout(context.Background(), lastSteps)
	defer cancel()
	s.tracing.stop(last)
	return errors.Join(all...)
}

// workerName tells this process's claims from others'.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
