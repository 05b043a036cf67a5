package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/api"
)

// page is the address of a path of a server.
func page(path string) string { return "https://prwarden.example.com" + path }

func TestMembers(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	ada, bob := p.add(t, "ada", auth.Owner, "acme"), p.add(t, "bob", auth.Viewer, "acme")
	stranger := p.add(t, "carl", auth.Owner, "other")
	h := api.NewMembers(p.Service, page)
	ctx := p.signIn(t, ada.Email)

	list, err := h.ListMembers(ctx, &prwardenv1.ListMembersRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetMembers(), 2)
	m := list.GetMembers()[0]
	assert.Equal(t, ada.ID, m.GetUserId())
	assert.Equal(t, prwardenv1.Role_owner, m.GetRole())
	assert.Equal(t, prwardenv1.Member_local, m.GetSource())
	assert.True(t, m.GetHasPassword())
	assert.False(t, m.GetHasSingleSignOn())
	assert.WithinDuration(t, time.Now(), m.GetLastSeenAt().AsTime(), time.Hour)
	assert.Nil(t, list.GetMembers()[1].GetLastSeenAt())
	assert.NotContains(t, protojson.Format(list), "argon2")

	admin := prwardenv1.Role_admin
	updated, err := h.UpdateMember(ctx, &prwardenv1.UpdateMemberRequest{UserId: bob.ID, Role: &admin})
	require.NoError(t, err)
	assert.Equal(t, admin, updated.GetMember().GetRole())
	_, err = h.UpdateMember(ctx, &prwardenv1.UpdateMemberRequest{UserId: ada.ID, Role: &admin})
	assert.Equal(t, errs.ReasonLastOwner, errs.ReasonOf(err))
	_, err = h.UpdateMember(p.signIn(t, bob.Email), &prwardenv1.UpdateMemberRequest{UserId: ada.ID, Role: &admin})
	assert.Equal(t, errs.ReasonScopeMissing, errs.ReasonOf(err), "an admin is no owner")

	link, err := h.CreatePasswordLink(ctx, &prwardenv1.CreatePasswordLinkRequest{UserId: bob.ID})
	require.NoError(t, err)
	assert.Equal(t, "https://prwarden.example.com/reset?token="+link.GetToken(), link.GetUrl())
	assert.WithinDuration(t, time.Now().Add(account.ResetFor), link.GetExpiresAt().AsTime(), time.Hour/2)
	_, err = p.Reset(t.Context(), account.Client{}, link.GetToken(), "seventeen Marble? otters")
	require.NoError(t, err)

	_, err = h.RemoveMember(ctx, &prwardenv1.RemoveMemberRequest{UserId: bob.ID})
	require.NoError(t, err)
	for _, id := range []string{bob.ID, stranger.ID} {
		_, err = h.RemoveMember(ctx, &prwardenv1.RemoveMemberRequest{UserId: id})
		assert.Equal(t, errs.ReasonMemberNotFound, errs.ReasonOf(err))
		_, err = h.CreatePasswordLink(ctx, &prwardenv1.CreatePasswordLinkRequest{UserId: id})
		assert.Equal(t, errs.ReasonMemberNotFound, errs.ReasonOf(err))
	}
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	ada := p.add(t, "ada", auth.Owner, "acme")
	h := api.NewMembers(p.Service, page)
	ctx := p.signIn(t, ada.Email)
	member := prwardenv1.Role_member
	invite := func(email string) (*prwardenv1.CreateInvitationResponse, error) {
		return h.CreateInvitation(ctx, &prwardenv1.CreateInvitationRequest{Email: email, Role: &member})
	}
	_, err := invite("nobody")
	require.ErrorContains(t, err, "email:")
	_, err = invite(ada.Email)
	assert.Equal(t, errs.ReasonMemberExists, errs.ReasonOf(err))

	made, err := invite("Bob@acme.example")
	require.NoError(t, err)
	i := made.GetInvitation()
	assert.Equal(t, "bob@acme.example", i.GetEmail())
	assert.Equal(t, member, i.GetRole())
	assert.Equal(t, "user:"+ada.ID, i.GetInvitedBy())
	assert.Equal(t, account.InvitedFor, i.GetExpiresAt().AsTime().Sub(i.GetCreatedAt().AsTime()).Round(time.Hour))
	assert.Equal(t, "https://prwarden.example.com"+account.InvitePath+made.GetToken(), made.GetUrl())
	_, err = p.Accept(t.Context(), account.Client{}, made.GetToken(), "Bob", password)
	require.NoError(t, err)

	nowhere := api.NewMembers(p.Service, func(string) string { return "" })
	more, err := nowhere.CreateInvitation(ctx, &prwardenv1.CreateInvitationRequest{Email: "eve@acme.example", Role: &member})
	require.NoError(t, err)
	assert.Nil(t, more.Url, "the server doesn't know its address")
	list, err := h.ListInvitations(ctx, &prwardenv1.ListInvitationsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetInvitations(), 1)
	assert.NotContains(t, protojson.Format(list), more.GetToken())

	end := &prwardenv1.DeleteInvitationRequest{InvitationId: more.GetInvitation().GetInvitationId()}
	_, err = h.DeleteInvitation(ctx, end)
	require.NoError(t, err)
	_, err = h.DeleteInvitation(ctx, end)
	assert.Equal(t, errs.ReasonInvitationNotFound, errs.ReasonOf(err))
}
