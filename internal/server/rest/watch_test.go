package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
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

func TestWatchSendsEachMessageAtOnce(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	updates := make(chan review.Update)
	b.Reviews.WatchFunc = func(ctx context.Context, org, id string, send func(review.Update) error) error {
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
	resp := watch(t, b, auth)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "application/x-ndjson", resp.Header.Get("Content-Type"))
	assert.NotEmpty(t, resp.Header.Get("X-RateLimit-Remaining"))
	lines := bufio.NewReader(resp.Body)
	expect := func(want string) {
		t.Helper()
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.JSONEq(t, want, line)
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
		{errs.New(errs.Unavailable, errs.ReasonUnavailable, "away"), 503, "UNAVAILABLE"},
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
			Details []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &last))
	assert.Equal(t, 13, last.Error.Code)
	require.NotEmpty(t, last.Error.Details)
	assert.Equal(t, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INTERNAL",
		"domain": "prwarden"},
		last.Error.Details[0], "as in any other error")
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
	begun := make(chan struct{}, api.MaxWatches+1)
	b.Reviews.WatchFunc = forever(begun)
	for range api.MaxWatches {
		require.Equal(t, 200, watch(t, b, auth).StatusCode)
		<-begun
	}
	a := b.Do(t, "GET", "/v1/reviews/rev_1:watch", "", auth)
	assert.Equal(t, 503, a.Status)
	assert.Equal(t, errs.ReasonWatchLimit, a.Reason())
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.Equal(t, 200, b.Do(t, "GET", "/v1/rules", "", auth).Status, "other calls go on")
	_, other := b.Key(t)
	resp := watch(t, b, servertest.Bearer(other))
	assert.Equal(t, 200, resp.StatusCode, "the limit is each key's")
}

func TestClosedWatchMakesRoom(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	ended := make(chan struct{})
	b.Reviews.WatchFunc = func(ctx context.Context, _, id string, send func(review.Update) error) error {
		defer close(ended)
		if err := send(review.Update{Review: review.Review{ID: id, Status: review.Queued}}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	require.NoError(t, watch(t, b, auth).Body.Close())
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("a watch goes on although its client left")
	}
}

func TestWatchEndsWithItsKey(t *testing.T) {
	slowly(t, func(t *testing.T, b *servertest.Bundle) {
		key, token := b.Key(t)
		begun := make(chan struct{}, 1)
		b.Reviews.WatchFunc = forever(begun)
		resp := watch(t, b, servertest.Bearer(token))
		<-begun
		require.NoError(t, b.Keys.Revoke(t.Context(), "acme", key.ID))
		revoked := time.Now()
		lines := bufio.NewScanner(resp.Body)
		var last string
		for lines.Scan() {
			last = lines.Text()
		}
		assert.Contains(t, last, errs.ReasonKeyRevoked)
		assert.Less(t, time.Since(revoked), 5*time.Second)
	})
}

func TestWatchesEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	begun := make(chan struct{}, 1)
	b.Reviews.WatchFunc = forever(begun)
	resp := watch(t, b, auth)
	<-begun
	b.Handlers.EndWatches()
	lines := bufio.NewScanner(resp.Body)
	var last string
	for lines.Scan() {
		last = lines.Text()
	}
	assert.Contains(t, last, errs.ReasonUnavailable)
}

// All REST calls share one connection, which must survive whatever one of them
// is answered.
func TestWatchSurvivesARequestThatIsWrongAThirdOfAMillionTimes(t *testing.T) {
	t.Parallel()
	b, auth := start(t)
	begun := make(chan struct{}, 1)
	next := make(chan review.Update, 1) // so that a failure does not hang
	b.Reviews.WatchFunc = func(ctx context.Context, _, id string, send func(review.Update) error) error {
		if err := send(review.Update{Review: review.Review{ID: id, Status: review.Queued}}); err != nil {
			return err
		}
		begun <- struct{}{}
		select {
		case u := <-next:
			return send(u)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	resp := watch(t, b, auth)
	<-begun
	for path, body := range map[string]string{
		"/v1/rules": ruleBody[:len(ruleBody)-1] + `,"paths":{"include":["` + strings.Repeat(`","`, 340_000) + `"]}}`,
		"/v1/keys":  `{"name":"x","scopes":["` + strings.Repeat(`","`, 260_000) + `"]}`,
	} {
		a := b.Do(t, "POST", path, body, auth)
		assert.Equal(t, 400, a.Status, path)
		assert.Equal(t, errs.ReasonInvalidArgument, a.Reason(), path)
		assert.Less(t, len(a.Body), 4<<10, path)
		for _, text := range a.Violations() {
			assert.Contains(t, text, "must have at most", path)
		}
	}
	next <- review.Update{Review: review.Review{ID: "rev_1", Status: review.InProgress}}
	all, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(all), "in_progress")
	assert.NotContains(t, string(all), "error")
}
