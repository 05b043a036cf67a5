package blackbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// pushSize is how many rules are pushed: PRWARDEN_RULES=5000 is all that an
// organization may have.
func pushSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PRWARDEN_RULES")
	if text == "" {
		return 500
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// manyRules are rules of usual size. word is in each pattern and case.
func manyRules(n int, word string) []any {
	rules := make([]any, n)
	for i := range rules {
		rules[i] = map[string]any{
			"id": fmt.Sprintf("team/r%04d", i), "type": "regex", "pattern": fmt.Sprintf(`\b%s%d\(`, word, i),
			"message": fmt.Sprintf("Don't call %s%d.", word, i), "severity": "high", "languages": []any{"go", "python"},
			"paths":      map[string]any{"include": []any{"**/*.go", "**/*.py"}, "exclude": []any{"vendor/**"}},
			"cases":      map[string]any{"match": []any{fmt.Sprintf("x := %s%d(1)\n", word, i)}, "no_match": []any{"# no:\t"}},
			"references": []any{"https://example.com/style"}, "in": []any{}, "any": []any{}, "all": []any{}, "depth": "", "where": map[string]any{}, "focus": "", "words": map[string]any{},
			"sources": []any{}, "sinks": []any{}, "sanitizers": []any{},
			"skip": []any{}, "allow": []any{}, "stopwords": []any{},
			"supersedes": []any{}, "confidence": "medium",
		}
	}

	return rules
}

// pushed is the answer of a push that succeeded, without its changes.
func (c *client) pushed(t *testing.T, body any) map[string]any {
	t.Helper()
	a := c.do(t, "POST", "/v1/rules:batch", body)
	require.Equal(t, 200, a.status, a.body)
	m := a.decode(t)
	delete(m, "changes")
	return m
}

// exported are the rules of the organization as they were sent.
func (c *client) exported(t *testing.T) []any {
	t.Helper()
	a := c.do(t, "GET", "/v1/rules:export", nil)
	require.Equal(t, 200, a.status, a.body)
	rules := list(a.decode(t)["rules"])
	for _, r := range rules {
		for _, name := range []string{
			"created_at", "created_by", "updated_at", "updated_by", "etag", "enabled", "multiline", "redact", "scope", "mode",
		} {
			delete(r.(map[string]any), name)
		}
	}

	return rules
}

// writeRules writes a file for `rules push`: JSON is YAML.
func writeRules(t *testing.T, rules []any) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"version": 1, "rules": rules})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// TestManyRules pushes, pulls and changes many rules, on both databases.
func TestManyRules(t *testing.T) {
	t.Parallel()
	n := pushSize(t)
	for _, database := range []string{"SQLite", "Postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, newHosts(t), serverOptions{})
			if database == "Postgres" {
				s.database, s.args = pgtest.New(t), []string{"--migrate"}
			}
			s.start(t)
			t.Cleanup(func() { s.stop(t) })
			c := s.client(s.key(t, "acme", "--scopes", "rules:read,rules:write,audit:read"))
			run := func(args ...string) string {
				t.Helper()
				stdout, stderr, code := s.prwarden(t, c, append([]string{"rules"}, args...)...)
				require.Zero(t, code, "%s%s", stdout, stderr)
				lines := strings.Split(strings.TrimSpace(strings.TrimSuffix(stdout, "Done.\n")), "\n")
				return lines[len(lines)-1]
			}
			pushes := func() int { return len(list(c.do(t, "GET", "/v1/audit?action=rule.push", nil).decode(t)["events"])) }

			first, second := manyRules(n, "frob"), manyRules(n, "snafu")
			assert.Equal(t, fmt.Sprintf("%d to create, 0 to change, 0 to delete, 0 unchanged.", n), run("push", writeRules(t, first)))
			assert.Equal(t, first, c.exported(t))
			pulled := filepath.Join(t.TempDir(), "pulled.yml")
			run("pull", "--file", pulled)
			assert.Equal(t, fmt.Sprintf("Nothing to change, %d unchanged.", n), run("push", pulled, "--prune"))
			assert.Equal(t, 1, pushes())
			assert.Equal(t, fmt.Sprintf("0 to create, %d to change, 0 to delete, 0 unchanged.", n), run("push", writeRules(t, second)))
			assert.Equal(t, second, c.exported(t))
			assert.Equal(t, fmt.Sprintf("Nothing to change, %d unchanged.", n), run("push", writeRules(t, second)))
			assert.Equal(t, 2, pushes())
			for _, id := range []string{"team/r0000", fmt.Sprintf("team/r%04d", n-1)} {
				entries := list(c.do(t, "GET", "/v1/rules/"+id+":history", nil).decode(t)["entries"])
				assert.Len(t, entries, 2, id)
			}

			checkKilledPushes(t, s, c, first, second)
		})
	}
}

// readTo calls reached when so many bytes of it were read.
type readTo struct {
	io.Reader
	left    int
	reached func()
}

func (r *readTo) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.left > 0 && r.left <= n {
		r.reached()
	}
	r.left -= n
	return n, err
}

// checkKilledPushes kills the server at different moments of a push, which then did
// all or nothing: while it reads, when it has read, and when others see the change.
func checkKilledPushes(t *testing.T, s *server, c *client, first, second []any) {
	t.Helper()
	events := func() int {
		a := c.do(t, "GET", "/v1/audit?action=rule.push&page_size=100", nil)
		return len(list(a.decode(t)["events"]))
	}
	c.pushed(t, map[string]any{"rules": first})
	now, next := first, second
	for i := range 3 {
		data, err := json.Marshal(map[string]any{"rules": next})
		require.NoError(t, err)
		before, sent := events(), make(chan struct{})
		body := &readTo{bytes.NewReader(data), len(data), func() { close(sent) }}
		if i == 0 {
			body.left /= 2
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", c.base+"/v1/rules:batch", body)
		require.NoError(t, err)
		req.ContentLength = int64(len(data))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+c.token)
		answered := make(chan error, 1)
		go func() {
			res, err := c.http.Do(req)
			if err == nil {
				err = res.Body.Close()
			}
			answered <- err
		}()
		<-sent
		if i == 2 {
			require.Eventually(t, func() bool { return events() > before }, eventually, tick)
		}
		s.kill(t)
		err = <-answered
		s.start(t)
		c.base = s.base

		got := c.exported(t)
		changed := got[0].(map[string]any)["pattern"] == next[0].(map[string]any)["pattern"]
		if err == nil {
			assert.True(t, changed, "it was answered")
		}
		if changed {
			now, next = next, now
		}
		require.Equal(t, now, got)
	}
	t.Cleanup(func() { s.stop(t) })
	entries := list(c.do(t, "GET", "/v1/rules/team/r0000:history", nil).decode(t)["entries"])
	assert.Len(t, entries, events())
}

func TestSizeOfAPush(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{})
	c := s.client(s.key(t, "acme", "--scopes", "rules:read,rules:write"))
	const most = 16 << 20
	body := func(size int) string {
		text := `{"rules":[` + strings.Repeat(" ", size-12) + `]}`
		require.Len(t, text, size)
		return text
	}
	assert.Equal(t, 200, c.do(t, "POST", "/v1/rules:batch", body(most)).status)
	a := c.do(t, "POST", "/v1/rules:batch", body(most+1))
	assert.Equal(t, 413, a.status)
	assert.Equal(t, "BODY_TOO_LARGE", a.reason(t))
	a = c.do(t, "POST", "/v1/rules:batch", struct{ *strings.Reader }{strings.NewReader(body(most + 1))}, "Content-Length", "")
	assert.Equal(t, 413, a.status, "without a length")
	assert.Equal(t, 413, c.do(t, "POST", "/v1/rules", body(2<<20)).status, "only this call takes so much")

	more := manyRules(5001, "frob")
	assert.Contains(t, c.do(t, "POST", "/v1/rules:batch", map[string]any{"rules": more}).fields(t), "rules")
	large := func(prefix string) map[string]any {
		rules := make([]any, 360)
		texts := []any{strings.Repeat("x", 16<<10), strings.Repeat("y", 16<<10)}
		for i := range rules {
			rules[i] = map[string]any{
				"id": prefix + fmt.Sprint(i), "type": "regex", "pattern": "zzz9", "message": "No.", "severity": "low",
				"cases": map[string]any{"no_match": texts},
			}
		}
		return map[string]any{"rules": rules, "prune": prefix == "b"}
	}
	c.pushed(t, large("a"))
	assert.Equal(t, "RULE_QUOTA", c.do(t, "POST", "/v1/rules:batch", large("c")).reason(t), "all of them have a bound")
	assert.Equal(t, map[string]any{
		"created": 360.0, "updated": 0.0, "deleted": 360.0, "unchanged": 0.0, "etag": "1080",
	}, c.pushed(t, large("b")))
	assert.Len(t, c.exported(t), 360)
	c.pushed(t, map[string]any{"prune": true})

	// Over gRPC a document comes in parts.
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, c.token))
	send := func(parts ...[]*prwardenv1.Rule) (*prwardenv1.BatchRulesResponse, error) {
		stream, err := s.services(t).rules.BatchRules(ctx)
		require.NoError(t, err)
		for _, part := range parts {
			if err := stream.Send(&prwardenv1.BatchRulesRequest{Rules: part}); err != nil {
				break // the answer says why
			}
		}
		return stream.CloseAndRecv()
	}
	part := func(from, n, size int) (rules []*prwardenv1.Rule) {
		for i := range n {
			rules = append(rules, &prwardenv1.Rule{
				Id: fmt.Sprintf("r%d", from+i), Type: prwardenv1.Rule_regex.Enum(), Pattern: "frob" + fmt.Sprint(from+i),
				Message: "No.", Severity: prwardenv1.Severity_low.Enum(),
				Cases: &prwardenv1.Rule_Cases{NoMatch: []string{strings.Repeat("x", size)}},
			})
		}
		return rules
	}
	plan, err := send(part(0, 50, 16<<10), part(50, 50, 16<<10), part(100, 50, 16<<10))
	require.NoError(t, err)
	assert.Equal(t, int32(150), plan.GetCreated())
	plan, err = send(part(0, 50, 16<<10), part(50, 100, 100))
	require.NoError(t, err)
	assert.Equal(t, int32(100), plan.GetUpdated())
	assert.Equal(t, int32(50), plan.GetUnchanged())
	_, err = send(part(0, 1, 1), part(0, 1, 1))
	_, fields := details(t, err)
	assert.Equal(t, []string{"rules[1].id"}, fields, "an id twice, in different parts")

	var parts [][]*prwardenv1.Rule
	for i := range 21 {
		parts = append(parts, part(i*50, 50, 16<<10))
	}
	_, err = send(parts...)
	reason, _ := details(t, err)
	assert.Equal(t, "BODY_TOO_LARGE", reason, "%v", err)
	_, err = send(part(0, 100, 16<<10))
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), "a part of more than 1 MiB: %v", err)
}

// TestPushesAtOnce holds that an organization pushes one document at a time, and
// that one that never ends its own keeps nobody else from it.
func TestPushesAtOnce(t *testing.T) {
	t.Parallel()
	s := startServer(t, newHosts(t), serverOptions{organizations: []organization{
		{"a", "*/*"}, {"b", "*/*"}, {"c", "*/*"},
	}})
	clients := map[string]*client{}
	for _, org := range []string{"a", "b", "c"} {
		clients[org] = s.client(s.key(t, org, "--scopes", "rules:read,rules:write"))
	}
	var streams []interface {
		Send(*prwardenv1.BatchRulesRequest) error
	}
	ctx, cancel := context.WithTimeout(t.Context(), eventually)
	defer cancel()
	for _, org := range []string{"a", "b"} {
		stream, err := s.services(t).rules.BatchRules(metadata.NewOutgoingContext(ctx, with(t, clients[org].token)))
		require.NoError(t, err)
		require.NoError(t, stream.Send(&prwardenv1.BatchRulesRequest{}))
		streams = append(streams, stream)
	}
	require.Eventually(t, func() bool {
		return clients["a"].do(t, "POST", "/v1/rules:batch", "{}").status == 503
	}, eventually, tick, "one at a time of an organization")

	require.Eventually(t, func() bool {
		for _, stream := range streams {
			_ = stream.Send(&prwardenv1.BatchRulesRequest{}) // until the server ends it
		}
		return clients["c"].do(t, "POST", "/v1/rules:batch", "{}").status == 200
	}, eventually, time.Second, "a document that never ends keeps its place for half a minute at most")
}
