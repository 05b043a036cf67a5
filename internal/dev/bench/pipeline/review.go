package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
	"github.com/prwarden/prwarden/internal/store"
)

// What the reviews are of.
const (
	organization = "bench"
	repository   = "owner/name"
)

// reviewer is a server's parts between the queue and the scanner, put together
// as internal/app does, with a look at what passes between them.
type reviewer struct {
	cache      string // directory of the cached repositories
	store      *store.Store
	hub        *review.Notifier
	dispatcher *review.Dispatcher
	observed   *observed
	closers    []func()
}

// newReviewer makes one in dir, with an empty cache and no rules compiled.
func newReviewer(store *store.Store, dir string, from origin, defaults []rule.Rule) (*reviewer, error) {
	r := &reviewer{cache: filepath.Join(dir, "cache"), store: store, hub: review.NewNotifier(), observed: newObserved()}
	repositories, err := git.New(git.Options{Dir: r.cache, Limits: git.DefaultLimits(), Prefetch: []string{rule.FilePath}})
	if err != nil {
		return nil, err
	}
	hosts, err := codehost.New(repositories, map[string]codehost.Settings{
		organization: {Kind: codehost.KindGit, URL: from.url("{repo}")},
	}, os.Getenv)
	if err != nil {
		return nil, err
	}
	conn, err := r.serve(scanner.NewServer(scan.NewScanner(hosts, scan.Options{}), scanner.Options{}, slog.New(r.observed)))
	if err != nil {
		return nil, err
	}
	o := r.observed
	o.queue, o.scanner, o.rules = store, scanner.NewLocalClient(conn), rule.NewService(store, everything{}, defaults)
	r.dispatcher = review.NewDispatcher(o, o, o, r.hub, review.DispatcherOptions{Name: "bench", Log: slog.New(slog.DiscardHandler), OnEnd: o.ended})
	r.dispatcher.Start()
	return r, nil
}

// everything is the policy of the one organization.
type everything struct{}

// Allowed implements rule.Policy.
func (everything) Allowed(string, string) bool { return true }
func (everything) MaxQueued(string) int        { return review.MaxQueued }

// serve starts the scanner's gRPC server in memory and connects to it.
func (r *reviewer) serve(service *scanner.Server) (*grpc.ClientConn, error) {
	listener := bufconn.Listen(256 << 10)
	server := grpc.NewServer(scanner.ServerOptions()...)
	service.Register(server)
	go func() { _ = server.Serve(listener) }() // it ends with Stop
	r.closers = append(r.closers, server.Stop)
	conn, err := grpc.NewClient("passthrough:///scanner",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err == nil {
		r.closers = append(r.closers, func() { _ = conn.Close() })
	}
	return conn, err
}

// review creates a review, waits for its end and says where its time went.
func (r *reviewer) review(ctx context.Context, pull int32) (sample, review.Review, error) {
	id := review.NewID()
	_, err := r.store.CreateReview(ctx, review.NewReview{
		ID: id, Organization: organization, Repo: repository, PRNumber: pull, Ruleset: repository,
	}, review.MaxQueued)
	if err != nil {
		return nil, review.Review{}, err
	}
	r.hub.Enqueued()
	var s sample
	select {
	case s = <-r.observed.samples:
	case <-ctx.Done():
		return nil, review.Review{}, ctx.Err()
	}
	done, err := r.store.GetReview(ctx, organization, id)
	if err == nil && done.Status != review.Complete {
		err = fmt.Errorf("the review ended %s: %+v", done.Status, done.Failure)
	}
	return s, done, err
}

// close ends everything, the last first.
func (r *reviewer) close() {
	if r.dispatcher != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_ = r.dispatcher.Stop(ctx)
		cancel()
	}
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
}
