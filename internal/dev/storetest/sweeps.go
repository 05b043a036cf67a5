package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/inbox"
)

// claimSweep claims the sweep of the next connection; nil for none.
func claimSweep(t *testing.T, h Harness) *inbox.Sweep {
	t.Helper()
	w, err := h.Store.ClaimSweep(t.Context(), time.Minute)
	require.NoError(t, err)

	return w
}

func sweptConnections(t *testing.T, h Harness) {
	require.Nil(t, claimSweep(t, h))
	made := addConnection(t, h, acme, "con_a")
	h.Clock.Advance(time.Hour)
	addConnection(t, h, other, "con_b")
	plain := newConnection(acme, "con_git")
	plain.Kind = codehost.Git
	_, err := h.Store.CreateConnection(t.Context(), plain, 10)
	require.NoError(t, err)
	broken := addConnection(t, h, acme, "con_broken").Connection
	broken.State = connection.Broken
	require.NoError(t, h.Store.ReportConnection(t.Context(), broken))

	first := claimSweep(t, h)
	now := h.Clock.Stored()
	assert.Equal(t, &inbox.Sweep{
		Organization: acme, Connection: "con_a", Now: now, Until: now.Add(time.Minute),
		LookedAt: made.CreatedAt, SweptAt: made.CreatedAt, Since: made.CreatedAt, RoundAt: made.CreatedAt,
	}, first)
	second := claimSweep(t, h)
	require.Equal(t, "con_b", second.Connection)
	require.Nil(t, claimSweep(t, h))

	h.Clock.Advance(time.Minute)
	assert.Equal(t, "con_a", claimSweep(t, h).Connection, "its lease ran out")
	may := func(connection.Connection) error { return nil }
	require.NoError(t, h.Store.DeleteConnection(t.Context(), other, "con_b", may))
	assert.Nil(t, claimSweep(t, h))
	broken.State = connection.Active
	require.NoError(t, h.Store.ReportConnection(t.Context(), broken))
	assert.Equal(t, "con_broken", claimSweep(t, h).Connection)
}

func keptSweep(t *testing.T, h Harness) {
	addConnection(t, h, acme, "con_a")
	lost := *claimSweep(t, h)
	h.Clock.Advance(time.Minute)
	w := *claimSweep(t, h)
	require.NoError(t, h.Store.EndSweep(t.Context(), lost, 0), "whose claim is lost")
	require.Nil(t, claimSweep(t, h))

	w.LookedAt, w.SweptAt, w.RoundAt, w.Place = w.Now, w.Now, w.Now, "acme/ü"
	w.Since = w.Now.Add(-time.Second)
	require.NoError(t, h.Store.EndSweep(t.Context(), w, time.Hour))
	h.Clock.Advance(time.Hour - time.Microsecond)
	require.Nil(t, claimSweep(t, h))
	h.Clock.Advance(time.Microsecond)
	w.Now, w.Until = h.Clock.Stored(), h.Clock.Stored().Add(time.Minute)
	assert.Equal(t, &w, claimSweep(t, h))
}

func unheardPullRequests(t *testing.T, h Harness) {
	addConnection(t, h, acme, "con_a")
	heard := h.Clock.Stored()
	for number := range int32(6) {
		p := lonePullRequest(h, number+1)
		switch number {
		case 1:
			p.State = codehost.Merged
		case 2:
			p.Repository = codehost.Repository{ID: "43", Name: "acme/other"}
		case 3:
			p.Connection = "con_b"
		}
		upsert(t, h, p)
	}
	h.Clock.Advance(time.Hour)
	upsert(t, h, lonePullRequest(h, 1))
	upsert(t, h, lonePullRequest(h, 7))

	w := claimSweep(t, h)
	require.NotNil(t, w)
	unheard := func(limit int) []inbox.Unheard {
		t.Helper()
		list, err := h.Store.UnheardOf(t.Context(), *w, repo, heard.Add(time.Minute), limit)
		require.NoError(t, err)
		return list
	}
	assert.Equal(t, []inbox.Unheard{{Number: 5, HeardAt: heard}, {Number: 6, HeardAt: heard}}, unheard(10))
	assert.Len(t, unheard(1), 1)
}
