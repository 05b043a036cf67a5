package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/process"
	"github.com/prwarden/prwarden/internal/dev/bench/service/load"
)

// How scanning is measured.
const (
	// hostDelay is what each answer of the code host takes. A scan asks several
	// times, one after the other, so it waits far longer than it computes, and
	// two processors suffice for many scans at once.
	hostDelay = 400 * time.Millisecond
	// scansAtOnce is how many scans a scanner does at once.
	scansAtOnce = 4
	// roundsOfScans is how many scans follow each other in a measurement.
	roundsOfScans = 8
	// scansTimeout bounds the wait for all of them.
	scansTimeout = 2 * time.Minute
)

// scaling is the throughput with some scanner processes.
type scaling struct {
	scanners int
	reviews  int
	took     time.Duration // from the first claim to the last completion, by the database's clock
	each     time.Duration // median of a scan
	server   time.Duration // processor time for a review
	database time.Duration
	scanner  time.Duration // of the scanner processes, without their git
}

func (s *suite) scaling(ctx context.Context, d *database) (out []scaling, err error) {
	host, err := newCodeHost(ctx, s.tmp, hostDelay)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, host.close()) }()
	for _, n := range []int{1, 2, 4} {
		one, err := s.scanWith(ctx, d, host, n)
		if err != nil {
			return nil, fmt.Errorf("%d scanners: %w", n, err)
		}
		s.progress("%d scanners: %.2f reviews/s (%d in %.1f s), a scan %.2f s; ms of processor time a review: server %.1f, database %.1f, scanners %.1f",
			n, one.rate(), one.reviews, one.took.Seconds(), one.each.Seconds(), ms(one.server), ms(one.database), ms(one.scanner))
		out = append(out, one)
	}
	return out, nil
}

func (r scaling) rate() float64 { return float64(r.reviews) / r.took.Seconds() }

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func (s *suite) scanWith(ctx context.Context, d *database, host *codeHost, n int) (out scaling, err error) {
	if err := s.writeConfig(d, host.url); err != nil {
		return out, err
	}
	var scanners []*process.Process
	var addresses []string
	for i := range n {
		p, err := s.startScanner(ctx, d, fmt.Sprintf("scanner-%d-%d", n, i))
		if err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, p.Stop()) }()
		scanners, addresses = append(scanners, p), append(addresses, p.GRPC)
	}
	server, err := s.startServer(ctx, fmt.Sprintf("server-%d", n), d, serverOptions{host: host.url, args: []string{
		"--scanner", strings.Join(addresses, ","), "--scan-workers", strconv.Itoa(n * scansAtOnce),
	}})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	token, err := s.createKey(ctx, d)
	if err != nil {
		return out, err
	}
	c := client{server.HTTP, token}
	// One scan for each scanner compiles the rules and lets the code host learn
	// its answers.
	if _, err := c.scanAll(ctx, fmt.Sprintf("warm-%d", n), n*scansAtOnce); err != nil {
		return out, err
	}
	costs := func() (server1, database, scanner time.Duration, err error) {
		c, err := spent(server, d)
		for _, p := range scanners {
			one, failed := p.Spent()
			scanner, err = scanner+one, errors.Join(err, failed)
		}
		return c.server, c.database, scanner, err
	}
	s0, d0, p0, err := costs()
	if err != nil {
		return out, err
	}
	reviews, err := c.scanAll(ctx, fmt.Sprintf("with-%d", n), n*scansAtOnce*roundsOfScans)
	if err != nil {
		return out, err
	}
	s1, d1, p1, err := costs()
	if err != nil {
		return out, err
	}
	var began, ended []time.Time
	var each []time.Duration
	for _, r := range reviews {
		began, ended, each = append(began, r.Started), append(ended, r.Completed), append(each, r.Completed.Sub(r.Started))
	}
	slices.Sort(each)
	count := time.Duration(len(reviews))
	return scaling{
		scanners: n, reviews: len(reviews),
		took: slices.MaxFunc(ended, time.Time.Compare).Sub(slices.MinFunc(began, time.Time.Compare)),
		each: load.Quantile(each, 0.5), server: (s1 - s0) / count, database: (d1 - d0) / count, scanner: (p1 - p0) / count,
	}, nil
}

// startScanner starts `prwarden scanner`. It serves no HTTP.
func (s *suite) startScanner(ctx context.Context, d *database, name string) (*process.Process, error) {
	return process.Start(ctx, name, filepath.Join(s.tmp, name+".log"), nil, s.program("prwarden"),
		"scanner", "--config", s.config(d), "--grpc-addr", "127.0.0.1:0", "--scan-workers", strconv.Itoa(scansAtOnce),
		"--cache-dir", filepath.Join(s.tmp, name+"-cache"))
}

// client makes calls over REST of which the answers matter.
type client struct{ addr, token string }

// reviewed is what is looked at of a review.
type reviewed struct {
	ID        string    `json:"review_id"`
	Status    string    `json:"status"`
	Created   time.Time `json:"created_at"`
	Started   time.Time `json:"started_at"`
	Completed time.Time `json:"completed_at"`
	Error     any       `json:"error"`
}

func (c client) call(ctx context.Context, method, path, body string, into any) error {
	q, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return json.Unmarshal(text, into)
}

// create asks for a review of the pull request of a repository.
func (c client) create(ctx context.Context, repo string) (string, error) {
	var r reviewed
	err := c.call(ctx, http.MethodPost, "/v1/reviews", createBody(repo), &r)
	return r.ID, err
}

func createBody(repo string) string { return fmt.Sprintf(`{"repo": %q, "pr_number": 1}`, repo) }

// How often a review is looked at.
const (
	soon  = 10 * time.Millisecond
	later = 500 * time.Millisecond
)

// await looks at a review every so often until done says so, and fails when it
// ended badly.
func (c client) await(ctx context.Context, id string, every time.Duration, done func(reviewed) bool) (r reviewed, err error) {
	ctx, cancel := context.WithTimeout(ctx, scansTimeout)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := c.call(ctx, http.MethodGet, "/v1/reviews/"+id, "", &r); err != nil {
			return r, err
		}
		switch {
		case r.Status == "failed" || r.Status == "canceled":
			return r, fmt.Errorf("review %s: %s: %v", id, r.Status, r.Error)
		case done(r):
			return r, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return r, fmt.Errorf("review %s is %s: %w", id, r.Status, ctx.Err())
		}
	}
}

func complete(r reviewed) bool { return r.Status == "complete" }

// scanAll has n repositories scanned that nobody has seen before, and waits
// until all are.
func (c client) scanAll(ctx context.Context, owner string, n int) (out []reviewed, err error) {
	var ids []string
	for i := range n {
		id, err := c.create(ctx, fmt.Sprintf("%s/r%d", owner, i))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		r, err := c.await(ctx, id, later, complete)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
