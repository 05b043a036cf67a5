package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prwarden/prwarden/internal/config"
)

// part is what Serve and Scan run: a Server or a Scanner.
type part interface {
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
	case ctx.Err() != nil && err != nil:
		log.Info("stopped before it served")
		return nil
	case err != nil:
		return err
	}
	return run(ctx, s, c.ShutdownGrace, log, func() {
		a := s.Addresses()
		log.Info(
			"serving", "http_addr", a.HTTP, "grpc_addr", a.GRPC, "ops_addr", a.Ops, "startup_ms",
			time.Since(began).Milliseconds(),
		)
	})
}

// Scan runs a scanner until ctx ends, and ends it in good order. The log line
// `serving` has its addresses.
func Scan(ctx context.Context, c config.Config, env Environment, log *slog.Logger) error {
	s, err := NewScanner(ctx, c, env, log)
	if err != nil {
		return err
	}
	return run(ctx, s, c.ShutdownGrace, log, func() {
		log.Info("serving", "grpc_addr", s.Addr(), "ops_addr", s.OpsAddr())
	})
}

func run(ctx context.Context, p part, grace time.Duration, log *slog.Logger, started func()) error {
	p.Start()
	started()
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
