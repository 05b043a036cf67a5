package audit

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/page"
)

// Page sizes of Service.List.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// Service reads the audit log.
type Service struct{ store Store }

// NewService returns a service over a store.
func NewService(store Store) *Service { return &Service{store: store} }

// ListInput selects a page of events. Zero fields select all.
type ListInput struct {
	Action    Action
	Actor     string
	Since     time.Time
	Until     time.Time
	PageSize  int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken string // of the page before
}

// List returns a page of an organization's events, newest first, and the token
// of the next page; "" on the last. Those of all organizations are for "".
func (s *Service) List(ctx context.Context, organization string, in ListInput) ([]Event, string, error) {
	size, err := page.Size(in.PageSize, DefaultPageSize, MaxPageSize)
	if err != nil {
		return nil, "", err
	}

	f := Filter{Action: in.Action, Actor: in.Actor, Since: in.Since, Until: in.Until, Limit: size + 1}
	filters := []string{string(f.Action), f.Actor, in.Since.String(), in.Until.String()}
	if f.After, err = page.After(in.PageToken, filters...); err != nil {
		return nil, "", err
	}

	events, err := s.store.Events(ctx, organization, f)
	if err != nil || len(events) <= size {
		return events, "", err
	}
	last := events[size-1]

	return events[:size], page.Cursor{At: last.At, ID: last.ID}.Token(filters...), nil
}
