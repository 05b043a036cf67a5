package blackbox_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// audited are the methods of the API that leave an event, and its action.
func audited() map[string]string {
	found := map[string]string{}
	pkg := prwardenv1.File_prwarden_v1_audit_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(pkg, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				m := methods.Get(j)
				rule, _ := proto.GetExtension(m.Options(), prwardenv1.E_Audit).(*prwardenv1.AuditRule)
				if action := rule.GetAction(); action != "" && action != "NONE" {
					found[string(m.Name())] = action
				}
			}
		}

		return true
	})

	return found
}

// auditedCall is a request that changes something.
type auditedCall struct {
	method, path string
	body         any
	status       int
	idle         int // status of the same request again, when that changes nothing; 0 when it changes something
}

func ruleToAudit() map[string]any {
	return map[string]any{
		"id": "no-x", "type": "regex", "pattern": "frobnicate", "message": "No.", "severity": "warning", "scope": "org",
	}
}

func triageToAudit(fingerprint, decision string) map[string]any {
	return map[string]any{
		"repo": "acme/triage", "fingerprints": []any{fingerprint}, "decision": decision, "reason": "checked",
		"until": nextMonth(),
	}
}

func connectionToAudit(name string) map[string]any {
	return map[string]any{
		"name": name, "kind": "gitea", "url": "https://git.example.com", "repositories": []any{"acme/*"}, "token": "secret",
	}
}

// connectionPath makes a connection and returns its path.
func connectionPath(t *testing.T, c *client, name string) string {
	t.Helper()
	a := c.do(t, "POST", "/v1/connections", connectionToAudit(name))
	require.Equal(t, 201, a.status, a.body)
	return "/v1/connections/" + a.decode(t)["connection"].(map[string]any)["connection_id"].(string)
}

// memberPath makes a member, and returns its path.
func memberPath(t *testing.T, s *server, c *client, name string) string {
	t.Helper()
	link := s.command(t, "users", "create", "--organization", "acme", "--role", "member", "--email", name+"@example.com",
		"--public-url", "https://prwarden.example.com", "--database", s.database, "--config", s.config)
	require.Regexp(t, `^https://prwarden\.example\.com/reset\?token=prw_\w{43}\n$`, link)
	for _, m := range list(c.do(t, "GET", "/v1/members", nil).decode(t)["members"]) {
		if member := m.(map[string]any); member["email"] == name+"@example.com" {
			return "/v1/members/" + member["user_id"].(string)
		}
	}
	require.Fail(t, "the member is not listed")
	return ""
}

func webhookToAudit() map[string]any {
	return map[string]any{"name": "a", "url": "https://hooks.example.com/", "events": []any{"connection.broken"}}
}

// webhookPath makes a webhook and returns its path.
func webhookPath(t *testing.T, c *client) string {
	t.Helper()
	a := c.do(t, "POST", "/v1/webhooks", webhookToAudit())
	require.Equal(t, 201, a.status, a.body)
	return "/v1/webhooks/" + a.decode(t)["webhook"].(map[string]any)["webhook_id"].(string)
}

// TestEveryChangeLeavesOneEvent makes each change that the API has, and each that
// the command line has.
func TestEveryChangeLeavesOneEvent(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{args: []string{"--public-url", "https://prwarden.example.com"}})
	c := s.client(s.key(t, "acme", "--scopes",
		"reviews:read,reviews:write,rules:read,rules:write,keys:admin,policy:read,policy:write,audit:read,hosts:write,"+
			"findings:triage,webhooks:write,members:admin,source:read,hosts:read"))
	events := func() []any { return list(c.do(t, "GET", "/v1/audit?page_size=1000", nil).decode(t)["events"]) }
	first := events()
	require.Len(t, first, 2, "the organization, by its file, and the key")
	admin := first[0].(map[string]any)["target"].(string)

	_, fingerprint := undecided(t, c, h, "acme/triage")
	calls := map[string]func() auditedCall{
		"CreateKey": func() auditedCall {
			return auditedCall{"POST", "/v1/keys", map[string]any{"name": "ci", "scopes": []any{"rules:read"}}, 201, 0}
		},
		"DeleteKey": func() auditedCall {
			made := c.do(t, "POST", "/v1/keys", map[string]any{"name": "x", "scopes": []any{"rules:read"}})
			return auditedCall{"DELETE", "/v1/keys/" + made.decode(t)["key_id"].(string), nil, 204, 204}
		},
		"CreateRule": func() auditedCall { return auditedCall{"POST", "/v1/rules", ruleToAudit(), 201, 409} },
		"UpdateRule": func() auditedCall {
			return auditedCall{"PATCH", "/v1/rules/no-x", map[string]any{"severity": "high"}, 200, 200}
		},
		"DeleteRule": func() auditedCall { return auditedCall{"DELETE", "/v1/rules/no-x", nil, 204, 404} },
		"BatchRules": func() auditedCall {
			document := map[string]any{"rules": []any{ruleToAudit()}}
			return auditedCall{"POST", "/v1/rules:batch", document, 200, 200}
		},
		"CreateConnection": func() auditedCall {
			return auditedCall{"POST", "/v1/connections", connectionToAudit("made"), 201, 409}
		},
		"SetUpGitHubApp": func() auditedCall {
			in := map[string]any{"name": "setup", "account": "acme", "repositories": []any{"acme/*"}}
			return auditedCall{"POST", "/v1/connections:setup", in, 200, 0}
		},
		"UpdateConnection": func() auditedCall {
			return auditedCall{"PATCH", connectionPath(t, c, "changed"), map[string]any{"name": "renamed"}, 200, 200}
		},
		"RotateConnectionSecret": func() auditedCall {
			path := connectionPath(t, c, "rotated") + ":rotate"
			return auditedCall{"POST", path, map[string]any{"token": "another"}, 200, 0}
		},
		"DeleteConnection": func() auditedCall {
			return auditedCall{"DELETE", connectionPath(t, c, "deleted"), nil, 204, 404}
		},
		"CreateWebhook": func() auditedCall {
			return auditedCall{"POST", "/v1/webhooks", webhookToAudit(), 201, 0}
		},
		"UpdateWebhook": func() auditedCall {
			return auditedCall{"PATCH", webhookPath(t, c), map[string]any{"name": "renamed"}, 200, 200}
		},
		"RotateWebhookSecret": func() auditedCall {
			return auditedCall{"POST", webhookPath(t, c) + ":rotate", "{}", 200, 0}
		},
		"DeleteWebhook": func() auditedCall {
			return auditedCall{"DELETE", webhookPath(t, c), nil, 204, 404}
		},
		"CreateInvitation": func() auditedCall {
			in := map[string]any{"email": "bob@example.com", "role": "viewer"}
			return auditedCall{"POST", "/v1/invitations", in, 201, 0}
		},
		"DeleteInvitation": func() auditedCall {
			a := c.do(t, "POST", "/v1/invitations", map[string]any{"email": "eve@example.com", "role": "viewer"})
			require.Equal(t, 201, a.status, a.body)
			id := a.decode(t)["invitation"].(map[string]any)["invitation_id"].(string)
			return auditedCall{"DELETE", "/v1/invitations/" + id, nil, 204, 404}
		},
		"UpdateMember": func() auditedCall {
			return auditedCall{"PATCH", memberPath(t, s, c, "updated"), map[string]any{"role": "viewer"}, 200, 200}
		},
		"RemoveMember": func() auditedCall {
			return auditedCall{"DELETE", memberPath(t, s, c, "removed"), nil, 204, 404}
		},
		"CreatePasswordLink": func() auditedCall {
			return auditedCall{"POST", memberPath(t, s, c, "forgetful") + ":resetPassword", "{}", 200, 0}
		},
		"SetTriage": func() auditedCall {
			return auditedCall{"POST", "/v1/findings:triage", triageToAudit(fingerprint, "accepted"), 200, 200}
		},
		"UndoTriage": func() auditedCall {
			a := c.do(t, "POST", "/v1/findings:triage", triageToAudit(fingerprint, "wont_fix"))
			return auditedCall{"POST", "/v1/triage/" + a.decode(t)["change_id"].(string) + ":undo", "{}", 200, 404}
		},
		"SetPolicy": func() auditedCall {
			return auditedCall{"PUT", "/v1/policy", map[string]any{"fail_on": "critical"}, 200, 200}
		},
	}
	actions := audited()
	for _, person := range []string{"UpdateAccount", "ChangePassword", "EndSession", "EndSessions"} {
		delete(actions, person) // no key has an account; the store's tests have their events
	}
	delete(actions, "RepublishPullRequest") // TestPushIsAnsweredInThePullRequest has it, after a host told of one
	for name := range actions {
		require.Contains(t, calls, name, "this test makes each change that is audited once")
	}

	inOrder := []string{
		"CreateKey", "DeleteKey", "CreateRule", "UpdateRule", "DeleteRule", "BatchRules", "SetTriage", "UndoTriage", "SetPolicy",
		"CreateConnection", "SetUpGitHubApp", "UpdateConnection", "RotateConnectionSecret", "DeleteConnection",
		"CreateWebhook", "UpdateWebhook", "RotateWebhookSecret", "DeleteWebhook", "CreateInvitation", "DeleteInvitation",
		"UpdateMember", "RemoveMember", "CreatePasswordLink",
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(calls)), inOrder, "each call is made")
	for _, name := range inOrder {
		call := calls[name]()
		before := events()
		a := c.do(t, call.method, call.path, call.body)
		require.Equal(t, call.status, a.status, "%s: %s", name, a.body)
		after := events()
		require.Len(t, after, len(before)+1, name)
		event := after[0].(map[string]any)
		assert.Equal(t, actions[name], event["action"], name)
		assert.Equal(t, "key:"+admin, event["actor"], name)
		assert.Equal(t, "127.0.0.1", event["address"], name)
		assert.Equal(t, a.header.Get("X-Request-Id"), event["request_id"], name)
		if call.idle != 0 {
			assert.Equal(t, call.idle, c.do(t, call.method, call.path, call.body).status, name)
			assert.Len(t, events(), len(after), "%s again changes nothing", name)
		}
	}

	checkReviewsLeaveNone(t, s, c, h, admin)
	checkRemoteEvent(t, s, c, admin)
	checkEventsOfTheCommandLine(t, s)
}

// checkReviewsLeaveNone creates a review twice by one idempotency key.
func checkReviewsLeaveNone(t *testing.T, s *server, c *client, h *hosts, admin string) {
	t.Helper()
	before := c.do(t, "GET", "/v1/audit", nil).body
	planted(t, h, "acme/shop")
	for range 2 {
		a := c.do(t, "POST", "/v1/reviews", map[string]any{"repo": "acme/shop", "pr_number": 1}, "Idempotency-Key", "once")
		require.Equal(t, 202, a.status, a.body)
		r := c.do(t, "GET", "/v1/reviews/"+a.decode(t)["review_id"].(string), nil).decode(t)
		assert.Equal(t, "key:"+admin, r["created_by"])
	}
	listed := list(c.do(t, "GET", "/v1/reviews?repo=acme/shop", nil).decode(t)["reviews"])
	require.Len(t, listed, 1)
	assert.Equal(t, "key:"+admin, listed[0].(map[string]any)["created_by"])
	assert.Equal(t, before, c.do(t, "GET", "/v1/audit", nil).body)
	assert.Equal(t, 403, s.client(s.key(t, "acme")).do(t, "GET", "/v1/audit", nil).status, "it is no default scope")
	for _, query := range []string{"action=x", "since=yesterday", "page_size=1001", "page_token=x", "until="} {
		assert.Equal(t, 400, c.do(t, "GET", "/v1/audit?"+query, nil).status, query)
	}
}

// checkRemoteEvent makes a change over gRPC.
func checkRemoteEvent(t *testing.T, s *server, c *client, admin string) {
	t.Helper()
	ctx := metadata.NewOutgoingContext(t.Context(), metadata.Join(with(t, c.token), metadata.Pairs("x-request-id", "mine")))
	_, err := s.services(t).keys.CreateKey(ctx, &prwardenv1.CreateKeyRequest{Name: "r", Scopes: []string{"rules:read"}})
	require.NoError(t, err)
	events := list(c.do(t, "GET", "/v1/audit?action=key.create&actor=key:"+admin+"&page_size=1", nil).decode(t)["events"])
	require.Len(t, events, 1)
	event := events[0].(map[string]any)
	assert.Equal(t, "mine", event["request_id"])
	assert.Equal(t, "127.0.0.1", event["address"])
}

// checkEventsOfTheCommandLine makes the changes of the command line.
func checkEventsOfTheCommandLine(t *testing.T, s *server) {
	t.Helper()
	who, err := user.Current()
	require.NoError(t, err)
	host, err := os.Hostname()
	require.NoError(t, err)
	run := func(args ...string) string {
		return s.command(t, append(args, "--database", s.database, "--config", s.config)...)
	}
	events := func() []string {
		return strings.Split(strings.TrimSpace(run("audit", "-o", "jsonl", "--limit", "0")), "\n")
	}
	token := filepath.Join(s.dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("secret"), 0o600))
	of := 0 // events of the organization, which go with it
	run("users", "create", "--organization", "acme", "--role", "viewer", "--email", "ada@example.com", "--public-url",
		"https://x.example")
	for _, step := range []struct {
		action, organization string
		args                 []string
	}{
		{"organization.create", "new", []string{"organizations", "create", "new"}},
		{"organization.update", "new", []string{"organizations", "update", "new", "--rate-limit", "100"}},
		{"key.create", "new", []string{"keys", "create", "--org", "new", "--name", "n"}},
		{"key.revoke", "new", []string{"keys", "revoke", ""}},
		{"connection.create", "new", []string{
			"connections", "create", "a", "--org", "new", "--kind", "gitea", "--url", "https://git.example.com",
			"--repositories", "acme/*", "--token-file", token,
		}},
		{"connection.update", "new", []string{"connections", "update", "a", "--org", "new", "--name", "b"}},
		{"connection.rotate", "new", []string{"connections", "rotate-secret", "b", "--org", "new", "--webhook"}},
		{"connection.delete", "new", []string{"connections", "delete", "b", "--org", "new"}},
		{"user.disable", "acme", []string{"users", "disable", "ada@example.com"}},
		{"user.enable", "acme", []string{"users", "enable", "ada@example.com"}},
		{"user.reset", "acme", []string{"users", "reset", "ada@example.com", "--public-url", "https://x.example"}},
		{"organization.remove", "*", []string{"organizations", "remove", "new", "--yes"}},
	} {
		before := events()
		if step.action == "key.revoke" {
			var created struct{ Target string }
			require.NoError(t, json.Unmarshal([]byte(before[0]), &created))
			step.args[2] = created.Target
		}
		run(step.args...)
		after := events()
		added := len(after) - len(before)
		if step.organization == "new" {
			of++
		} else if step.action == "organization.remove" {
			added += of
		}
		require.Equal(t, 1, added, step.action)
		var event struct{ Action, Actor, Organization string }
		require.NoError(t, json.Unmarshal([]byte(after[0]), &event))
		assert.Equal(t, step.action, event.Action)
		assert.Equal(t, fmt.Sprintf("cli:%s@%s", who.Username, host), event.Actor)
		assert.Equal(t, step.organization, event.Organization)
	}
	run("users", "remove", "ada@example.com")
	before := events()
	run("organizations", "list")
	run("keys", "list")
	run("users", "list")
	assert.Equal(t, before, events(), "what only reads leaves nothing")

	// Another key is the first one from here on; that of the server is known still.
	key := filepath.Join(s.dir, "sealing")
	require.NoError(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	file, err := os.OpenFile(s.config, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(file, "secrets: {keys: [{name: new, file: %q}]}\n", key)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	run("connections", "reseal")
	after := events()
	targets := map[string]int{}
	for _, line := range after[:len(after)-len(before)] {
		var event struct{ Action, Target string }
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		assert.Contains(t, []string{"connection.reseal", "webhook.reseal"}, event.Action)
		targets[event.Target]++
	}
	assert.Greater(t, len(targets), 2)
	assert.Len(t, after, len(before)+len(targets), "one for each secret")
	run("connections", "reseal")
	assert.Equal(t, after, events(), "nothing is left to seal")
}

// An organization has a limit for all of its keys together, of which every
// answer tells when less is left of it.
func TestRateLimitOfAnOrganization(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	run := func(args ...string) {
		s.command(t, append(args, "--database", s.database, "--config", s.config)...)
	}
	run("organizations", "create", "small", "--rate-limit", "5")
	first, second := s.client(s.keyWithRate(t, "small", 0)), s.client(s.keyWithRate(t, "small", 0))
	window := ""
	for i := 0; ; i++ {
		a := []*client{first, second}[i%2].do(t, "GET", "/v1/rules", nil)
		require.Less(t, i, 20)
		assert.Equal(t, "5", a.header.Get("X-RateLimit-Limit"))
		if window != a.header.Get("X-RateLimit-Reset") {
			window = a.header.Get("X-RateLimit-Reset")
			assert.Equal(t, "4", a.header.Get("X-RateLimit-Remaining"))
		}
		if a.status == 429 {
			assert.Equal(t, "0", a.header.Get("X-RateLimit-Remaining"))
			assert.Contains(t, a.body, `"limit":"organization"`)
			assert.Contains(t, a.body, "of this organization together")
			assert.GreaterOrEqual(t, i, 5)
			break
		}
	}
	acme := s.client(s.key(t, "acme")).do(t, "GET", "/v1/rules", nil)
	assert.Equal(t, 200, acme.status, "others have their own")
}

// TestMintingKeys holds that a key with keys:admin hands on no more than it has.
func TestMintingKeys(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	parent := s.client(strings.TrimSpace(s.command(t, "keys", "create", "--org", "acme", "--name", "parent",
		"--scopes", "keys:admin,reviews:read", "--rate-limit", "500", "--expires", "1h", "--database", s.database, "--config",
		s.config)))
	mint := func(c *client, more map[string]any) answer {
		body := map[string]any{"name": "child", "scopes": []any{"keys:admin", "reviews:read"}}
		for k, v := range more {
			body[k] = v
		}

		return c.do(t, "POST", "/v1/keys", body)
	}
	child := mint(parent, map[string]any{"rate_limit": 500})
	require.Equal(t, 201, child.status, child.body)
	self := list(parent.do(t, "GET", "/v1/keys", nil).decode(t)["keys"])
	require.Len(t, self, 2)
	assert.Equal(t, self[1].(map[string]any)["expires_at"], child.decode(t)["expires_at"])
	for field, value := range map[string]any{"rate_limit": 501, "expires_at": "2099-01-01T00:00:00Z"} {
		a := mint(parent, map[string]any{field: value})
		assert.Equal(t, 400, a.status)
		assert.Contains(t, a.fields(t), field)
	}

	// A grandchild has no more either, and the quota ends the family.
	minter := s.client(child.decode(t)["token"].(string))
	assert.Equal(t, 400, mint(minter, map[string]any{"rate_limit": 501}).status)
	made := 2
	for ; ; made++ {
		a := mint(minter, nil)
		if a.status != 201 {
			assert.Equal(t, 409, a.status, a.body)
			assert.Equal(t, "KEY_QUOTA", a.reason(t))
			break
		}
		require.Less(t, made, 101)
	}
	assert.Equal(t, 100, made)

	root := self[1].(map[string]any)["key_id"].(string)
	s.command(t, "keys", "revoke", root, "--with-children", "--database", s.database, "--config", s.config)
	require.Eventually(t, func() bool {
		return mint(minter, nil).status == 401 && mint(parent, nil).status == 401
	}, eventually, tick)
}
