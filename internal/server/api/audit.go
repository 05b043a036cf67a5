package api

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// Audit answers AuditService.
type Audit struct {
	prwardenv1.UnimplementedAuditServiceServer
	service *audit.Service
}

// NewAudit makes the handlers.
func NewAudit(service *audit.Service) *Audit { return &Audit{service: service} }

// ListEvents implements AuditService.
func (h *Audit) ListEvents(
	ctx context.Context, req *prwardenv1.ListEventsRequest,
) (*prwardenv1.ListEventsResponse, error) {
	since, err := fromTime("since", req.GetSince())
	if err != nil {
		return nil, err
	}
	until, err := fromTime("until", req.GetUntil())
	if err != nil {
		return nil, err
	}

	events, next, err := h.service.List(ctx, auth.FromContext(ctx).Organization, audit.ListInput{
		Action: audit.Action(req.GetAction()), Actor: req.GetActor(), Since: since, Until: until,
		PageSize: int(req.GetPageSize()), PageToken: req.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}

	return &prwardenv1.ListEventsResponse{Events: each(events, toEvent), NextPageToken: next}, nil
}

// fromTime returns a time of a request; the zero time for none.
func fromTime(field string, at *timestamppb.Timestamp) (time.Time, error) {
	if at == nil {
		return time.Time{}, nil
	}
	if err := at.CheckValid(); err != nil {
		return time.Time{}, errs.Invalid(field, "must be a time from year 1 to year 9999")
	}

	return at.AsTime(), nil
}

func toEvent(e audit.Event) *prwardenv1.AuditEvent {
	return &prwardenv1.AuditEvent{
		EventId: e.ID, At: toTime(e.At), Actor: text(e.Actor), Address: given(e.Address), Action: text(string(e.Action)),
		Target: text(e.Target), RequestId: given(e.RequestID),
		Fields: each(e.Fields, func(f audit.Field) *prwardenv1.AuditEvent_Field {
			return &prwardenv1.AuditEvent_Field{Name: text(f.Name), Before: given(f.Before), After: given(f.After)}
		}),
	}
}
