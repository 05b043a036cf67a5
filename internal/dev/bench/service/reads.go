package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/bench/process"
	"github.com/prwarden/prwarden/internal/dev/bench/service/load"
	"github.com/prwarden/prwarden/internal/store"
)

// How GetReview is measured.
const (
	readCallers = 16
	warmUp      = time.Second
)

// reading is GetReview by one protocol of a review with some findings, asked
// of prwarden and of the bare program in turn.
type reading struct {
	database string // SQLite or Postgres
	protocol string // REST or gRPC
	findings int
	bytes    int // of an answer
	ours     []sample
	bare     []sample
}

// sample is one run.
type sample struct {
	rate     float64       // calls a second, by the clock
	server   time.Duration // processor time of the server for a call
	database time.Duration // and of the database's processes; 0 for SQLite, which is in the server
	p50, p99 time.Duration
}

// target is one of the two programs.
type target struct {
	*process.Process
	token string // the bare program needs none
}

func (s *suite) reads(ctx context.Context, d *database) (out []*reading, err error) {
	var ids []string
	if err := withStore(ctx, d.url, func(store *store.Store) error {
		for _, n := range s.findings {
			id, err := completeReview(ctx, store, n)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	ours, err := s.startServer(ctx, "prwarden", d, serverOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ours.Stop()) }()
	token, err := s.createKey(ctx, d)
	if err != nil {
		return nil, err
	}
	plain, err := process.Start(ctx, "bare", filepath.Join(s.tmp, d.name+"-bare.log"), nil, s.program("bare"),
		"-database", d.bare, "-organization", organization)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plain.Stop()) }()
	a, b := target{ours, token}, target{plain, ""}
	for i, n := range s.findings {
		for _, protocol := range []string{"REST", "gRPC"} {
			if s.protocol != "" && s.protocol != protocol {
				continue
			}
			r := &reading{database: d.title, protocol: protocol, findings: n}
			if err := s.read(ctx, d, r, a, b, ids[i]); err != nil {
				return nil, fmt.Errorf("GetReview over %s with %d findings: %w", protocol, n, err)
			}
			s.progress("%s", r)
			out = append(out, r)
		}
	}
	return out, nil
}

// read fills in r. Before anything is timed, both programs must give the same
// answer.
func (s *suite) read(ctx context.Context, d *database, r *reading, ours, bare target, id string) error {
	want, size, err := answerOf(ctx, ours, r.protocol, id)
	if err != nil {
		return err
	}
	got, _, err := answerOf(ctx, bare, r.protocol, id)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("the programs answer differently:\n%v\n%v", want, got)
	}
	r.bytes = size
	for round := range s.rounds + 1 {
		for _, side := range []struct {
			target
			samples *[]sample
		}{{ours, &r.ours}, {bare, &r.bare}} {
			if round == 0 {
				_, err = s.ask(ctx, d, side.target, r.protocol, id, warmUp)
			} else {
				var one sample
				one, err = s.ask(ctx, d, side.target, r.protocol, id, s.each)
				*side.samples = append(*side.samples, one)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", side.Name, err)
			}
		}
	}
	return nil
}

// ask lets readCallers call for some time.
func (s *suite) ask(ctx context.Context, d *database, t target, protocol, id string, last time.Duration) (sample, error) {
	callers, err := dial(ctx, t, protocol, id, readCallers)
	if err != nil {
		return sample{}, err
	}
	defer func() {
		for _, c := range callers {
			_ = c.Close() // the answers were read
		}
	}()
	// Connect, and let each caller have one answer.
	if _, err := load.Run(ctx, callers, time.Minute, readCallers); err != nil {
		return sample{}, err
	}
	before, err := spent(t.Process, d)
	if err != nil {
		return sample{}, err
	}
	done, err := load.Run(ctx, callers, last, 0)
	if err != nil {
		return sample{}, err
	}
	after, err := spent(t.Process, d)
	if err != nil {
		return sample{}, err
	}
	calls := time.Duration(max(done.Calls, 1))
	return sample{
		rate: done.Rate(), server: (after.server - before.server) / calls, database: (after.database - before.database) / calls,
		p50: done.Quantile(0.5), p99: done.Quantile(0.99),
	}, nil
}

// cost is processor time.
type cost struct{ server, database time.Duration }

func spent(p *process.Process, d *database) (c cost, err error) {
	if c.server, err = p.Spent(); err != nil {
		return cost{}, err
	}
	c.database, err = d.spent()
	return c, err
}

// dial makes callers of GetReview, each with its connection.
func dial(ctx context.Context, t target, protocol, id string, n int) (callers []load.Caller, err error) {
	for range n {
		var c load.Caller
		if protocol == "REST" {
			c, err = load.DialHTTP(ctx, t.HTTP, getRequest(t, id), nowhere{})
		} else {
			c, err = dialGet(t, id, nil)
		}
		if err != nil {
			return nil, err
		}
		callers = append(callers, c)
	}
	return callers, nil
}

func getRequest(t target, id string) load.Request {
	r := load.Request{Method: http.MethodGet, Path: "/v1/reviews/" + id, Want: http.StatusOK, Header: map[string]string{}}
	if t.token != "" {
		r.Header["Authorization"] = "Bearer " + t.token
	}
	return r
}

func dialGet(t target, id string, body func([]byte)) (*load.GRPC, error) {
	md := metadata.MD{}
	if t.token != "" {
		md.Set("authorization", "Bearer "+t.token)
	}
	return load.DialGRPC(t.GRPC, prwardenv1.ReviewService_GetReview_FullMethodName, &prwardenv1.GetReviewRequest{ReviewId: id}, md, body)
}

// answerOf makes one call and returns what was answered, as values of JSON, and
// its size in bytes.
func answerOf(ctx context.Context, t target, protocol, id string) (value any, size int, err error) {
	var body bytes.Buffer
	var c load.Caller
	if protocol == "REST" {
		c, err = load.DialHTTP(ctx, t.HTTP, getRequest(t, id), &body)
	} else {
		c, err = dialGet(t, id, func(b []byte) { body.Write(b) })
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Call(ctx); err != nil {
		return nil, 0, err
	}
	text := body.Bytes()
	if protocol != "REST" {
		var m prwardenv1.GetReviewResponse
		if err := proto.Unmarshal(text, &m); err != nil {
			return nil, 0, err
		}
		if text, err = protojson.Marshal(&m); err != nil {
			return nil, 0, err
		}
	}
	err = json.NewDecoder(strings.NewReader(string(text))).Decode(&value)
	return value, body.Len(), err
}

// nowhere takes what nobody looks at.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// ratios are prwarden's throughput as parts of the bare program's: by the
// clock, by processor time of the server alone, and with the database's.
func (r *reading) ratios() (clock, server, all float64) {
	clock = median(r.ours, func(s sample) float64 { return s.rate }) / median(r.bare, func(s sample) float64 { return s.rate })
	server = median(r.bare, serverTime) / median(r.ours, serverTime)
	all = median(r.bare, allTime) / median(r.ours, allTime)
	return clock, server, all
}

func serverTime(s sample) float64 { return float64(s.server) }
func allTime(s sample) float64    { return float64(s.server + s.database) }

func (r *reading) String() string {
	clock, server, all := r.ratios()
	us := func(samples []sample, of func(sample) float64) float64 { return median(samples, of) / 1e3 }
	rate := func(samples []sample) float64 { return median(samples, func(s sample) float64 { return s.rate }) }
	return fmt.Sprintf("%-8s %s %3d findings %6d B: %6.0f/s against %6.0f/s; µs of server %5.0f against %5.0f, with database %5.0f against %5.0f; ratios: clock %.2f, server %.2f, all %.2f",
		r.database, r.protocol, r.findings, r.bytes, rate(r.ours), rate(r.bare),
		us(r.ours, serverTime), us(r.bare, serverTime), us(r.ours, allTime), us(r.bare, allTime), clock, server, all)
}
