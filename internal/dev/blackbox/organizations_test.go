package blackbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// TestOrganizationIsRemovedAndAddedBack follows an organization out of the
// configuration, back into it, and out for good.
func TestOrganizationIsRemovedAndAddedBack(t *testing.T) {
	t.Parallel()
	h, asked := newSilentHosts(t)
	s := newServer(t, h, serverOptions{organizations: []organization{{"acme", "*/*"}, {"removed", "*/*"}}, args: []string{"--scan-workers", "1"}})
	both, err := os.ReadFile(s.config)
	require.NoError(t, err)
	before, _, _ := strings.Cut(string(both), "  - name: removed")
	configure := func(text string) { require.NoError(t, os.WriteFile(s.config, []byte(text), 0o600)) }
	// As if the grace were over.
	later := func() {
		execute(t, s.database, "UPDATE organizations SET configured_at = 1 WHERE name = 'removed'")
	}
	row := func(name string) []string {
		for line := range strings.Lines(s.command(t, "organizations", "list", "--database", s.database, "--config", s.config)) {
			if f := strings.Fields(line); f[0] == name {
				return f
			}
		}
		return nil
	}

	s.start(t)
	token, other := s.key(t, "removed"), s.key(t, "acme")
	addRule(t, s.client(token), todoRule)
	var ids []string
	for n := range 3 {
		ids = append(ids, s.client(token).review(t, "acme/api", n+1))
	}
	within(t, "git asks the host", asked)
	assert.Equal(t, []string{"yes", "3", "2", "1", "1", "1"}, row("removed")[1:7], "reviews, queued, running, rules, keys")
	s.stop(t)

	configure(before)
	s.start(t)
	a := s.client(token).do(t, "GET", "/v1/reviews/"+ids[0], nil)
	assert.Equal(t, 403, a.status)
	assert.Equal(t, "ORGANIZATION_REMOVED", a.reason(t))
	assert.NotEmpty(t, a.header.Get("X-RateLimit-Remaining"))
	_, err = s.services(t).reviews.GetReview(metadata.NewOutgoingContext(t.Context(), with(t, token)), &prwardenv1.GetReviewRequest{ReviewId: ids[0]})
	assert.Equal(t, codes.PermissionDenied, status.Code(err))
	assert.Equal(t, 200, s.client(other).do(t, "GET", "/v1/reviews", nil).status)
	assert.Equal(t, []string{"no", "3", "3", "0", "1", "1"}, row("removed")[1:7], "nothing is lost while it may come back")
	_, stderr := s.fails(t, "organizations", "purge", "acme", "--yes", "--database", s.database, "--config", s.config)
	assert.Contains(t, stderr, "the configuration names the organization acme")
	s.stop(t)

	configure(string(both))
	s.start(t)
	c := s.client(token)
	assert.Len(t, list(c.do(t, "GET", "/v1/rulesets/custom/rules", nil).decode(t)["rules"]), 1)
	within(t, "git asks the host", asked)
	assert.Contains(t, []any{"queued", "in_progress"}, c.do(t, "GET", "/v1/reviews/"+ids[2], nil).decode(t)["status"], "it goes on where it was")
	s.stop(t)

	configure(before)
	_, stderr = s.fails(t, "organizations", "purge", "removed", "--yes", "--database", s.database, "--config", s.config)
	assert.Contains(t, stderr, `a server had the organization "removed" in its configuration at`)
	later()
	s.command(t, "organizations", "purge", "removed", "--yes", "--database", s.database, "--config", s.config)
	assert.Nil(t, row("removed"))
	s.start(t)
	defer s.stop(t)
	assert.Equal(t, 401, s.client(token).do(t, "GET", "/v1/reviews", nil).status, "the key is gone")
	assert.Equal(t, 200, s.client(other).do(t, "GET", "/v1/reviews", nil).status)
}
