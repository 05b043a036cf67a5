package scanner_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/balancer/leastrequest"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// BenchmarkBalancing has two servers, of six workers each, do 400 scans of
// unequal length on three scanners with four places, 12 in all: nine of ten
// scans take 20 ms and one takes 400 ms. Scans only wait, so that nothing but
// the distribution counts. It compares gRPC's balancers, with calls that wait in the line
// of the scanner that they were given to, with the pool. The best possible is
// the sum of all scans over the number of places.
func BenchmarkBalancing(b *testing.B) {
	balancers := map[string]func(*testing.B, []*testScanner) func(repo string){
		"round-robin": func(b *testing.B, s []*testScanner) func(string) { return balanced(b, s, "round_robin", "{}") },
		"least-request": func(b *testing.B, s []*testScanner) func(string) {
			return balanced(b, s, "least_request_experimental", `{"choiceCount": 3}`)
		},
		"pool": func(b *testing.B, s []*testScanner) func(string) {
			var o scanner.PoolOptions
			for _, one := range s {
				o.Scanners = append(o.Scanners, one.addr)
			}
			o.Dial = dial
			pool := scanner.NewPool(o)
			b.Cleanup(func() { _ = pool.Close() })
			scanner.NewClient(pool).Await(b.Context())
			return func(repo string) {
				if o := <-start(b.Context(), pool, repo); o.err != nil {
					b.Error(o.err)
				}
			}
		},
	}
	for _, name := range []string{"round-robin", "least-request", "pool"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				scanners, best := unequal(b)
				var servers []func(string)
				for range 2 {
					servers = append(servers, balancers[name](b, scanners))
				}
				took, slowest := race(servers)
				b.ReportMetric(float64(took.Milliseconds()), "ms/all")
				b.ReportMetric(float64(best.Milliseconds()), "ms/best")
				b.ReportMetric(float64(slowest.Milliseconds()), "p99-ms/wait")
			}
		})
	}
}

const benchScans = 400

// duration is how long the nth scan takes.
func duration(n int) time.Duration {
	if n%10 == 3 {
		return 400 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// unequal starts scanners whose scans take as long as the number in the
// repository's name says, and tells how long all take at best.
func unequal(b *testing.B) (scanners []*testScanner, best time.Duration) {
	b.Helper()
	for range 3 {
		source := &source{open: func(ctx context.Context, t scan.Target) (scan.Change, error) {
			var n int
			if _, err := fmt.Sscanf(t.Repo, "acme/r%d", &n); err != nil {
				return nil, err
			}
			select {
			case <-time.After(duration(n)):
				return &change{}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		service := scanner.NewServer(scan.NewScanner(source, scan.Options{}), scanner.Options{Places: 4}, slog.New(slog.DiscardHandler))
		scanners = append(scanners, serveTCP(b, service))
	}
	for n := range benchScans {
		best += duration(n)
	}
	return scanners, best / (3 * 4)
}

// race has the servers do all scans and returns how long that took, and the
// time that a scan waited for a place, which all but one in a hundred were
// below.
func race(servers []func(repo string)) (took, slowest time.Duration) {
	var mu sync.Mutex
	var waits []time.Duration
	order := make(chan int, benchScans)
	for _, n := range rand.New(rand.NewPCG(1, 2)).Perm(benchScans) { //nolint:gosec // the same each time
		order <- n
	}
	close(order)
	began := time.Now()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			for n := range order {
				asked := time.Now()
				servers[i%2](fmt.Sprintf("acme/r%d", n))
				mu.Lock()
				waits = append(waits, time.Since(asked)-duration(n))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(waits)
	return time.Since(began), waits[len(waits)*99/100]
}

// balanced scans over one connection with one of gRPC's balancers, as a server
// did that knew no places.
func balanced(b *testing.B, scanners []*testScanner, policy, config string) func(repo string) {
	b.Helper()
	addresses := manual.NewBuilderWithScheme("scanners")
	var state resolver.State
	for _, s := range scanners {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: s.addr}}})
	}
	addresses.InitialState(state)
	conn, err := grpc.NewClient("scanners:///all", grpc.WithResolvers(addresses), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"loadBalancingConfig": [{%q: %s}]}`, policy, config)))
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	client := scannerv1.NewScannerServiceClient(conn)
	return func(repo string) {
		stream, err := client.Scan(b.Context())
		m := startMessage(0)
		m.GetStart().Repo = repo
		if err == nil {
			err = stream.Send(m)
		}
		for done := false; err == nil && !done; {
			var answer *scannerv1.ScanResponse
			if answer, err = stream.Recv(); answer.GetNeedRules() != nil {
				err = stream.Send(&scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: &scannerv1.RuleChunk{Last: true}}})
			}
			done = answer.GetResult() != nil
		}
		if err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkCall is what a scan costs that takes no time: with the offer of a
// place and its taking, and as a server of the version before calls, without.
func BenchmarkCall(b *testing.B) {
	source := &source{open: func(context.Context, scan.Target) (scan.Change, error) { return &change{}, nil }}
	service := scanner.NewServer(scan.NewScanner(source, scan.Options{}), scanner.Options{}, slog.New(slog.DiscardHandler))
	s := serveTCP(b, service)
	b.Run("with-places", func(b *testing.B) {
		pool := scanner.NewPool(scanner.PoolOptions{Scanners: []string{s.addr}, Dial: dial})
		b.Cleanup(func() { _ = pool.Close() })
		scanner.NewClient(pool).Await(b.Context())
		for b.Loop() {
			if o := <-start(b.Context(), pool, "acme/api"); o.err != nil {
				b.Fatal(o.err)
			}
		}
	})
	b.Run("without", func(b *testing.B) {
		call := balanced(b, []*testScanner{s}, "round_robin", "{}")
		for b.Loop() {
			call("acme/api")
		}
	})
}
