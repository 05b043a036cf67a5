package admission_test

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

	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/errs"
)

// gate is one with small limits.
type gate struct {
	*admission.Gate
	log  bytes.Buffer
	shed []admission.Crowd
}

func newGate() *gate {
	g := &gate{}
	g.Gate = admission.NewGate(admission.GateLimits{
		Working: 2, Waiting: 1, Wait: time.Millisecond,
		Open: 6, OpenPerAddress: 3, Watches: 2, Bodies: 1, Answers: 1, BulkWait: time.Millisecond,
	}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, slog.New(slog.NewJSONHandler(&g.log, nil)),
		func(c admission.Crowd) { g.shed = append(g.shed, c) })
	return g
}

func (g *gate) enter(t *testing.T, peer string) *admission.Pass {
	t.Helper()
	p, err := g.Enter(t.Context(), admission.Credentials{PeerAddr: peer})
	require.NoError(t, err)
	return p
}

func (g *gate) refused(t *testing.T, err error, crowd admission.Crowd) {
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
	_, err := g.Enter(t.Context(), admission.Credentials{PeerAddr: "192.0.2.3:1"})
	g.refused(t, err, admission.CrowdWork)
	assert.Equal(t, admission.GateState{Working: 2, Open: 2}, g.State())

	// One that waits for its client is not worked on.
	a.Pause()
	c := g.enter(t, "192.0.2.3:1")
	g.refused(t, a.Resume(t.Context()), admission.CrowdWork)
	c.Leave()
	require.NoError(t, a.Resume(t.Context()))
	require.NoError(t, a.Resume(t.Context()), "it has it already")
	a.Leave()
	a.Leave()
	b.Pause()
	b.Pause()
	b.Leave()
	assert.Equal(t, admission.GateState{}, g.State())
}

func TestGateBoundsWhatIsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which the time between log lines does not pass
		g := newGate()
		var all []*admission.Pass
		open := func(peer string) {
			p := g.enter(t, peer)
			p.Pause()
			all = append(all, p)
		}
		for range 3 {
			open("[2001:db8::1]:1")
		}
		_, err := g.Enter(t.Context(), admission.Credentials{PeerAddr: "[2001:db8::2]:7"})
		g.refused(t, err, admission.CrowdAddress)
		for i := range 3 {
			open(fmt.Sprintf("192.0.2.%d:1", i))
		}
		_, err = g.Enter(t.Context(), admission.Credentials{PeerAddr: "192.0.2.9:1"})
		g.refused(t, err, admission.CrowdOpen)
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
			p, err := g.Enter(t.Context(), admission.Credentials{PeerAddr: "10.0.0.1:1", ForwardedFor: []string{f}})
			p.Pause()
			return err
		}
		for range 3 {
			require.NoError(t, forwarded("203.0.113.1"))
		}
		g.refused(t, forwarded("203.0.113.1"), admission.CrowdAddress)
		require.NoError(t, forwarded("203.0.113.2"), "of whom it says whom it forwards for")
		assert.Equal(t, 1, strings.Count(g.log.String(), "refuses some"), "one line, not one for each")
	})
}

func TestGateCountsWatchesApart(t *testing.T) {
	t.Parallel()
	g := newGate()
	var watches []*admission.Pass
	for i := range 2 {
		p := g.enter(t, fmt.Sprintf("192.0.2.%d:1", i))
		require.NoError(t, p.Watch())
		require.NoError(t, p.Watch())
		watches = append(watches, p)
	}
	assert.Equal(t, admission.GateState{Watches: 2}, g.State())
	p := g.enter(t, "192.0.2.1:1")
	g.refused(t, p.Watch(), admission.CrowdWatches)
	p.Leave()
	watches[0].Leave()
	p = g.enter(t, "192.0.2.2:1")
	require.NoError(t, p.Watch())
	p.Leave()
	watches[1].Leave()
	assert.Equal(t, admission.GateState{}, g.State())
}

func TestGateBoundsLargeBodiesAndAnswers(t *testing.T) {
	t.Parallel()
	g := newGate()
	a, b := g.enter(t, "192.0.2.1:1"), g.enter(t, "192.0.2.1:1")
	require.NoError(t, a.Body(t.Context()))
	require.NoError(t, a.Body(t.Context()))
	g.refused(t, b.Body(t.Context()), admission.CrowdBodies)
	a.Leave()
	require.NoError(t, b.Body(t.Context()))

	done, err := b.Answer(t.Context())
	require.NoError(t, err)
	c := g.enter(t, "192.0.2.1:1")
	_, err = c.Answer(t.Context())
	g.refused(t, err, admission.CrowdAnswers)
	done()
	done, err = c.Answer(t.Context())
	require.NoError(t, err)
	done()
}

// Nobody takes all: of the places for bodies, answers and watches, each caller
// has a part.
func TestGateLeavesPlacesForOthers(t *testing.T) {
	t.Parallel()
	l := admission.DefaultGateLimits()
	l.BulkWait = time.Millisecond
	for name, tc := range map[string]struct {
		all  int
		take func(*admission.Pass) error
	}{
		"bodies": {l.Bodies, func(p *admission.Pass) error { return p.Body(t.Context()) }},
		"answers": {l.Answers, func(p *admission.Pass) error {
			_, err := p.Answer(t.Context())
			return err
		}},
		"watches": {l.Watches, (*admission.Pass).Watch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admission.NewGate(l, nil, slog.New(slog.DiscardHandler), nil)
			var all []*admission.Pass
			// takes takes places until there is none left.
			takes := func(c admission.Caller) (n int) {
				for ; ; n++ {
					p, err := g.Enter(t.Context(), admission.Credentials{PeerAddr: fmt.Sprintf("192.0.2.%d:1", len(all)%200)})
					require.NoError(t, err)
					p.Pause()
					p.Admitted(c)
					all = append(all, p)
					if err := tc.take(p); err != nil {
						return n
					}
				}
			}
			assert.Equal(t, tc.all/8, takes(admission.Caller{KeyID: "key_1", Organization: "acme"}))
			assert.Equal(t, tc.all/8, takes(admission.Caller{KeyID: "key_2", Organization: "acme"}), "another key of the same organization")
			assert.Zero(t, takes(admission.Caller{KeyID: "key_3", Organization: "acme"}))
			assert.Equal(t, tc.all/8, takes(admission.Caller{KeyID: "key_4", Organization: "other"}), "another organization")
			for _, p := range all {
				p.Leave()
			}
			assert.Equal(t, admission.GateState{}, g.State())
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
	_, err := g.Enter(ctx, admission.Credentials{PeerAddr: "192.0.2.1:1"})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, g.shed)
	assert.Equal(t, 2, g.State().Open)
}

// Calls within the process, and tests, have no pass.
func TestNoPassLetsEverythingThrough(t *testing.T) {
	t.Parallel()
	var p *admission.Pass
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
	g := admission.NewGate(admission.DefaultGateLimits(), nil, slog.New(slog.DiscardHandler), nil)
	for b.Loop() {
		p, _ := g.Enter(b.Context(), admission.Credentials{PeerAddr: "192.0.2.1:1234"})
		p.Leave()
	}
}
