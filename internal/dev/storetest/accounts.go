package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

func accountTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"Accounts/a user is made once, and joins organizations": addedUsers,
		"Accounts/the first user is made by a link, once":       setUp,
		"Accounts/a password ends sessions and links":           passwords,
		"Accounts/a user gets another name":                     renamed,
		"Accounts/a link resets a password once":                resetLinks,
		"Accounts/a user is disabled and removed":               disabledUser,
		"Accounts/what ended goes":                              purgedAccounts,

		"Sessions/one is found with its person": foundSession,
		"Sessions/they are listed and end":      endedSessions,
		"Sessions/one gets another token":       renewedSession,

		"Identities/one is linked by its email":  linkedIdentity,
		"Identities/one makes who is invited":    invitedIdentity,
		"Identities/groups give and take roles":  groupRoles,
		"Identities/groups leave the last owner": lastOwnerByGroups,

		"Members/a role is changed and taken":         changedMembers,
		"Members/nobody gives what he lacks":          givenRoles,
		"Members/invitations are accepted once":       invitations,
		"Members/there is a quota":                    memberQuota,
		"Members/a key is made by those who may":      keysOfMembers,
		"Members/a reset is for the organization's":   memberLinks,
		"Races/an organization keeps an owner":        ownerRace,
		"Races/an invitation is accepted once":        acceptRace,
		"Races/the first user is made once":           setUpRace,
		"Audit/accounts leave neither token nor hash": accountsAudited,
	}
}

// user makes a member of an organization, which is made when it isn't there.
func user(t *testing.T, h Harness, org, name string, role auth.Role) account.User {
	t.Helper()
	_ = h.Store.CreateOrganization(t.Context(), organizationOf(org)) // it may be there
	u := account.User{ID: "usr_" + name, Email: name + "@example.com", Name: name, Password: "$hash of " + name}
	u, _, err := h.Store.AddUser(t.Context(), u, account.Membership{Organization: org, Role: role})
	require.NoError(t, err)

	return u
}

// session makes one of a user, and returns its hash.
func session(t *testing.T, h Harness, u account.User, id string) string {
	t.Helper()
	require.NoError(t, h.Store.CreateSession(t.Context(), account.Session{
		ID: "ses_" + id, Hash: hashOf(id), UserID: u.ID, Method: account.ByPassword, Address: "192.0.2.1", Agent: "Firefox",
		FreshUntil: h.Clock.Stored().Add(account.FreshFor), ExpiresAt: h.Clock.Stored().Add(account.SessionLife),
	}, 3))

	return hashOf(id)
}

func hasSession(t *testing.T, h Harness, hash string) bool {
	t.Helper()
	_, ok, err := h.Store.SessionByHash(t.Context(), hash)
	require.NoError(t, err)

	return ok
}

func addedUsers(t *testing.T, h Harness) {
	ctx := t.Context()
	has, err := h.Store.HasUsers(ctx)
	require.NoError(t, err)
	assert.False(t, has)
	a := user(t, h, acme, "a", auth.Owner)
	assert.Equal(t, h.Clock.Stored(), a.CreatedAt)

	got, ok, err := h.Store.UserByEmail(ctx, a.Email)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, a, got)
	_, ok, err = h.Store.UserByEmail(ctx, "nobody@example.com")
	require.NoError(t, err)
	assert.False(t, ok)

	require.NoError(t, h.Store.CreateOrganization(ctx, organizationOf(other)))
	same := account.User{ID: "usr_x", Email: a.Email, Name: "x", Password: "x"}
	got, made, err := h.Store.AddUser(ctx, same, account.Membership{Organization: other, Role: auth.Viewer})
	require.NoError(t, err)
	assert.False(t, made)
	assert.Equal(t, a, got, "who is there stays what he is")
	_, _, err = h.Store.AddUser(ctx, same, account.Membership{Organization: other, Role: auth.Viewer})
	assert.Equal(t, errs.ReasonMemberExists, errs.ReasonOf(err))
	same.Email = "y@example.com"
	_, _, err = h.Store.AddUser(ctx, same, account.Membership{Organization: "none", Role: auth.Viewer})
	assert.Equal(t, errs.ReasonOrganizationNotFound, errs.ReasonOf(err))

	b := user(t, h, other, "b", auth.Member)
	a.Password, b.Password = "", ""
	owner := account.Membership{Organization: acme, Role: auth.Owner}
	viewer := account.Membership{Organization: other, Role: auth.Viewer}
	list, err := h.Store.Users(ctx, "")
	require.NoError(t, err)
	assert.Equal(t, []account.Found{
		{User: a, Memberships: []account.Membership{owner, viewer}},
		{User: b, Memberships: []account.Membership{{Organization: other, Role: auth.Member}}},
	}, list)
	list, err = h.Store.Users(ctx, acme)
	require.NoError(t, err)
	assert.Equal(t, []account.Found{{User: a, Memberships: []account.Membership{owner}}}, list)
}

func setUp(t *testing.T, h Harness) {
	ctx := t.Context()
	require.NoError(t, h.Store.CreateOrganization(ctx, organizationOf(acme)))
	link := func(hash string) account.Link {
		return account.Link{Hash: hash, Kind: account.SetUpLink, ExpiresAt: h.Clock.Stored().Add(account.SetUpFor)}
	}
	first := account.User{ID: "usr_a", Email: "a@example.com", Name: "a", Password: "p"}
	require.NoError(t, h.Store.CreateLink(ctx, link("old")))
	h.Clock.Advance(account.SetUpFor)
	_, err := h.Store.SetUp(ctx, "old", first, acme)
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))

	require.NoError(t, h.Store.CreateLink(ctx, link("one")))
	require.NoError(t, h.Store.CreateLink(ctx, link("two")), "of another server")
	_, err = h.Store.SetUp(ctx, "one", first, "none")
	assert.Equal(t, errs.ReasonOrganizationNotFound, errs.ReasonOf(err))
	_, err = h.Store.LinkUser(ctx, account.SetUpLink, "one")
	require.NoError(t, err, "a mistake ends nothing")

	_, err = h.Store.SetUp(ctx, "one", first, acme)
	require.NoError(t, err)
	members, err := h.Store.Members(ctx, acme)
	require.NoError(t, err)
	require.Len(t, members, 1)
	assert.Equal(t, auth.Owner, members[0].Role)
	assert.Empty(t, members[0].Password)
	for _, hash := range []string{"one", "two"} {
		_, err = h.Store.SetUp(ctx, hash, account.User{ID: "usr_b", Email: "b@example.com"}, acme)
		assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))
	}
	assert.Equal(t, errs.ReasonUserExists, errs.ReasonOf(h.Store.CreateLink(ctx, link("three"))))
}

func setUpRace(t *testing.T, h Harness) {
	require.NoError(t, h.Store.CreateOrganization(t.Context(), organizationOf(acme)))
	require.NoError(t, h.Store.CreateLink(t.Context(), account.Link{
		Hash: "one", Kind: account.SetUpLink, ExpiresAt: h.Clock.Stored().Add(time.Hour),
	}))
	var made atomic.Int64
	together(t, 8, func(ctx context.Context, i int) error {
		u := account.User{ID: fmt.Sprint("usr_", i), Email: fmt.Sprint(i, "@example.com")}
		if _, err := h.Store.SetUp(ctx, "one", u, acme); errs.ReasonOf(err) != errs.ReasonLinkNotFound {
			made.Add(1)
			return err
		}

		return nil
	})
	assert.EqualValues(t, 1, made.Load())
}

func passwords(t *testing.T, h Harness) {
	ctx := t.Context()
	u := user(t, h, acme, "a", auth.Owner)
	kept, ended := session(t, h, u, "1"), session(t, h, u, "2")
	require.NoError(t, h.Store.SetPassword(ctx, u.ID, "another", kept))
	assert.True(t, hasSession(t, h, kept))
	assert.False(t, hasSession(t, h, ended))

	require.NoError(t, h.Store.Rehash(ctx, u.ID, "of before", "wrong"))
	require.NoError(t, h.Store.Rehash(ctx, u.ID, "another", "right"))
	got, _, err := h.Store.UserByID(ctx, u.ID)
	require.NoError(t, err)
	assert.Equal(t, "right", got.Password)
	assert.Equal(t, errs.NotFound, errs.KindOf(h.Store.SetPassword(ctx, "usr_none", "x", "")))
}

func renamed(t *testing.T, h Harness) {
	ctx := t.Context()
	u := user(t, h, acme, "a", auth.Owner)
	kept := session(t, h, u, "1")
	require.NoError(t, h.Store.SetName(ctx, u.ID, "Ada"))
	require.NoError(t, h.Store.SetName(ctx, u.ID, "Ada"))
	got, _, err := h.Store.UserByID(ctx, u.ID)
	require.NoError(t, err)
	assert.Equal(t, "Ada", got.Name)
	assert.True(t, hasSession(t, h, kept))
	assert.Len(t, events(t, h, acme, audit.Filter{Action: audit.UserName}), 1, "of the one that changed something")
	assert.Equal(t, errs.NotFound, errs.KindOf(h.Store.SetName(ctx, "usr_none", "x")))
}

func resetLinks(t *testing.T, h Harness) {
	ctx := t.Context()
	u := user(t, h, acme, "a", auth.Owner)
	link := account.Link{
		Hash: "one", Kind: account.ResetLink, UserID: u.ID, ExpiresAt: h.Clock.Stored().Add(account.ResetFor),
	}
	require.NoError(t, h.Store.CreateLink(ctx, link))
	link.Hash = "two"
	require.NoError(t, h.Store.CreateLink(ctx, link))
	_, err := h.Store.ResetPassword(ctx, "one", "x")
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err), "a later link takes its place")

	hash := session(t, h, u, "1")
	got, err := h.Store.ResetPassword(ctx, "two", "new")
	require.NoError(t, err)
	assert.Equal(t, u.ID, got.ID)
	assert.False(t, hasSession(t, h, hash))
	_, err = h.Store.ResetPassword(ctx, "two", "new")
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))

	link.ExpiresAt = h.Clock.Stored().Add(time.Minute)
	require.NoError(t, h.Store.CreateLink(ctx, link))
	h.Clock.Advance(time.Minute)
	_, err = h.Store.LinkUser(ctx, account.ResetLink, "two")
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))
	link.UserID = "usr_none"
	assert.Equal(t, errs.ReasonUserNotFound, errs.ReasonOf(h.Store.CreateLink(ctx, link)))
}

func disabledUser(t *testing.T, h Harness) {
	ctx := t.Context()
	a, b := user(t, h, acme, "a", auth.Owner), user(t, h, acme, "b", auth.Owner)
	hash := session(t, h, b, "1")
	require.NoError(t, h.Store.DisableUser(ctx, b.ID, true))
	assert.False(t, hasSession(t, h, hash))
	err := h.Store.CreateSession(ctx, account.Session{ID: "ses_2", Hash: "2", UserID: b.ID, Method: account.ByPassword}, 1)
	assert.Equal(t, errs.ReasonSignInFailed, errs.ReasonOf(err))

	assert.Equal(t, errs.ReasonLastOwner, errs.ReasonOf(h.Store.RemoveUser(ctx, a.ID)), "the other can't sign in")
	require.NoError(t, h.Store.DisableUser(ctx, b.ID, false))
	require.NoError(t, h.Store.DisableUser(ctx, b.ID, false), "again is nothing")
	session(t, h, b, "3")
	require.NoError(t, h.Store.RemoveUser(ctx, a.ID))
	_, ok, err := h.Store.UserByID(ctx, a.ID)
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, errs.ReasonUserNotFound, errs.ReasonOf(h.Store.RemoveUser(ctx, a.ID)))
	assert.Equal(t, errs.ReasonUserNotFound, errs.ReasonOf(h.Store.DisableUser(ctx, a.ID, true)))
	assert.Len(t, events(t, h, acme, audit.Filter{Action: audit.UserDisable}), 1)
	assert.Len(t, events(t, h, acme, audit.Filter{Action: audit.UserEnable}), 1)
	assert.Len(t, events(t, h, acme, audit.Filter{Action: audit.UserRemove}), 1)
}

func purgedAccounts(t *testing.T, h Harness) {
	ctx := t.Context()
	u := user(t, h, acme, "a", auth.Owner)
	kept, idle := session(t, h, u, "1"), session(t, h, u, "2")
	invite(t, h, acme, "b", auth.Viewer, auth.Caller{UserID: u.ID})
	purge := func() int {
		n, more, err := h.Store.PurgeAccounts(ctx, time.Hour)
		require.NoError(t, err)
		assert.False(t, more)
		return n
	}
	assert.Zero(t, purge())
	h.Clock.Advance(account.SessionIdle)
	require.NoError(t, h.Store.TouchSessions(ctx, map[string]time.Time{kept: h.Clock.Now()}))
	assert.Equal(t, 1, purge())
	assert.True(t, hasSession(t, h, kept))
	assert.False(t, hasSession(t, h, idle))

	h.Clock.Advance(account.InvitedFor - account.SessionIdle)
	assert.Equal(t, 1, purge(), "the other session, and no invitation yet")
	h.Clock.Advance(time.Hour)
	assert.Equal(t, 1, purge())
}

func foundSession(t *testing.T, h Harness) {
	ctx := t.Context()
	u := user(t, h, acme, "a", auth.Admin)
	hash := session(t, h, u, "1")
	began := h.Clock.Stored()
	found, ok, err := h.Store.SessionByHash(ctx, hash)
	require.NoError(t, err)
	require.True(t, ok)
	u.Password, u.LastSeenAt = "", began
	assert.Equal(t, account.Found{
		Session: account.Session{
			ID: "ses_1", Hash: hash, UserID: u.ID, Method: account.ByPassword, Address: "192.0.2.1", Agent: "Firefox",
			CreatedAt: began, SeenAt: began, FreshUntil: began.Add(account.FreshFor), ExpiresAt: began.Add(account.SessionLife),
		},
		User: u, Memberships: []account.Membership{{Organization: acme, Role: auth.Admin}},
	}, found)
	assert.False(t, hasSession(t, h, hashOf("none")))

	later := began.Add(time.Minute)
	require.NoError(t, h.Store.TouchSessions(ctx, map[string]time.Time{hash: later, "none": later}))
	require.NoError(t, h.Store.TouchSessions(ctx, map[string]time.Time{hash: began}))
	members, err := h.Store.Members(ctx, acme)
	require.NoError(t, err)
	assert.Equal(t, later, members[0].LastSeenAt)
}

func endedSessions(t *testing.T, h Harness) {
	ctx := t.Context()
	a, b := user(t, h, acme, "a", auth.Admin), user(t, h, acme, "b", auth.Admin)
	var hashes []string
	for i := range 4 {
		hashes = append(hashes, session(t, h, a, fmt.Sprint(i)))
		h.Clock.Advance(time.Second)
	}
	theirs := session(t, h, b, "b")
	list, err := h.Store.Sessions(ctx, a.ID)
	require.NoError(t, err)
	require.Len(t, list, 3, "the oldest ended")
	assert.Equal(t, "ses_3", list[0].ID)
	assert.False(t, hasSession(t, h, hashes[0]))

	assert.Equal(t, errs.ReasonSessionNotFound, errs.ReasonOf(h.Store.EndSession(ctx, b.ID, "ses_3")), "another's")
	require.NoError(t, h.Store.EndSession(ctx, a.ID, "ses_3"))
	assert.False(t, hasSession(t, h, hashes[3]))
	n, err := h.Store.EndSessions(ctx, a.ID)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.True(t, hasSession(t, h, theirs))
}

func renewedSession(t *testing.T, h Harness) {
	ctx := t.Context()
	hash := session(t, h, user(t, h, acme, "a", auth.Admin), "1")
	h.Clock.Advance(time.Hour)
	fresh := h.Clock.Stored().Add(time.Minute)
	require.NoError(t, h.Store.RenewSession(ctx, hash, hashOf("2"), fresh))
	assert.False(t, hasSession(t, h, hash))
	found, ok, err := h.Store.SessionByHash(ctx, hashOf("2"))
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, fresh, found.Session.FreshUntil)
	assert.Equal(t, errs.ReasonSessionNotFound, errs.ReasonOf(h.Store.RenewSession(ctx, hash, "3", fresh)))
}
