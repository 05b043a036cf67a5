package rpc

import (
	"context"
	"errors"
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/prwarden/prwarden/internal/errs"
)

// ErrorDomain is the domain of every google.rpc.ErrorInfo.
const ErrorDomain = "prwarden"

// Bounds of a status. It travels as trailers, for which many gRPC clients take
// 8 KiB; a client that gets more ends its connection, with every other call on
// it.
const (
	// MaxViolations is how many mistakes in one request are named at once, and
	// maxViolation bounds each of their texts, in bytes.
	MaxViolations = 10
	maxViolation  = 250

	// maxSentence bounds the sentence: some repeat what a caller sent.
	maxSentence = 1 << 10
)

// defaultRetry is when to try again after Unavailable, for errors that don't
// say.
const defaultRetry = 5 * time.Second

// statusClientClosedRequest is what proxies log when the caller went away.
// Nobody is there to read it.
const statusClientClosedRequest = 499

// row says what one kind of error is on the wire. reason is that of an error
// without one.
type row struct {
	kind   errs.Kind
	code   codes.Code
	http   int
	reason string
}

// table is the only place that knows which error is which gRPC code and which
// HTTP status. It has one row for every kind, and the first one for all others.
func table() []row {
	return []row{
		{errs.Internal, codes.Internal, http.StatusInternalServerError, errs.ReasonInternal},
		{errs.InvalidArgument, codes.InvalidArgument, http.StatusBadRequest, errs.ReasonInvalidArgument},
		{errs.Unauthenticated, codes.Unauthenticated, http.StatusUnauthorized, errs.ReasonKeyInvalid},
		{errs.PermissionDenied, codes.PermissionDenied, http.StatusForbidden, errs.ReasonScopeMissing},
		{errs.NotFound, codes.NotFound, http.StatusNotFound, errs.ReasonRouteNotFound},
		{errs.AlreadyExists, codes.AlreadyExists, http.StatusConflict, errs.ReasonRuleExists},
		{errs.Aborted, codes.Aborted, http.StatusConflict, errs.ReasonIdempotencyConflict},
		{errs.FailedPrecondition, codes.FailedPrecondition, http.StatusConflict, errs.ReasonReviewFinished},
		{errs.ResourceExhausted, codes.ResourceExhausted, http.StatusTooManyRequests, errs.ReasonRateLimited},
		{errs.Unavailable, codes.Unavailable, http.StatusServiceUnavailable, errs.ReasonUnavailable},
		{errs.Canceled, codes.Canceled, statusClientClosedRequest, errs.ReasonCanceled},
		{errs.DeadlineExceeded, codes.DeadlineExceeded, http.StatusGatewayTimeout, errs.ReasonDeadlineExceeded},
		{errs.Unimplemented, codes.Unimplemented, http.StatusMethodNotAllowed, errs.ReasonMethodNotAllowed},
	}
}

func find(is func(row) bool) row {
	rows := table()
	for _, r := range rows {
		if is(r) {
			return r
		}
	}

	return rows[0]
}

// HTTPStatus returns the HTTP status of a gRPC code and a reason; the reason
// may be "".
func HTTPStatus(code codes.Code, reason string) int {
	switch reason {
	case errs.ReasonBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case errs.ReasonUnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	}

	return find(func(r row) bool { return r.code == code }).http
}

// Status returns the status that a caller sees for err. What an *errs.Error
// says is shown; anything else is Internal with a fixed text, and is for the
// log only.
func Status(err error) *status.Status {
	e := public(err)
	r := find(func(r row) bool { return r.kind == e.Kind })
	info := &errdetails.ErrorInfo{Reason: e.Reason, Domain: ErrorDomain, Metadata: e.Metadata}
	if info.Reason == "" {
		info.Reason = r.reason
	}

	details := []protoadapt.MessageV1{info}
	if len(e.Fields) > 0 {
		bad := &errdetails.BadRequest{}
		for _, f := range e.Fields[:min(len(e.Fields), MaxViolations)] {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
				Field: Cut(f.Field, maxViolation), Description: Cut(f.Description, maxViolation),
			})
		}

		details = append(details, bad)
	}

	wait := e.RetryAfter
	if e.Kind == errs.Unavailable && wait <= 0 {
		wait = defaultRetry
	}
	if wait > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
	}

	plain := status.New(r.code, Cut(e.Message, maxSentence))
	full, err := plain.WithDetails(details...)
	if err != nil {
		return plain // an error without its details is better than none
	}
	return full
}

// Unexpected reports whether err is one whose cause callers don't see, so that
// it has to be logged.
func Unexpected(err error) bool { return public(err).Kind == errs.Internal }

// public returns what a caller may know of err. Of the statuses that libraries
// make, only the codes that they use for requests are passed on, with texts of
// ours.
func public(err error) *errs.Error {
	var e *errs.Error
	if errors.As(err, &e) && e.Kind > errs.Internal && e.Kind <= errs.Unimplemented {
		return e
	}

	code := status.Code(err)
	switch {
	case e != nil:
	case code == codes.Canceled || errors.Is(err, context.Canceled):
		return errs.New(errs.Canceled, errs.ReasonCanceled, "The caller canceled the request.")
	case code == codes.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded):
		return errs.New(errs.DeadlineExceeded, errs.ReasonDeadlineExceeded,
			"The deadline of the request passed before it was answered.")
	case code == codes.ResourceExhausted: // a message over the limit
		return errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge,
			"The request is larger than this server takes (1 MiB).")
	case code == codes.NotFound: // a health check
		return errs.New(errs.NotFound, errs.ReasonRouteNotFound,
			"unknown service; the empty name asks for the whole server")
	}

	return errs.New(errs.Internal, errs.ReasonInternal,
		"Something went wrong on the server; its log has the details under this request's x-request-id.")
}

// Reason returns the reason in a status, or "".
func Reason(s *status.Status) string {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == ErrorDomain {
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
