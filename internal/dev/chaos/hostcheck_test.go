package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/giteafake"
)

// TestShortHosts publishes in hosts that don't fail, by servers that nobody kills: after either, it takes a minute until
// another server may go on.
func TestShortHosts(t *testing.T) {
	t.Parallel()
	s, err := parse([]string{
		"-binary", binary, "-hosts", "-pushes", "16", "-kills", "0", "-late", "0", "-seed", "1", "-settle", "5m",
		"-fill-every", "0",
	})
	require.NoError(t, err)
	s.dir = t.TempDir()

	var text bytes.Buffer
	v, err := executeHosts(t.Context(), s, &text)
	require.NoError(t, err, text.String())
	v.print(&text)
	assert.Empty(t, v.broken, text.String())
	assert.Positive(t, v.ended["complete"])
}

// TestHostChecks shows a host what no publisher may show it.
func TestHostChecks(t *testing.T) {
	t.Parallel()
	const old, sha = "3333333333333333333333333333333333333333", "4444444444444444444444444444444444444444"
	reviews := []reviewed{
		{ID: "rev_old", Head: old, Status: "canceled"},
		{ID: "rev_1", Head: sha, Status: "complete", order: 1}, {ID: "rev_2", Head: sha, Status: "complete", order: 2},
	}
	type call func(method, path, body string)
	status := func(post call, state, review string) {
		post(http.MethodPost, "/repos/acme/web/statuses/"+sha,
			`{"context":"prwarden","state":"`+state+`","target_url":"https://x/v1/reviews/`+review+`"}`)
	}
	summarize := func(post call) {
		post(http.MethodPost, "/repos/acme/web/issues/7/comments", `{"body":"<!-- prwarden:1:summary -->"}`)
	}
	comment := func(post call) {
		post(http.MethodPost, "/repos/acme/web/pulls/7/reviews", `{"event":"COMMENT","comments":[`+
			`{"path":"src/página.go","new_position":3,"body":"<!-- prwarden:1:ab -->"}]}`)
	}
	right := func(post call) {
		status(post, "pending", "rev_2")
		comment(post)
		summarize(post)
		status(post, "failure", "rev_2")
	}

	for name, c := range map[string]struct {
		do   func(call)
		want []string // begins of what is broken
	}{
		"right":       {right, nil},
		"nothing":     {func(call) {}, []string{"verdict:"}},
		"two reviews": {func(p call) { status(p, "failure", "rev_1"); right(p) }, nil},
		"an older review": {func(p call) { right(p); status(p, "failure", "rev_1"); status(p, "failure", "rev_2") },
			[]string{"older:"}},
		"a scan goes on": {func(p call) { right(p); status(p, "pending", "rev_2"); status(p, "failure", "rev_2") },
			[]string{"older:"}},
		"another verdict":   {func(p call) { right(p); status(p, "success", "rev_2") }, []string{"verdict:"}},
		"a comment too few": {func(p call) { summarize(p); status(p, "failure", "rev_2") }, []string{"comments:"}},
		"a second comment":  {func(p call) { right(p); comment(p) }, []string{"comments:", "twice:", "twice:"}},
		"no summary":        {func(p call) { comment(p); status(p, "failure", "rev_2") }, []string{"summary:"}},
		"a summary that was removed": {func(p call) {
			right(p)
			summarize(p)
			p(http.MethodDelete, "/repos/acme/web/issues/comments/1006", "")
		}, []string{"twice:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &codeHost{
				Fake: giteafake.New(t), planted: map[string][]int{}, made: map[string][]codehost.Ref{},
				shown: map[string][]codehost.Check{},
			}
			h.head(old, []int{13})
			h.head(sha, []int{3})
			c.do(func(method, path, body string) {
				q := httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body))
				q.Header.Set("Authorization", "token "+hosttest.Token)
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, q)
				require.Less(t, answer.Code, 300, answer.Body.String())
			})

			var b broken
			h.checkEnd(&b, reviews)
			h.checkMade(&b)
			h.checkHistory(&b, reviews)
			require.Len(t, b, len(c.want), b)
			for i, want := range c.want {
				assert.True(t, strings.HasPrefix(b[i], want), b[i])
			}
		})
	}
}
