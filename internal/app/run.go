// Package app puts the parts together and gives them a life: it is the only
// place that knows every part. Tests start the same types as the program.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/store"
)

const (
	// databaseWait is how long a server waits at its start for a database that
	// can't be reached: after a power cut both start in any order.
	databaseWait = time.Minute
	// databasePause is the time between two tries.
	databasePause = time.Second
	// lastSteps bounds what is done after the grace of a stop has ended: each step
	// is quick unless a disk hangs.
	lastSteps = 10 * time.Second
)

// Environment looks up a variable of the process that configuration names: a
// token, a proxy, where to send traces. It is "" when it is not set.
type Environment func(name string) string

// process is what Serve and Scan run: a Server or a Scanner.
type process interface {
	Start()
	Failed() <-chan error
	Stop(ctx context.Context) error
}

// Serve runs a server until ctx ends, and ends it in good order. It waits a
// while for a database that can't be reached. The log line `serving` has its
// addresses.
func Serve(ctx context.Context, c config.Config, env Environment, log *slog.Logger) error {
	began := time.Now()
	s, err := whenThere(ctx, log, func() (*Server, error) { return NewServer(ctx, c, env, log) })
	switch {
	case err != nil && ctx.Err() != nil:
		log.Info("stopped before it served")
		return nil
	case err != nil:
		return err
	}

	a := s.Addresses()
	serving := []any{
		"http_addr", a.HTTP, "grpc_addr", a.GRPC, "ops_addr", a.Ops, "startup_ms", time.Since(began).Milliseconds(),
	}
	return run(ctx, s, c.ShutdownGrace, log, serving)
}

// whenThere makes a server by start, again and again for databaseWait while
// that fails because the database can't be reached.
func whenThere(ctx context.Context, log *slog.Logger, start func() (*Server, error)) (*Server, error) {
	for began := time.Now(); ; {
		s, err := start()
		away := store.Unreachable(err)
		switch {
		case err == nil:
			return s, nil
		case away == nil:
			return nil, err
		case time.Since(began) >= databaseWait:
			return nil, fmt.Errorf("the database could not be reached for %s: %w", databaseWait, away)
		}

		log.Warn("waiting for the database", "error", away)
		select {
		case <-time.After(databasePause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Scan runs a scanner until ctx ends, and ends it in good order. The log line
// `serving` has its addresses.
func Scan(ctx context.Context, c config.Config, env Environment, log *slog.Logger) error {
	s, err := NewScanner(ctx, c, env, log)
	if err != nil {
		return err
	}
	return run(ctx, s, c.ShutdownGrace, log, []any{"grpc_addr", s.Addr(), "ops_addr", s.OpsAddr()})
}

func run(ctx context.Context, p process, grace time.Duration, log *slog.Logger, serving []any) error {
	p.Start()
	log.Info("serving", serving...)

	var failure error
	select {
	case <-ctx.Done():
		log.Info("stopping", "grace", grace.String())
	case failure = <-p.Failed():
		log.Error("stopping", "error", failure)
	}

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := errors.Join(failure, p.Stop(ending))
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// services are what listens, and what a process has taken that it must free.
type services struct {
	failed  chan error
	running sync.WaitGroup
	owned   []func() error
	stop    sync.Once
	stopErr error
}

// serve runs a service until it is closed.
func (s *services) serve(what string, serve func() error) {
	s.running.Go(func() {
		err := serve()
		if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, grpc.ErrServerStopped) {
			s.failed <- fmt.Errorf("serve %s: %w", what, err)
		}
	})
}

// Failed tells when a listener ended by itself.
func (s *services) Failed() <-chan error { return s.failed }

// own has something freed when the process ends, also when it got only part of
// the way. What was taken last is freed first.
func (s *services) own(free func() error) { s.owned = append(s.owned, free) }

func (s *services) free() error {
	var all []error
	for _, free := range slices.Backward(s.owned) {
		all = append(all, free())
	}
	s.owned = nil
	return errors.Join(all...)
}

// stopOnce stops the process, waits for its services and frees what it owns.
// Stopping twice is stopping once.
func (s *services) stopOnce(stop func() error) error {
	s.stop.Do(func() {
		s.stopErr = errors.Join(stop(), s.free())
		s.running.Wait()
	})
	return s.stopErr
}
