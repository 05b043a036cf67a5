package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// sample is how long the steps of one run took, by name, in milliseconds; and
// what it cost, in what the names say.
type sample map[string]float64

func (s sample) add(step string, d time.Duration) { s[step] += float64(d.Nanoseconds()) / 1e6 }

// The steps that are seen from outside of the scanner.
const (
	stepClaim  = "claim"
	stepRules  = "rules of the organization"
	stepStream = "stream to and from the scanner"
	stepStore  = "store"
	stepRest   = "rest of the scan"
	stepTotal  = "total"
)

// observed stands between the dispatcher and its parts and takes the time. It
// sees one review at a time.
type observed struct {
	queue   review.Queue
	scanner review.Scanner
	rules   review.RuleSource
	samples chan sample

	mu      sync.Mutex
	now     sample
	started time.Time
}

func newObserved() *observed { return &observed{samples: make(chan sample, 1)} }

var (
	_ review.Queue      = (*observed)(nil)
	_ review.Scanner    = (*observed)(nil)
	_ review.RuleSource = (*observed)(nil)
	_ slog.Handler      = (*observed)(nil)
)

func (o *observed) add(step string, d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now.add(step, d)
}

// Claim implements review.Queue. A claim that finds a review begins a sample.
func (o *observed) Claim(ctx context.Context, worker string, lease time.Duration) (*review.Claim, error) {
	start := time.Now()
	c, err := o.queue.Claim(ctx, worker, lease)
	if c != nil {
		o.mu.Lock()
		o.now, o.started = sample{}, start
		o.now.add(stepClaim, time.Since(start))
		o.mu.Unlock()
	}
	return c, err
}

// RulesFor implements review.RuleSource.
func (o *observed) RulesFor(ctx context.Context, org, repo string) (rule.Set, error) {
	start := time.Now()
	set, err := o.rules.RulesFor(ctx, org, repo)
	o.add(stepRules, time.Since(start))
	return set, err
}

// Await implements review.Scanner.
func (o *observed) Await(ctx context.Context) { o.scanner.Await(ctx) }

// Scan implements review.Scanner.
func (o *observed) Scan(ctx context.Context, j review.Job, progress func(review.Progress)) (finding.Result, error) {
	start := time.Now()
	outcome, err := o.scanner.Scan(ctx, j, progress)
	o.add(stepStream, time.Since(start)) // less the scan itself, see Handle
	return outcome, err
}

// Finish implements review.Queue.
func (o *observed) Finish(ctx context.Context, c review.Claim, outcome finding.Result) error {
	start := time.Now()
	err := o.queue.Finish(ctx, c, outcome)
	o.add(stepStore, time.Since(start))
	return err
}

// ended is called when the dispatcher is done with a review.
func (o *observed) ended(review.Status, string, time.Duration) {
	o.mu.Lock()
	s := o.now
	s.add(stepTotal, time.Since(o.started))
	o.mu.Unlock()
	o.samples <- s
}

// Enabled implements slog.Handler.
func (o *observed) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (o *observed) WithAttrs([]slog.Attr) slog.Handler { return o }

// WithGroup implements slog.Handler.
func (o *observed) WithGroup(string) slog.Handler { return o }

// Handle implements slog.Handler. The scanner's line about a scan has its
// phases.
func (o *observed) Handle(_ context.Context, line slog.Record) error {
	line.Attrs(func(a slog.Attr) bool {
		if times, ok := a.Value.Any().(scan.Times); ok {
			o.phases(times)
		}
		return true
	})
	return nil
}

// phases adds the phases of a scan, and takes the scan from the step that it
// is a part of.
func (o *observed) phases(times scan.Times) {
	rest := times[scan.PhaseTotal]
	for p, d := range times {
		phase := scan.Phase(p)
		if phase == scan.PhaseTotal {
			continue
		}
		if phase.InTurn() {
			rest -= d
		}
		o.add(phase.String(), d)
	}
	o.add(stepRest, rest)
	o.add(stepStream, -times[scan.PhaseTotal])
}

// Extend implements review.Queue.
func (o *observed) Extend(ctx context.Context, beats []review.Heartbeat, lease time.Duration) ([]review.Claim, error) {
	return o.queue.Extend(ctx, beats, lease)
}

// Fail implements review.Queue.
func (o *observed) Fail(ctx context.Context, c review.Claim, f review.Failure) error {
	return o.queue.Fail(ctx, c, f)
}

// Retry implements review.Queue.
func (o *observed) Retry(ctx context.Context, c review.Claim, delay time.Duration) error {
	return o.queue.Retry(ctx, c, delay)
}

// Release implements review.Queue.
func (o *observed) Release(ctx context.Context, c review.Claim, delay time.Duration) error {
	return o.queue.Release(ctx, c, delay)
}

// ReapExpired implements review.Queue.
func (o *observed) ReapExpired(ctx context.Context, maxLost int) ([]review.Reaped, error) {
	return o.queue.ReapExpired(ctx, maxLost)
}
