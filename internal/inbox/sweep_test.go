package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/inbox"
)

// sweepWorld is one connection that is swept, and its host.
type sweepWorld struct {
	connection.Hosts
	codehost.Host
	inbox.Store

	mu       sync.Mutex
	sweep    inbox.Sweep
	due      time.Time
	repos    int
	pulls    map[string][]codehost.PullRequest // by repository
	errs     map[string]error                  // likewise
	asked    map[string][]time.Time            // likewise: since when
	looked   []time.Time                       // since when deliveries were asked for again
	kept     map[int32]time.Time               // open ones of r000, and when they were heard of
	accepted []inbox.Delivery
}

func (w *sweepWorld) ClaimSweep(_ context.Context, lease time.Duration) (*inbox.Sweep, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.due) {
		return nil, nil
	}
	out := w.sweep
	out.Now, out.Until = time.Now(), time.Now().Add(lease)
	w.due = out.Until

	return &out, nil
}

func (w *sweepWorld) EndSweep(_ context.Context, s inbox.Sweep, next time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweep, w.due = s, time.Now().Add(next)

	return nil
}

func (w *sweepWorld) UnheardOf(
	_ context.Context, _ inbox.Sweep, repo string, since time.Time, limit int,
) (list []inbox.Unheard, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for number, at := range w.kept {
		if repo == "acme/r000" && !at.After(since) && len(list) < limit {
			list = append(list, inbox.Unheard{Number: number, HeardAt: at})
		}
	}

	return list, nil
}

func (w *sweepWorld) Open(context.Context, string) (connection.Connection, codehost.Host, error) {
	return connection.Connection{ID: "con_a", Organization: acme, Repositories: []string{"acme/*"}}, w, nil
}

func (w *sweepWorld) Repositories(context.Context, int) (list []codehost.Repository, err error) {
	for i := range w.repos {
		list = append(list, codehost.Repository{ID: fmt.Sprint(i), Name: fmt.Sprintf("acme/r%03d", i)})
	}
	slices.Reverse(list)

	return append(list, codehost.Repository{ID: "x", Name: "other/x"}), nil
}

func (w *sweepWorld) OpenPullRequests(
	_ context.Context, r codehost.Repository, since time.Time,
) ([]codehost.PullRequest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[r.Name] = append(w.asked[r.Name], since)

	return w.pulls[r.Name], w.errs[r.Name]
}

func (w *sweepWorld) Redeliver(_ context.Context, since time.Time) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, since)

	return 0, nil
}

func (w *sweepWorld) KeepDelivery(_ context.Context, d inbox.Delivery) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.accepted, func(o inbox.Delivery) bool { return o.ID == d.ID }) {
		return false, nil
	}
	w.accepted = append(w.accepted, d)

	return true, nil
}

// sweepFor sweeps for some time.
func (w *sweepWorld) sweepFor(t *testing.T, d time.Duration) {
	t.Helper()
	s := inbox.NewSweeper(w, w, inbox.New(w), slog.New(slog.DiscardHandler))
	s.Start()
	<-time.After(d)
	require.NoError(t, s.Stop(t.Context()))
	require.NoError(t, s.Stop(t.Context()))
}

func newSweepWorld(repos int) *sweepWorld {
	now := time.Now()

	return &sweepWorld{
		repos: repos, pulls: map[string][]codehost.PullRequest{}, errs: map[string]error{}, asked: map[string][]time.Time{},
		sweep: inbox.Sweep{
			Organization: acme, Connection: "con_a", LookedAt: now, SweptAt: now, Since: now, RoundAt: now,
		},
	}
}

func TestSweepFindsWhatChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweepWorld(2)
		began := time.Now()
		w.pulls["acme/r001"] = []codehost.PullRequest{{Number: 7, HeadSHA: head("a")}, {Number: 8}}
		w.sweepFor(t, 62*time.Minute)

		require.Len(t, w.accepted, 2, "once each, until they change")
		assert.Equal(t, "pull_request", w.accepted[0].Event)
		assert.Equal(t, codehost.Repository{ID: "1", Name: "acme/r001"}, w.accepted[0].Hints[0].Repository)
		assert.EqualValues(t, 7, w.accepted[0].Hints[0].Number)

		asked := w.asked["acme/r001"]
		assert.InDelta(t, 4, len(asked), 1, "each 15 minutes")
		assert.Equal(t, began.Add(-10*time.Minute), asked[0])
		assert.Greater(t, asked[2].Sub(asked[1]), 14*time.Minute)
		assert.Empty(t, w.asked["other/x"], "the connection is not for it")
		assert.InDelta(t, 12, len(w.looked), 2, "each 5 minutes")

		w.pulls["acme/r001"][0].HeadSHA = head("b")
		w.sweepFor(t, 20*time.Minute)
		assert.Len(t, w.accepted, 3)
	})
}

// That a pull request was closed is found though the host lists open ones only.
func TestSweepReadsOpenOnesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweepWorld(2)
		w.kept = map[int32]time.Time{7: time.Now(), 8: time.Now().Add(5 * time.Hour)}
		w.sweepFor(t, 5*time.Hour)
		assert.Empty(t, w.accepted)
		w.sweepFor(t, 3*time.Hour)
		require.Len(t, w.accepted, 1, "once, until it is heard of")
		assert.EqualValues(t, 7, w.accepted[0].Hints[0].Number)
		assert.Equal(t, codehost.HintPullRequest, w.accepted[0].Hints[0].Kind)

		w.kept[7] = time.Now()
		w.sweepFor(t, 7*time.Hour)
		assert.Len(t, w.accepted, 3)
	})
}

// A connection with many repositories is swept in rounds, of which nothing is left out.
func TestSweepGoesRound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweepWorld(450)
		began := time.Now()
		w.sweepFor(t, 17*time.Minute)
		assert.Equal(t, 200, len(w.asked))
		w.sweepFor(t, 30*time.Minute)
		require.Equal(t, 450, len(w.asked))
		w.sweepFor(t, 16*time.Minute)
		first, last := w.asked["acme/r000"], w.asked["acme/r449"]
		require.Len(t, first, 2)
		require.Len(t, last, 1)
		assert.Equal(t, began.Add(-10*time.Minute), last[0], "since the round before")
		assert.InDelta(t, 5, first[1].Sub(began).Minutes(), 2.5, "since the begin of this round")
	})
}

func TestSweepGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweepWorld(3)
		w.errs["acme/r000"] = &codehost.Error{Fault: codehost.Gone, Err: errors.New("none")}
		w.errs["acme/r001"] = &codehost.Error{Fault: codehost.Limited, After: time.Hour, Err: errors.New("slow down")}
		w.sweepFor(t, 50*time.Minute)
		assert.Len(t, w.asked["acme/r001"], 1, "the host is left alone")
		assert.Empty(t, w.asked["acme/r002"])

		delete(w.errs, "acme/r001")
		w.sweepFor(t, 40*time.Minute)
		assert.NotEmpty(t, w.asked["acme/r002"])
		assert.Equal(t, w.asked["acme/r001"][0], w.asked["acme/r001"][1], "nothing in between is left out")
	})
}

// A repository that fails keeps the round from none behind it, and is looked at from where
// it failed, for a day.
func TestSweepGoesOnBehindARepositoryThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweepWorld(3)
		began := time.Now()
		w.errs["acme/r001"] = &codehost.Error{Fault: codehost.Passing, Err: errors.New("500")}
		w.sweepFor(t, 65*time.Minute)
		assert.GreaterOrEqual(t, len(w.asked["acme/r002"]), 3)
		for _, since := range w.asked["acme/r001"] {
			assert.Equal(t, began.Add(-10*time.Minute), since)
		}

		w.sweepFor(t, 48*time.Hour)
		failing := w.asked["acme/r001"]
		assert.WithinDuration(t, time.Now().Add(-24*time.Hour), failing[len(failing)-1], time.Hour)
		delete(w.errs, "acme/r001")
		w.sweepFor(t, time.Hour)
		healthy := w.asked["acme/r001"]
		assert.WithinDuration(t, time.Now(), healthy[len(healthy)-1], time.Hour)
	})
}
