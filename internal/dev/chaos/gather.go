package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/prwarden/prwarden/internal/dev/chaos/verdict"
	"github.com/prwarden/prwarden/internal/dev/chaos/world"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scanner"
)

// passing are the codes that the faults of a run may fail a review with.
func (r *run) passing() []string {
	codes := []string{"scanner_unavailable", "worker_lost"}
	if r.s.Schedule.FillEvery > 0 {
		codes = append(codes, "cache_full")
	}
	return codes
}

// gather collects the evidence, and ends the world's processes on the way.
func (r *run) gather(ctx context.Context) (*verdict.Evidence, error) {
	e := &verdict.Evidence{Want: r.pulls.Find, Passing: r.passing(), MostPassing: r.s.MostPassing}
	var err error
	// What can't be read shows in the verdict.
	reading, cancel := context.WithTimeout(ctx, r.s.Settle)
	defer cancel()
	if e.Shown, err = r.pool.ReadAll(reading); err != nil {
		fmt.Fprintf(r.progress, "reading reviews over the API: %v\n", err)
	}
	if err := r.pool.Close(); err != nil {
		return nil, err
	}
	if err := r.touch(ctx); err != nil {
		return nil, fmt.Errorf("scan each repository on each scanner: %w", err)
	}
	if e.Left.Grown, err = r.grown(ctx); err != nil {
		return nil, err
	}
	if err := r.leftovers(ctx, e); err != nil {
		return nil, err
	}
	db, err := r.world.Database.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	if e.Stored, err = verdict.Read(ctx, db, r.s.Database == world.Postgres); err != nil {
		return nil, err
	}
	e.Records, e.Complaints = r.pool.Records(), r.pool.Complaints()
	e.Completed, e.Strange = r.world.Logs.Completed(), r.world.Logs.Strange()
	return e, nil
}

// touch has each scanner scan each repository once more: what a killed git left
// in a cache is removed when the repository is used again.
func (r *run) touch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.s.Settle)
	defer cancel()
	for _, s := range r.world.Scanners {
		conn, err := grpc.NewClient(s.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
		if err != nil {
			return err
		}
		client := scanner.NewLocalClient(conn)
		for _, repo := range r.pulls.Repos() {
			if err := r.touchOne(ctx, client, repo); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", s.Name, err), conn.Close())
			}
		}
		if err := conn.Close(); err != nil {
			return err
		}
	}
	return nil
}

// touchOne scans one repository, again while that fails for now: the scanner may
// still have something to do.
func (r *run) touchOne(ctx context.Context, client *scanner.Client, repo string) error {
	pull, _ := r.pulls.Find(repo, 1)
	for {
		_, err := client.Scan(ctx, review.Job{
			ReviewID: "chaos", Organization: pull.Organization, Repo: repo, PRNumber: pull.Number, Ruleset: repo,
			Rules: rule.Set{Digest: rule.Digest(nil)}, MaxFindings: review.MaxFindings,
		}, func(review.Progress) {})
		var failed *review.ScanError
		if err == nil || !errors.As(err, &failed) || failed.Lasting {
			return err
		}
		if pauseErr := pause(ctx, 200*time.Millisecond); pauseErr != nil {
			return errors.Join(pauseErr, err)
		}
	}
}

// How much more than at the beginning a process may use when nothing is to be
// done: connections of a pool, streams to scanners. What leaks with every fault
// is soon more.
const (
	moreGoroutines = 25
	moreFiles      = 30
	calmDown       = 3 * time.Minute // idle connections and retries end long before
)

// grown are the processes that use more than at their beginning, for as long as
// they are given to calm down.
func (r *run) grown(ctx context.Context) ([]string, error) {
	var texts []string
	for until := time.Now().Add(calmDown); ; {
		texts = nil
		for i, w := range r.watched() {
			u, err := verdict.ReadUsage(ctx, w.ops)
			if err != nil {
				return nil, err
			}
			if b := r.before[i]; u.Goroutines > b.Goroutines+moreGoroutines || u.Files > b.Files+moreFiles {
				texts = append(texts, fmt.Sprintf("%s has %d goroutines and %d open files; at its beginning %d and %d",
					w.name, u.Goroutines, u.Files, b.Goroutines, b.Files))
			}
		}
		if len(texts) == 0 || time.Now().After(until) {
			return texts, nil
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// leftovers looks for processes while the world is idle, ends it, and looks
// again, for files too.
func (r *run) leftovers(ctx context.Context, e *verdict.Evidence) error {
	var pids []int
	for _, p := range r.world.Processes() {
		pids = append(pids, p.PID())
	}
	idle, err := r.processes(ctx, pids)
	if err != nil {
		return err
	}
	stopping, cancel := context.WithTimeout(ctx, r.s.Settle)
	defer cancel()
	if err := r.world.Stop(stopping); err != nil {
		return err
	}
	ended, err := r.processes(ctx, nil)
	if err != nil {
		return err
	}
	e.Left.Processes = slices.Concat(idle, ended)
	var caches, temporary []string
	for _, s := range r.world.Scanners {
		caches = append(caches, s.Cache)
	}
	for _, p := range r.world.Processes() {
		temporary = append(temporary, filepath.Join(p.Dir, "tmp"))
	}
	e.Left.Files, err = verdict.TemporaryFiles(caches, temporary)
	return err
}

// leave is the time that processes have to end when nothing needs them.
const leave = time.Minute

// processes are those of the world without some, when they had time to end.
func (r *run) processes(ctx context.Context, without []int) ([]string, error) {
	dir, err := filepath.EvalSymlinks(r.s.Dir)
	if err != nil {
		return nil, err
	}
	without = append(without, os.Getpid(), os.Getppid())
	for until := time.Now().Add(leave); ; {
		found, err := verdict.Processes(dir, without...)
		if err != nil || len(found) == 0 || time.Now().After(until) {
			return found, err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
