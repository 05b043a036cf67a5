package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
)

// Members answers MemberService.
type Members struct {
	prwardenv1.UnimplementedMemberServiceServer
	service *account.Service
	page    func(path string) string

	// SSO is single sign-on; nil for none.
	SSO Provider
}

// NewMembers makes the handlers. page is the address of a path of the server, "" while
// that is not known.
func NewMembers(service *account.Service, page func(path string) string) *Members {
	return &Members{service: service, page: page}
}

// ListMembers implements MemberService.
func (h *Members) ListMembers(
	ctx context.Context, _ *prwardenv1.ListMembersRequest,
) (*prwardenv1.ListMembersResponse, error) {
	list, err := h.service.Members(ctx, auth.FromContext(ctx))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListMembersResponse{Members: each(list, memberMessage)}, nil
}

// ListMemberNames implements MemberService.
func (h *Members) ListMemberNames(
	ctx context.Context, _ *prwardenv1.ListMemberNamesRequest,
) (*prwardenv1.ListMemberNamesResponse, error) {
	list, err := h.service.Members(ctx, auth.FromContext(ctx))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListMemberNamesResponse{
		Members: each(list, func(m account.Member) *prwardenv1.ListMemberNamesResponse_MemberName {
			return &prwardenv1.ListMemberNamesResponse_MemberName{UserId: m.ID, Name: text(m.Name)}
		}),
	}, nil
}

// UpdateMember implements MemberService.
func (h *Members) UpdateMember(
	ctx context.Context, req *prwardenv1.UpdateMemberRequest,
) (*prwardenv1.UpdateMemberResponse, error) {
	m, err := h.service.SetRole(ctx, auth.FromContext(ctx), req.GetUserId(), auth.Role(word(req.GetRole())))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.UpdateMemberResponse{Member: memberMessage(m)}, nil
}

// RemoveMember implements MemberService.
func (h *Members) RemoveMember(
	ctx context.Context, req *prwardenv1.RemoveMemberRequest,
) (*prwardenv1.RemoveMemberResponse, error) {
	if err := h.service.RemoveMember(ctx, auth.FromContext(ctx), req.GetUserId()); err != nil {
		return nil, err
	}

	return &prwardenv1.RemoveMemberResponse{}, nil
}

// CreateInvitation implements MemberService.
func (h *Members) CreateInvitation(
	ctx context.Context, req *prwardenv1.CreateInvitationRequest,
) (*prwardenv1.CreateInvitationResponse, error) {
	i, token, err := h.service.Invite(ctx, auth.FromContext(ctx), req.GetEmail(), auth.Role(word(req.GetRole())))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.CreateInvitationResponse{
		Invitation: invitationMessage(i), Token: token, Url: given(h.page(account.InvitePath + token)),
	}, nil
}

// ListInvitations implements MemberService.
func (h *Members) ListInvitations(
	ctx context.Context, _ *prwardenv1.ListInvitationsRequest,
) (*prwardenv1.ListInvitationsResponse, error) {
	list, err := h.service.Invitations(ctx, auth.FromContext(ctx))
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListInvitationsResponse{Invitations: each(list, invitationMessage)}, nil
}

// DeleteInvitation implements MemberService.
func (h *Members) DeleteInvitation(
	ctx context.Context, req *prwardenv1.DeleteInvitationRequest,
) (*prwardenv1.DeleteInvitationResponse, error) {
	if err := h.service.RevokeInvitation(ctx, auth.FromContext(ctx), req.GetInvitationId()); err != nil {
		return nil, err
	}

	return &prwardenv1.DeleteInvitationResponse{}, nil
}

// CreatePasswordLink implements MemberService.
func (h *Members) CreatePasswordLink(
	ctx context.Context, req *prwardenv1.CreatePasswordLinkRequest,
) (*prwardenv1.CreatePasswordLinkResponse, error) {
	token, expires, err := h.service.ResetMember(ctx, auth.FromContext(ctx), req.GetUserId())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.CreatePasswordLinkResponse{
		Token: token, Url: given(h.page(account.ResetPath + token)), ExpiresAt: toTime(expires),
	}, nil
}

// memberMessage is a member as callers see him.
func memberMessage(m account.Member) *prwardenv1.Member {
	return &prwardenv1.Member{
		UserId: m.ID, Email: text(m.Email), Name: text(m.Name), Role: toRole(m.Role),
		Source:   enum[prwardenv1.Member_Source](string(m.Source), prwardenv1.Member_Source_value),
		JoinedAt: toTime(m.JoinedAt), LastSeenAt: toTime(m.LastSeenAt), DisabledAt: toTime(m.DisabledAt),
		HasPassword: m.HasPassword, HasSingleSignOn: m.HasIdentity,
	}
}

// invitationMessage is an invitation as callers see it.
func invitationMessage(i account.Invitation) *prwardenv1.Invitation {
	return &prwardenv1.Invitation{
		InvitationId: i.ID, Email: text(i.Email), Role: toRole(i.Role), InvitedBy: text(i.InvitedBy),
		CreatedAt: toTime(i.CreatedAt), ExpiresAt: toTime(i.ExpiresAt),
	}
}
