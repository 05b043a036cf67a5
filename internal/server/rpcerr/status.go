package rpcerr

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/prwarden/prwarden/internal/errs"
)

// Fixed texts of errors that say nothing of their cause.
const (
	internalMessage = "Something went wrong on the server; its log has the details under this request's x-request-id."
	canceledMessage = "The caller canceled the request."
	deadlineMessage = "The deadline of the request passed before it was answered."
)

// Bounds of a status. It travels as trailers, for which many gRPC clients take
// 8 KiB; and a client that gets more than it takes ends its connection, with
// every other call on it.
const (
	// MaxViolations is how many mistakes in one request are told at once.
	MaxViolations = 20
	// maxViolationBytes bounds their texts together.
	maxViolationBytes = 3 << 10
	// maxText bounds each text, in bytes: some repeat what a caller sent.
	maxText = 1 << 10
)

// defaultRetry is when to try again after Unavailable, for errors that don't
// say.
const defaultRetry = 5 * time.Second

// Status returns the status that a caller sees for err. What an *errs.Error
// says is told; anything else is Internal with a fixed text, and is for the
// log only. nil is OK. A status of gRPC's own (a message that is too large, a
// method that is unknown) gets the same shape as ours.
func Status(err error) *status.Status {
	if err == nil {
		return status.New(codes.OK, "")
	}
	e := public(err)
	r := byKind(e.Kind)
	reason := e.Reason
	if reason == "" {
		reason = r.reason
	}
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: reason, Domain: Domain, Metadata: e.Metadata}}
	if len(e.Fields) > 0 {
		details = append(details, badRequest(e.Fields))
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	plain := status.New(r.code, Cut(e.Message, maxText))
	full, err := plain.WithDetails(details...)
	if err != nil {
		return plain // an error without its details is better than none
	}
	return full
}

// badRequest tells the violations that there is room for, at least one.
func badRequest(fields []errs.FieldViolation) *errdetails.BadRequest {
	bad := &errdetails.BadRequest{}
	room := maxViolationBytes
	for _, f := range fields {
		v := &errdetails.BadRequest_FieldViolation{Field: Cut(f.Field, maxText), Description: Cut(f.Description, maxText)}
		room -= len(v.GetField()) + len(v.GetDescription())
		if len(bad.GetFieldViolations()) > 0 && (room < 0 || len(bad.GetFieldViolations()) == MaxViolations) {
			break
		}
		bad.FieldViolations = append(bad.FieldViolations, v)
	}

	return bad
}

// Unexpected reports whether err is one whose cause callers don't see, so that
// it has to be logged.
func Unexpected(err error) bool { return err != nil && public(err).Kind == errs.Internal }

// public returns what a caller may know of err.
func public(err error) *errs.Error {
	var e *errs.Error
	if errors.As(err, &e) {
		switch {
		case byKind(e.Kind).kind == errs.Internal: // and kinds that there are not
			return &errs.Error{Kind: errs.Internal, Reason: errs.ReasonInternal, Message: internalMessage}
		case e.Kind == errs.Unavailable && e.RetryAfter <= 0:
			c := *e
			c.RetryAfter = defaultRetry
			return &c
		}

		return e
	}

	switch errs.KindOf(err) {
	case errs.Canceled:
		return errs.New(errs.Canceled, errs.ReasonCanceled, canceledMessage)
	case errs.DeadlineExceeded:
		return errs.New(errs.DeadlineExceeded, errs.ReasonDeadlineExceeded, deadlineMessage)
	}

	if s, ok := status.FromError(err); ok {
		return fromGRPC(s)
	}
	return &errs.Error{Kind: errs.Internal, Reason: errs.ReasonInternal, Message: internalMessage}
}

// fromGRPC turns a status that the gRPC library made, on this side of the
// wire, into an error. Only the codes that it makes about a request are
// believed; its texts are its own, so they are replaced.
func fromGRPC(s *status.Status) *errs.Error {
	switch s.Code() {
	case codes.Canceled:
		return errs.New(errs.Canceled, errs.ReasonCanceled, canceledMessage)
	case codes.DeadlineExceeded:
		return errs.New(errs.DeadlineExceeded, errs.ReasonDeadlineExceeded, deadlineMessage)
	case codes.ResourceExhausted:
		// The library says so of a message over the limit.
		return errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge,
			"The request is larger than this server takes (1 MiB).")
	case codes.Unimplemented:
		return errs.New(errs.Unimplemented, errs.ReasonMethodNotAllowed, "This server can't read the request: %s.",
			s.Message())
	case codes.Unavailable:
		e := errs.New(errs.Unavailable, errs.ReasonUnavailable, "The server is not ready or is stopping; try again.")
		e.RetryAfter = defaultRetry
		return e
	}

	return &errs.Error{Kind: errs.Internal, Reason: errs.ReasonInternal, Message: internalMessage}
}

// FromStatus is the inverse of Status, for clients: it returns an *errs.Error,
// or nil for OK. The kind, reason, sentence, fields, metadata and delay
// survive the way there and back.
func FromStatus(s *status.Status) error {
	if s.Code() == codes.OK {
		return nil
	}
	r := byCode(s.Code())
	e := &errs.Error{Kind: r.kind, Reason: r.reason, Message: s.Message()}
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			if d.GetDomain() == Domain {
				e.Reason, e.Metadata = d.GetReason(), d.GetMetadata()
			}
		case *errdetails.BadRequest:
			for _, f := range d.GetFieldViolations() {
				e.Fields = append(e.Fields, errs.FieldViolation{Field: f.GetField(), Description: f.GetDescription()})
			}
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}

	return e
}

// FromError is FromStatus for an error that a gRPC call returned.
func FromError(err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	return FromStatus(s)
}

// Reason returns the reason in a status, or "".
func Reason(s *status.Status) string {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == Domain {
			return info.GetReason()
		}
	}

	return ""
}

// RetryAfter returns the delay in a status, or 0.
func RetryAfter(s *status.Status) time.Duration {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}

	return 0
}

// Cut returns s as valid UTF-8, cut at a rune to at most limit bytes and an
// ellipsis.
func Cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
