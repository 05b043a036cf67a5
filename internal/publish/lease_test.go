package publish_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/store"
)

// What takes effect later than the margin is removed by the next observation, which says so.
func TestALateDoubleIsRemoved(t *testing.T) {
	t.Parallel()
	s := newScene(t, githubLimits)
	var log lockedBuffer
	o := s.options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.publisher(o)
	s.review(7, s.push(7, sha(1)).HeadSHA, "f1", "f2")
	require.Empty(t, s.untilDone(7).Problem)
	before := s.host.Result(7)
	require.NotContains(t, log.String(), "posted twice")

	s.host.Double(7)
	require.Equal(t, []string{"f1", "f1", "f2", "f2"}, s.host.Result(7).Open)
	_, err := s.store.Republish(t.Context(), publish.Key{Organization: "acme", Repo: "acme/shop", Number: 7})
	require.NoError(t, err)
	require.Empty(t, s.untilDone(7).Problem)
	assert.Equal(t, before, s.host.Result(7))
	assert.Equal(t, 3, strings.Count(log.String(), "posted twice"), "two comments and the summary")
	assert.Empty(t, s.host.Wrong(7))
}

// lockedBuffer is a buffer for several writers.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.b.String()
}

// slowStore is a database whose answers come late.
type slowStore struct {
	*store.Store

	mu    sync.Mutex
	late  []time.Duration // of the next answers to Reserve for a step
	lease time.Time       // the least that is granted
}

func (s *slowStore) Reserve(
	ctx context.Context, c publish.Claim, r publish.Reservation,
) (publish.Reserved, error) {
	granted := time.Now().Add(r.Lease)
	got, err := s.Store.Reserve(ctx, c, r)
	s.mu.Lock()
	s.lease = granted.Add(got.Wait)
	late := time.Duration(0)
	if r.Writes && len(s.late) > 0 {
		late, s.late = s.late[0], s.late[1:]
	}
	s.mu.Unlock()
	<-time.After(late)

	return got, err
}

// timedHost keeps when its calls would have to end, at the latest, and the lease then.
type timedHost struct {
	*publish.ModelHost

	store *slowStore
	left  []time.Duration // from the end of a call to that of its lease
}

func (h *timedHost) Open(ctx context.Context, id string) (connection.Connection, codehost.Host, error) {
	c, _, err := h.ModelHost.Open(ctx, id)

	return c, h, err
}

func (h *timedHost) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	h.store.mu.Lock()
	end, _ := ctx.Deadline()
	h.left = append(h.left, h.store.lease.Sub(end))
	h.store.mu.Unlock()

	return h.ModelHost.Do(ctx, p, s)
}

// A call ends before the lease does, by the margin, also where the process was held up
// between the two.
func TestTheLeaseOutlastsTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, githubLimits)
		slow := &slowStore{Store: s.store, late: []time.Duration{time.Second, time.Minute, 5 * time.Second}}
		host := &timedHost{ModelHost: s.host, store: slow}
		s.review(7, s.push(7, sha(1)).HeadSHA, "f1")
		o := s.options()
		ended := make(chan publish.Outcome, 10)
		o.Now, o.Margin, o.OnEnd = nil, 20*time.Second, func(is publish.Outcome) { ended <- is }
		p := publish.NewPublisher(slow, host, o)
		p.Start()
		require.Equal(t, publish.Complete, <-ended)
		require.NoError(t, p.Stop(context.Background()))
		assert.Equal(t, codehost.Failure, s.host.Result(7).Check.Verdict)
		assert.Empty(t, slow.late)
		require.NotEmpty(t, host.left)
		for _, left := range host.left {
			assert.GreaterOrEqual(t, left, o.Margin)
		}
	})
}
