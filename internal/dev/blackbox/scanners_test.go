package blackbox_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scanner that is frozen costs its scans one attempt, and leaves nothing behind. The log says how long that took, and
// nothing here limits it: in `make chaos` all reviews have ended two minutes after the last fault.
func TestScannerIsFrozen(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 3, 6)
	ids := f.fill(t)
	lost := f.scanners[0]
	require.Equal(t, 2.0, lost.metric(t, "prwarden_scanner_slots_taken"))

	began := time.Now()
	lost.signal(t, syscall.SIGSTOP)

	// The others are full; when they have free slots, the lost scans begin again.
	// That the first six are still at the gate is as it should be.
	f.hosts.open()
	for _, id := range ids {
		m := f.client.wait(t, id)
		require.Equal(t, "complete", m["status"], m)
		require.Len(t, m["findings"], 1)
	}

	t.Logf("all scans were complete after %v", time.Since(began))
	f.server.stop(t) // then all that it logged was read
	assert.Equal(t, 2, strings.Count(f.server.logged(), `"msg":"scan failed"`), "one attempt of each of its scans")

	lost.signal(t, syscall.SIGCONT)
	require.Eventually(t, func() bool { return lost.idle(t) }, eventually, tick)
	require.Eventually(t, func() bool { return len(lost.leftovers(t)) == 0 }, eventually, tick, "%v", lost.leftovers(t))
}

// A scanner does not work for a server that is frozen, and gives its slot to
// others; when the server wakes, its review is scanned again.
func TestServerIsFrozen(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 1, 2)
	ids := f.fill(t)
	scanner := f.scanners[0]
	f.server.signal(t, syscall.SIGSTOP)
	began := time.Now()
	require.Eventually(t, func() bool { return scanner.idle(t) }, eventually, tick)
	t.Logf("the scanner was idle after %v", time.Since(began))
	f.server.signal(t, syscall.SIGCONT)
	f.hosts.open()
	for _, id := range ids {
		assert.Equal(t, "complete", f.client.wait(t, id)["status"])
	}
}

// A review that is canceled ends its scan, git processes included. On a machine
// that is not busy that takes less than a second; the log says how long.
func TestCancelOfAScanElsewhere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		repo string

		// tells when the scan is where it is to be canceled; false when it was over before
		during func(*testing.T, *fleet, string) bool
		hangs  bool // it can't be over before
	}{
		"a host that hangs": {repo: "acme/r0", hangs: true, during: func(t *testing.T, f *fleet, _ string) bool {
			within(t, "git asks the host", f.hosts.asked)
			return true
		}},
		"heavy rules": {repo: "acme/heavy", during: func(t *testing.T, f *fleet, id string) bool {
			f.hosts.open()
			return f.client.seenScanned(t, id)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFleet(t, 1, 1)
			if !tt.hangs {
				f.hosts.large(t, tt.repo, 800, "abcdefgh 12345678 abcdefgh 12345678 ?")
			}

			// A scan that was over before it could be canceled says nothing, and
			// there is another one, which takes longer.
			var id string
			var began time.Time
			canceled, deadline := false, time.Now().Add(eventually)
			for round := 0; !canceled; round++ {
				for i := round * 20; !tt.hangs && i < round*20+20; i++ {
					addRule(t, f.client, map[string]any{
						"id": fmt.Sprintf("heavy-%d", i), "type": "regex", "severity": "low", "message": "m",
						"pattern": fmt.Sprintf(`[a-z]+\s[0-9 a-z]{%d,200}!$`, i%150), "multiline": i%2 == 0,
					})
				}
				id = f.client.review(t, tt.repo, 1)
				if tt.during(t, f, id) && !f.scanners[0].idle(t) {
					began = time.Now()
					a := f.client.do(t, "POST", "/v1/reviews/"+id+":cancel", nil)
					require.Contains(t, []int{200, 409}, a.status, a.body)
					canceled = a.status == 200
				}
				require.True(
					t, canceled || !tt.hangs && time.Now().Before(deadline), "the scan was over before it could be canceled",
				)
			}
			require.Eventually(t, func() bool { return f.scanners[0].idle(t) }, eventually, 10*time.Millisecond)
			t.Logf("%s: nothing was left after %v", name, time.Since(began))
			assert.Equal(t, "canceled", f.client.wait(t, id)["status"])
			assert.Empty(t, f.scanners[0].leftovers(t))
		})
	}
}

// Scanners that come back are used again within seconds, and reviews wait for
// them without failing.
func TestScannersComeBack(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 1, 1)
	f.hosts.open()
	gone := f.scanners[0]
	gone.kill(t)
	require.Eventually(t, func() bool {
		return strings.Contains(f.server.logged(), "a scanner can't be reached")
	}, eventually, tick)
	var ids []string
	for range 6 {
		ids = append(ids, f.client.review(t, "acme/r0", 1))
	}

	// One worker at a time claims, and one may have been about to when the scanner
	// went. It gives back what it got.
	const aboutTo = 1
	started := func() int { return strings.Count(f.server.logged(), `"msg":"scan started"`) }
	require.Never(t, func() bool { return started() > aboutTo }, 5*time.Second, tick, "nobody claims what nobody can scan")

	startScanner(t, f.hosts.hosts, gone.grpc)
	began := time.Now()
	for _, id := range ids {
		assert.Equal(t, "complete", f.client.wait(t, id)["status"])
	}
	t.Logf("the reviews were complete %v after the scanner", time.Since(began))
	f.server.stop(t) // then all that it logged was read
	assert.LessOrEqual(t, started(), len(ids)+aboutTo, "one attempt each")
}

// Two servers share a scanner that does one scan at a time: the others wait
// for it, each for its turn, and nothing fails.
func TestServersShareAScanner(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	planted(t, h, "acme/api")
	scanner := startScanner(t, h, "", "--scan-workers", "1")
	const each = 15
	var servers []*server
	reviews := map[string]*client{}
	for range 2 {
		s := startServer(t, h, serverOptions{args: []string{"--scanner", scanner.grpc, "--scan-workers", "4"}})
		c := s.client(s.key(t, "acme"))
		servers = append(servers, s)
		for range each {
			reviews[c.review(t, "acme/api", 1)] = c
		}
	}

	for id, c := range reviews {
		assert.Equal(t, "complete", c.wait(t, id)["status"])
	}
	for _, s := range servers {
		s.stop(t) // then all that it logged was read
		assert.Equal(t, each, strings.Count(s.logged(), `"msg":"scan started"`), "one attempt each: waiting counts nowhere")
	}
	require.Eventually(t, func() bool { return scanner.idle(t) }, eventually, tick)
}

// A scanner says on its ops port whether it can work, and stops in good order:
// it hands back what runs when its grace is over, and that counts nowhere.
func TestScannerHealthAndStop(t *testing.T) {
	t.Parallel()
	h := newGatedHosts(t)
	h.create(t, "acme/r0", files{"a": "1"}).pull(1, files{"b.js": "eval(x)\n"})
	scanner := startScanner(t, h.hosts, "", "--shutdown-grace", "100ms")
	ops := &client{base: "http://" + scanner.ops, http: http.DefaultClient}
	assert.Equal(t, 200, ops.do(t, "GET", "/healthz", nil).status)
	assert.Equal(t, 200, ops.do(t, "GET", "/readyz", nil).status)
	cache := filepath.Join(scanner.dir, "cache")
	require.NoError(t, os.Rename(cache, cache+".away"))
	require.Eventually(t, func() bool {
		return ops.do(t, "GET", "/readyz", nil).status == 503
	}, eventually, tick, "there is no cache directory")
	require.NoError(t, os.Rename(cache+".away", cache))

	s := startServer(t, h.hosts, serverOptions{args: []string{"--scanner", scanner.grpc}})
	c := s.client(s.key(t, "acme"))
	id := c.review(t, "acme/r0", 1)
	within(t, "git asks the host", h.asked)
	scanner.stop(t)
	require.Eventually(t, func() bool { return scanner.gits(t) == 0 }, eventually, tick)
	require.Eventually(t, func() bool {
		return strings.Contains(s.logged(), `"code":"scanner_stopping"`)
	}, eventually, tick)

	h.open()
	startScanner(t, h.hosts, scanner.grpc)
	assert.Equal(t, "complete", c.wait(t, id)["status"])
	assert.NotContains(t, s.logged(), `"msg":"scan failed"`)
}
