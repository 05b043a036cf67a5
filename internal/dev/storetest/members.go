package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// operator is a caller who may everything.
func operator() auth.Caller { return auth.Caller{Scopes: auth.Scopes()} }

// invite invites somebody, and returns the hash of the link.
func invite(t *testing.T, h Harness, org, name string, role auth.Role, by auth.Caller) string {
	t.Helper()
	i, err := h.Store.Invite(t.Context(), invitationOf(h, org, name, role), by)
	require.NoError(t, err)

	return i.Hash
}

func invitationOf(h Harness, org, name string, role auth.Role) account.Invitation {
	return account.Invitation{
		ID: "inv_" + org + name + string(role), Organization: org, Email: name + "@example.com", Role: role,
		Hash: hashOf(org + name + string(role)), InvitedBy: "user:usr_a", ExpiresAt: h.Clock.Stored().Add(account.InvitedFor),
	}
}

func changedMembers(t *testing.T, h Harness) {
	ctx := t.Context()
	a, b := user(t, h, acme, "a", auth.Owner), user(t, h, acme, "b", auth.Viewer)
	user(t, h, other, "c", auth.Owner)
	change := func(userID string, role auth.Role) error {
		_, err := h.Store.ChangeMember(ctx, account.Change{
			Organization: acme, UserID: userID, Role: role, By: auth.Caller{UserID: a.ID},
		})
		return err
	}
	hash := session(t, h, b, "1")
	require.NoError(t, change(b.ID, auth.Viewer), "no change ends nothing")
	assert.True(t, hasSession(t, h, hash))
	require.NoError(t, change(b.ID, auth.Admin))
	assert.False(t, hasSession(t, h, hash))

	assert.Equal(t, errs.ReasonMemberNotFound, errs.ReasonOf(change("usr_c", auth.Admin)), "another organization's")
	assert.Equal(t, errs.ReasonLastOwner, errs.ReasonOf(change(a.ID, auth.Admin)))
	assert.Equal(t, errs.ReasonLastOwner, errs.ReasonOf(change(a.ID, "")))
	require.NoError(t, change(b.ID, ""))
	members, err := h.Store.Members(ctx, acme)
	require.NoError(t, err)
	require.Len(t, members, 1)
	assert.Equal(t, a.ID, members[0].ID)
	assert.Equal(t, account.Local, members[0].Source)
	assert.True(t, members[0].HasPassword)
	assert.Empty(t, members[0].Password)
	assert.False(t, members[0].HasIdentity)
	assert.Len(t, events(t, h, acme, audit.Filter{Action: audit.MemberRole}), 1)
	assert.Len(t, events(t, h, acme, audit.Filter{Action: audit.MemberRemove}), 1)
}

func givenRoles(t *testing.T, h Harness) {
	ctx := t.Context()
	owner, admin := user(t, h, acme, "owner", auth.Owner), user(t, h, acme, "admin", auth.Admin)
	user(t, h, acme, "viewer", auth.Viewer)
	user(t, h, acme, "owner2", auth.Owner)
	elsewhere := user(t, h, other, "elsewhere", auth.Owner)
	key := addKey(t, h, acme, "key_a")
	may := func(by auth.Caller, userID string, role auth.Role) {
		_, err := h.Store.ChangeMember(ctx, account.Change{Organization: acme, UserID: userID, Role: role, By: by})
		require.NoError(t, err)
	}
	refused := func(by auth.Caller, userID string, role auth.Role) {
		_, err := h.Store.ChangeMember(ctx, account.Change{Organization: acme, UserID: userID, Role: role, By: by})
		assert.Equal(t, errs.PermissionDenied, errs.KindOf(err), "%v", err)
	}
	as := func(u account.User) auth.Caller { return auth.Caller{UserID: u.ID, Scopes: auth.Scopes()} } // of a moment ago

	may(as(admin), "usr_viewer", auth.Admin)
	may(as(admin), "usr_viewer", auth.Member)
	refused(as(admin), "usr_viewer", auth.Owner)
	refused(as(admin), "usr_owner2", auth.Viewer)
	refused(as(admin), "usr_owner2", "")
	refused(auth.Caller{UserID: "usr_viewer", Scopes: auth.Scopes()}, "usr_viewer", auth.Admin)
	refused(as(elsewhere), "usr_viewer", auth.Viewer)
	_, err := h.Store.Invite(ctx, invitationOf(h, acme, "x", auth.Owner), as(admin))
	assert.Equal(t, errs.PermissionDenied, errs.KindOf(err))
	invite(t, h, acme, "x", auth.Admin, as(admin))

	refused(auth.Caller{KeyID: key.ID}, "usr_viewer", auth.Viewer)
	may(auth.Caller{KeyID: key.ID, Scopes: auth.Admin.Scopes()}, "usr_viewer", auth.Viewer)
	refused(auth.Caller{KeyID: key.ID, Scopes: auth.Admin.Scopes()}, "usr_owner2", auth.Viewer)
	require.NoError(t, revokeKey(ctx, h, acme, key.ID))
	_, err = h.Store.ChangeMember(ctx, account.Change{
		Organization: acme, UserID: "usr_viewer", Role: auth.Member,
		By: auth.Caller{KeyID: key.ID, Scopes: auth.Scopes()},
	})
	assert.Equal(t, errs.ReasonKeyRevoked, errs.ReasonOf(err))

	may(as(owner), admin.ID, auth.Viewer)
	refused(as(admin), "usr_viewer", auth.Member)
	require.NoError(t, h.Store.DisableUser(ctx, owner.ID, true))
	refused(as(owner), "usr_viewer", auth.Member)
}

func invitations(t *testing.T, h Harness) {
	ctx := t.Context()
	a := user(t, h, acme, "a", auth.Owner)
	b := user(t, h, other, "b", auth.Owner)
	by := auth.Caller{UserID: a.ID}
	invite(t, h, acme, "b", auth.Member, by)
	hash := invite(t, h, acme, "b", auth.Admin, by)
	list, err := h.Store.Invitations(ctx, acme)
	require.NoError(t, err)
	require.Len(t, list, 1, "the later one for an email takes the place of the earlier")
	want := invitationOf(h, acme, "b", auth.Admin)
	want.CreatedAt = h.Clock.Stored()
	assert.Equal(t, want, list[0])
	got, known, err := h.Store.InvitationByHash(ctx, hash)
	require.NoError(t, err)
	assert.True(t, known)
	assert.Equal(t, want, got)

	_, err = h.Store.Accept(ctx, hash, account.Joining{UserID: a.ID})
	assert.Equal(t, errs.ReasonInvitedOther, errs.ReasonOf(err))
	taken := account.User{ID: "usr_x", Email: b.Email}
	_, err = h.Store.Accept(ctx, hash, account.Joining{New: &taken})
	assert.Equal(t, errs.ReasonUserExists, errs.ReasonOf(err))
	_, err = h.Store.Accept(ctx, hash, account.Joining{UserID: b.ID})
	require.NoError(t, err)
	_, err = h.Store.Accept(ctx, hash, account.Joining{UserID: b.ID})
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))
	_, err = h.Store.Invite(ctx, invitationOf(h, acme, "b", auth.Viewer), by)
	assert.Equal(t, errs.ReasonMemberExists, errs.ReasonOf(err))

	revoked := invite(t, h, acme, "c", auth.Member, by)
	assert.Equal(t, errs.ReasonInvitationNotFound,
		errs.ReasonOf(h.Store.RevokeInvitation(ctx, other, "inv_acmecmember")), "another organization's")
	require.NoError(t, h.Store.RevokeInvitation(ctx, acme, "inv_acmecmember"))
	_, _, err = h.Store.InvitationByHash(ctx, revoked)
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))

	late := invite(t, h, acme, "d", auth.Member, by)
	h.Clock.Advance(account.InvitedFor)
	_, err = h.Store.Accept(ctx, late, account.Joining{New: &account.User{ID: "usr_d", Email: "d@example.com"}})
	assert.Equal(t, errs.ReasonLinkNotFound, errs.ReasonOf(err))
}

func acceptRace(t *testing.T, h Harness) {
	a := user(t, h, acme, "a", auth.Owner)
	hash := invite(t, h, acme, "b", auth.Member, auth.Caller{UserID: a.ID})
	var joined atomic.Int64
	together(t, 8, func(ctx context.Context, i int) error {
		u := account.User{ID: fmt.Sprint("usr_b", i), Email: "b@example.com"}
		_, err := h.Store.Accept(ctx, hash, account.Joining{New: &u})
		switch errs.ReasonOf(err) {
		case errs.ReasonUserExists, errs.ReasonLinkNotFound:
			return nil
		}
		joined.Add(1)

		return err
	})
	assert.EqualValues(t, 1, joined.Load())
}

func ownerRace(t *testing.T, h Harness) {
	const owners = 6
	for i := range owners {
		user(t, h, acme, fmt.Sprint(i), auth.Owner)
	}
	together(t, owners, func(ctx context.Context, i int) error {
		id := fmt.Sprint("usr_", i)
		var err error
		switch i % 3 {
		case 0:
			_, err = h.Store.ChangeMember(ctx, account.Change{Organization: acme, UserID: id, Role: auth.Admin, By: operator()})
		case 1:
			_, err = h.Store.ChangeMember(ctx, account.Change{Organization: acme, UserID: id, By: operator()})
		case 2:
			err = h.Store.RemoveUser(ctx, id)
		}
		if errs.ReasonOf(err) == errs.ReasonLastOwner {
			return nil
		}

		return err
	})

	members, err := h.Store.Members(t.Context(), acme)
	require.NoError(t, err)
	left := 0
	for _, m := range members {
		if m.Role == auth.Owner {
			left++
		}
	}
	assert.Equal(t, 1, left)
}

func memberQuota(t *testing.T, h Harness) {
	a := user(t, h, acme, "a", auth.Owner)
	by := auth.Caller{UserID: a.ID}
	for i := 1; i < account.MaxMembers; i++ {
		_, err := h.Store.Invite(t.Context(), invitationOf(h, acme, fmt.Sprint(i), auth.Viewer), by)
		require.NoError(t, err)
	}
	_, err := h.Store.Invite(t.Context(), invitationOf(h, acme, "x", auth.Viewer), by)
	assert.Equal(t, errs.ReasonMemberQuota, errs.ReasonOf(err))
	_, err = h.Store.Accept(t.Context(), hashOf("acme1viewer"),
		account.Joining{New: &account.User{ID: "usr_1", Email: "1@example.com"}})
	require.NoError(t, err, "who is invited has a place")
}

func keysOfMembers(t *testing.T, h Harness) {
	u := user(t, h, acme, "a", auth.Owner)
	ctx := audit.NewContext(t.Context(), audit.Actor{Kind: audit.User, ID: u.ID})
	create := func(id string) error {
		_, err := h.Store.CreateKey(ctx, auth.Key{ID: id, Organization: acme, Hash: hashOf(id)}, auth.Quota)
		return err
	}
	require.NoError(t, create("key_a"))
	user(t, h, acme, "b", auth.Owner)
	_, err := h.Store.ChangeMember(t.Context(), account.Change{
		Organization: acme, UserID: u.ID, Role: auth.Member, By: operator(),
	})
	require.NoError(t, err)
	assert.Equal(t, errs.PermissionDenied, errs.KindOf(create("key_b")))
}

func memberLinks(t *testing.T, h Harness) {
	ctx := t.Context()
	admin, owner := user(t, h, acme, "admin", auth.Admin), user(t, h, acme, "owner", auth.Owner)
	b := user(t, h, acme, "b", auth.Member)
	link := func(u account.User, by account.User) error {
		return h.Store.CreateMemberLink(ctx, account.Link{
			Hash: hashOf(u.ID), Kind: account.ResetLink, UserID: u.ID, ExpiresAt: h.Clock.Stored().Add(account.ResetFor),
		}, acme, auth.Caller{UserID: by.ID})
	}
	require.NoError(t, link(b, admin))
	assert.Equal(t, errs.ReasonScopeMissing, errs.ReasonOf(link(owner, admin)))
	assert.Equal(t, errs.ReasonScopeMissing, errs.ReasonOf(link(admin, b)))
	require.NoError(t, link(admin, owner))
	assert.Equal(t, errs.ReasonMemberNotFound, errs.ReasonOf(link(user(t, h, other, "c", auth.Viewer), owner)))

	_, _, err := h.Store.AddUser(ctx, b, account.Membership{Organization: other, Role: auth.Owner})
	require.NoError(t, err)
	assert.Equal(t, errs.ReasonMemberElsewhere, errs.ReasonOf(link(b, owner)), "the account is not only theirs")
}

// Whoever reads the audit log learns nothing with which one signs in.
func accountsAudited(t *testing.T, h Harness) {
	ctx := t.Context()
	a := user(t, h, acme, "a", auth.Owner)
	hashes := []string{a.Password, session(t, h, a, "1"), invite(t, h, acme, "b", auth.Viewer, auth.Caller{UserID: a.ID})}
	require.NoError(t, h.Store.CreateLink(ctx, account.Link{
		Hash: "hash-of-link", Kind: account.ResetLink, UserID: a.ID, ExpiresAt: h.Clock.Stored().Add(account.ResetFor),
	}))
	_, err := h.Store.ResetPassword(ctx, "hash-of-link", "$new hash")
	require.NoError(t, err)

	all, err := json.Marshal(events(t, h, acme, audit.Filter{}))
	require.NoError(t, err)
	for _, action := range []audit.Action{
		audit.UserCreate, audit.MemberAdd, audit.SessionCreate, audit.InvitationCreate, audit.UserReset, audit.UserPassword,
	} {
		assert.Contains(t, string(all), `"`+string(action)+`"`)
	}
	for _, secret := range append(hashes, "hash-of-link", "$new hash") {
		assert.NotContains(t, string(all), secret)
	}
}
