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
		"reads": a.read,
	}
	var group sync.WaitGroup
	tokens := a.Tokens
	for _, way := range ways {
		own := tokens[:len(a.Tokens)/len(ways)]
		tokens = tokens[len(own):]
		for n := range hostileConnections / len(ways) {
			group.Go(func() {
				for ctx.Err() == nil {
					way(ctx, own[n%len(own)])
				}
			})
		}
	}
	for range hostileConnections {
		group.Go(func() { a.idle(ctx) })
	}
	group.Wait()

	for _, way := range slices.Sorted(maps.Keys(ways)) {
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
