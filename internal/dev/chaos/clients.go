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
	began          time.Time     // of the creation
	took           time.Duration // until it was accepted
	id             string        // as the creation was answered; "" when it never was
	cancelAsked    bool          // a cancellation was sent, whether or not it was answered
	final, failure string        // the final state that was seen, and the code of a failure
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
)

// Times of clients.
const (
	callTimeout   = time.Second // a frozen server is left
	shortestPause = 20 * time.Millisecond
	longestPause  = 500 * time.Millisecond // also when a server asks for more: it may be back sooner
	pollPause     = 250 * time.Millisecond
	mostAtOnce    = 6 // reviews of one client that wait at the same time
)

// clients have reviews made as they should: each creation with an Idempotency-Key, again when a server can't be reached
// or asks for patience, and then at the next server. They write down what they were told.
type clients struct {
	servers []*process
	tokens  map[string]string // of the organizations
	pulls   []pull
	seed    uint64

	mu         sync.Mutex
	records    []*record
	complaints []string // answers that the API does not promise
}

// run lets clients have reviews made until making ends, and then follow each to its end.
func (c *clients) run(ctx, making context.Context, n int) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(c.seed, uint64(i)))
			for making.Err() == nil {
				c.work(ctx, r)
			}
		})
	}

	all.Wait()
}

// work has a few reviews made, then follows each.
func (c *clients) work(ctx context.Context, r *rand.Rand) {
	var batch []*record
	for range 1 + r.IntN(mostAtOnce) {
		rec := c.newRecord(c.pulls[r.IntN(len(c.pulls))])
		created, ok := c.create(ctx, r, rec)
		if !ok {
			continue
		}
		c.change(func() { rec.id, rec.took = created.ID, time.Since(rec.began) })
		batch = append(batch, rec)

		if r.IntN(100) < replayPercent {
			if again, ok := c.create(ctx, r, rec); ok && again.ID != rec.id {
				c.complain(rec, fmt.Errorf("the repeated creation made %s", again.ID))
			}
		}
		if r.IntN(100) < cancelPercent {
			_ = pause(ctx, time.Duration(r.IntN(1000))*time.Millisecond)
			c.change(func() { rec.cancelAsked = true })
			c.call(ctx, r, rec, &shown{}, "/"+rec.id+":cancel", "{}")
		}
	}

	for _, rec := range batch {
		c.follow(ctx, r, rec)
	}
}

func (c *clients) newRecord(p pull) *record {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec := &record{key: fmt.Sprintf("chaos-%d", len(c.records)), pull: p, began: time.Now()}
	c.records = append(c.records, rec)
	return rec
}

// create has a review made, however long that takes. It returns false when ctx ended first.
func (c *clients) create(ctx context.Context, r *rand.Rand, rec *record) (out shown, ok bool) {
	body := fmt.Sprintf(`{"repo": %q, "pr_number": %d}`, rec.pull.repo, rec.pull.number)
	ok = c.call(ctx, r, rec, &out, "", body)
	if ok && (out.Status != "queued" || out.ID == "") {
		c.complain(rec, fmt.Errorf("the creation was answered with %+v", out))
		ok = false
	}
	return out, ok
}

// follow waits until the review has ended.
func (c *clients) follow(ctx context.Context, r *rand.Rand, rec *record) {
	var got shown
	for c.call(ctx, r, rec, &got, "/"+rec.id, "") {
		if final(got.Status) {
			c.change(func() { rec.final, rec.failure = got.Status, got.Error.Code })
			return
		}
		_ = pause(ctx, pollPause)
	}
}

// final are the states that never change again.
func final(status string) bool {
	return status == "complete" || status == "failed" || status == "canceled"
}

// call makes a call of one server after the other until one answers it for good. Without a body it reads. It returns
// false when that is no success, or when ctx ended first.
func (c *clients) call(ctx context.Context, r *rand.Rand, rec *record, out any, path, body string) bool {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}

	server := r.IntN(len(c.servers))
	for wait := shortestPause; ctx.Err() == nil; wait = min(2*wait, longestPause) {
		calling, cancel := context.WithTimeout(ctx, callTimeout)
		url := "http://" + c.servers[server%len(c.servers)].address
		client := program.Client{URL: url, Token: c.tokens[rec.pull.organization]}
		answer, err := client.Call(calling, method, "/v1/reviews"+path, body, "Idempotency-Key", rec.key)
		cancel()

		var refusal *program.Refusal
		switch {
		case err == nil:
			if err = json.Unmarshal(answer, out); err != nil {
				c.complain(rec, err)
			}
			return err == nil
		case errors.As(err, &refusal) && strings.Contains(refusal.Body, "REVIEW_FINISHED"):
			return false // it can't be canceled any more
		case errors.As(err, &refusal) && !asksForPatience(refusal):
			c.complain(rec, err)
			return false
		}
		_ = pause(ctx, wait)
		server++
	}

	return false
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

// complain writes down an answer that the API does not promise.
func (c *clients) complain(rec *record, err error) {
	c.change(func() { c.complaints = append(c.complaints, fmt.Sprintf("answer: %s (%s): %v", rec.id, rec.key, err)) })
}

// counts says how many reviews were accepted, and how many were seen to end.
func (c *clients) counts() (accepted, ended int) {
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

	return accepted, ended
}

// readAll reads every accepted review once more. Nobody makes others meanwhile.
func (c *clients) readAll(ctx context.Context) map[string]shown {
	all, r := map[string]shown{}, rand.New(rand.NewPCG(c.seed, 0))
	for _, rec := range c.records {
		var got shown
		if rec.id != "" && c.call(ctx, r, rec, &got, "/"+rec.id, "") {
			all[rec.id] = got
		}
	}

	return all
}

// finding is what a scan must report of one line.
type finding struct {
	RuleID   string `json:"rule_id"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Snippet  string `json:"snippet"`
}

// pull is a pull request, and how its review must end.
type pull struct {
	organization, repo string
	number             int
	findings           []finding // in their order
	failure            string    // the code of a review that must fail
}

func (p pull) name() string { return fmt.Sprintf("%s#%d", p.repo, p.number) }

// So many pull requests apart there is one of a special kind.
const (
	everyHeavy = 20 // takes a scanner about a second
	everyNoisy = 15 // many hundreds of findings
)

// makePulls makes the repositories of all organizations below dir. Nothing here matches a pattern: what a scan must
// report is known from the lines that are planted.
func makePulls(ctx context.Context, dir string, seed uint64) (all []pull, err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, org := range organizations() {
		for i := range repositories {
			repo := fmt.Sprintf("%s/repo%d", org, i)
			changes := make([]program.Change, pullsPerRepo)
			for n := range changes {
				changes[n].Findings = r.IntN(10)
				if n%everyHeavy == 1 {
					changes[n].Lines = 25_000
				}
				if n%everyNoisy == 1 {
					changes[n].Findings = 800
				}
				p := pull{organization: org, repo: repo, number: n + 1}
				for f := range changes[n].Findings {
					snippet := program.Finding(repo, n+1, f)
					p.findings = append(p.findings, finding{"security/no-eval", "high", "app/main.js", f + 2, snippet})
				}
				all = append(all, p)
			}
			if err := program.MakePulls(ctx, dir, repo, changes); err != nil {
				return nil, err
			}
			missing := pull{organization: org, repo: repo, number: pullsPerRepo + 1, failure: "pull_request_not_found"}
			all = append(all, missing)
		}
	}

	return all, nil
}
