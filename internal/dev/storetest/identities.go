package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// identity is one of a person of which the provider has verified the email.
func identity(subject, name string) account.Identity {
	u := account.User{ID: "usr_new" + name, Email: name + "@example.com", Name: name}

	return account.Identity{Issuer: "https://id.example.com", Subject: subject, Email: u.Email, Name: name, New: u}
}

// invitedToo makes a member who has an open invitation besides.
func invitedToo(t *testing.T, h Harness, name string, role auth.Role) account.User {
	t.Helper()
	_ = h.Store.CreateOrganization(t.Context(), organizationOf(acme)) // it may be there
	invite(t, h, acme, name, role, operator())

	return user(t, h, acme, name, role)
}

func signInFails(t *testing.T, h Harness, i account.Identity, why string) {
	t.Helper()
	_, err := h.Store.SignInAs(t.Context(), i)
	require.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))
	assert.ErrorContains(t, err, why)
}

func roleOf(t *testing.T, h Harness, org, userID string) (auth.Role, account.Source) {
	t.Helper()
	members, err := h.Store.Members(t.Context(), org)
	require.NoError(t, err)
	for _, m := range members {
		if m.ID == userID {
			return m.Role, m.Source
		}
	}

	return "", ""
}

func linkedIdentity(t *testing.T, h Harness) {
	ctx := audit.NewContext(t.Context(), audit.Actor{Kind: audit.User, Address: "192.0.2.7"})
	user(t, h, acme, "member", auth.Viewer)
	signInFails(t, h, identity("7", "member"), "is in use")
	made, _, err := h.Store.AddUser(ctx, account.User{ID: "usr_made", Email: "made@example.com", Name: "Made"},
		account.Membership{Organization: acme, Role: auth.Viewer})
	require.NoError(t, err)
	got, err := h.Store.SignInAs(ctx, identity("8", "made"))
	require.NoError(t, err, "the operator made the account for this email")
	assert.Equal(t, made.ID, got.ID)
	another := identity("8", "made")
	another.Issuer = "https://other.example.com"
	signInFails(t, h, another, "is in use")

	a := invitedToo(t, h, "a", auth.Viewer)
	unverified := identity("1", "a")
	unverified.Email = ""
	signInFails(t, h, unverified, "does not say that your email is verified")
	unverified.BreakGlass = true
	signInFails(t, h, unverified, "signs in with its password")
	signInFails(t, h, identity("9", "nobody"), "ask an admin for an invitation")

	got, err = h.Store.SignInAs(ctx, identity("1", "a"))
	require.NoError(t, err)
	assert.Equal(t, a.ID, got.ID)
	assert.Empty(t, got.Password)
	links := events(t, h, acme, audit.Filter{Action: audit.UserLink})
	require.Len(t, links, 2)
	assert.ElementsMatch(t, []string{"user:" + a.ID, "user:" + made.ID}, []string{links[0].Actor, links[1].Actor})
	assert.Equal(t, "192.0.2.7", links[0].Address)
	members, err := h.Store.Members(ctx, acme)
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(members, func(m account.Member) bool { return m.ID == a.ID && m.HasIdentity }))

	// From now on the subject counts, whatever the email.
	moved := identity("1", "elsewhere")
	moved.Email = ""
	got, err = h.Store.SignInAs(ctx, moved)
	require.NoError(t, err)
	assert.Equal(t, a.ID, got.ID)
	assert.Equal(t, a.Email, got.Email)
	signInFails(t, h, identity("2", "a"), "belongs to another identity")
	user(t, h, other, "c", auth.Owner)
	invite(t, h, other, "a", auth.Member, operator())
	another = identity("2", "a")
	another.Issuer = "https://other.example.com"
	signInFails(t, h, another, "is in use") // the rights in acme are not the other's to give
	invite(t, h, acme, "b", auth.Member, operator())
	invite(t, h, other, "b", auth.Member, operator())
	b := user(t, h, acme, "b", auth.Member)
	_, err = h.Store.SignInAs(ctx, identity("3", "b"))
	require.NoError(t, err)
	role, _ := roleOf(t, h, other, b.ID)
	assert.Equal(t, auth.Member, role, "the invitation is accepted")

	require.NoError(t, h.Store.DisableUser(ctx, a.ID, true))
	signInFails(t, h, identity("1", "a"), "disabled")
}

func invitedIdentity(t *testing.T, h Harness) {
	ctx := t.Context()
	owner := user(t, h, acme, "owner", auth.Owner)
	user(t, h, other, "c", auth.Owner)
	for org, by := range map[string]auth.Caller{acme: {UserID: owner.ID}, other: {UserID: "usr_c"}} {
		_, err := h.Store.Invite(ctx, account.Invitation{
			ID: "inv_" + org, Organization: org, Email: "b@example.com", Role: auth.Member, Hash: hashOf(org),
			ExpiresAt: h.Clock.Stored().Add(time.Hour),
		}, by)
		require.NoError(t, err)
	}

	u, err := h.Store.SignInAs(ctx, identity("1", "b"))
	require.NoError(t, err)
	assert.Equal(t, "usr_newb", u.ID)
	for _, org := range []string{acme, other} {
		role, source := roleOf(t, h, org, u.ID)
		assert.Equal(t, auth.Member, role)
		assert.Equal(t, account.Local, source)
		open, err := h.Store.Invitations(ctx, org)
		require.NoError(t, err)
		assert.Empty(t, open)
	}
}

func groupRoles(t *testing.T, h Harness) {
	ctx := t.Context()
	user(t, h, acme, "owner", auth.Owner)
	user(t, h, other, "c", auth.Owner)
	a := invitedToo(t, h, "a", auth.Viewer)
	i := identity("1", "a")
	i.Managed = []string{acme, "gone", other}
	signIn := func(roles map[string]auth.Role) {
		t.Helper()
		i.Roles = roles
		_, err := h.Store.SignInAs(ctx, i)
		require.NoError(t, err)
	}
	holds := func(org string, role auth.Role, source account.Source) {
		t.Helper()
		gotRole, gotSource := roleOf(t, h, org, a.ID)
		assert.Equal(t, role, gotRole, org)
		assert.Equal(t, source, gotSource, org)
	}

	signIn(nil)
	holds(acme, auth.Viewer, account.Local)
	hash := session(t, h, a, "1")
	signIn(map[string]auth.Role{other: auth.Member, "gone": auth.Owner})
	holds(other, auth.Member, account.Provider)
	holds(acme, auth.Viewer, account.Local)
	assert.True(t, hasSession(t, h, hash), "no role became another")

	signIn(map[string]auth.Role{acme: auth.Admin, other: auth.Member})
	holds(acme, auth.Admin, account.Provider)
	assert.False(t, hasSession(t, h, hash))
	changes := events(t, h, acme, audit.Filter{Action: audit.MemberRole})
	require.Len(t, changes, 1)
	assert.Equal(t, "system", changes[0].Actor)

	hash = session(t, h, a, "2")
	signIn(map[string]auth.Role{acme: auth.Admin, other: auth.Member})
	assert.True(t, hasSession(t, h, hash))
	signIn(map[string]auth.Role{acme: auth.Viewer})
	holds(acme, auth.Viewer, account.Provider)
	holds(other, "", "")
	signIn(nil)
	holds(acme, "", "")
}

func lastOwnerByGroups(t *testing.T, h Harness) {
	a := invitedToo(t, h, "a", auth.Owner)
	i := identity("1", "a")
	i.Managed, i.Roles = []string{acme}, map[string]auth.Role{acme: auth.Viewer}
	_, err := h.Store.SignInAs(t.Context(), i)
	require.NoError(t, err)
	role, _ := roleOf(t, h, acme, a.ID)
	assert.Equal(t, auth.Owner, role)
	user(t, h, acme, "b", auth.Owner)
	_, err = h.Store.SignInAs(t.Context(), i)
	require.NoError(t, err)
	role, _ = roleOf(t, h, acme, a.ID)
	assert.Equal(t, auth.Viewer, role)
}
