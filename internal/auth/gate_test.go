package auth_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// gate is one with small limits.
type gate struct {
	*auth.Gate
	log  bytes.Buffer
	shed []auth.Crowd
}

func newGate() *gate {
	g := &gate{}
	g.Gate = auth.NewGate(auth.GateLimits{
		Working: 2, Waiting: 1, Wait: time.Millisecond,
		Open: 6, OpenPerAddress: 3, Watches: 2, Bodies: 1, Answers: 1, BulkWait: time.Millisecond,
	}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, slog.New(slog.NewJSONHandler(&g.log, nil)),
		func(c auth.Crowd) { g.shed = append(g.shed, c) })
	return g
}

func (g *gate) enter(t *testing.T, peer string) *auth.Pass {
	t.Helper()
	p, err := g.Enter(t.Context(), auth.Credentials{PeerAddr: peer})
	require.NoError(t, err)
	return p
}

func (g *gate) refused(t *testing.T, err error, crowd auth.Crowd) {
	t.Helper()
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, errs.Unavailable, e.Kind)
	assert.Positive(t, e.RetryAfter)
	require.NotEmpty(t, g.shed)
	assert.Equal(t, crowd, g.shed[len(g.shed)-1])
}

func TestGateBoundsWork(t *testing.T) {
	t.Parallel()
	g := newGate()
	a, b := g.enter(t, "192.0.2.1:1"), g.enter(t, "192.0.2.2:1")
	_, err := g.Enter(t.Context(), auth.Credentials{PeerAddr: "192.0.2.3:1"})
	g.refused(t, err, auth.CrowdWork)
	assert.Equal(t, auth.GateState{Working: 2, Open: 2}, g.State())

	// One that waits for its client is not worked on.
	a.Pause()
	c := g.enter(t, "192.0.2.3:1")
	g.refused(t, a.Resume(t.Context()), auth.CrowdWork)
	c.Leave()
	require.NoError(t, a.Resume(t.Context()))
	require.NoError(t, a.Resume(t.Context()), "it has it already")
	a.Leave()
	a.Leave()
	b.Pause()
	b.Pause()
	b.Leave()
	assert.Equal(t, auth.GateState{}, g.State())
}

func TestGateBoundsWhatIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which the time between log lines does not pass
		g := newGate()
		var all []*auth.Pass
		open := func(peer string) {
			p := g.enter(t, peer)
			p.Pause()
			all = append(all, p)
		}
		for range 3 {
			open("[2001:db8::1]:1")
		}
		_, err := g.Enter(t.Context(), auth.Credentials{PeerAddr: "[2001:db8::2]:7"})
		g.refused(t, err, auth.CrowdAddress)
		for i := range 3 {
			open(fmt.Sprintf("192.0.2.%d:1", i))
		}
		_, err = g.Enter(t.Context(), auth.Credentials{PeerAddr: "192.0.2.9:1"})
		g.refused(t, err, auth.CrowdOpen)
		for _, p := range all {
			p.Leave()
		}
		for range 6 {
			open("10.0.0.1:1")
		}
		assert.Equal(t, 6, g.State().Open, "a proxy's requests are many people's")
		for _, p := range all {
			p.Leave()
		}
		forwarded := func(f string) error {
			p, err := g.Enter(t.Context(), auth.Credentials{PeerAddr: "10.0.0.1:1", ForwardedFor: []string{f}})
			p.Pause()
			return err
		}
		for range 3 {
			require.NoError(t, forwarded("203.0.113.1"))
		}
		g.refused(t, forwarded("203.0.113.1"), auth.CrowdAddress)
		require.NoError(t, forwarded("203.0.113.2"), "of whom it says whom it forwards for")
		assert.Equal(t, 1, strings.Count(g.log.String(), "refuses some"), "one line, not one for each")
	})
}

func TestGateCountsWatchesApart(t *testing.T) {
	t.Parallel()
	g := newGate()
	var watches []*auth.Pass
	for i := range 2 {
		p := g.enter(t, fmt.Sprintf("192.0.2.%d:1", i))
		require.NoError(t, p.Watch())
		require.NoError(t, p.Watch())
		watches = append(watches, p)
	}
	assert.Equal(t, auth.GateState{Watches: 2}, g.State())
	p := g.enter(t, "192.0.2.1:1")
	g.refused(t, p.Watch(), auth.CrowdWatches)
	p.Leave()
	watches[0].Leave()
	p = g.enter(t, "192.0.2.2:1")
	require.NoError(t, p.Watch())
	p.Leave()
	watches[1].Leave()
	assert.Equal(t, auth.GateState{}, g.State())
}

func TestGateBoundsLargeBodiesAndAnswers(t *testing.T) {
	t.Parallel()
	g := newGate()
	a, b := g.enter(t, "192.0.2.1:1"), g.enter(t, "192.0.2.1:1")
	require.NoError(t, a.Body(t.Context()))
	require.NoError(t, a.Body(t.Context()))
	g.refused(t, b.Body(t.Context()), auth.CrowdBodies)
	a.Leave()
	require.NoError(t, b.Body(t.Context()))

	done, err := b.Answer(t.Context())
	require.NoError(t, err)
	c := g.enter(t, "192.0.2.1:1")
	_, err = c.Answer(t.Context())
	g.refused(t, err, auth.CrowdAnswers)
	done()
	done, err = c.Answer(t.Context())
	require.NoError(t, err)
	done()
}

// Nobody takes all: of the places for bodies, answers and watches, each caller
// has a part.
func TestGateLeavesPlacesForOthers(t *testing.T) {
	t.Parallel()
	l := auth.DefaultGateLimits()
	l.BulkWait = time.Millisecond
	for name, tc := range map[string]struct {
		all  int
		take func(*auth.Pass) error
	}{
		"bodies": {l.Bodies, func(p *auth.Pass) error { return p.Body(t.Context()) }},
		"answers": {l.Answers, func(p *auth.Pass) error {
			_, err := p.Answer(t.Context())
			return err
		}},
		"watches": {l.Watches, (*auth.Pass).Watch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := auth.NewGate(l, nil, slog.New(slog.DiscardHandler), nil)
			var all []*auth.Pass
			// takes takes places until there is none left.
			takes := func(c auth.Caller) (n int) {
				for ; ; n++ {
					p, err := g.Enter(t.Context(), auth.Credentials{PeerAddr: fmt.Sprintf("192.0.2.%d:1", len(all)%200)})
					require.NoError(t, err)
					p.Pause()
					p.Admitted(c)
					all = append(all, p)
					if err := tc.take(p); err != nil {
						return n
					}
				}
			}
			assert.Equal(t, tc.all/8, takes(auth.Caller{KeyID: "key_1", Organization: "acme"}))
			assert.Equal(t, tc.all/8, takes(auth.Caller{KeyID: "key_2", Organization: "acme"}), "another key of the same organization")
			assert.Zero(t, takes(auth.Caller{KeyID: "key_3", Organization: "acme"}))
			assert.Equal(t, tc.all/8, takes(auth.Caller{KeyID: "key_4", Organization: "other"}), "another organization")
			for _, p := range all {
				p.Leave()
			}
			assert.Equal(t, auth.GateState{}, g.State())
		})
	}
}

func TestGateTellsTheContextsError(t *testing.T) {
	t.Parallel()
	g := newGate()
	g.enter(t, "192.0.2.1:1")
	g.enter(t, "192.0.2.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.Enter(ctx, auth.Credentials{PeerAddr: "192.0.2.1:1"})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, g.shed)
	assert.Equal(t, 2, g.State().Open)
}

// Calls within the process, and tests, have no pass.
func TestNoPassLetsEverythingThrough(t *testing.T) {
	t.Parallel()
	var p *auth.Pass
	p.Pause()
	require.NoError(t, p.Resume(t.Context()))
	require.NoError(t, p.Body(t.Context()))
	require.NoError(t, p.Watch())
	done, err := p.Answer(t.Context())
	require.NoError(t, err)
	done()
	p.Leave()
}

func BenchmarkGate(b *testing.B) {
	g := auth.NewGate(auth.DefaultGateLimits(), nil, slog.New(slog.DiscardHandler), nil)
	for b.Loop() {
		p, _ := g.Enter(b.Context(), auth.Credentials{PeerAddr: "192.0.2.1:1234"})
		p.Leave()
	}
}
