package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/scanner"
)

// Scanner is a scanner process: the scanner's gRPC service on a network
// address, and metrics and health on another.
type Scanner struct {
	service  *scanner.Server
	server   *grpc.Server
	ready    *readiness
	listener net.Listener
	ops      *http.Server // nil for none
	opsAt    net.Listener // nil for none
	tracing  tracing
	failed   chan error
	done     sync.WaitGroup
	start    sync.Once
	stop     sync.Once
	stopErr  error
}

// NewScanner makes a scanner and listens; it serves from Start on. c must be
// valid for config.Scanner. An error is a sentence for the operator.
func NewScanner(ctx context.Context, c config.Config, env Environment, log *slog.Logger) (_ *Scanner, err error) {
	log = withTraceIDs(log)
	registry := newRegistry("")
	host, err := newScannerHost(c, env, registry, log)
	if err != nil {
		return nil, err
	}
	creds, err := scannerCredentials(c.Link, registry, log)
	if err != nil {
		return nil, err
	}
	s := &Scanner{service: host.service, ready: newReadiness(host.repositories.Check, log), failed: make(chan error, 2)}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeListeners(s.listener, s.opsAt))
		}
	}()
	if s.listener, err = listen(ctx, "grpc-addr", c.ScannerGRPCAddr); err != nil {
		return nil, err
	}
	refused := newRefusedConnections(registry, "scanner").WithLabelValues("scanner")
	s.listener = scanner.LimitConnections(s.listener, refused.Inc)
	if c.ScannerOpsAddr != config.OpsNone {
		if s.opsAt, err = listenOps(ctx, c.ScannerOpsAddr, log); err != nil {
			return nil, err
		}
		s.ops = newOpsServer(registry, s.ready)
	}
	if s.tracing, err = newTracing(ctx, env, "prwarden-scanner", log); err != nil {
		return nil, err
	}
	options := slices.Concat(scanner.NetworkServerOptions(), s.tracing.server(), creds)
	s.server = newScannerServer(host.service, log, options...)
	healthpb.RegisterHealthServer(s.server, s.ready.health)
	return s, nil
}

// Addr is where the scanner listens.
func (s *Scanner) Addr() string { return s.listener.Addr().String() }

// OpsAddr is where the scanner shows metrics and health, "" for nowhere.
func (s *Scanner) OpsAddr() string {
	if s.opsAt == nil {
		return ""
	}
	return s.opsAt.Addr().String()
}

// Start begins to serve. Starting twice is starting once.
func (s *Scanner) Start() {
	s.start.Do(func() {
		s.ready.start()
		s.done.Go(func() {
			if err := s.server.Serve(s.listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				s.failed <- fmt.Errorf("serve gRPC: %w", err)
			}
		})
		if s.ops == nil {
			return
		}
		s.done.Go(func() {
			if err := s.ops.Serve(s.opsAt); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- fmt.Errorf("serve metrics: %w", err)
			}
		})
	})
}

// Failed tells when serving ended by itself.
func (s *Scanner) Failed() <-chan error { return s.failed }

// Stop takes no more scans, lets those that run end until ctx does, and then
// hands them back: their servers put them into the queue again, and it counts
// nowhere. Stopping twice is stopping once.
func (s *Scanner) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		s.ready.stop()
		s.service.Drain()
		s.endScans(ctx)
		if s.ops != nil {
			s.stopErr = s.ops.Close()
		}
		s.done.Wait()
		s.stopErr = errors.Join(s.stopErr, closeListeners(s.listener, s.opsAt))
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSteps)
		defer cancel()
		s.tracing.stop(last)
	})
	return s.stopErr
}

// endScans lets running calls end until ctx does, then hands their scans back,
// which takes a moment, and at last breaks off what is left.
func (s *Scanner) endScans(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.server.GracefulStop()
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
		s.service.HandBack()
	}
	select {
	case <-done:
	case <-time.After(lastSteps):
		s.server.Stop()
		<-done
	}
}

func listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		// It is not wrapped: an error of the network stands for a database that
		// can't be reached, which a server waits for.
		cause := err
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			cause = op.Err
		}
		return nil, fmt.Errorf("%s: can't listen on %s: %s", setting, addr, cause.Error())
	}
	return l, nil
}

// closeListeners closes those that are not nil: a server closes a listener only
// if it served it.
func closeListeners(listeners ...net.Listener) error {
	var all []error
	for _, l := range listeners {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
