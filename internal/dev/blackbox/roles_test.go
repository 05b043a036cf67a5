package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/dev/roletest"
)

// twoOrganizations starts a server of acme and of another organization.
func twoOrganizations(t *testing.T) (*server, *hosts) {
	t.Helper()
	h := newHosts(t)

	return startServer(t, h, serverOptions{organizations: []organization{{"acme", "acme/*"}, {"other", "other/*"}}}), h
}

// owned makes one of everything that acme may own, and returns what it is called.
func owned(t *testing.T, s *server, h *hosts) map[string]string {
	t.Helper()
	c := s.client(s.key(t, "acme", "--scopes", roletest.Roles[3].Scopes))
	_, fingerprint := undecided(t, c, h, "acme/api")
	path := func(p string) string { return p[strings.LastIndex(p, "/")+1:] }
	first := func(method, path string, body any) string {
		t.Helper()
		a := c.do(t, method, path, body)
		require.Less(t, a.status, 300, a.body)

		return a.found(t, `"(?:key|invitation|change|message|review)_id": ?"(\w+)"`)
	}

	addRule(t, c, map[string]any{
		"id": "canary-rule", "type": "regex", "pattern": "frobnicate", "message": "m", "severity": "low",
	})
	made := map[string]string{
		"rule": "canary-rule", "fingerprint": fingerprint,
		"connection": path(connectionPath(t, c, "canary-host")), "user": path(memberPath(t, s, c, "canary-member")),
		"webhook": path(webhookPath(t, c)),
	}
	made["change"] = first("POST", "/v1/findings:triage", map[string]any{
		"repo": "acme/api", "fingerprints": []any{fingerprint}, "decision": "false_positive", "reason": "r", "until": nextMonth(),
	})
	made["review"] = first("GET", "/v1/reviews", nil)
	made["key"] = first("POST", "/v1/keys", map[string]any{"name": "canary-key", "scopes": []any{"rules:read"}})
	made["invitation"] = first("POST", "/v1/invitations", map[string]any{
		"email": "canary-invited@example.com", "role": "viewer",
	})
	hook := "/v1/webhooks/" + made["webhook"]
	require.Less(t, c.do(t, "POST", hook+":test", "{}").status, 300)
	made["message"] = first("GET", hook+"/messages", nil)
	s.query(t, `INSERT INTO pull_requests (organization, repo, number, connection_id, repo_id, private, state, title,
		author, author_id, head_sha, base_sha, base_ref, merge_base, draft, fork, labels, url, host_updated_at,
		created_at, updated_at) VALUES ('acme', 'acme/api', 1, '`+made["connection"]+`', '1', 0, 'open', x'', x'', '1',
		'', '', x'', '', 0, 0, x'5b5d', '', 0, 0, 0) RETURNING number`)

	return made
}

// statusOf is what REST answers for a code of gRPC.
func statusOf(c codes.Code) int {
	return map[codes.Code]int{
		codes.InvalidArgument: 400, codes.PermissionDenied: 403, codes.NotFound: 404,
		codes.AlreadyExists: 409, codes.FailedPrecondition: 409,
	}[c]
}

// Each key may make the calls of its scopes, over both protocols, and nothing shows
// what another organization owns.
func TestRolesOfKeys(t *testing.T) {
	t.Parallel()
	roletest.Complete(t)
	s, h := twoOrganizations(t)
	made := owned(t, s, h)
	conn := s.conn(t)

	// both makes a call over both, and returns the code, what was answered, and why not.
	both := func(c roletest.Call, token, request string) (code codes.Code, answers, reason string) {
		t.Helper()
		ctx := metadata.NewOutgoingContext(t.Context(), with(t, token))
		text, err := c.Invoke(ctx, t, conn, request)
		code = status.Code(err)
		if err != nil {
			reason, _ = details(t, err)
			text = status.Convert(err).Message()
		}
		verb, path, body := c.REST(t, request)
		var sent any = body
		if body == "" {
			sent = nil
		}
		a := s.client(token).do(t, verb, path, sent)
		if code == codes.OK { // what one has made or removed, the other can't
			assert.Contains(t, []int{200, 201, 202, 204, 404, 409}, a.status, "%s: %s", c.Method, a.body)
		} else {
			assert.Equal(t, statusOf(code), a.status, "%s: gRPC says %s; REST: %s", c.Method, text, a.body)
		}
		if code == codes.PermissionDenied {
			assert.Equal(t, reason, a.reason(t), c.Method)
		}

		return code, text + a.body, reason
	}

	for _, role := range roletest.Roles {
		token := s.key(t, "acme", "--scopes", role.Scopes)
		for _, c := range roletest.Calls {
			code, text, reason := both(c, token, c.Filled(nil))
			what := fmt.Sprintf("%s by %s: %s", c.Method, role.Name, text)
			switch {
			case c.People:
				assert.Equal(t, "PERSON_NEEDED", reason, what)
			case c.Allowed(role.Name):
				assert.NotContains(t, []codes.Code{codes.PermissionDenied, codes.Unauthenticated}, code, what)
			default:
				assert.Equal(t, "SCOPE_MISSING", reason, what)
				assert.Contains(t, text, "needs a key with the scope "+c.Scope, what)
			}
		}
	}

	token := s.key(t, "other", "--scopes", roletest.Roles[3].Scopes)
	for _, c := range roletest.Calls {
		code, text, _ := both(c, token, c.Filled(made))
		if want := c.Elsewhere; !c.People {
			assert.Equal(t, want, code, "%s: %s", c.Method, text)
		}
		for what, name := range made {
			if !strings.Contains(c.Request, "$"+what) { // an error may repeat what was asked for
				assert.NotContains(t, text, name, c.Method)
			}
		}
	}

	token = s.key(t, "acme", "--scopes", roletest.Roles[3].Scopes)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, token))
	for _, c := range roletest.Calls { // so what was not found is there
		_, err := c.Invoke(ctx, t, conn, c.Filled(made))
		if !c.People && c.Elsewhere != codes.OK {
			assert.NotEqual(t, codes.NotFound, status.Code(err), "%s: %v", c.Method, err)
		}
	}
	assert.Equal(t, http.StatusNotFound, s.client(token).do(t, "GET", "/v1/webhooks/"+made["webhook"], nil).status)
}
