package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/servertest"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/server/api"
)

// watch opens a watch and returns its response; the test closes it.
func watch(t *testing.T, b *servertest.Bundle, auth string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+"/v1/reviews/rev_1:watch", nil)
	require.NoError(t, err)
	name, value, _ := strings.Cut(auth, ": ")
	req.Header.Set(name, value)
	resp, err := b.Client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// lastLine reads a watch to its end.
func lastLine(resp *http.Response) (last string) {
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		last = lines.Text()
	}

	return last
}

// A watch lasts as long as it is read, whatever the server's deadlines for whole
// answers are, and each message is sent at once.
func TestWatchSendsEachMessageAtOnce(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		_, token := b.Key(t)
		updates := make(chan review.Update)
		b.Reviews.WatchFunc = func(_ context.Context, org, id string, send func(review.Update) error) error {
			assert.Equal(t, "acme", org)
			assert.Equal(t, "rev_1", id)
			for u := range updates {
				if err := send(u); err != nil {
					return err
				}
			}
			return nil
		}

		go func() { updates <- review.Update{Review: review.Review{ID: "rev_1", Status: review.Queued}} }()
		resp := watch(t, b, servertest.Bearer(token))
		assert.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, "application/x-ndjson", resp.Header.Get("Content-Type"))
		assert.NotEmpty(t, resp.Header.Get("X-RateLimit-Remaining"))
		lines := bufio.NewReader(resp.Body)
		expect := func(want string) {
			t.Helper()
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			assert.JSONEq(t, want, line)
			pause(2 * time.Minute)
		}

		expect(`{"result":{"review_id":"rev_1","status":"queued","files_done":0,"keep_alive":false}}`)
		updates <- review.Update{Review: review.Review{ID: "rev_1", Status: review.InProgress,
			Progress: review.Progress{FilesDone: 1, FilesTotal: 3}}, KeepAlive: true}
		expect(`{"result":{"review_id":"rev_1","status":"in_progress","files_done":1,"files_total":3,"keep_alive":true}}`)
		updates <- review.Update{Review: review.Review{ID: "rev_1", Status: review.Complete}}
		expect(`{"result":{"review_id":"rev_1","status":"complete","files_done":0,"keep_alive":false,
			"summary":{"critical":0,"high":0,"medium":0,"warning":0,"low":0,"info":0}}}`)
		close(updates)
		_, err := lines.ReadString('\n')
		assert.Error(t, err, "the stream ends")
	})
}

func TestWatchThatFailsAtOnceIsAnOrdinaryError(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	for _, tc := range []struct {
		err    error
		status int
		reason string
	}{
		{errs.New(errs.NotFound, errs.ReasonReviewNotFound, "There is no such review."), 404, "REVIEW_NOT_FOUND"},
		{errors.New("secret"), 500, "INTERNAL"},
	} {
		b.Reviews.WatchFunc = func(context.Context, string, string, func(review.Update) error) error { return tc.err }
		a := b.Do(t, "GET", "/v1/reviews/rev_1:watch", "", auth)
		assert.Equal(t, tc.status, a.Status)
		assert.Equal(t, tc.reason, a.Reason())
		assertCommonHeaders(t, a)
	}
}

func TestWatchThatFailsLaterSaysSoInTheStream(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	b.Reviews.WatchFunc = func(_ context.Context, _, id string, send func(review.Update) error) error {
		if err := send(review.Update{Review: review.Review{ID: id, Status: review.Queued}}); err != nil {
			return err
		}

		return errors.New("pq: secret")
	}

	a := b.Do(t, "GET", "/v1/reviews/rev_1:watch", "", auth)
	assert.Equal(t, 200, a.Status)
	lines := strings.Split(strings.TrimSpace(a.Body), "\n")
	require.Len(t, lines, 2)
	var last struct {
		Error struct {
			Code    int
			Details []struct{ Reason string }
		}
	}

	require.NoError(t, json.Unmarshal([]byte(lines[1]), &last))
	assert.Equal(t, 13, last.Error.Code)
	require.NotEmpty(t, last.Error.Details)
	assert.Equal(t, "INTERNAL", last.Error.Details[0].Reason)
	assert.NotContains(t, a.Body, "secret")
}

// forever watches until its context ends, and says when it has begun.
func forever(begun chan<- struct{}) func(context.Context, string, string, func(review.Update) error) error {
	return func(ctx context.Context, _, id string, send func(review.Update) error) error {
		if err := send(review.Update{Review: review.Review{ID: id, Status: review.Queued}}); err != nil {
			return err
		}

		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestOpenWatchesOfAKeyAreBounded(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	begun := make(chan struct{}, 2*api.MaxWatches)
	b.Reviews.WatchFunc = forever(begun)
	var first *http.Response
	for range api.MaxWatches {
		first = watch(t, b, auth)
		require.Equal(t, 200, first.StatusCode)
		<-begun
	}

	a := b.Do(t, "GET", "/v1/reviews/rev_1:watch", "", auth)
	assert.Equal(t, 503, a.Status)
	assert.Equal(t, errs.ReasonWatchLimit, a.Reason())
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	_, other := b.Key(t)
	assert.Equal(t, 200, watch(t, b, servertest.Bearer(other)).StatusCode, "the limit is each key's")

	require.NoError(t, first.Body.Close())
	require.Eventually(t, func() bool { return watch(t, b, auth).StatusCode == 200 }, patience, time.Millisecond)
}

func TestWatchEndsWithItsKeyAndWithTheServer(t *testing.T) {
	onPipes(t, servertest.Options{}, func(t *testing.T, b *servertest.Bundle) {
		key, token := b.Key(t)
		_, other := b.Key(t)
		begun := make(chan struct{}, 2)
		b.Reviews.WatchFunc = forever(begun)
		ofKey, ofOther := watch(t, b, servertest.Bearer(token)), watch(t, b, servertest.Bearer(other))
		<-begun
		<-begun

		_, err := b.Keys.Revoke(t.Context(), "acme", key.ID, false)
		require.NoError(t, err)
		revoked := time.Now()
		assert.Contains(t, lastLine(ofKey), errs.ReasonKeyRevoked)
		assert.Less(t, time.Since(revoked), 5*time.Second)

		b.Handlers.EndWatches()
		assert.Contains(t, lastLine(ofOther), errs.ReasonUnavailable)
	})
}
