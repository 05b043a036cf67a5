package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/service/load"
)

// client is one connection.
type client struct {
	addr   string
	source *net.TCPAddr // its own address, since one may not have all connections
	conn   net.Conn
	in     *bufio.Reader
}

// answerTimeout is how long an answer may take.
const answerTimeout = 30 * time.Second

// do sends a request and returns the status of the answer, and its body when it
// is wanted. A connection that broke is made again the next time.
func (c *client) do(request []byte, wanted bool) (status int, header http.Header, body []byte, err error) {
	defer func() {
		if err != nil && c.conn != nil {
			_ = c.conn.Close()
			c.conn = nil
		}
	}()
	if c.conn == nil {
		d := net.Dialer{Timeout: answerTimeout, LocalAddr: c.source}
		if c.conn, err = d.Dial("tcp", c.addr); err != nil {
			c.conn = nil
			return 0, nil, nil, err
		}
		c.in = bufio.NewReaderSize(c.conn, 4<<10)
	}
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, nil, nil, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	if wanted {
		body, err = io.ReadAll(resp.Body)
	} else {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return resp.StatusCode, resp.Header, body, errors.Join(err, resp.Body.Close())
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// requests are what clients send, by kind, each ready to be written.
type requests struct {
	mix               mix
	gets, lists, news [][]byte
}

func request(method, path, token, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n", method, path, token)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(b.String() + "\r\n" + body)
}

// nth returns the n-th request of the mix.
func (r *requests) nth(n int) []byte {
	// 37 and 100 have no common divisor: all kinds come by turns.
	switch turn := n * 37 % 100; {
	case turn < r.mix.get:
		return r.gets[n%len(r.gets)]
	case turn < r.mix.get+r.mix.list:
		return r.lists[n%len(r.lists)]
	default:
		return r.news[n%len(r.news)]
	}
}

// sample is what happened in a time.
type sample struct {
	mu       sync.Mutex
	accepted []time.Duration // from arrival to the end of the answer
	refused  []time.Duration
	unsent   int            // arrivals that found no connection free
	failed   map[string]int // by what happened
}

func (s *sample) add(status int, took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil && status < 300:
		s.accepted = append(s.accepted, took)
	case err == nil && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests):
		s.refused = append(s.refused, took)
	default:
		what := fmt.Sprint("status ", status)
		if err != nil {
			what = err.Error()
		}
		if s.failed == nil {
			s.failed = map[string]int{}
		}
		s.failed[what]++
	}
}

// overload finds the peak and asks for more.
func (e *environment) overload(ctx context.Context) error {
	s, err := e.start(ctx)
	if err != nil {
		return err
	}
	r, err := e.prepare(ctx, s)
	if err != nil {
		return err
	}
	clients := make([]*client, e.conns)
	for i := range clients {
		clients[i] = &client{addr: s.HTTP, source: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%8))}}
		defer clients[i].close()
	}
	fmt.Fprintf(e.out, "mix get,list,create %s on %s; %d connections\n", e.mix.String(), e.database, e.conns)
	peak := 0.0
	for _, n := range []int{8, 16, 32, 64} {
		p := e.closed(ctx, clients[:n], r, max(3*time.Second, min(e.duration/6, 15*time.Second)))
		rate := p.report(e.out, fmt.Sprintf("%d callers", n))
		peak = max(peak, rate)
	}
	if e.rounds > 0 {
		return e.byTurns(ctx, clients, r, peak)
	}
	_, before := s.memory()
	fmt.Fprintf(e.out, "peak %.0f/s, memory at most %.0f MiB; now %.0f arrivals/s for %s\n", peak, before, e.factor*peak, e.duration)
	over := e.open(ctx, clients, r, e.factor*peak)
	goodput := over.report(e.out, fmt.Sprintf("%gx", e.factor))
	now, most := s.memory()
	fmt.Fprintf(e.out, "goodput %.1f%% of the peak; memory now %.0f MiB, at most %.0f MiB; server died: %v\n", 100*goodput/peak, now, most, s.Ended())
	// Others may use the machine too: the peak after it shows whether it was
	// the same.
	after := 0.0
	for _, n := range []int{32, 64} {
		p := e.closed(ctx, clients[:n], r, 5*time.Second)
		after = max(after, p.report(e.out, fmt.Sprintf("%d callers after it", n)))
	}
	fmt.Fprintf(e.out, "goodput %.1f%% of the peak after it\n", 100*goodput/after)
	return nil
}

// byTurns measures the peak and the overload one after the other, so that what
// others do on the machine is in both. Each overload takes its part of the
// duration, and each peak a fifth of that.
func (e *environment) byTurns(ctx context.Context, clients []*client, r *requests, peak float64) error {
	all := e.options
	e.duration /= time.Duration(e.rounds)
	defer func() { e.options = all }()
	var usual, over result
	usual.sample, over.sample = &sample{}, &sample{}
	for range e.rounds {
		usual.join(e.closed(ctx, clients[:64], r, e.duration/5))
		over.join(e.open(ctx, clients, r, e.factor*peak))
	}
	at := usual.report(e.out, "64 callers")
	goodput := over.report(e.out, fmt.Sprintf("%gx, %d times", e.factor, e.rounds))
	now, most := e.servers[0].memory()
	fmt.Fprintf(e.out, "goodput %.1f%% of the peak by turns; memory now %.0f MiB, at most %.0f MiB; server died: %v\n", 100*goodput/at, now, most, e.servers[0].Ended())
	return nil
}

// join adds another result.
func (r *result) join(o result) {
	r.took += o.took
	r.spent += o.spent
	r.accepted = append(r.accepted, o.accepted...)
	r.refused = append(r.refused, o.refused...)
	r.unsent += o.unsent
	for what, n := range o.failed {
		if r.failed == nil {
			r.failed = map[string]int{}
		}
		r.failed[what] += n
	}
}

// prepare makes keys and reviews, and the requests for them.
func (e *environment) prepare(ctx context.Context, s server) (*requests, error) {
	r := &requests{mix: e.mix}
	c := &client{addr: s.HTTP}
	defer c.close()
	for i := range organizations {
		token, err := e.key(ctx, organization(i), 1_000_000_000)
		if err != nil {
			return nil, err
		}
		create := request("POST", "/v1/reviews", token, `{"repo":"acme/web","pr_number":1}`)
		status, _, body, err := c.do(create, true)
		var made struct {
			ReviewID string `json:"review_id"`
		}
		if err != nil || status != http.StatusAccepted || json.Unmarshal(body, &made) != nil {
			return nil, fmt.Errorf("create a review: status %d: %s: %w", status, body, err)
		}
		r.gets = append(r.gets, request("GET", "/v1/reviews/"+made.ReviewID, token, ""))
		r.lists = append(r.lists, request("GET", "/v1/reviews?page_size=5", token, ""))
		r.news = append(r.news, create)
	}
	return r, nil
}

// result is a sample and how long it took.
type result struct {
	*sample
	took  time.Duration
	spent time.Duration // processor time of the server
}

// closed lets each client send the next request when it has an answer.
func (e *environment) closed(ctx context.Context, clients []*client, r *requests, d time.Duration) result {
	out, began, spent := &sample{}, time.Now(), e.servers[0].spent()
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			for n := i; time.Since(began) < d && ctx.Err() == nil; n += len(clients) {
				start := time.Now()
				status, _, _, err := c.do(r.nth(n), false)
				out.add(status, time.Since(start), err)
			}
		})
	}
	all.Wait()
	return result{out, time.Since(began), e.servers[0].spent() - spent}
}

// tick is the time between two bursts of arrivals.
const tick = time.Millisecond

// arrival is a request that has to be sent.
type arrival struct {
	n  int
	at time.Time
}

// open lets requests arrive at a rate, whatever becomes of them: one that finds
// every connection busy is not sent.
func (e *environment) open(ctx context.Context, clients []*client, r *requests, rate float64) result {
	out, began, spent := &sample{}, time.Now(), e.servers[0].spent()
	work := make(chan arrival)
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			for a := range work {
				status, _, _, err := c.do(r.nth(a.n), false)
				out.add(status, time.Since(a.at), err)
			}
		})
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	n, unsent := 0, 0
	for now := began; now.Sub(began) < e.duration && ctx.Err() == nil; now = <-ticker.C {
		for due := int(rate * now.Sub(began).Seconds()); n < due; n++ {
			select {
			case work <- arrival{n, now}:
			default:
				unsent++
			}
		}
	}
	took := time.Since(began)
	close(work)
	all.Wait()
	out.unsent = unsent
	return result{out, took, e.servers[0].spent() - spent}
}

// report writes what happened and returns the accepted requests a second.
func (r result) report(out io.Writer, what string) float64 {
	slices.Sort(r.accepted)
	slices.Sort(r.refused)
	rate := float64(len(r.accepted)) / r.took.Seconds()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Fprintf(out, "%-20s accepted %6.0f/s, p50 %6.1f ms, p99 %6.1f ms, max %6.1f ms; refused %6.0f/s, p50 %6.1f ms; not sent %6.0f/s; %3.0f us of processor time an answer\n", what,
		rate, ms(load.Quantile(r.accepted, .5)), ms(load.Quantile(r.accepted, .99)), ms(load.Quantile(r.accepted, 1)),
		float64(len(r.refused))/r.took.Seconds(), ms(load.Quantile(r.refused, .5)), float64(r.unsent)/r.took.Seconds(),
		float64(r.spent.Microseconds())/float64(max(1, len(r.accepted)+len(r.refused))))
	for what, n := range r.failed {
		fmt.Fprintf(out, "    %d failed: %s\n", n, what)
	}
	return rate
}
