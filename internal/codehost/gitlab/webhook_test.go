package gitlab_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/gitlabfake"
)

// anywhere is a host that is not called.
func anywhere() *gitlab.Host {
	return gitlab.New(gitlab.Options{Client: http.DefaultClient, URL: "https://gitlab.example.com"})
}

// TestPublishedVector verifies what Standard Webhooks publishes: the signature in
// TestWebhookSign of libraries/go/webhook_test.go at v0.0.1 in
// github.com/standard-webhooks/standard-webhooks.
func TestPublishedVector(t *testing.T) {
	t.Parallel()
	header := http.Header{}
	header.Set("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	header.Set("webhook-timestamp", "1614265330")
	header.Set("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	id, err := anywhere().Verify(header, []byte(`{"test": 2432232314}`),
		[][]byte{[]byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}, time.Unix(1614265330, 0))
	require.NoError(t, err)
	assert.Equal(t, "msg_p5jXN8AQM9LWM0D4loKWxJek", id)
}

// TestSignatures checks which headers count, and when.
func TestSignatures(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_790_000_000, 0)
	body := []byte(`{"object_kind": "note"}`)
	signed := func(by string, at time.Time, more ...string) http.Header {
		h := http.Header{}
		gitlabfake.Sign(h, "d1", at, body, by)
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	told := func(pairs ...string) http.Header {
		h := http.Header{"Idempotency-Key": {"d2"}}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another key of 32 bytes, as it is"))
	twice := signed(hosttest.Secret, now)
	twice.Set("Webhook-Signature", signed(other, now).Get("Webhook-Signature")+" "+twice.Get("Webhook-Signature"))
	tests := map[string]struct {
		header http.Header
		id     string // "" for one that is refused
	}{
		"signed":                     {signed(hosttest.Secret, now), "d1"},
		"signed by the older secret": {signed(other, now), "d1"},
		"signed by two":              {twice, "d1"},
		"as old as can be":           {signed(hosttest.Secret, now.Add(-5*time.Minute)), "d1"},
		"too old":                    {signed(hosttest.Secret, now.Add(-5*time.Minute-time.Second)), ""},
		"from the future":            {signed(hosttest.Secret, now.Add(5*time.Minute+time.Second)), ""},
		"of another time":            {signed(hosttest.Secret, now, "webhook-timestamp", "1790000001"), ""},
		"without a time":             {signed(hosttest.Secret, now, "webhook-timestamp", ""), ""},
		"a time that is none":        {signed(hosttest.Secret, now, "webhook-timestamp", "now"), ""},
		"another identifier":         {signed(hosttest.Secret, now, "webhook-id", "d3"), ""},
		"without an identifier":      {signed(hosttest.Secret, now, "webhook-id", ""), ""},
		"by the token as it is":      {signed("whsec_", now), ""},
		"wrongly, with the secret":   {signed("whsec_AAAA", now, "X-Gitlab-Token", hosttest.Secret), ""},
		"empty, with the secret":     {told("X-Gitlab-Token", hosttest.Secret, "webhook-signature", ""), ""},
		"told":                       {told("X-Gitlab-Token", hosttest.Secret), "d2"},
		"told a plain one":           {told("X-Gitlab-Token", "a plain secret token"), "d2"},
		"told, with older names": {
			told("X-Gitlab-Token", other, "Idempotency-Key", "", "X-Gitlab-Event-UUID", "d3"), "d3",
		},
		"told, without an identifier": {told("X-Gitlab-Token", hosttest.Secret, "Idempotency-Key", ""), ""},
		"told another":                {told("X-Gitlab-Token", hosttest.Secret+"x"), ""},
		"told a part":                 {told("X-Gitlab-Token", hosttest.Secret[:20]), ""},
		"told in capitals":            {told("X-Gitlab-Token", strings.ToUpper(hosttest.Secret)), ""},
		"told nothing":                {told("X-Gitlab-Token", ""), ""},
		"nothing":                     {told(), ""},
	}

	secrets := [][]byte{nil, []byte(hosttest.Secret), []byte(other), []byte("a plain secret token"), {}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := anywhere().Verify(test.header, body, secrets, now)
			assert.Equal(t, test.id, id)
			assert.Equal(t, test.id == "", err != nil, "%v", err)
		})
	}
}

// TestEveryBitOfTheToken flips the bits of a secret that is told.
func TestEveryBitOfTheToken(t *testing.T) {
	t.Parallel()
	fake := gitlabfake.New(t)
	fake.Token = true
	header, body := fake.Deliver(hosttest.Opened, hosttest.Secret)
	secrets := [][]byte{[]byte(hosttest.Secret)}
	_, err := anywhere().Verify(header, body, secrets, time.Now())
	require.NoError(t, err)
	for i := range len(hosttest.Secret) * 8 {
		flipped := []byte(hosttest.Secret)
		flipped[i/8] ^= 1 << (i % 8)
		header.Set("X-Gitlab-Token", string(flipped))
		_, err := anywhere().Verify(header, body, secrets, time.Now())
		require.ErrorIs(t, err, codehost.ErrSignature, "bit %d", i)
	}
}

// TestHints checks what the suite's deliveries don't have.
func TestHints(t *testing.T) {
	t.Parallel()
	const project = `"project": {"id": 42, "path_with_namespace": "acme/team/web"}`
	note := func(to, attributes string) string {
		return `{"object_kind": "note", "user": {"id": 11, "username": "w"}, ` + project +
			`, "merge_request": {"iid": 7}, "object_attributes": {"id": 5, "note": "/prwarden rescan", "noteable_type": "` +
			to + `", ` + attributes + `}}`
	}
	request := func(attributes string) string {
		return `{"object_kind": "merge_request", ` + project + `, "object_attributes": {"iid": 7, ` + attributes + `}}`
	}
	tests := map[string]struct {
		body string
		kind codehost.HintKind // "" for none
	}{
		"merged":            {request(`"action": "merge"`), codehost.HintPullRequest},
		"approved":          {request(`"action": "approved"`), ""},
		"a note":            {note("MergeRequest", `"action": "create", "author_id": 11`), codehost.HintComment},
		"of GitLab":         {note("MergeRequest", `"action": "create", "author_id": 11, "system": true`), ""},
		"to an issue":       {note("Issue", `"action": "create", "author_id": 11`), ""},
		"in another's name": {note("MergeRequest", `"action": "create", "author_id": 12`), ""},
		"edited":            {note("MergeRequest", `"action": "update", "author_id": 11`), ""},
		"transferred": {
			`{"event_name": "project_transfer", "project_id": 42, "path_with_namespace": "new/web"}`, codehost.HintRepository,
		},
		"created":  {`{"event_name": "project_create", "project_id": 42, "path_with_namespace": "new/web"}`, ""},
		"changes":  {`{"event_name": "repository_update", "project_id": 42, "changes": [{}], "user": 1}`, ""},
		"a push":   {`{"object_kind": "push", ` + project + `}`, ""},
		"pipeline": {`{"object_kind": "pipeline", ` + project + `, "merge_request": {"iid": 7}}`, ""},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hints, err := anywhere().Hints(nil, []byte(test.body))
			require.NoError(t, err)
			if test.kind == "" {
				assert.Empty(t, hints)
				return
			}
			require.Len(t, hints, 1)
			assert.Equal(t, test.kind, hints[0].Kind)
			assert.Equal(t, "42", hints[0].Repository.ID)
			assert.Contains(t, []string{"acme/team/web", "new/web"}, hints[0].Repository.Name)
		})
	}
}

func FuzzHints(f *testing.F) {
	fake := gitlabfake.New(f)
	for _, event := range gitlabfake.Events {
		_, body := fake.Deliver(event, hosttest.Secret)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		hints, err := anywhere().Hints(nil, body)
		if err != nil {
			assert.Empty(t, hints)
		}
		for _, hint := range hints {
			id, err := strconv.ParseInt(hint.Repository.ID, 10, 64)
			require.NoError(t, err)
			assert.Positive(t, id)
			assert.Contains(t, hint.Repository.Name, "/")
			assert.Equal(t, hint.Kind != codehost.HintRepository, hint.Number > 0)
			assert.Equal(t, hint.Kind == codehost.HintComment, hint.Comment.AuthorID != "")
		}
	})
}
