package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver "postgres"
	vegeta "github.com/tsenart/vegeta/v12/lib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/prwarden/prwarden/internal/dev/hosttest"
)

// What comes with bad signatures, and what others read meanwhile.
const (
	floodPerMinute = 10_000
	floodBody      = 20 << 10
	floodLargeBody = 25 << 20 // of which many come at once, in the middle
	floodReads     = 20       // a second
)

// measureFlood sends deliveries with bad signatures, and reads beside them.
func (o hostsOptions) measureFlood(ctx context.Context, i *installation, h *benchHost, out io.Writer) error {
	before, err := i.deliveries(ctx)
	if err != nil {
		return err
	}
	t := table{{"Phase", "reads", "p50, ms", "p99, ms", "longest, ms", "failed", "peak memory, MiB"}}
	measure := func(phase string, beside func(context.Context)) {
		var all sync.WaitGroup
		all.Go(func() { beside(ctx) })
		took, failed := i.reads(o.last)
		all.Wait()
		t.add(phase, fmt.Sprint(len(took)), milliseconds(quantile(took, 0.5)), milliseconds(quantile(took, 0.99)),
			milliseconds(quantile(took, 1)), fmt.Sprint(failed), fmt.Sprintf("%.0f", peakMemory(i.PID())))
	}
	var small, large statuses
	measure("quiet", func(context.Context) {})
	measure("flood", func(ctx context.Context) {
		var all sync.WaitGroup
		all.Go(func() { small = h.flood(i, o.last) })
		all.Go(func() { large = h.floodLarge(ctx, i, o.large, o.last/2) })
		all.Wait()
	})
	after, err := i.deliveries(ctx)
	if err != nil {
		return err
	}

	t.print(out)
	fmt.Fprintf(out, "Reads are ListReviews, %d a second. The flood: %d deliveries a minute of %d KiB, answered %v, and "+
		"%d of %d MiB at once, answered %v; all with bad signatures. Rows written: %d.\n",
		floodReads, floodPerMinute, floodBody>>10, small, o.large, floodLargeBody>>20, large, after-before)
	return ctx.Err()
}

// statuses counts answers by their status; 0 is for none.
type statuses map[int]int

// reads lists reviews again and again, and returns how long that took, and how often it failed.
func (i *installation) reads(last time.Duration) (took []time.Duration, failed int) {
	attacker := vegeta.NewAttacker(vegeta.Client(newClient(floodReads)), vegeta.Timeout(answerTimeout))
	read := target(i.Process, http.MethodGet, "?page_size=1&repo="+url.QueryEscape(hosttest.Repo), i.tokens[0], "")
	pace := vegeta.ConstantPacer{Freq: floodReads, Per: time.Second}
	for r := range attacker.Attack(vegeta.NewStaticTargeter(read), pace, last, "") {
		if r.Code != http.StatusOK {
			failed++
			continue
		}
		took = append(took, r.Latency)
	}

	return took, failed
}

// forged is the header of a delivery of a push, whose signature is not of its body.
func (h *benchHost) forged() http.Header {
	header, _ := h.Deliver(hosttest.Pushed, "another secret")
	return header
}

// flood sends deliveries of the usual size.
func (h *benchHost) flood(i *installation, last time.Duration) statuses {
	attacker := vegeta.NewAttacker(vegeta.Client(newClient(100)), vegeta.MaxBody(0))
	of := vegeta.Target{
		Method: http.MethodPost, URL: "http://" + i.HTTP + "/hooks/" + h.connection, Header: h.forged(),
		Body: bytes.Repeat([]byte("x"), floodBody),
	}
	found := statuses{}
	pace := vegeta.ConstantPacer{Freq: floodPerMinute, Per: time.Minute}
	for r := range attacker.Attack(vegeta.NewStaticTargeter(of), pace, last, "") {
		found[int(r.Code)]++
	}

	return found
}

// floodLarge sends deliveries of the largest size, all at once, after a while.
func (h *benchHost) floodLarge(ctx context.Context, i *installation, n int, after time.Duration) statuses {
	found, body, header := statuses{}, bytes.Repeat([]byte("x"), floodLargeBody), h.forged()
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return found
	}

	var mu sync.Mutex
	var all sync.WaitGroup
	client := newClient(n)
	for range n {
		all.Go(func() {
			status, err := h.deliver(ctx, i, client, header.Clone(), body)
			if err != nil { // an answer that came before the body was sent may be lost
				status = 0
			}
			mu.Lock()
			defer mu.Unlock()
			found[status]++
		})
	}
	all.Wait()

	return found
}

// deliveries is how many rows there are of deliveries.
func (i *installation) deliveries(ctx context.Context) (n int, err error) {
	driver, source := "postgres", i.all
	if path, found := strings.CutPrefix(i.all, "sqlite:"); found {
		driver, source = "sqlite", path
	}
	db, err := sqlx.ConnectContext(ctx, driver, source)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.GetContext(ctx, &n, `SELECT count(*) FROM deliveries`)

	return n, err
}
