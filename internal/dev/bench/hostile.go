package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// What the hostile organization has.
const (
	hostileKeys        = 10 // each at its rate limit
	hostileConnections = 20 // for requests, and as many that are idle
)

// attackFile says whom to attack.
type attackFile struct {
	URL, Address string
	Tokens       []string
	Commits      [][2]string // bases with other rules files, and their heads
}

// attacker is an organization that does all that it may to be in the way of others.
type attacker struct {
	attackFile
	client *http.Client
	next   atomic.Int64 // for names

	mu      sync.Mutex
	answers map[string]map[int]int // how many, by way and status; 0 is an error
}

// attackAs attacks until ctx ends, and says how the requests were answered.
func attackAs(ctx context.Context, path string, out io.Writer) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	a := &attacker{answers: map[string]map[int]int{}}
	if err := json.Unmarshal(text, &a.attackFile); err != nil {
		return err
	}
	a.client = &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: hostileConnections, MaxIdleConnsPerHost: hostileConnections,
	}}

	// Each way has keys of its own: else what is quick uses up the limits, and what costs most is refused.
	ways := map[string]func(context.Context, string){
		"large rules": a.rule, "tried patterns": a.try, "large pull requests": a.review, "watches": a.watch,
		"reads": a.read, "keys": a.mint, "pushed rules": a.push, "tried rules": a.tryRules,
	}
	var group sync.WaitGroup
	names := slices.Sorted(maps.Keys(ways))
	for n := range hostileConnections {
		at := n % len(names)
		var own []string
		for i := at; i < len(a.Tokens); i += len(names) {
			own = append(own, a.Tokens[i])
		}
		group.Go(func() {
			for ctx.Err() == nil {
				ways[names[at]](ctx, own[n/len(names)%len(own)])
			}
		})
	}
	for range hostileConnections {
		group.Go(func() { a.idle(ctx) })
	}
	group.Wait()

	for _, way := range names {
		fmt.Fprintf(out, "- %s: %v\n", way, a.answers[way])
	}

	return nil
}

// call makes a request, counts the answer and returns the body. A refused one waits for a moment: many more can't be
// made at the limits of the keys, and the generator is not to be measured.
func (a *attacker) call(ctx context.Context, way, token, method, path, body string) []byte {
	request, err := http.NewRequestWithContext(ctx, method, a.URL+path, strings.NewReader(body))
	if err != nil {
		return nil
	}
	request.Header = program.Client{Token: token}.Header()
	status, text := 0, []byte(nil)
	if response, err := a.client.Do(request); err == nil {
		text, _ = io.ReadAll(response.Body) // what there is of it
		err = response.Body.Close()
		if status = response.StatusCode; err != nil {
			status = 0
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	a.mu.Lock()
	if a.answers[way] == nil {
		a.answers[way] = map[int]int{}
	}
	a.answers[way][status]++
	a.mu.Unlock()
	if status == 0 || status >= http.StatusBadRequest {
		pause(ctx, 50*time.Millisecond)
	}

	return text
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// rule creates a rule with as many large classes as there may be.
func (a *attacker) rule(ctx context.Context, token string) {
	n := a.next.Add(1)
	a.call(ctx, "large rules", token, http.MethodPost, "/v1/rules", fmt.Sprintf(
		`{"id":"heavy/r%d","type":"regex","pattern":%q,"message":"m","severity":"low"}`, n, largePattern(int(n))))
}

// largePattern has as many large classes as there may be.
func largePattern(n int) string { return fmt.Sprintf("x%d", n) + strings.Repeat(`\PL`, 15) }

// try tries a pattern on a text on which it takes all the work that it may do; then the answer is 400.
func (a *attacker) try(ctx context.Context, token string) {
	text, err := json.Marshal(map[string]string{
		"pattern": "[a-z][a-z ]{900}Q", "text": strings.Repeat(strings.Repeat("abcd ef", 2200)+"\n", 33),
	})
	if err == nil {
		a.call(ctx, "tried patterns", token, http.MethodPost, "/v1/rules:test", string(text))
	}
}

// review has a large pull request reviewed, one with many findings, or one by other rules than the last.
func (a *attacker) review(ctx context.Context, token string) {
	n := int(a.next.Add(1))
	body := fmt.Sprintf(`{"repo":%q,"pr_number":1}`, hostileRepository)
	switch n % 3 {
	case 1:
		body = fmt.Sprintf(`{"repo":%q,"pr_number":3}`, hostileRepository)
	case 2:
		c := a.Commits[n/3%len(a.Commits)]
		body = fmt.Sprintf(`{"repo":%q,"pr_number":2,"base_sha":%q,"head_sha":%q}`, hostileRepository, c[0], c[1])
	}
	a.call(ctx, "large pull requests", token, http.MethodPost, "/v1/reviews", body)
}

// mint makes a key and revokes it.
func (a *attacker) mint(ctx context.Context, token string) {
	var made struct {
		ID string `json:"key_id"`
	}
	text := a.call(ctx, "keys", token, http.MethodPost, "/v1/keys", `{"name":"hostile","scopes":["reviews:read"]}`)
	if json.Unmarshal(text, &made) == nil && made.ID != "" {
		a.call(ctx, "keys", token, http.MethodDelete, "/v1/keys/"+made.ID, "")
	}
}

const (
	pushedRules = 4_000 // large ones, and places for those of other ways are left
	triedRules  = 100   // as many as there may be
)

// push makes as large a document as there may be the rules of the organization, and by turns deletes them all.
func (a *attacker) push(ctx context.Context, token string) {
	n, rules := a.next.Add(1), []map[string]any{}
	if n%2 == 0 {
		rules = severalRules(int(n), pushedRules, strings.Repeat("\U0001f600", 900))
	}
	text, err := json.Marshal(map[string]any{"version": 1, "prune": true, "rules": rules})
	if err == nil {
		a.call(ctx, "pushed rules", token, http.MethodPost, "/v1/rules:batch", string(text))
	}
}

// tryRules tries rules with large classes on all pull requests that there may be.
func (a *attacker) tryRules(ctx context.Context, token string) {
	rules := severalRules(int(a.next.Add(1)), triedRules, "m")
	for i, r := range rules {
		r["pattern"] = largePattern(i)
	}
	text, err := json.Marshal(map[string]any{"last": 50, "rules": rules})
	if err == nil {
		a.call(ctx, "tried rules", token, http.MethodPost, "/v1/rules:try", string(text))
	}
}

func severalRules(n, count int, message string) []map[string]any {
	list := make([]map[string]any, count)
	for i := range list {
		list[i] = map[string]any{
			"id": fmt.Sprintf("pushed/r%d", i), "type": "regex", "pattern": fmt.Sprintf("y%dx%d", n, i), "message": message,
			"severity": "low",
		}
	}

	return list
}

// watch watches the newest review.
func (a *attacker) watch(ctx context.Context, token string) {
	var list struct {
		Reviews []review `json:"reviews"`
	}
	text := a.call(ctx, "watches", token, http.MethodGet, "/v1/reviews?page_size=1", "")
	if json.Unmarshal(text, &list) == nil && len(list.Reviews) > 0 {
		a.call(ctx, "watches", token, http.MethodGet, "/v1/reviews/"+list.Reviews[0].ID+":watch", "")
	}
}

// read lists all that a page may have.
func (a *attacker) read(ctx context.Context, token string) {
	a.call(ctx, "reads", token, http.MethodGet, "/v1/reviews?page_size=100", "")
}

// idle holds a connection on which half a request was sent, and makes another one when the server has ended it.
func (a *attacker) idle(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.Address)
		if err != nil {
			pause(ctx, time.Second)
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, err = conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n"))
		if err == nil {
			_, err = io.Copy(io.Discard, conn)
		}
		if err == nil || errors.Is(err, net.ErrClosed) || ctx.Err() == nil {
			_ = conn.Close()
		}
		stop()
	}
}
