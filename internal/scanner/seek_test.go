package scanner_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scanner"
)

// Scans go where there is room; one that finds none waits in every line, and
// begins wherever a place is free first.
func TestScansGoWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a, b := startScanner(t, scanner.Options{Places: 1}), startScanner(t, scanner.Options{Places: 1})
		pool := poolOf(t, scanner.PoolOptions{}, a, b)
		first, second := start(t.Context(), pool, "acme/api"), start(t.Context(), pool, "acme/api")
		atA, atB := a.next(t), b.next(t) // each has one, though the repository is the same

		third := start(t.Context(), pool, "acme/api")
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 1 && b.service.Load().Waiting == 1 }, patience, time.Millisecond)
		atB.end <- nil
		b.next(t).end <- nil
		require.NoError(t, await(t, "the third scan", third).err)
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 0 }, patience, time.Millisecond, "it left the other line")
		atA.end <- nil
		require.NoError(t, await(t, "a scan", first).err)
		require.NoError(t, await(t, "a scan", second).err)
		require.Eventually(t, func() bool { return b.service.Load().Working == 0 }, patience, time.Millisecond)
	})
}

// A scanner whose line is full is asked again, and nothing fails meanwhile.
func TestFullLine(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Places: 1, Room: 1})
		pool := poolOf(t, scanner.PoolOptions{Again: time.Millisecond}, a)
		var ends []<-chan outcome
		for range 6 {
			ends = append(ends, start(t.Context(), pool, "acme/api"))
		}
		for range ends {
			a.next(t).end <- nil
		}
		for _, end := range ends {
			require.NoError(t, await(t, "a scan", end).err)
		}
	})
}

// When nothing else decides, a repository goes where it went before, because
// that scanner has it in its cache; and not all go to the same.
func TestRepositoriesHaveFavourites(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		scanners := []*testScanner{startScanner(t, scanner.Options{}), startScanner(t, scanner.Options{}), startScanner(t, scanner.Options{})}
		pool := poolOf(t, scanner.PoolOptions{}, scanners...)
		where := map[string]int{}
		used := map[int]bool{}
		for range 3 {
			for r := range 20 {
				repo := fmt.Sprintf("acme/r%d", r)
				end := start(t.Context(), pool, repo)
				at := 0
				select {
				case s := <-scanners[0].scans:
					s.end <- nil
				case s := <-scanners[1].scans:
					at = 1
					s.end <- nil
				case s := <-scanners[2].scans:
					at = 2
					s.end <- nil
				}
				require.NoError(t, await(t, "a scan", end).err)
				if before, ok := where[repo]; ok {
					assert.Equal(t, before, at, repo)
				}
				where[repo], used[at] = at, true
			}
		}
		assert.Len(t, used, 3)
	})
}

func stopping() error {
	st, err := status.New(codes.Unavailable, "stopping").WithDetails(&errdetails.ErrorInfo{Reason: "scanner_stopping", Domain: "prwarden.scanner"})
	if err != nil {
		panic(err)
	}
	return st.Err()
}

// A scan that did not begin goes to another scanner, whatever the first one's
// reason, and when there is no other that counts nowhere. One that began, or
// may have, is never tried again.
func TestAnotherScanner(t *testing.T) {
	t.Parallel()
	begin := func(stream scannerv1.ScannerService_ScanServer) error { // up to the client's `go`
		if err := stream.Send(ready()); err != nil {
			return err
		}
		_, err := stream.Recv()
		return err
	}
	hang := func(stream scannerv1.ScannerService_ScanServer) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	for name, c := range map[string]struct {
		scan      func(scannerv1.ScannerService_ScanServer) error // after `start`
		code      string                                          // when it is the only scanner
		elsewhere bool
	}{
		"it is stopping":            {func(scannerv1.ScannerService_ScanServer) error { return stopping() }, "scanner_stopping", true},
		"it breaks off":             {func(scannerv1.ScannerService_ScanServer) error { return status.Error(codes.Unavailable, "x") }, "scanner_unavailable", true},
		"it is something else":      {func(scannerv1.ScannerService_ScanServer) error { return status.Error(codes.Unimplemented, "x") }, "scanner_protocol", true},
		"it says nothing":           {hang, "scanner_unavailable", true},
		"it is of an older version": {func(s scannerv1.ScannerService_ScanServer) error { return s.Send(progressed()) }, "scanner_protocol", true},
		"it says what nobody knows": {func(s scannerv1.ScannerService_ScanServer) error { return s.Send(&scannerv1.ScanResponse{}) }, "scanner_protocol", true},
		"it stops after its offer": {func(s scannerv1.ScannerService_ScanServer) error {
			if err := begin(s); err != nil {
				return err
			}
			return stopping()
		}, "scanner_stopping", true},
		"it is lost after its offer": {func(s scannerv1.ScannerService_ScanServer) error {
			if err := begin(s); err != nil {
				return err
			}
			return status.Error(codes.Unavailable, "connection lost")
		}, "scanner_unavailable", false},
		"it is lost when it began": {func(s scannerv1.ScannerService_ScanServer) error {
			if err := begin(s); err != nil {
				return err
			}
			if err := s.Send(progressed()); err != nil {
				return err
			}
			return status.Error(codes.Unavailable, "connection lost")
		}, "scanner_unavailable", false},
		"it is silent when it began": {func(s scannerv1.ScannerService_ScanServer) error {
			if err := begin(s); err != nil {
				return err
			}
			if err := s.Send(progressed()); err != nil {
				return err
			}
			return hang(s)
		}, "scanner_unavailable", false},
		"it does not take the scan": {func(scannerv1.ScannerService_ScanServer) error { return status.Error(codes.InvalidArgument, "x") }, "scanner_fault", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onClock(t, func(t *testing.T) {
				options := scanner.PoolOptions{Silence: time.Second, Hedge: 50 * time.Millisecond}
				var asked atomic.Int32
				bad := serve(t, newAddress(), made{scan: func(stream scannerv1.ScannerService_ScanServer) error {
					asked.Add(1)
					if _, err := stream.Recv(); err != nil {
						return err
					}
					return c.scan(stream)
				}})
				alone := await(t, "the scan", start(t.Context(), poolOf(t, options, bad), "acme/api"))
				var e *review.ScanError
				require.ErrorAs(t, alone.err, &e)
				assert.Equal(t, c.code, e.Code, alone.err)
				assert.False(t, e.Lasting)
				assert.Equal(t, c.elsewhere, e.Uncounted, alone.err)
				assert.Equal(t, int32(1), asked.Load(), "it was asked once")

				// Of a pool with a good one, those repositories matter that prefer the bad one.
				good := startScanner(t, scanner.Options{Alive: 10 * time.Millisecond})
				pool := poolOf(t, options, bad, good)
				for r := 0; asked.Load() == 1; r++ {
					end := start(t.Context(), pool, fmt.Sprintf("acme/r%d", r))
					var o outcome
					select {
					case s := <-good.scans:
						s.end <- nil
						o = await(t, "the scan", end)
						if asked.Load() > 1 {
							assert.True(t, c.elsewhere)
						}
					case o = <-end:
						assert.False(t, c.elsewhere, o.err)
						require.Error(t, o.err)
						continue
					case <-time.After(patience):
						require.FailNow(t, "the scan went nowhere")
					}
					require.NoError(t, o.err)
				}
			})
		})
	}
}

// A scanner that is silent for long because there is nothing new is not lost:
// it gives signs of life, while it waits and while it works.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{Places: 1, Alive: 5 * time.Millisecond})
		silence := 1500 * time.Millisecond
		pool := poolOf(t, scanner.PoolOptions{Silence: silence}, a)
		first, second := start(t.Context(), pool, "acme/api"), start(t.Context(), pool, "acme/api")
		scan := a.next(t)
		require.Never(t, func() bool { return scan.ctx.Err() != nil }, 2*silence, silence/10)
		scan.end <- nil
		a.next(t).end <- nil
		require.NoError(t, await(t, "the first scan", first).err)
		require.NoError(t, await(t, "the second scan", second).err)
	})
}

// What ends a wait in line ends it at once and everywhere.
func TestCancelInLine(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a, b := startScanner(t, scanner.Options{Places: 1}), startScanner(t, scanner.Options{Places: 1})
		pool := poolOf(t, scanner.PoolOptions{}, a, b)
		start(t.Context(), pool, "acme/x")
		start(t.Context(), pool, "acme/x")
		a.next(t)
		b.next(t)
		ctx, cancel := context.WithCancel(t.Context())
		end := start(ctx, pool, "acme/api")
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 1 && b.service.Load().Waiting == 1 }, patience, time.Millisecond)
		cancel()
		require.Error(t, await(t, "the scan", end).err)
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 0 && b.service.Load().Waiting == 0 }, patience, time.Millisecond)

		// A scanner that stops sends those that wait to another one.
		end = start(t.Context(), pool, "acme/api")
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 1 && b.service.Load().Waiting == 1 }, patience, time.Millisecond)
		a.service.Drain()
		require.Eventually(t, func() bool { return a.service.Load().Waiting == 0 }, patience, time.Millisecond)
		assert.Equal(t, 1, b.service.Load().Waiting)
		assert.Empty(t, end)
	})
}

// The server's limit of a scan reaches the scan itself, and is final.
func TestLimitReachesTheScan(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T) {
		a := startScanner(t, scanner.Options{})
		job := jobWith()
		job.Limit = time.Second
		_, err := scanner.NewClient(poolOf(t, scanner.PoolOptions{}, a)).Scan(t.Context(), job, none)
		require.ErrorIs(t, a.next(t).ctx.Err(), context.DeadlineExceeded)
		var e *review.ScanError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "scan_timeout", e.Code)
		assert.True(t, e.Lasting)
	})
}
