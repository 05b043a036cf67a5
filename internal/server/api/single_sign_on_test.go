package api_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/api"
)

// provider is single sign-on that is configured.
type provider struct {
	account.OIDC
	problem string
}

func (p provider) Name() string                       { return "Acme ID" }
func (p provider) Configured() (account.OIDC, string) { return p.OIDC, page("/auth/oidc/callback") }
func (p provider) Check(context.Context) (at, problem string) {
	return "https://id.example.com/auth", p.problem
}

func TestGetSingleSignOn(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	p.add(t, "ada", auth.Owner, "acme")
	p.add(t, "olga", auth.Owner, "other")
	h := api.NewMembers(p.Service, page)
	ctx := ofKey(t, auth.OrganizationAdmin)
	got, err := h.GetSingleSignOn(ctx, &prwardenv1.GetSingleSignOnRequest{Check: true})
	require.NoError(t, err)
	assert.Nil(t, got.GetProvider())
	assert.Nil(t, got.GetCheck())

	declared := account.OIDC{
		Issuer: "https://id.example.com", ClientID: "prwarden", ClientSecretEnv: "SECRET", GroupsClaim: "groups",
		Roles: []account.GroupRole{
			{Group: "ops", Organization: "acme", Role: auth.Admin}, {Group: "hidden", Organization: "other", Role: auth.Owner},
		},
		Only: true, BreakGlass: "Ada@acme.example",
	}
	h.SSO = provider{OIDC: declared}
	got, err = h.GetSingleSignOn(ctx, &prwardenv1.GetSingleSignOnRequest{})
	require.NoError(t, err)
	want := `{"provider": {"name": "Acme ID", "issuer": "https://id.example.com", "client_id": "prwarden",
		"has_client_secret": true, "redirect_url": "https://prwarden.example.com/auth/oidc/callback",
		"groups_claim": "groups", "roles": [{"group": "ops", "role": "admin"}], "only": true,
		"break_glass": "ada@acme.example"}}`
	assert.JSONEq(t, want, protojson.MarshalOptions{UseProtoNames: true}.Format(got))

	declared.BreakGlass = "olga@acme.example"
	h.SSO = provider{OIDC: declared, problem: "connection refused"}
	got, err = h.GetSingleSignOn(ctx, &prwardenv1.GetSingleSignOnRequest{Check: true})
	require.NoError(t, err)
	assert.Nil(t, got.GetProvider().BreakGlass, "of a person of another organization")
	assert.False(t, got.GetCheck().GetReachable())
	assert.Equal(t, "connection refused", got.GetCheck().GetProblem())
}

func TestListMemberNames(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	ada := p.add(t, "ada", auth.Owner, "acme")
	p.add(t, "olga", auth.Owner, "other")
	got, err := api.NewMembers(p.Service, page).ListMemberNames(
		ofKey(t, auth.ReviewsRead), &prwardenv1.ListMemberNamesRequest{})
	require.NoError(t, err)
	require.Len(t, got.GetMembers(), 1)
	assert.Equal(t, ada.ID, got.GetMembers()[0].GetUserId())
	assert.Equal(t, "ada", got.GetMembers()[0].GetName())
	assert.NotContains(t, protojson.Format(got), "@")
}
