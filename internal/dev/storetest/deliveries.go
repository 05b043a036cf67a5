package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/publish"
	"github.com/prwarden/prwarden/internal/triage"
)

const leaseOfDelivery = 2 * time.Minute

// delivery is one about a pull request; of none for "".
func delivery(id, subject string) inbox.Delivery {
	d := inbox.Delivery{
		Organization: acme, Connection: "con_a", ID: id, Event: "pull_request", Subject: subject,
		Hints: []codehost.Hint{{
			Kind: codehost.HintPullRequest, Repository: codehost.Repository{ID: "42", Name: "acme/ü'\""}, Number: 7,
		}},
	}

	return d
}

// keepDelivery keeps a delivery that was not kept before.
func keepDelivery(t *testing.T, h Harness, d inbox.Delivery) {
	t.Helper()
	kept, err := h.Store.KeepDelivery(t.Context(), d)
	require.NoError(t, err)
	require.True(t, kept, d.ID)
	h.Clock.Advance(time.Microsecond)
}

// claimDelivery claims the next one; nil for none.
func claimDelivery(t *testing.T, h Harness, except ...string) *inbox.Delivery {
	t.Helper()
	d, err := h.Store.ClaimDelivery(t.Context(), inbox.Except{Connections: except}, leaseOfDelivery)
	require.NoError(t, err)
	h.Clock.Advance(time.Microsecond)

	return d
}

// claimedDeliveries are the identifiers of all that can be claimed.
func claimedDeliveries(t *testing.T, h Harness, except ...string) (list []string) {
	t.Helper()
	for d := claimDelivery(t, h, except...); d != nil; d = claimDelivery(t, h, except...) {
		list = append(list, d.ID)
	}

	return list
}

func keptDelivery(t *testing.T, h Harness) {
	require.Nil(t, claimDelivery(t, h))
	want := delivery("d1", "42#7")
	want.Hints = append(want.Hints, codehost.Hint{
		Kind: codehost.HintComment, Comment: codehost.Comment{Body: "/prwarden \x00"},
	})
	received := h.Clock.Stored()
	keepDelivery(t, h, want)

	kept, err := h.Store.KeepDelivery(t.Context(), want)
	require.NoError(t, err)
	assert.False(t, kept)
	apart := delivery("d1", "")
	apart.Connection = "con_b"
	keepDelivery(t, h, apart)
	apart.Organization = other
	keepDelivery(t, h, apart)

	want.Attempt, want.ReceivedAt, want.ClaimedAt = 1, received, h.Clock.Stored()
	assert.Equal(t, &want, claimDelivery(t, h), "the one that waits longest")
	assert.Equal(t, []string{"d1", "d1"}, claimedDeliveries(t, h))

	require.NoError(t, h.Store.EndDelivery(t.Context(), want, inbox.Ignored, "not for us"))
	h.Clock.Advance(time.Hour)
	again := []string{claimDelivery(t, h).Connection, claimDelivery(t, h).Connection}
	assert.Equal(t, []string{"con_b", "con_b"}, again, "those whose lease ran out")
	kept, err = h.Store.KeepDelivery(t.Context(), want)
	require.NoError(t, err)
	assert.False(t, kept, "also when it was worked off")
}

func oneOfSubject(t *testing.T, h Harness) {
	for i := range 4 {
		keepDelivery(t, h, delivery(fmt.Sprintf("d%d", i), "42#7"))
	}
	comment := delivery("comment", "42#7")
	comment.Event = "comment"
	keepDelivery(t, h, comment)
	keepDelivery(t, h, delivery("another", "42#8"))

	first := claimDelivery(t, h)
	require.Equal(t, "d0", first.ID)
	assert.Equal(t, []string{"another"}, claimedDeliveries(t, h))
	keepDelivery(t, h, delivery("later", "42#7"))

	require.NoError(t, h.Store.EndDelivery(t.Context(), *first, inbox.Done, ""))
	second := claimDelivery(t, h)
	require.Equal(t, "comment", second.ID, "those that say no more were done with the first")
	require.Nil(t, claimDelivery(t, h))
	require.NoError(t, h.Store.EndDelivery(t.Context(), *second, inbox.Done, ""))
	third := claimDelivery(t, h)
	require.NotNil(t, third)
	assert.Equal(t, "later", third.ID, "a comment has no head scanned")
}

func lostDelivery(t *testing.T, h Harness) {
	keepDelivery(t, h, delivery("d", "42#7"))
	lost := *claimDelivery(t, h)
	h.Clock.Advance(leaseOfDelivery)
	held := *claimDelivery(t, h)
	assert.Equal(t, 2, held.Attempt)

	require.NoError(t, h.Store.EndDelivery(t.Context(), lost, inbox.Done, ""))
	require.NoError(t, h.Store.RetryDelivery(t.Context(), lost, 0, "x"))
	require.Nil(t, claimDelivery(t, h), "it is held")
	require.NoError(t, h.Store.EndDelivery(t.Context(), held, inbox.Failed, "x"))
	require.NoError(t, h.Store.RetryDelivery(t.Context(), held, 0, "x"))
	h.Clock.Advance(time.Hour)
	assert.Nil(t, claimDelivery(t, h), "it has ended")
}

func retriedDelivery(t *testing.T, h Harness) {
	keepDelivery(t, h, delivery("d", ""))
	for attempt := 1; attempt <= 3; attempt++ {
		d := claimDelivery(t, h)
		require.Equal(t, attempt, d.Attempt)
		require.Equal(t, delivery("d", "").Hints, d.Hints)
		require.NoError(t, h.Store.RetryDelivery(t.Context(), *d, time.Minute, "the host is down"))
		h.Clock.Advance(time.Minute - time.Second)
		require.Nil(t, claimDelivery(t, h))
		h.Clock.Advance(time.Second)
	}
}

func exceptDeliveries(t *testing.T, h Harness) {
	for i, connection := range []string{"con_a", "con_b", "con_c"} {
		d := delivery(fmt.Sprint(i), "")
		d.Connection = connection
		keepDelivery(t, h, d)
	}

	assert.Equal(t, []string{"1"}, claimedDeliveries(t, h, "con_a", "con_c"))
	d, err := h.Store.ClaimDelivery(t.Context(), inbox.Except{Organizations: []string{other, acme}}, leaseOfDelivery)
	require.NoError(t, err)
	assert.Nil(t, d)
	assert.Equal(t, []string{"0", "2"}, claimedDeliveries(t, h))
}

func deliveriesOfInactive(t *testing.T, h Harness) {
	c := addConnection(t, h, acme, "con_a").Connection
	c.State = connection.Suspended
	require.NoError(t, h.Store.ReportConnection(t.Context(), c))
	keepDelivery(t, h, delivery("push", ""))
	installation := delivery("installation", "")
	installation.Event = "installation"
	keepDelivery(t, h, installation)

	assert.Equal(t, []string{"installation"}, claimedDeliveries(t, h))
	c.State = connection.Active
	require.NoError(t, h.Store.ReportConnection(t.Context(), c))
	d := claimDelivery(t, h)
	require.NotNil(t, d)
	assert.Equal(t, "push", d.ID)
	assert.Equal(t, 1, d.Attempt, "the wait took none")
}

func purgedDeliveries(t *testing.T, h Harness) {
	keepDelivery(t, h, delivery("old", ""))
	h.Clock.Advance(keep / 2)
	keepDelivery(t, h, delivery("young", ""))
	h.Clock.Advance(keep / 2)

	n, more, err := h.Store.PurgeDeliveries(t.Context(), keep, h.Clock.Now())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.True(t, more)
	n, more, err = h.Store.PurgeDeliveries(t.Context(), keep, h.Clock.Now())
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.False(t, more)
	keepDelivery(t, h, delivery("old", ""))
}

func deliveryRace(t *testing.T, h Harness) {
	var kept, claimed atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 5 {
				ok, err := h.Store.KeepDelivery(t.Context(), delivery(fmt.Sprint(i), "42#7"))
				assert.NoError(t, err)
				if ok {
					kept.Add(1)
				}
			}
			d, err := h.Store.ClaimDelivery(t.Context(), inbox.Except{}, leaseOfDelivery)
			assert.NoError(t, err)
			if d != nil {
				claimed.Add(1)
			}
		})
	}
	all.Wait()

	assert.EqualValues(t, 5, kept.Load())
	assert.EqualValues(t, 1, claimed.Load(), "all are about one pull request")
}

func renamedRepository(t *testing.T, h Harness) {
	for number := range int32(2) {
		upsert(t, h, lonePullRequest(h, 7+number))
	}
	reviewOf(t, h, "rev_a", 7, lonePullRequest(h, 7).HeadSHA)
	scan := claim(t, h)
	decide(t, h, "chg_7", 7, finding.Accepted, "a")
	decide(t, h, "chg_all", 0, finding.Accepted, "b")
	known := publish.Known{
		Threads:   []publish.Thread{{Fingerprint: "f", State: publish.ThreadOpen, UpdatedAt: h.Clock.Stored()}},
		Published: []publish.Published{{Sink: publish.SummarySink, Ref: "1"}},
	}
	publication := claimPublication(t, h, "me")
	require.NoError(t, h.Store.Record(t.Context(), publication, known))
	others := pullRequest(h, 7)
	others.Repository = codehost.Repository{ID: "43", Name: "acme/other"}
	upsert(t, h, others)
	taken := pullRequest(h, 8)
	taken.Repository = codehost.Repository{ID: "44", Name: "acme/new"}
	upsert(t, h, taken)

	newest := func(connection, id string) int32 {
		n, err := h.Store.NewestPullRequest(t.Context(), acme, connection, id)
		require.NoError(t, err)
		return n
	}
	assert.Equal(t, []int32{8, 8, 0, 0}, []int32{
		newest("con_a", "42"), newest("con_a", "44"), newest("con_b", "42"), newest("con_a", "0"),
	})
	rename := func(connection, id string) {
		require.NoError(t, h.Store.RenameRepository(t.Context(), acme, connection,
			codehost.Repository{ID: id, Name: "acme/new"}))
	}
	rename("con_b", "42")
	rename("con_a", "")
	pullRequestOf(t, h, publish.Key{Organization: acme, Repo: repo, Number: 7})

	rename("con_a", "42")
	key := publish.Key{Organization: acme, Repo: "acme/new", Number: 7}
	assert.Equal(t, "42", pullRequestOf(t, h, key).Repository.ID)
	got, err := h.Store.Known(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, known, got, "with what was published in it")
	_, err = h.Store.Reserve(t.Context(), publication, publish.Reservation{})
	require.ErrorIs(t, err, publish.ErrLeaseLost, "under the old name nobody publishes on")
	h.Clock.Advance(lease + time.Second)
	endPublication(t, h, claimPublication(t, h, "next"), publish.End{Done: true})
	noPublication(t, h)

	result := outcome(1)
	result.HeadSHA = scan.Commits.Head
	require.NoError(t, h.Store.Finish(t.Context(), scan, result))
	r, err := h.Store.ReviewToPublish(t.Context(), key, scan.Commits.Head)
	require.NoError(t, err)
	require.NotNil(t, r, "the scan that went on is of the new name")
	assert.Equal(t, []string{"rev_a", "acme/new", "acme/new"}, []string{r.ID, r.Repo, r.Ruleset})
	assert.True(t, pullRequestOf(t, h, key).Publication.Pending)
	decided, err := h.Store.ListTriage(t.Context(), acme, triage.Filter{Repo: "acme/new", Limit: 10})
	require.NoError(t, err)
	assert.Len(t, decided, 2)
	_, err = h.Store.UndoTriage(t.Context(), acme, "chg_7")
	require.NoError(t, err)
	pullRequestOf(t, h, others.Key())
	assert.Equal(t, "44", pullRequestOf(t, h, taken.Key()).Repository.ID, "what is known by the name stays")
}

func countedForks(t *testing.T, h Harness) {
	count := func(connection, author string) int {
		t.Helper()
		n, err := h.Store.ForkScans(t.Context(), acme, connection, author, time.Hour)
		require.NoError(t, err)
		return n
	}
	for number := range int32(4) {
		p := pullRequest(h, number+1)
		p.Fork = number < 3
		if number == 2 {
			p.AuthorID = "8"
		}
		upsert(t, h, p)
		reviewOf(t, h, fmt.Sprintf("rev_%d", number), number+1, head)
		h.Clock.Advance(time.Minute)
	}
	n := newReview(acme, "rev_api") // which a key made
	n.PRNumber = 1
	accept(t, h, n)

	assert.Equal(t, 2, count("con_a", "7"))
	assert.Equal(t, 1, count("con_a", "8"))
	assert.Zero(t, count("con_b", "7"))
	h.Clock.Advance(56 * time.Minute)
	assert.Equal(t, 1, count("con_a", "7"), "in an hour")
}
