package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/service/load"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/store"
)

// How the way from creation to start is measured.
const (
	startSamples = 150
	pollSamples  = 50 // each waits half a second
	startPause   = 60 * time.Millisecond
	pollPause    = time.Second // as long as a poll, so that no sample is in step with it
)

// starting is how long reviews waited while workers were idle, by the
// database's clock.
type starting struct {
	database string
	way      string
	samples  int
	p50, p99 time.Duration
	most     time.Duration
}

// starts measures from creation to claim: of a review that the server itself
// created, and on Postgres also of those that another process did, with a
// notification and without.
func (s *suite) starts(ctx context.Context, d *database) (out []starting, err error) {
	host, err := newCodeHost(ctx, s.tmp, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, host.close()) }()
	server, err := s.startServer(ctx, "starts", d, serverOptions{host: host.url})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	token, err := s.createKey(ctx, d)
	if err != nil {
		return nil, err
	}
	c := client{server.HTTP, token}
	if _, err := c.scanAll(ctx, "warm", 2); err != nil { // compiles the rules
		return nil, err
	}
	measure := func(way string, n int, pause time.Duration, create func(context.Context, string) (string, error)) error {
		one, err := c.startOf(ctx, n, pause, create)
		if err != nil {
			return fmt.Errorf("start of reviews, %s: %w", way, err)
		}
		one.database, one.way = d.title, way
		s.progress("%s, %s: enqueue to start %.2f ms median, %.2f ms p99, %.2f ms at most (%d)",
			one.database, one.way, ms(one.p50), ms(one.p99), ms(one.most), one.samples)
		out = append(out, one)
		return nil
	}
	if err := measure("created by the same server", startSamples, startPause, c.create); err != nil {
		return nil, err
	}
	if d.cluster == nil {
		return out, nil
	}
	return out, withStore(ctx, d.url, func(store *store.Store) error {
		return errors.Join(
			measure("created by another server", startSamples, startPause, func(ctx context.Context, repo string) (string, error) {
				id := review.NewID()
				_, err := store.CreateReview(ctx, review.NewReview{ID: id, Organization: organization, Repo: repo, PRNumber: 1, Ruleset: repo}, review.MaxQueued)
				return id, err
			}),
			measure("without notifications, by the poll alone", pollSamples, pollPause, func(ctx context.Context, repo string) (string, error) {
				id := review.NewID()
				return id, d.cluster.Exec(ctx, organization, silentCreation(id, repo))
			}))
	})
}

// silentCreation is what CreateReview writes, and tells nobody. Neither of its
// parameters has a quote.
func silentCreation(id, repo string) string {
	return fmt.Sprintf(`BEGIN;
		INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at)
			VALUES ('%s', '%s', '%s', 1, '%[3]s', 'queued', (EXTRACT(EPOCH FROM now()) * 1000000)::BIGINT);
		UPDATE organizations SET queued = queued + 1 WHERE name = '%[2]s'; COMMIT`, id, organization, repo)
}

// startOf creates n reviews, each a while after the one before is complete: up
// to pause.
func (c client) startOf(ctx context.Context, n int, pause time.Duration, create func(context.Context, string) (string, error)) (starting, error) {
	var waits []time.Duration
	for i := range n {
		time.Sleep(time.Duration(rand.Int64N(int64(pause))))
		id, err := create(ctx, fmt.Sprintf("start/r%d", i%10))
		if err != nil {
			return starting{}, err
		}
		r, err := c.await(ctx, id, soon, complete)
		if err != nil {
			return starting{}, err
		}
		waits = append(waits, r.Started.Sub(r.Created))
	}
	slices.Sort(waits)
	return starting{samples: n, p50: load.Quantile(waits, 0.5), p99: load.Quantile(waits, 0.99), most: waits[n-1]}, nil
}

// How accepting is measured.
const (
	fullQueue   = 5_000
	acceptAlone = 300   // calls of one caller
	acceptMany  = 1_000 // of manyCallers
	manyCallers = 16
)

// accepting is POST /v1/reviews by some callers.
type accepting struct {
	database string
	waiting  int // reviews at the beginning
	callers  int
	calls    int
	rate     float64
	p50, p99 time.Duration
	cost     cost // for a call
}

// accepts measures how long an accepted review takes to be answered, with an
// empty queue and with fullQueue waiting. Nothing is scanned meanwhile: no
// scanner can be reached.
func (s *suite) accepts(ctx context.Context, d *database) (out []accepting, err error) {
	server, err := s.startServer(ctx, "accepts", d, serverOptions{args: []string{"--scanner", "127.0.0.1:9"}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	token, err := s.createKey(ctx, d)
	if err != nil {
		return nil, err
	}
	t, waiting := target{server, token}, 0
	measure := func(callers, calls int, kept bool) error {
		one, err := accept(ctx, d, t, callers, calls)
		if err != nil {
			return fmt.Errorf("accept with %d waiting: %w", waiting, err)
		}
		if kept {
			one.database, one.waiting = d.title, waiting
			s.progress("%s, %d waiting, %d callers: %.2f ms median, %.2f ms p99, %.0f/s; ms of processor time a call: server %.2f, database %.2f",
				one.database, one.waiting, one.callers, ms(one.p50), ms(one.p99), one.rate, ms(one.cost.server), ms(one.cost.database))
			out = append(out, one)
		}
		waiting += calls
		return nil
	}
	steps := []struct {
		callers, calls func() int
		kept           bool
	}{
		{func() int { return 1 }, func() int { return acceptAlone }, true},
		{func() int { return manyCallers }, func() int { return acceptMany }, true},
		{func() int { return manyCallers }, func() int { return fullQueue - waiting }, false},
		{func() int { return 1 }, func() int { return acceptAlone }, true},
		{func() int { return manyCallers }, func() int { return acceptMany }, true},
	}
	for _, step := range steps {
		if err := measure(step.callers(), step.calls(), step.kept); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func accept(ctx context.Context, d *database, t target, callers, calls int) (accepting, error) {
	request := load.Request{
		Method: http.MethodPost, Path: "/v1/reviews", Body: createBody("acme/shop"), Want: http.StatusAccepted,
		Header: map[string]string{"Authorization": "Bearer " + t.token},
	}
	var all []load.Caller
	defer func() {
		for _, c := range all {
			_ = c.Close() // the answers were read
		}
	}()
	for range callers {
		c, err := load.DialHTTP(ctx, t.HTTP, request, io.Discard)
		if err != nil {
			return accepting{}, err
		}
		all = append(all, c)
	}
	before, err := spent(t.Process, d)
	if err != nil {
		return accepting{}, err
	}
	done, err := load.Run(ctx, all, time.Minute, calls)
	if err != nil {
		return accepting{}, err
	}
	after, err := spent(t.Process, d)
	if err != nil {
		return accepting{}, err
	}
	if done.Calls != calls {
		return accepting{}, fmt.Errorf("only %d of %d calls in a minute", done.Calls, calls)
	}
	n := time.Duration(calls)
	return accepting{
		callers: callers, calls: calls, rate: done.Rate(), p50: done.Quantile(0.5), p99: done.Quantile(0.99),
		cost: cost{(after.server - before.server) / n, (after.database - before.database) / n},
	}, nil
}

// syncs measures what the disk takes to keep 4 KiB, where the databases are.
func syncs(dir string) (p50, p99 time.Duration, err error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	var times []time.Duration
	block := make([]byte, 4<<10)
	for range 300 {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return load.Quantile(times, 0.5), load.Quantile(times, 0.99), nil
}
