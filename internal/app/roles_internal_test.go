package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/roletest"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// people makes a server, and returns how somebody with a role in an organization calls
// it as pages do: by the connection of this process, with the session that he has.
func people(t *testing.T) (*Server, func(role auth.Role, organization string) context.Context) {
	t.Helper()
	c := config.Default()
	c.Database, c.CacheDir = "sqlite:"+filepath.Join(t.TempDir(), "prwarden.db"), t.TempDir()
	c.HTTPAddr, c.GRPCAddr, c.OpsAddr = "127.0.0.1:0", "127.0.0.1:0", ""
	c.PublicURL = "https://prwarden.example.com"
	for _, name := range []string{"acme", "other", "acme-too"} {
		c.Organizations = append(c.Organizations, organization.Organization{
			Name: name, Repositories: []string{name + "/*"}, Host: organization.Host{Kind: "git", URL: "file:///nowhere/{repo}.git"},
		})
	}
	s, err := NewServer(t.Context(), c, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.free()) })
	s.ready.start()

	return s, func(role auth.Role, organization string) context.Context {
		t.Helper()
		const password = "violet Harbor 7 quilts"
		email := fmt.Sprintf("%s@%s.example", role, organization)
		system := audit.NewContext(t.Context(), audit.Actor{Kind: audit.System})
		_, _, err := s.accounts.AddUser(system, account.Membership{Organization: organization, Role: role},
			account.Person{Email: email, Name: "The " + string(role), Password: password})
		require.NoError(t, err)
		token, err := s.accounts.SignIn(t.Context(), account.Client{Address: "192.0.2.1"}, email, password)
		require.NoError(t, err)
		caller, err := s.sessions.Caller(t.Context(), token, organization)
		require.NoError(t, err)

		ctx := rpc.WithCall(t.Context(), &rpc.Call{RequestID: "req", Actor: caller.Actor()})

		return rpc.Admitted(ctx, caller)
	}
}

// A person may make the calls of his role, and nothing of another organization is
// there for him.
func TestRolesOfPeople(t *testing.T) {
	t.Parallel()
	roletest.Complete(t)
	s, as := people(t)
	conn := s.grpc.Conn()
	for _, role := range auth.Roles() {
		ctx := as(role, "acme")
		for _, c := range roletest.Calls {
			_, err := c.Invoke(ctx, t, conn, c.Filled(nil))
			what := fmt.Sprintf("%s by %s: %v", c.Method, role, err)
			if c.Allowed(string(role)) {
				assert.NotContains(t, []codes.Code{codes.PermissionDenied, codes.Unauthenticated}, status.Code(err), what)
				continue
			}
			require.Equal(t, codes.PermissionDenied, status.Code(err), what)
			assert.Equal(t, "This needs the role "+c.Role+"; yours is "+string(role)+".", status.Convert(err).Message(), what)
			assert.Equal(t, c.Scope, status.Convert(err).Details()[0].(*errdetails.ErrorInfo).GetMetadata()["scope"], what)
		}
	}
	made := map[string]string{"rule": "made"}
	owner := as(auth.Owner, "other")
	for name, call := range map[string]string{
		"connection": "ConnectionService/CreateConnection", "key": "KeyService/CreateKey",
		"invitation": "MemberService/CreateInvitation", "webhook": "WebhookService/CreateWebhook",
		"review": "ReviewService/CreateReview", "user": "MemberService/ListMembers", "rule": "RuleService/CreateRule",
	} {
		c := roletest.Named(call)
		text, err := c.Invoke(owner, t, conn, strings.ReplaceAll(c.Request, "acme/", "other/"))
		require.NoError(t, err, call)
		id := regexp.MustCompile(`(?i)"(?:` + name + `_?)?id": +"(\w+)"`).FindStringSubmatch(text)
		require.NotNil(t, id, text)
		made[name] = id[1]
	}
	stranger := as(auth.Owner, "acme-too")
	for _, c := range roletest.Calls {
		if request := c.Filled(made); request != c.Filled(nil) {
			_, err := c.Invoke(stranger, t, conn, request)
			assert.Equal(t, c.Elsewhere, status.Code(err), "%s: %v", c.Method, err)
		}
	}
	_, err := roletest.Named("WebhookService/GetWebhook").Invoke(owner, t, conn, `{"webhook_id": "`+made["webhook"]+`"}`)
	require.NoError(t, err, "it is there")
}
