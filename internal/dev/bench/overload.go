package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// overloadOptions are the flags of `bench overload`.
type overloadOptions struct {
	*options
	database    string
	last        time.Duration
	factor      float64
	connections int
}

// overload finds the most that a server does, and then asks it for many times as much.
func overload(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := overloadOptions{options: common}
	flags.StringVar(&o.database, "database", "postgres", "postgres or sqlite")
	flags.DurationVar(&o.last, "for", 30*time.Second, "how long the overload lasts")
	flags.Float64Var(&o.factor, "factor", 10, "requests that arrive, as a multiple of the peak")
	flags.IntVar(&o.connections, "connections", 1_800, "connections that requests arrive on")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

// overloaded is how many organizations there are: five minutes create more reviews than a few of them may have waiting.
const overloaded = 40

func (o overloadOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	d, err := newDatabases(ctx, o.database, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()

	i, err := install(ctx, o.builds()[0], d, overloaded)
	if err != nil {
		return err
	}
	if err := i.serve(ctx, "--scanner", nobody); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Stop()) }()
	return o.measure(ctx, i, d, out)
}

func (o overloadOptions) measure(ctx context.Context, i *installation, d *databases, out io.Writer) error {
	targets, err := i.mixedTargets(ctx)
	if err != nil {
		return err
	}
	t := table{{"Load", "accepted a second", "p50, ms", "p99, ms", "longest, ms", "refused a second", "failed"}}
	attack := func(name string, a arrival) (float64, error) {
		l, err := attack(ctx, i.Process, d, targets, a)
		at := func(q float64) string { return milliseconds(quantile(l.accepted, q)) }
		t.add(name, fmt.Sprintf("%.0f", l.rate()), at(0.5), at(0.99), at(1),
			fmt.Sprintf("%.0f", float64(l.refused)/l.took.Seconds()), fmt.Sprint(l.failed))
		return l.rate(), err
	}

	peak, short := 0.0, min(5*time.Second, o.last)
	for _, callers := range []int{8, 16, 32, 64} {
		rate, err := attack(fmt.Sprintf("%d callers", callers), arrival{callers: callers, last: short})
		if err != nil {
			return err
		}
		peak = max(peak, rate)
	}

	over, err := attack(fmt.Sprintf("%g times the peak for %s", o.factor, o.last),
		arrival{o.connections, int(o.factor * peak), o.last})
	if err != nil {
		return err
	}
	memory := peakMemory(i.PID())

	// Others may use the machine too: a second peak shows whether it was the same machine.
	after, err := attack("64 callers afterwards", arrival{callers: 64, last: short})
	if err != nil {
		return err
	}

	t.print(out)
	fmt.Fprintf(out, "%s, %d connections; 70 %% GetReview, 10 %% ListReviews, 20 %% CreateReview of %d organizations.\n"+
		"Accepted under overload: %.0f %% of the peak, %.0f %% of the speed afterwards. Memory at most %.0f MiB.\n",
		o.database, o.connections, overloaded, 100*over/peak, 100*over/after, memory)
	return nil
}

// mixedTargets read, list and create reviews of all organizations. One of ten lists and two of ten create.
func (i *installation) mixedTargets(ctx context.Context) ([]vegeta.Target, error) {
	var all []vegeta.Target
	for n, create := range i.createTargets() {
		token := i.tokens[n]
		made, err := i.create(ctx, token, 1)
		if err != nil {
			return nil, err
		}

		get := target(i.Process, http.MethodGet, "/"+made.ID, token, "")
		list := target(i.Process, http.MethodGet, "?page_size=5", token, "")
		all = append(all, get, get, create, get, get, list, get, create, get, get)
	}
	return all, nil
}

// load is what a number of callers did for some time.
type load struct {
	took     time.Duration
	accepted []time.Duration // how long each accepted request took
	refused  int             // 429 and 503
	failed   map[string]int  // everything else, by what happened
	server   time.Duration   // processor time of the server
	database time.Duration   // processor time of the database's own processes
}

// rate is how many requests were accepted in a second.
func (l load) rate() float64 { return float64(len(l.accepted)) / l.took.Seconds() }

// per is a duration for each request that was answered.
func (l load) per(d time.Duration) time.Duration {
	return d / time.Duration(max(1, len(l.accepted)+l.refused))
}

// answerTimeout is how long an answer may take.
const answerTimeout = 30 * time.Second

// arrival is how requests arrive.
type arrival struct {
	callers int // each has one connection and one request at a time
	rate    int // requests that arrive in a second; 0 for as many as the callers can make
	last    time.Duration
}

// attack has callers make the requests of targets by turns.
func attack(ctx context.Context, p *program.Process, d *databases, targets []vegeta.Target, a arrival) (load, error) {
	attacker := vegeta.NewAttacker(
		vegeta.Client(newClient(a.callers)), vegeta.MaxBody(0),
		vegeta.Workers(uint64(a.callers)), vegeta.MaxWorkers(uint64(a.callers)))
	stop := context.AfterFunc(ctx, func() { attacker.Stop() })
	defer stop()

	server, database, began := processorTime(p.PID()), d.spent(), time.Now()
	out := load{took: a.last, failed: map[string]int{}}
	targeter := vegeta.NewStaticTargeter(targets...)
	for result := range attacker.Attack(targeter, vegeta.ConstantPacer{Freq: a.rate, Per: time.Second}, a.last, "") {
		switch code := int(result.Code); {
		case result.End().Sub(began) > a.last:
			// It ends what was begun, while nothing new arrives.
		case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
			out.refused++
		case result.Error != "":
			out.failed[result.Error]++
		default:
			out.accepted = append(out.accepted, result.Latency)
		}
	}

	out.server, out.database = processorTime(p.PID())-server, d.spent()-database
	return out, ctx.Err()
}

// newClient makes callers that keep their connections. They come from several addresses, because a server may let one
// address have only a part of all connections.
func newClient(callers int) *http.Client {
	const addresses = 8
	var next atomic.Uint32
	transport := &http.Transport{
		MaxIdleConns: callers, MaxIdleConnsPerHost: callers, MaxConnsPerHost: callers,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			source := net.IPv4(127, 0, 1, byte(next.Add(1)%addresses))
			d := net.Dialer{Timeout: answerTimeout, LocalAddr: &net.TCPAddr{IP: source}}
			return d.DialContext(ctx, network, address)
		},
	}
	return &http.Client{Transport: transport, Timeout: answerTimeout}
}

// target is a request of a server for its reviews.
func target(p *program.Process, method, path, token, body string) vegeta.Target {
	c := client(p, token)
	return vegeta.Target{Method: method, URL: c.URL + "/v1/reviews" + path, Header: c.Header(), Body: []byte(body)}
}

// createTargets create reviews of all organizations.
func (i *installation) createTargets() []vegeta.Target {
	var all []vegeta.Target
	for _, token := range i.tokens {
		all = append(all, target(i.Process, http.MethodPost, "", token, creation(1)))
	}
	return all
}
