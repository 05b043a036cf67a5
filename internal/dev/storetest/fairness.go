package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

func fairnessTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"the oldest review goes first":                   oldestFirst,
		"the fewest running go first":                    fewestRunning,
		"then the one served least recently":             leastRecently,
		"a long queue delays others by at most one scan": longQueue,
	}
}

func oldestFirst(t *testing.T, h Harness) {
	// Of one organization, with equal times by id.
	create(t, h, acme, "rev_b")
	create(t, h, acme, "rev_a")
	h.Clock.Advance(time.Microsecond)
	create(t, h, acme, "rev_0")
	for _, want := range []string{"rev_a", "rev_b", "rev_0"} {
		assert.Equal(t, want, claim(t, h).ReviewID)
	}
	// Of organizations that are equal otherwise.
	for i, org := range []string{"m", "z", "a"} {
		create(t, h, org, fmt.Sprintf("rev_n%d", i))
		h.Clock.Advance(time.Microsecond)
	}
	for _, want := range []string{"m", "z", "a"} {
		assert.Equal(t, want, claim(t, h).Organization)
	}
}

func fewestRunning(t *testing.T, h Harness) {
	createMany(t, h, acme, 5)
	createMany(t, h, other, 5)
	running := map[string][]review.Claim{}
	next := func() string {
		t.Helper()
		c := claim(t, h)
		h.Clock.Advance(time.Millisecond) // nobody has to doubt that its worker lives
		running[c.Organization] = append(running[c.Organization], c)
		return c.Organization
	}
	for range 2 {
		assert.Equal(t, acme, next())
		assert.Equal(t, other, next())
	}
	// acme was served longer ago and has older reviews, but other has fewer
	// running now.
	require.NoError(t, h.Store.Finish(t.Context(), running[other][0], finding.Result{}))
	assert.Equal(t, other, next())
	require.NoError(t, h.Store.Finish(t.Context(), running[other][1], finding.Result{}))
	require.NoError(t, h.Store.Finish(t.Context(), running[other][2], finding.Result{}))
	assert.Equal(t, other, next())
	assert.Equal(t, other, next())
	assert.Equal(t, acme, next())
}

func leastRecently(t *testing.T, h Harness) {
	orgs := []string{"a", "b", "c"}
	for _, org := range orgs {
		createMany(t, h, org, 4)
	}
	// One worker: nothing runs when it claims, so it goes round.
	var got []string
	for range 9 {
		c := claim(t, h)
		got = append(got, c.Organization)
		h.Clock.Advance(time.Second)
		require.NoError(t, h.Store.Finish(t.Context(), c, finding.Result{}))
	}
	assert.Equal(t, []string{"a", "b", "c", "a", "b", "c", "a", "b", "c"}, got)
	// One that was never served is before all.
	create(t, h, "new", "rev_new")
	assert.Equal(t, "new", claim(t, h).Organization)
}

func longQueue(t *testing.T, h Harness) {
	const workers, long = 3, 200
	createMany(t, h, "big", long)
	var running []review.Claim
	work := func() string {
		t.Helper()
		if len(running) == workers {
			require.NoError(t, h.Store.Finish(t.Context(), running[0], finding.Result{}))
			running = running[1:]
		}
		c := claim(t, h)
		h.Clock.Advance(time.Second)
		running = append(running, c)
		return c.Organization
	}
	for range 10 {
		require.Equal(t, "big", work())
	}
	for i := range 20 {
		// Every worker is busy with big's. The next one to be free takes it.
		create(t, h, "small", fmt.Sprintf("rev_small%d", i))
		require.Equal(t, "small", work(), "round %d", i)
		for range workers {
			require.Equal(t, "big", work())
		}
	}
}
