package scanner_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scanner"
)

// A scan goes to a scanner with a free slot, and waits for one while there is
// none.
func TestScansGoWhereASlotIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := startScanner(t, 1), startScanner(t, 1)
		client := clientOf(t, a, b)
		first, second := start(t.Context(), client, "acme/api"), start(t.Context(), client, "acme/api")
		atA, atB := a.next(t), b.next(t) // each has one, though the repository is the same

		third := start(t.Context(), client, "acme/api")
		awaitWaiting(t, client, 1)
		atB.end <- nil
		b.next(t).end <- nil
		require.NoError(t, await(t, "the third scan", third).err)
		awaitWaiting(t, client, 0)

		atA.end <- nil
		require.NoError(t, await(t, "a scan", first).err)
		require.NoError(t, await(t, "a scan", second).err)
		b.awaitTaken(t, 0)
	})
}

func awaitWaiting(t *testing.T, client *scanner.Client, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return client.Waiting() == n }, patience, time.Millisecond)
}

// Who waits for a slot can end that, and a scanner that stops is not waited for.
func TestEndOfWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := startScanner(t, 1)
		client := clientOf(t, a)
		running := start(t.Context(), client, "acme/x")
		scan := a.next(t)
		ctx, cancel := context.WithCancel(t.Context())
		end := start(ctx, client, "acme/api")
		awaitWaiting(t, client, 1)
		cancel()
		require.ErrorIs(t, await(t, "the scan", end).err, context.Canceled)

		end = start(t.Context(), client, "acme/api")
		awaitWaiting(t, client, 1)
		a.service.Drain()
		scan.end <- nil
		require.NoError(t, await(t, "the scan that runs", running).err)
		var e *review.ScanError
		require.ErrorAs(t, await(t, "the scan that waits", end).err, &e)
		assert.Equal(t, "scanner_stopping", e.Code)
		assert.True(t, e.Uncounted)
	})
}

// Nothing fails when servers share scanners, and 99 of 100 scans wait less than
// 500 ms when there are as many slots as workers.
func TestWaitsOfServersThatShareScanners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const servers, each, slots, scans = 2, 6, 4, 400
		duration := func(n int) time.Duration {
			if n%10 == 3 {
				return 400 * time.Millisecond
			}

			return 20 * time.Millisecond
		}

		var scanners []*testScanner
		for range 3 {
			service := serviceOf(func(_ context.Context, target scan.Target) (scan.Change, error) {
				<-time.After(duration(int(target.Number)))
				return &change{}, nil
			}, slots)
			scanners = append(scanners, serve(t, newAddress(), service))
		}

		var mu sync.Mutex
		var waits []time.Duration
		var next atomic.Int32
		var all sync.WaitGroup
		for range servers {
			client := clientOf(t, scanners...)
			for range each {
				all.Go(func() {
					for n := next.Add(1); n <= scans; n = next.Add(1) {
						job := jobWith()
						job.Repo, job.PRNumber = fmt.Sprintf("acme/r%d", n), n
						began := time.Now()
						_, err := client.Scan(t.Context(), job, none)
						assert.NoError(t, err)
						mu.Lock()
						waits = append(waits, time.Since(began)-duration(int(n)))
						mu.Unlock()
					}
				})
			}
		}

		all.Wait()
		slices.Sort(waits)
		require.Len(t, waits, scans)
		t.Logf("median %v, 99 %% %v, longest %v", waits[scans/2], waits[scans*99/100], waits[scans-1])
		assert.Less(t, waits[scans*99/100], 500*time.Millisecond)
	})
}

// A repository goes where it went before, because that scanner has it in its
// cache; and not all go to the same.
func TestRepositoriesHaveFavourites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scanners := []*testScanner{startScanner(t, 4), startScanner(t, 4), startScanner(t, 4)}
		client := clientOf(t, scanners...)
		where := map[string]int{}
		used := map[int]bool{}
		for range 3 {
			for r := range 20 {
				repo := fmt.Sprintf("acme/r%d", r)
				end := start(t.Context(), client, repo)
				at := slices.IndexFunc(scanners, func(s *testScanner) bool {
					synctest.Wait()
					return len(s.scans) > 0
				})
				scanners[at].next(t).end <- nil
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
	info := &errdetails.ErrorInfo{Reason: "scanner_stopping", Domain: "prwarden.scanner"}
	st, err := status.New(codes.Unavailable, "stopping").WithDetails(info)
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
	type handler = func(scannerv1.ScannerService_ScanServer) error
	hang := func(stream scannerv1.ScannerService_ScanServer) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}

	// says sends messages and ends as then does.
	says := func(then handler, messages ...*scannerv1.ScanResponse) handler {
		return func(stream scannerv1.ScannerService_ScanServer) error {
			for _, m := range messages {
				if err := stream.Send(m); err != nil {
					return err
				}
			}

			return then(stream)
		}
	}

	fails := func(err error) handler {
		return func(scannerv1.ScannerService_ScanServer) error { return err }
	}
	lost := status.Error(codes.Unavailable, "connection lost")
	for name, c := range map[string]struct {
		scan      handler // after `start`
		code      string  // when it is the only scanner
		elsewhere bool
	}{
		"it is stopping":               {fails(stopping()), "scanner_stopping", true},
		"it breaks off":                {fails(lost), "scanner_unavailable", true},
		"it is something else":         {fails(status.Error(codes.Unimplemented, "x")), "scanner_unavailable", true},
		"it does not accept first":     {says(hang, progressed()), "scanner_unavailable", true},
		"it says what nobody knows":    {says(hang, &scannerv1.ScanResponse{}), "scanner_unavailable", true},
		"it stops after it accepted":   {says(fails(stopping()), accepted()), "scanner_stopping", true},
		"it is lost after it accepted": {says(fails(lost), accepted()), "scanner_unavailable", false},
		"it is lost when it began":     {says(fails(lost), accepted(), progressed()), "scanner_unavailable", false},
		"it never ends":                {says(hang, accepted(), progressed()), "scan_timeout", false},
		"it does not take the scan":    {fails(status.Error(codes.InvalidArgument, "x")), "scanner_fault", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				bad := serve(t, newAddress(), made{scan: func(stream scannerv1.ScannerService_ScanServer) error {
					asked.Add(1)
					if _, err := stream.Recv(); err != nil {
						return err
					}

					return c.scan(stream)
				}})

				alone := await(t, "the scan", start(t.Context(), clientOf(t, bad), "acme/api"))
				var e *review.ScanError
				require.ErrorAs(t, alone.err, &e)
				assert.Equal(t, c.code, e.Code, alone.err)
				assert.Equal(t, c.code == "scan_timeout", e.Lasting)
				assert.Equal(t, c.elsewhere, e.Uncounted, alone.err)
				assert.Equal(t, int32(1), asked.Load(), "it was asked once")

				// With a good one beside it, those repositories matter that prefer the bad one.
				good := startScanner(t, 0)
				client := clientOf(t, bad, good)
				for r := 0; asked.Load() == 1; r++ {
					end := start(t.Context(), client, fmt.Sprintf("acme/r%d", r))
					select {
					case s := <-good.scans:
						s.end <- nil
						require.NoError(t, await(t, "the scan", end).err)
						assert.True(t, asked.Load() == 1 || c.elsewhere)
					case o := <-end:
						require.Error(t, o.err)
						assert.False(t, c.elsewhere, o.err)
					}
				}
			})
		})
	}
}
