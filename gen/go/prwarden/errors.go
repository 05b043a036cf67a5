package prwarden

import (
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is what the server says about a call that failed.
type Error struct {
	// Code is the kind of error, such as NotFound; OK of a nil error.
	Code codes.Code
	// Reason is a word for programs, such as RATE_LIMITED; docs/api.md lists
	// all. It is empty when the error is not the server's, such as one of the
	// network.
	Reason string
	// Message is a sentence for people.
	Message string
	// Violations are the mistakes in the request, with InvalidArgument.
	Violations []FieldViolation
	// RetryAfter is when the same call may succeed; 0 when the server does not
	// say.
	RetryAfter time.Duration
	// Metadata is more for programs, such as the missing scope.
	Metadata map[string]string
}

// FieldViolation is one mistake in a request.
type FieldViolation struct {
	// Field is its path, such as pr_number or rule.pattern.
	Field string
	// Description says what is allowed, and what it was.
	Description string
}

// ErrorOf reads what the server said from the error that a call returned, also
// when that is wrapped.
func ErrorOf(err error) *Error {
	s := status.Convert(err)
	var said interface{ GRPCStatus() *status.Status }
	if errors.As(err, &said) {
		s = said.GRPCStatus() // without the text of what wraps it
	}
	e := &Error{Code: s.Code(), Message: s.Message()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason, e.Metadata = d.GetReason(), d.GetMetadata()
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				e.Violations = append(e.Violations, FieldViolation{Field: v.GetField(), Description: v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			e.RetryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	return e
}

// Error is the reason, or else the code, and the message.
func (e *Error) Error() string {
	if e.Reason != "" {
		return e.Reason + ": " + e.Message
	}
	return e.Code.String() + ": " + e.Message
}
