package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
)

// Accounts answers AccountService.
type Accounts struct {
	prwardenv1.UnimplementedAccountServiceServer
	service *account.Service
}

// NewAccounts makes the handlers.
func NewAccounts(service *account.Service) *Accounts { return &Accounts{service: service} }

// GetAccount implements AccountService.
func (h *Accounts) GetAccount(
	ctx context.Context, _ *prwardenv1.GetAccountRequest,
) (*prwardenv1.GetAccountResponse, error) {
	caller := auth.FromContext(ctx)
	if caller.UserID == "" {
		return &prwardenv1.GetAccountResponse{Key: &prwardenv1.CallingKey{
			KeyId: caller.KeyID, Organization: caller.Organization, Scopes: toScopes(caller.Scopes),
			ExpiresAt: toTime(caller.ExpiresAt),
		}}, nil
	}
	user, err := h.user(ctx, caller)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.GetAccountResponse{User: user}, nil
}

// user is the person who calls.
func (h *Accounts) user(ctx context.Context, caller auth.Caller) (*prwardenv1.User, error) {
	a, err := h.service.Account(ctx, caller)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.User{
		UserId: a.User.ID, Email: text(a.User.Email), Name: text(a.User.Name),
		Memberships: each(a.Memberships, func(m account.Membership) *prwardenv1.User_Membership {
			return &prwardenv1.User_Membership{
				Organization: m.Organization, Role: toRole(m.Role), Scopes: toScopes(m.Role.Scopes()),
			}
		}),
	}, nil
}

// UpdateAccount implements AccountService.
func (h *Accounts) UpdateAccount(
	ctx context.Context, req *prwardenv1.UpdateAccountRequest,
) (*prwardenv1.UpdateAccountResponse, error) {
	caller := auth.FromContext(ctx)
	if err := h.service.Rename(ctx, caller, req.GetName()); err != nil {
		return nil, err
	}
	user, err := h.user(ctx, caller)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.UpdateAccountResponse{User: user}, nil
}

// ChangePassword implements AccountService.
func (h *Accounts) ChangePassword(
	ctx context.Context, req *prwardenv1.ChangePasswordRequest,
) (*prwardenv1.ChangePasswordResponse, error) {
	err := h.service.ChangePassword(ctx, auth.FromContext(ctx), req.GetCurrentPassword(), req.GetNewPassword())
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ChangePasswordResponse{}, nil
}

// ListSessions implements AccountService.
func (h *Accounts) ListSessions(
	ctx context.Context, _ *prwardenv1.ListSessionsRequest,
) (*prwardenv1.ListSessionsResponse, error) {
	caller := auth.FromContext(ctx)
	list, err := h.service.Sessions(ctx, caller)
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListSessionsResponse{
		Sessions: each(list, func(s account.Session) *prwardenv1.Session {
			return &prwardenv1.Session{
				SessionId: s.ID, Method: enum[prwardenv1.Session_Method](s.Method, prwardenv1.Session_Method_value),
				Address: given(s.Address), Agent: text(s.Agent), CreatedAt: toTime(s.CreatedAt), SeenAt: toTime(s.SeenAt),
				ExpiresAt: toTime(s.ExpiresAt), Current: s.Hash == caller.SessionHash,
			}
		}),
	}, nil
}

// EndSession implements AccountService.
func (h *Accounts) EndSession(
	ctx context.Context, req *prwardenv1.EndSessionRequest,
) (*prwardenv1.EndSessionResponse, error) {
	if err := h.service.EndSession(ctx, auth.FromContext(ctx), req.GetSessionId()); err != nil {
		return nil, err
	}

	return &prwardenv1.EndSessionResponse{}, nil
}

// EndSessions implements AccountService.
func (h *Accounts) EndSessions(
	ctx context.Context, _ *prwardenv1.EndSessionsRequest,
) (*prwardenv1.EndSessionsResponse, error) {
	if err := h.service.EndSessions(ctx, auth.FromContext(ctx)); err != nil {
		return nil, err
	}

	return &prwardenv1.EndSessionsResponse{}, nil
}

func toRole(r auth.Role) *prwardenv1.Role_Name {
	return enum[prwardenv1.Role_Name](string(r), prwardenv1.Role_Name_value)
}
