package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/transport/scannergrpc"
)

// Scanner is a scanner process: the scanner's gRPC service on a network
// address.
type Scanner struct {
	service  *scannergrpc.Server
	server   *grpc.Server
	health   *health.Server
	listener net.Listener
	tracing  tracing
	failed   chan error
	done     sync.WaitGroup
	start    sync.Once
	stop     sync.Once
	stopErr  error
}

// NewScanner makes a scanner and listens; it serves from Start on. c must be
// valid for config.Scanner. An error is a sentence for the operator.
func NewScanner(ctx context.Context, c config.Config, env Environment, log *slog.Logger) (*Scanner, error) {
	host, err := newScannerHost(c, env, scan.Options{}, log)
	if err != nil {
		return nil, err
	}
	creds, err := scannerCredentials(c.Link, log)
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, "grpc-addr", c.ScannerGRPCAddr)
	if err != nil {
		return nil, err
	}
	traces, err := newTracing(ctx, env, "prwarden-scanner", log)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	options := slices.Concat(scannergrpc.NetworkServerOptions(), traces.server(), creds)
	s := &Scanner{
		service: host.service, server: newScannerServer(host.service, log, options...), health: health.NewServer(), listener: listener,
		tracing: traces, failed: make(chan error, 1),
	}
	healthpb.RegisterHealthServer(s.server, s.health)
	return s, nil
}

// Addr is where the scanner listens.
func (s *Scanner) Addr() string { return s.listener.Addr().String() }

// Start begins to serve. Starting twice is starting once.
func (s *Scanner) Start() {
	s.start.Do(func() {
		s.done.Go(func() {
			if err := s.server.Serve(scannergrpc.LimitConnections(s.listener)); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				s.failed <- fmt.Errorf("serve gRPC: %w", err)
			}
		})
	})
}

// Failed tells when serving ended by itself.
func (s *Scanner) Failed() <-chan error { return s.failed }

// Stop takes no more scans, sends those that wait for a place elsewhere, lets those that run end until ctx does, and then
// hands them back: their servers put them into the queue again, and it counts
// nowhere. Stopping twice is stopping once.
func (s *Scanner) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		s.health.Shutdown()
		s.service.Drain()
		s.endScans(ctx)
		s.done.Wait()
		// The server closes a listener only if it served it.
		if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			s.stopErr = err
		}
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
		return nil, fmt.Errorf("%s: can't listen on %s: %w", setting, addr, err)
	}
	return l, nil
}
