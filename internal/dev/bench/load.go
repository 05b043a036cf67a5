package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// load is what a number of callers did for some time.
type load struct {
	took     time.Duration
	accepted []time.Duration // how long each accepted request took
	refused  int             // 429 and 503
	failed   map[string]int  // everything else, by what happened
	server   time.Duration   // processor time of the server
	database time.Duration   // processor time of the database's own processes
	callers  time.Duration   // processor time of this program
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
func attack(ctx context.Context, p *process, d *databases, targets []vegeta.Target, a arrival) (load, error) {
	attacker := vegeta.NewAttacker(
		vegeta.Client(newClient(a.callers)), vegeta.MaxBody(0),
		vegeta.Workers(uint64(a.callers)), vegeta.MaxWorkers(uint64(a.callers)))
	stop := context.AfterFunc(ctx, func() { attacker.Stop() })
	defer stop()

	server, database, self, began := p.spent(), d.spent(), processorTime(os.Getpid()), time.Now()
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

	out.server, out.database, out.callers = p.spent()-server, d.spent()-database, processorTime(os.Getpid())-self
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
func target(p *process, method, path, token, body string) vegeta.Target {
	return vegeta.Target{Method: method, URL: reviewsURL(p) + path, Header: headers(token), Body: []byte(body)}
}

// createTargets create reviews of all organizations.
func (i *installation) createTargets() []vegeta.Target {
	var all []vegeta.Target
	for _, token := range i.tokens {
		all = append(all, target(i.process, http.MethodPost, "", token, creation(1)))
	}
	return all
}
