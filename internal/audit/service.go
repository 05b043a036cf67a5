package audit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
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
	size := in.PageSize
	if size == 0 {
		size = DefaultPageSize
	}
	if size < 1 || size > MaxPageSize {
		return nil, "", errs.Invalid("page_size", "must be from 1 to %d, not %d", MaxPageSize, size)
	}

	f := Filter{Action: in.Action, Actor: in.Actor, Since: in.Since, Until: in.Until, Limit: size + 1}
	filters := []string{string(f.Action), f.Actor, in.Since.String(), in.Until.String()}
	if in.PageToken != "" {
		place, ok := page.Place(in.PageToken, filters...)
		if ok {
			f.After, ok = parseCursor(place)
		}
		if !ok {
			return nil, "", errs.Invalid("page_token", "must be the next_page_token of a page with the same filters")
		}
	}

	events, err := s.store.Events(ctx, organization, f)
	if err != nil || len(events) <= size {
		return events, "", err
	}
	last := events[size-1]

	return events[:size], page.Token(fmt.Sprintf("%d.%s", last.At.UnixMicro(), last.ID), filters...), nil
}

func parseCursor(place string) (Cursor, bool) {
	at, id, _ := strings.Cut(place, ".")
	micros, err := strconv.ParseInt(at, 10, 64)

	return Cursor{At: time.UnixMicro(micros).UTC(), ID: id}, err == nil && id != ""
}
