package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/publish"
)

// newConnection returns a connection with something in every field that a caller sets.
func newConnection(org, id string) connection.Stored {
	return connection.Stored{Sealed: []byte("sealed \x00\xff"), Connection: connection.Connection{
		ID: id, Organization: org, Name: "name-" + id, Kind: codehost.Gitea, URL: "https://git.example.com",
		APIURL: "https://api.example.com", GitURL: "https://git.example.com/{repo}.git",
		Repositories: []string{"acme/*", "ü/**"}, Account: "bot", AppID: 1 << 40, Installation: 7,
		State: connection.Active, CreatedBy: "key:key_a", Trusted: true,
	}}
}

func addConnection(t *testing.T, h Harness, org, id string) connection.Stored {
	t.Helper()
	c, err := h.Store.CreateConnection(t.Context(), newConnection(org, id), 10)
	require.NoError(t, err)

	return c
}

func connectionEvents(t *testing.T, h Harness, org string, action audit.Action) []audit.Event {
	t.Helper()
	events, err := h.Store.Events(t.Context(), org, audit.Filter{Action: action, Limit: 100})
	require.NoError(t, err)

	return events
}

func storedConnection(t *testing.T, h Harness) {
	want := newConnection(acme, "con_a")
	want.CreatedAt, want.UpdatedAt = h.Clock.Stored(), h.Clock.Stored()
	assert.Equal(t, want, addConnection(t, h, acme, "con_a"))
	for _, org := range []string{acme, ""} {
		got, err := h.Store.ReadConnection(t.Context(), org, "con_a")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	events := connectionEvents(t, h, acme, audit.ConnectionCreate)
	require.Len(t, events, 1)
	assert.Equal(t, "con_a", events[0].Target)
	assert.Contains(t, events[0].Fields, audit.Field{Name: "repositories", After: "acme/*, ü/**"})

	_, err := h.Store.CreateConnection(t.Context(), newConnection(acme, "con_a"), 1)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionQuota)
	again := newConnection(acme, "con_b")
	again.Name = "name-con_a"
	_, err = h.Store.CreateConnection(t.Context(), again, 10)
	wantError(t, err, errs.AlreadyExists, errs.ReasonConnectionExists)
	assert.Len(t, connectionEvents(t, h, acme, audit.ConnectionCreate), 1)
	again.Organization = other
	_, err = h.Store.CreateConnection(t.Context(), again, 10)
	require.NoError(t, err, "names are an organization's own")
}

func takenSetup(t *testing.T, h Harness) {
	const within, quota = 10 * time.Minute, 4
	ctx := t.Context()
	want := connection.Setup{Connection: newConnection(acme, "con_s").Connection, Personal: true, StateHash: "0a"}
	want.Kind, want.AppID, want.ExpiresAt = codehost.GitHub, 0, h.Clock.Stored().Add(within)
	expires, err := h.Store.CreateSetup(ctx, want, within, quota)
	require.NoError(t, err)
	assert.Equal(t, want.ExpiresAt, expires)
	got, err := h.Store.ReadSetup(ctx, "0a")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	require.Len(t, connectionEvents(t, h, acme, audit.ConnectionSetUp), 1)

	var taken atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if one, err := h.Store.TakeSetup(ctx, "0a"); err == nil {
				taken.Add(1)
				assert.Equal(t, want, one)
			} else {
				assert.Equal(t, errs.NotFound, errs.KindOf(err), "%v", err)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, taken.Load())
	_, err = h.Store.ReadSetup(ctx, "0a")
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)

	addConnection(t, h, acme, "con_a")
	want.Name = "name-con_a"
	_, err = h.Store.CreateSetup(ctx, want, within, quota)
	wantError(t, err, errs.AlreadyExists, errs.ReasonConnectionExists)
	for i := range 3 {
		want.Name, want.StateHash = fmt.Sprint("s", i), fmt.Sprint("b", i)
		_, err = h.Store.CreateSetup(ctx, want, within, quota)
		require.NoError(t, err)
	}
	_, err = h.Store.CreateSetup(ctx, want, within, quota)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionQuota)

	assert.Zero(t, purgeKeys(t, h))
	h.Clock.Advance(within)
	for _, end := range []func(context.Context, string) (connection.Setup, error){h.Store.ReadSetup, h.Store.TakeSetup} {
		_, err = end(ctx, "b0")
		wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	}
	assert.Equal(t, 3, purgeKeys(t, h))
}

func changedConnection(t *testing.T, h Harness) {
	addConnection(t, h, acme, "con_a")
	addConnection(t, h, acme, "con_b")
	h.Clock.Advance(time.Hour)
	change := func(name, sealed string) (connection.Stored, error) {
		return h.Store.ChangeConnection(t.Context(), acme, "con_a", func(c *connection.Stored) (audit.Change, error) {
			c.Name, c.Sealed, c.Declared, c.Trusted = name, []byte(sealed), true, false

			return audit.Change{Action: audit.ConnectionUpdate, Target: c.ID}, nil
		})
	}
	got, err := change("other", "new")
	require.NoError(t, err)
	assert.Equal(t, h.Clock.Stored(), got.UpdatedAt)
	assert.Equal(t, "other new true false", fmt.Sprintf("%s %s %t %t", got.Name, got.Sealed, got.Declared, got.Trusted))
	read, err := h.Store.ReadConnection(t.Context(), acme, "con_a")
	require.NoError(t, err)
	assert.Equal(t, got, read)
	assert.Len(t, connectionEvents(t, h, acme, audit.ConnectionUpdate), 1)

	_, err = change("name-con_b", "newer")
	wantError(t, err, errs.AlreadyExists, errs.ReasonConnectionExists)
	refused := errors.New("refused")
	for action, fails := range map[audit.Action]error{audit.ConnectionUpdate: refused, "": nil} {
		_, err = h.Store.ChangeConnection(t.Context(), acme, "con_a", func(c *connection.Stored) (audit.Change, error) {
			c.Name = "newest"

			return audit.Change{Action: action}, fails
		})
		require.ErrorIs(t, err, fails)
	}
	after, err := h.Store.ReadConnection(t.Context(), acme, "con_a")
	require.NoError(t, err)
	assert.Equal(t, read, after)
	assert.Len(t, connectionEvents(t, h, acme, audit.ConnectionUpdate), 1)
}

func listedConnections(t *testing.T, h Harness) {
	for _, one := range [][2]string{{acme, "con_b"}, {other, "con_c"}, {acme, "con_a"}} {
		addConnection(t, h, one[0], one[1])
		h.Clock.Advance(time.Minute)
	}
	for org, want := range map[string][]string{
		acme: {"con_b", "con_a"}, other: {"con_c"}, "": {"con_b", "con_c", "con_a"},
	} {
		list, err := h.Store.ListConnections(t.Context(), org)
		require.NoError(t, err)
		got := []string{}
		for _, c := range list {
			got = append(got, c.ID)
		}
		assert.Equal(t, want, got, org)
	}
}

func deletedConnection(t *testing.T, h Harness) {
	addConnection(t, h, acme, "con_a")
	refused := errors.New("refused")
	require.ErrorIs(t, h.Store.DeleteConnection(t.Context(), acme, "con_a",
		func(connection.Connection) error { return refused }), refused)
	may := func(c connection.Connection) error { assert.Equal(t, "con_a", c.ID); return nil }
	require.NoError(t, h.Store.DeleteConnection(t.Context(), acme, "con_a", may))
	require.Len(t, connectionEvents(t, h, acme, audit.ConnectionDelete), 1)
	_, err := h.Store.ReadConnection(t.Context(), acme, "con_a")
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	wantError(t, h.Store.DeleteConnection(t.Context(), acme, "con_a", may), errs.NotFound, errs.ReasonConnectionNotFound)
	addConnection(t, h, acme, "con_a")
}

func connectionsApart(t *testing.T, h Harness) {
	want := addConnection(t, h, acme, "con_a")
	_, err := h.Store.ReadConnection(t.Context(), other, "con_a")
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	_, err = h.Store.ChangeConnection(t.Context(), other, "con_a", func(c *connection.Stored) (audit.Change, error) {
		c.Name = "stolen"

		return audit.Change{Action: audit.ConnectionUpdate}, nil
	})
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	err = h.Store.DeleteConnection(t.Context(), other, "con_a", func(connection.Connection) error { return nil })
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	got, err := h.Store.ReadConnection(t.Context(), acme, "con_a")
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// What a host says of a connection changes no secrets, and its version only with another
// installation.
func reportedConnection(t *testing.T, h Harness) {
	ctx := t.Context()
	want := addConnection(t, h, acme, "con_a")
	h.Clock.Advance(time.Hour)
	read := func() connection.Stored {
		c, err := h.Store.ReadConnection(ctx, acme, "con_a")
		require.NoError(t, err)

		return c
	}
	want.State, want.Reason = connection.Broken, "Revoked."
	require.NoError(t, h.Store.ReportConnection(ctx, want.Connection))
	assert.Equal(t, want, read())

	h.Clock.Advance(time.Second)
	got, err := h.Store.TestedConnection(ctx, want.Connection, connection.Tested{
		State: connection.Active, Missing: []string{"checks: write"}, Account: "acme",
	})
	require.NoError(t, err)
	want.State, want.Reason, want.Missing, want.Account = connection.Active, "", []string{"checks: write"}, "acme"
	want.TestedAt = h.Clock.Stored()
	assert.Equal(t, want, got)
	assert.Equal(t, want, read())
	_, err = h.Store.TestedConnection(ctx, want.Connection, connection.Tested{State: connection.Active})
	require.NoError(t, err)
	want.Missing = nil
	assert.Equal(t, want, read(), "without an account the one that is known stays")

	h.Clock.Advance(time.Second) // events of one time have no order
	require.NoError(t, h.Store.ResealConnection(ctx, "con_a", []byte("another"), []byte("lost")))
	assert.Equal(t, want, read())
	require.NoError(t, h.Store.ResealConnection(ctx, "con_a", want.Sealed, []byte("by another key")))
	want.Sealed = []byte("by another key")
	assert.Equal(t, want, read())
	events, err := h.Store.Events(ctx, acme, audit.Filter{Limit: 100})
	require.NoError(t, err)
	require.Len(t, events, 4, "with the creation, and one for the secrets that were sealed anew")
	assert.Equal(t, audit.ConnectionReseal, events[0].Action)
	assert.Equal(t, "con_a", events[0].Target)
	assert.Empty(t, events[0].Fields, "nothing of a secret")
	assert.Equal(t, []audit.Field{{Name: "state", Before: "active", After: "broken"}}, events[2].Fields)

	// What was opened before a change says nothing of the connection any more.
	late := want.Connection
	late.State, late.UpdatedAt = connection.Suspended, late.UpdatedAt.Add(-time.Second)
	require.NoError(t, h.Store.ReportConnection(ctx, late))
	got, err = h.Store.TestedConnection(ctx, late, connection.Tested{State: connection.Broken})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, want, read())

	want.Installation++
	require.NoError(t, h.Store.ReportConnection(ctx, want.Connection))
	want.UpdatedAt = h.Clock.Stored()
	assert.Equal(t, want, read(), "hosts are opened anew")

	wantError(t, h.Store.ReportConnection(ctx, connection.Connection{ID: "con_x"}), errs.NotFound,
		errs.ReasonConnectionNotFound)
	_, err = h.Store.TestedConnection(ctx, connection.Connection{ID: "con_x"}, connection.Tested{State: connection.Active})
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
}

func connectionsRace(t *testing.T, h Harness) {
	const tries, quota = 12, 5
	var mu sync.Mutex
	reasons := map[string]int{}
	var all sync.WaitGroup
	for i := range tries {
		all.Go(func() {
			c := newConnection(acme, fmt.Sprintf("con_%02d", i))
			c.Name = fmt.Sprintf("name-%d", i%8)
			_, err := h.Store.CreateConnection(t.Context(), c, quota)
			mu.Lock()
			defer mu.Unlock()
			reasons[errs.ReasonOf(err)]++
		})
	}
	all.Wait()
	assert.Equal(t, quota, reasons[""], "%v", reasons)
	list, err := h.Store.ListConnections(t.Context(), acme)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, c := range list {
		names[c.Name] = true
	}
	assert.Len(t, names, quota)
}

// repairedConnection holds that what could not be published is, once the connection works
// again, also where that was given up.
func repairedConnection(t *testing.T, h Harness) {
	c := addConnection(t, h, acme, "con_a").Connection
	for number, end := range map[int32]publish.End{
		1: {Failed: true, After: time.Hour, Problem: "broken"}, 2: {Done: true, Problem: "given up"}, 3: {Done: true},
		4: {Done: true, Problem: "given up"},
	} {
		p := pullRequest(h, number)
		p.HeadSHA = strings.Repeat(fmt.Sprint(number), 40)
		upsert(t, h, p)
		reviewOf(t, h, fmt.Sprint("rev_", number), number, p.HeadSHA)
		endPublication(t, h, claimPublication(t, h, "a"), end)
	}
	closed := pullRequest(h, 4)
	closed.State, closed.HeadSHA = codehost.Closed, strings.Repeat("4", 40)
	upsert(t, h, closed)
	endPublication(t, h, claimPublication(t, h, "a"), publish.End{Done: true, Problem: "given up"})
	claimed := func() (numbers []int32) {
		for range 2 {
			numbers = append(numbers, claimPublication(t, h, "b").Number)
		}
		noPublication(t, h)

		return numbers
	}

	c.State = connection.Broken
	require.NoError(t, h.Store.ReportConnection(t.Context(), c))
	noPublication(t, h)
	c.State = connection.Active
	require.NoError(t, h.Store.ReportConnection(t.Context(), c))
	assert.ElementsMatch(t, []int32{1, 2}, claimed())

	// Likewise with new secrets.
	h.Clock.Advance(lease)
	for range 2 {
		endPublication(t, h, claimPublication(t, h, "c"), publish.End{Done: true, Problem: "given up"})
	}
	for _, state := range []connection.State{connection.Broken, connection.Active} {
		noPublication(t, h)
		_, err := h.Store.ChangeConnection(t.Context(), acme, c.ID, func(s *connection.Stored) (audit.Change, error) {
			s.State = state

			return audit.Change{Action: audit.ConnectionRotate, Target: c.ID}, nil
		})
		require.NoError(t, err)
	}
	assert.ElementsMatch(t, []int32{1, 2}, claimed())
}
