package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShows(t *testing.T) {
	t.Parallel()
	const document = "Text.\n```text\nreview rev_… started\n" +
		"watch: in_progress, 3 files done\nwatch: complete\na.py\n```\n"
	assert.True(t, shows(document, "review rev_1a started\nwatch: queued, 0 files done\nwatch: complete\na.py\n"))
	assert.False(t, shows(document, "review rev_1a started\nwatch: failed\na.py\n"))
	assert.False(t, shows(document, "review rev_1a started\nwatch: complete\n"))
}

func TestProxyFollowsPlans(t *testing.T) {
	t.Parallel()
	p := &proxy{}
	p.follow(refuseFirst)
	require.ErrorContains(t, p.check(), "idempotency keys")
	for _, want := range []fault{overRate, away, none} {
		assert.Equal(t, want, p.next("CreateReview", "a"))
	}
	require.ErrorContains(t, p.check(), "opened 0 times")
	p.attempts["WatchReview"] = 3
	require.NoError(t, p.check())
	assert.Equal(t, overRate, p.next("CreateRule", ""))
	assert.Equal(t, none, p.next("CreateRule", ""), "it may be there already")

	p.follow(outageOf("CreateRule"))
	assert.Equal(t, away, p.next("CreateRule", ""))
	assert.Equal(t, none, p.next("CreateReview", ""))
	assert.Equal(t, 1, p.attempts["CreateRule"], "a new plan counts from the start")
}
