package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// record is what the client of one review knows of it.
type record struct {
	key            string // Idempotency-Key
	pull           pull
	id             string // as the creation was answered; "" when it never was
	cancelAsked    bool   // a cancellation was sent, whether or not it was answered
	final, failure string // the final state that was seen, and the code of a failure
}

// shown is a review as the API shows it.
type shown struct {
	ID       string         `json:"review_id"`
	Status   string         `json:"status"`
	Findings []finding      `json:"findings"`
	Summary  map[string]int `json:"summary"`
	Error    struct {
		Code string `json:"code"`
	} `json:"error"`
}

// How often clients do something special, in a hundred reviews.
const (
	cancelPercent = 4 // cancel
	replayPercent = 6 // create again with the same key
	watchPercent  = 50
)

// Times of clients.
const (
	callTimeout   = 5 * time.Second // a frozen server is left
	watchTimeout  = time.Minute
	shortestPause = 20 * time.Millisecond
	longestPause  = 500 * time.Millisecond // also when a server asks for more: it may be back sooner
	pollPause     = 250 * time.Millisecond
	mostAtOnce    = 6 // reviews of one client that wait at the same time
	probeTimeout  = 700 * time.Millisecond
	probePause    = 500 * time.Millisecond // between probes
)

// clients have reviews made as they should: each creation with an Idempotency-Key, again when a server can't be reached
// or asks for patience, and then at the next server. They write down what they were told.
type clients struct {
	servers []string          // http://HOST:PORT
	tokens  map[string]string // of the organizations
	pulls   []pull
	seed    uint64

	mu         sync.Mutex
	records    []*record
	complaints []string // answers that the API does not promise
	retries    int
	probes     []probe
}

// probe is how long it took until a review was accepted by any server.
type probe struct {
	began time.Time
	took  time.Duration
}

// run lets clients have reviews made until enough is closed, and then follow each to its end.
func (c *clients) run(ctx context.Context, n int, enough <-chan struct{}) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { c.work(ctx, enough, rand.New(rand.NewPCG(c.seed, uint64(i)))) })
	}
	all.Go(func() { c.probe(ctx, enough) })
	all.Wait()
}

func isClosed(enough <-chan struct{}) bool {
	select {
	case <-enough:
		return true
	default:
		return false
	}
}

// work is one client: it has a few reviews made, then follows each.
func (c *clients) work(ctx context.Context, enough <-chan struct{}, r *rand.Rand) {
	for ctx.Err() == nil && !isClosed(enough) {
		var batch []*record
		for range 1 + r.IntN(mostAtOnce) {
			rec := c.newRecord(c.pulls[r.IntN(len(c.pulls))])
			if c.create(ctx, r.IntN(len(c.servers)), callTimeout, rec) {
				batch = append(batch, rec)
				c.annoy(ctx, r, rec)
			}
		}
		for _, rec := range batch {
			c.follow(ctx, r, rec)
		}
	}
}

// probe measures again and again how long it takes until a review is accepted.
func (c *clients) probe(ctx context.Context, enough <-chan struct{}) {
	var all []*record
	for n := 0; ctx.Err() == nil && !isClosed(enough); n++ {
		rec, began := c.newRecord(c.pulls[0]), time.Now()
		if c.create(ctx, n, probeTimeout, rec) {
			all = append(all, rec)
			c.change(func() { c.probes = append(c.probes, probe{began, time.Since(began)}) })
		}
		_ = pause(ctx, probePause)
	}
	for _, rec := range all {
		c.follow(ctx, rand.New(rand.NewPCG(c.seed, 0)), rec)
	}
}

func (c *clients) newRecord(p pull) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec := &record{key: fmt.Sprintf("chaos-%d", len(c.records)), pull: p}
	c.records = append(c.records, rec)
	return rec
}

// create has a review made, however long that takes. It returns false when ctx ended first.
func (c *clients) create(ctx context.Context, server int, timeout time.Duration, rec *record) bool {
	out, err := c.send(ctx, server, timeout, rec)
	c.complain(rec, "creation", err)
	c.change(func() { rec.id = out.ID })
	return err == nil
}

func (c *clients) send(ctx context.Context, server int, timeout time.Duration, rec *record) (out shown, err error) {
	body := fmt.Sprintf(`{"repo": %q, "pr_number": %d}`, rec.pull.repo, rec.pull.number)
	err = c.insist(ctx, server, timeout, rec, &out, http.MethodPost, "", body)
	if err == nil && (out.Status != "queued" || out.ID == "") {
		err = fmt.Errorf("the answer is %+v", out)
	}
	return out, err
}

// annoy does what some clients do after a creation: send it again, cancel it.
func (c *clients) annoy(ctx context.Context, r *rand.Rand, rec *record) {
	if r.IntN(100) < replayPercent {
		again, err := c.send(ctx, r.IntN(len(c.servers)), callTimeout, rec)
		if err == nil && again.ID != rec.id {
			err = fmt.Errorf("the answer is %+v", again)
		}
		c.complain(rec, "repeated creation", err)
	}

	if r.IntN(100) < cancelPercent {
		_ = pause(ctx, time.Duration(r.IntN(1000))*time.Millisecond)
		c.change(func() { rec.cancelAsked = true })
		err := c.insist(ctx, 0, callTimeout, rec, &shown{}, http.MethodPost, "/"+rec.id+":cancel", "{}")
		var refusal *program.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Body, "REVIEW_FINISHED") {
			c.complain(rec, "cancellation", err)
		}
	}
}

// follow waits until the review has ended. Half of the clients watch first, all ask again and again.
func (c *clients) follow(ctx context.Context, r *rand.Rand, rec *record) {
	watched := r.IntN(100) < watchPercent && c.watch(ctx, c.servers[r.IntN(len(c.servers))], rec)
	for ctx.Err() == nil {
		got, err := c.get(ctx, r.IntN(len(c.servers)), rec)
		if err == nil && watched && !final(got.Status) {
			err = fmt.Errorf("it is %s after its watch ended in order", got.Status)
		}
		c.complain(rec, "reading", err)
		if err != nil {
			return
		}
		if final(got.Status) {
			c.change(func() { rec.final, rec.failure = got.Status, got.Error.Code })
			return
		}
		_ = pause(ctx, pollPause)
	}
}

// watch reads the stream of a review's states. It returns true when that ended with a final state, not broken off.
func (c *clients) watch(ctx context.Context, server string, rec *record) bool {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	client := program.Client{URL: server, Token: c.tokens[rec.pull.organization]}
	answer, err := client.Call(ctx, http.MethodGet, "/v1/reviews/"+rec.id+":watch", "")
	lines := strings.Split(strings.TrimSpace(string(answer)), "\n")

	var last struct {
		Result shown `json:"result"`
	}
	return err == nil && json.Unmarshal([]byte(lines[len(lines)-1]), &last) == nil && final(last.Result.Status)
}

func (c *clients) get(ctx context.Context, server int, rec *record) (got shown, err error) {
	err = c.insist(ctx, server, callTimeout, rec, &got, http.MethodGet, "/"+rec.id, "")
	return got, err
}

// final are the states that never change again.
func final(status string) bool {
	return status == "complete" || status == "failed" || status == "canceled"
}

// insist makes a call of one server after the other until one answers it for good.
func (c *clients) insist(ctx context.Context, server int, timeout time.Duration, rec *record, out any,
	method, path, body string,
) error {
	for wait := shortestPause; ; wait = min(2*wait, longestPause) {
		calling, cancel := context.WithTimeout(ctx, timeout)
		client := program.Client{URL: c.servers[server%len(c.servers)], Token: c.tokens[rec.pull.organization]}
		answer, err := client.Call(calling, method, "/v1/reviews"+path, body, "Idempotency-Key", rec.key)
		cancel()

		var refusal *program.Refusal
		if err == nil {
			return json.Unmarshal(answer, out)
		}
		if errors.As(err, &refusal) && !asksForPatience(refusal) {
			return err
		}
		c.change(func() { c.retries++ })
		if pause(ctx, wait) != nil {
			return ctx.Err()
		}
		server++
	}
}

func asksForPatience(r *program.Refusal) bool {
	busy := r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable
	return busy && r.Header.Get("Retry-After") != ""
}

func (c *clients) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// complain writes down an answer that the API does not promise. The end of the run is none.
func (c *clients) complain(rec *record, what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		c.change(func() {
			c.complaints = append(c.complaints, fmt.Sprintf("%s of %s (%s): %v", what, rec.id, rec.key, err))
		})
	}
}

// counts says how many reviews were accepted, how many were seen to end, and how often a call was made again.
func (c *clients) counts() (accepted, ended, retries int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rec := range c.records {
		if rec.id != "" {
			accepted++
		}
		if rec.final != "" {
			ended++
		}
	}
	return accepted, ended, c.retries
}

// readAll reads every accepted review once more, from all servers in turn. Nobody makes others meanwhile.
func (c *clients) readAll(ctx context.Context) map[string]shown {
	all := map[string]shown{}
	for n, rec := range c.records {
		if rec.id == "" {
			continue
		}
		got, err := c.get(ctx, n, rec)
		c.complain(rec, "last reading", err)
		if err == nil {
			all[rec.id] = got
		}
	}
	return all
}
