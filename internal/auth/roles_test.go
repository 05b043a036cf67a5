package auth_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestRolesAreSetsOfScopes(t *testing.T) {
	t.Parallel()
	want := map[auth.Scope]string{ // the weakest role that has it
		"reviews:read": "viewer", "rules:read": "viewer", "policy:read": "viewer",
		"reviews:write": "member", "findings:triage": "member", "source:read": "member", "hosts:read": "member",
		"rules:write": "admin", "policy:write": "admin", "keys:admin": "admin", "members:admin": "admin",
		"audit:read": "admin", "hosts:write": "admin", "webhooks:read": "admin", "webhooks:write": "admin",
		"organization:admin": "owner",
	}
	assert.Len(t, auth.Scopes(), len(want), "every scope has a role")

	for place, role := range auth.Roles() {
		for _, scope := range auth.Scopes() {
			weakest := slices.Index(auth.Roles(), auth.Role(want[scope]))
			require.GreaterOrEqual(t, weakest, 0, scope)
			assert.Equal(t, place >= weakest, slices.Contains(role.Scopes(), scope), "%s of %s", scope, role)
		}
	}

	assert.Empty(t, auth.Role("king").Scopes())
	for _, scope := range []auth.Scope{auth.SourceRead, auth.MembersAdmin, auth.OrganizationAdmin} {
		assert.NotContains(t, auth.DefaultScopes(), scope, "keys that name no scopes gain nothing")
	}
}

func TestPersonsAreCallers(t *testing.T) {
	t.Parallel()
	c := auth.Caller{UserID: "usr_1", Organization: "acme", Role: auth.Viewer, Scopes: auth.Viewer.Scopes()}
	assert.Equal(t, "user:usr_1", c.Actor().String())
	assert.Equal(t, "key:key_1", auth.Caller{KeyID: "key_1"}.Actor().String())
	assert.Equal(t, audit.Actor{}, auth.Caller{}.Actor())

	require.NoError(t, c.Require(auth.ReviewsRead))
	err := c.Require(auth.KeysAdmin)
	assert.Equal(t, errs.ReasonScopeMissing, errs.ReasonOf(err))
	require.EqualError(t, err, "This needs the role admin; yours is viewer.")
	require.ErrorContains(t, auth.Caller{UserID: "usr_1"}.Require(auth.ReviewsRead), "not a member")
}

func TestPersonsHaveRequestsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admitter := auth.NewAdmitter(b.keys, auth.NewLimiter(nil, b.clock.Now), nil, auth.DefaultLimit)
	c := auth.Caller{UserID: "usr_1", Organization: "acme"}
	for range auth.PersonLimit {
		d, err := admitter.AdmitPerson(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, auth.PersonLimit, d.Limit)
	}

	_, err := admitter.AdmitPerson(t.Context(), c)
	require.Equal(t, errs.ReasonRateLimited, errs.ReasonOf(err))
	require.ErrorContains(t, err, "You made more than 1200 requests")
	_, err = admitter.AdmitPerson(t.Context(), auth.Caller{UserID: "usr_2", Organization: "acme"})
	require.NoError(t, err)
}
