package blackbox_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var token = regexp.MustCompile(`^prw_[0-9A-Za-z]{36}$`)

func TestKeysOverTheAPI(t *testing.T) {
	t.Parallel()
	s, c, _ := setup(t)
	a := c.do(t, "POST", "/v1/keys", map[string]any{
		"name": "ci", "scopes": []any{"reviews:read", "rules:read"},
		"expires_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	})

	require.Equal(t, 201, a.status, a.body)
	created := a.decode(t)
	assert.ElementsMatch(t, []string{"key_id", "token", "name", "scopes", "created_at", "expires_at", "created_by",
		"parent_key_id", "rate_limit"}, keys(created))
	assert.Regexp(t, token, created["token"])
	assert.Equal(t, []any{"reviews:read", "rules:read"}, created["scopes"])
	id, tok := created["key_id"].(string), created["token"].(string)

	ci := s.client(tok)
	assert.Equal(t, 200, ci.do(t, "GET", "/v1/rules", nil).status)

	listed := c.do(t, "GET", "/v1/keys", nil)
	require.Equal(t, 200, listed.status)
	assert.NotContains(t, listed.body, tok)
	assert.NotContains(t, listed.body, "token")
	ks := list(listed.decode(t)["keys"])
	require.Len(t, ks, 2)
	child, parent := ks[0].(map[string]any), ks[1].(map[string]any)
	assert.Equal(t, id, child["key_id"], "newest first")
	assert.Equal(t, parent["key_id"], child["parent_key_id"])
	assert.Equal(t, "key:"+parent["key_id"].(string), child["created_by"])
	assert.Regexp(t, "^cli:.+@.+$", parent["created_by"])
	assert.Equal(t, "active", child["state"])

	// A key without keys:admin can't, and no key can grant more than it has.
	for _, call := range []struct{ method, path string }{{"GET", "/v1/keys"}, {"DELETE", "/v1/keys/" + id}} {
		a := ci.do(t, call.method, call.path, nil)
		assert.Equal(t, 403, a.status)
		assert.Equal(t, "SCOPE_MISSING", a.reason(t))
		assert.Contains(t, a.body, "keys:admin")
	}

	narrow := s.client(s.key(t, "acme", "--scopes", "keys:admin,reviews:read"))
	denied := narrow.do(t, "POST", "/v1/keys", map[string]any{"name": "more", "scopes": []any{"rules:write"}})
	assert.Equal(t, 403, denied.status)
	assert.Equal(t, "SCOPE_MISSING", denied.reason(t))
	assert.Equal(
		t, 201, narrow.do(t, "POST", "/v1/keys", map[string]any{"name": "less", "scopes": []any{"reviews:read"}}).status,
	)

	gone := c.do(t, "DELETE", "/v1/keys/"+id, nil)
	revoked := time.Now()
	assert.Equal(t, 204, gone.status)
	assert.Empty(t, gone.body)
	for refused := false; !refused; {
		after := time.Since(revoked)
		a := ci.do(t, "GET", "/v1/rules", nil)
		refused = a.status == 401 && a.reason(t) == "KEY_REVOKED"
		require.True(t, refused || after < 5*time.Second, "a revoked key is refused within 5 seconds: %s", a.body)
		<-time.After(5 * tick)
	}

	assert.Equal(t, 204, c.do(t, "DELETE", "/v1/keys/"+id, nil).status, "it was revoked before")
	assert.Equal(t, 404, c.do(t, "DELETE", "/v1/keys/key_none", nil).status)
	for _, k := range list(c.do(t, "GET", "/v1/keys", nil).decode(t)["keys"]) {
		if k := k.(map[string]any); k["key_id"] == id {
			assert.Equal(t, "revoked", k["state"])
			assert.NotEmpty(t, k["revoked_at"])
		}
	}
	assert.Equal(t, 400, c.do(t, "DELETE", "/v1/keys/"+id+"?with_children=1", nil).status)
	assert.Equal(t, 204, c.do(t, "DELETE", "/v1/keys/"+parent["key_id"].(string)+"?with_children=true", nil).status)
	c = s.client(s.key(t, "acme", "--scopes", "keys:admin,reviews:read"))
	bad := c.do(t, "POST", "/v1/keys", map[string]any{"name": "x", "scopes": []any{"reviews:read", "root"}})
	assert.Equal(t, 400, bad.status)
	assert.Contains(t, bad.fields(t), "scopes[1]", bad.body)
}

func TestKeysByTheCommandLine(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	out := s.command(
		t, "keys", "create", "--org", "acme", "--name", "short", "--expires", "1s", "--database", s.database, "--config",
		s.config,
	)
	require.Regexp(t, `^prw_[0-9A-Za-z]{36}\n$`, out, "the token alone")
	short := s.client(strings.TrimSpace(out))
	require.Eventually(t, func() bool {
		a := short.do(t, "GET", "/v1/rules", nil)
		return a.status == 401 && a.reason(t) == "KEY_EXPIRED"
	}, eventually, tick)

	// Without --scopes it has the first four.
	c := s.client(s.key(t, "acme"))
	assert.Equal(t, 200, c.do(t, "GET", "/v1/rules", nil).status)
	assert.Equal(t, 403, c.do(t, "GET", "/v1/keys", nil).status)

	listed := s.command(t, "keys", "list", "--database", s.database, "--config", s.config)
	assert.Contains(t, listed, "short")
	assert.NotContains(t, listed, strings.TrimSpace(out))
	id := regexp.MustCompile(`key_\w+`).FindString(listed)
	for range 2 {
		s.command(t, "keys", "revoke", id, "--database", s.database, "--config", s.config)
	}
	assert.Regexp(t, id+" +revoked ", s.command(t, "keys", "list", "--database", s.database, "--config", s.config))
}

// The scope that each call needs, by REST.
func TestScopes(t *testing.T) {
	t.Parallel()
	s, _, _ := setup(t)
	calls := map[string][]struct{ method, path, body string }{
		"reviews:read": {
			{"GET", "/v1/reviews", ""}, {"GET", "/v1/reviews/rev_x", ""}, {"GET", "/v1/reviews/rev_x:watch", ""},
		},
		"reviews:write": {
			{"POST", "/v1/reviews", `{"repo":"acme/none","pr_number":1}`}, {"POST", "/v1/reviews/rev_x:cancel", ""},
		},
		"rules:read": {
			{"GET", "/v1/rules", ""}, {"GET", "/v1/rules/x", ""}, {"GET", "/v1/rulesets/default/rules", ""},
			{"POST", "/v1/rules:test", `{"pattern":"a","text":"a"}`},
		},
		"rules:write": {{"POST", "/v1/rules", `{"id":"x"}`}, {"DELETE", "/v1/rules/x", ""}},
		"keys:admin": {
			{"GET", "/v1/keys", ""}, {"POST", "/v1/keys", `{"name":"x","scopes":["keys:admin"]}`},
			{"DELETE", "/v1/keys/key_x", ""},
		},
	}

	for have := range calls {
		c := s.client(s.key(t, "acme", "--scopes", have))
		for need, cs := range calls {
			for _, call := range cs {
				var body any
				if call.body != "" {
					body = call.body
				}
				a := c.do(t, call.method, call.path, body)
				if have != need {
					assert.Equal(t, 403, a.status, "%s %s with %s", call.method, call.path, have)
					assert.Equal(t, "SCOPE_MISSING", a.reason(t))
					continue
				}
				assert.NotContains(t, []int{401, 403}, a.status, "%s %s with %s: %s", call.method, call.path, have, a.body)
			}
		}
	}
}
