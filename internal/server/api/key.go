package api

import (
	"context"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// KeyService is what the handlers need of the keys.
type KeyService interface {
	Create(ctx context.Context, c auth.Caller, n auth.NewKey) (auth.Key, string, error)
	List(ctx context.Context, org string) ([]auth.Key, error)
	Revoke(ctx context.Context, org, id string) error
}

// Keys answers KeyService.
type Keys struct {
	prwardenv1.UnimplementedKeyServiceServer
	service KeyService
}

// NewKeys makes the handlers.
func NewKeys(service KeyService) *Keys { return &Keys{service: service} }

// CreateKey implements KeyService.
func (h *Keys) CreateKey(ctx context.Context, req *prwardenv1.CreateKeyRequest) (*prwardenv1.CreateKeyResponse, error) {
	n := auth.NewKey{Name: req.GetName(), Scopes: []auth.Scope{}}
	for _, s := range req.GetScopes() {
		n.Scopes = append(n.Scopes, auth.Scope(s))
	}
	if at := req.GetExpiresAt(); at != nil {
		if err := at.CheckValid(); err != nil {
			return nil, errs.Invalid("expires_at", "must be a time from year 1 to year 9999")
		}
		n.ExpiresAt = at.AsTime()
	}

	k, token, err := h.service.Create(ctx, auth.FromContext(ctx), n)
	if err != nil {
		return nil, err
	}
	return &prwardenv1.CreateKeyResponse{
		KeyId: k.ID, Token: token, Name: k.Name, Scopes: toScopes(k.Scopes),
		CreatedAt: toTime(k.CreatedAt), ExpiresAt: toTime(k.ExpiresAt),
	}, nil
}

// ListKeys implements KeyService.
func (h *Keys) ListKeys(ctx context.Context, _ *prwardenv1.ListKeysRequest) (*prwardenv1.ListKeysResponse, error) {
	// "" would be every organization's; a caller always has one.
	org := auth.FromContext(ctx).Organization
	if org == "" {
		return &prwardenv1.ListKeysResponse{}, nil
	}
	keys, err := h.service.List(ctx, org)
	if err != nil {
		return nil, err
	}
	resp := &prwardenv1.ListKeysResponse{Keys: make([]*prwardenv1.Key, len(keys))}
	for i, k := range keys {
		resp.Keys[i] = toKey(k)
	}
	return resp, nil
}

// DeleteKey implements KeyService.
func (h *Keys) DeleteKey(ctx context.Context, req *prwardenv1.DeleteKeyRequest) (*prwardenv1.DeleteKeyResponse, error) {
	org := auth.FromContext(ctx).Organization
	if org == "" {
		return nil, errs.New(errs.NotFound, errs.ReasonKeyNotFound, "There is no such key.")
	}
	if err := h.service.Revoke(ctx, org, req.GetKeyId()); err != nil {
		return nil, err
	}
	return &prwardenv1.DeleteKeyResponse{}, nil
}
