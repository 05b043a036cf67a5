package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
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
				Field: errs.Cut(f.Field, maxViolation), Description: errs.Cut(f.Description, maxViolation),
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

	plain := status.New(r.code, errs.Cut(e.Message, maxSentence))
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
func Reason(s *status.Status) string { return detail[*errdetails.ErrorInfo](s).GetReason() }

// Fields returns what a status says of the fields of the request.
func Fields(s *status.Status) (out []errs.FieldViolation) {
	for _, f := range detail[*errdetails.BadRequest](s).GetFieldViolations() {
		out = append(out, errs.FieldViolation{Field: f.GetField(), Description: f.GetDescription()})
	}

	return out
}

// RetryAfter returns the delay in a status, or 0.
func RetryAfter(s *status.Status) time.Duration {
	return detail[*errdetails.RetryInfo](s).GetRetryDelay().AsDuration()
}

func detail[T any](s *status.Status) (found T) {
	for _, d := range s.Details() {
		if t, ok := d.(T); ok {
			return t
		}
	}

	return found
}

// validate is the link in which a request that breaks the constraints of its
// proto ends, with everything that is wrong with it.
func validate(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if m, ok := req.(proto.Message); ok {
		if err := check(m); err != nil {
			return nil, err
		}
	}
	return handler(ctx, req)
}

// validateStream is the same link for what a stream receives.
func validateStream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, checking{ss})
}

// checking is a stream whose messages are checked.
type checking struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (s checking) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return check(m.(proto.Message))
}

// check returns what is wrong with a message. A large one has room for hundreds
// of thousands of mistakes, so only its first is named.
func check(m proto.Message) error {
	var options []protovalidate.ValidationOption
	if proto.Size(m) > overload.Large {
		options = append(options, protovalidate.WithFailFast())
	}

	var found errs.Violations
	err := protovalidate.Validate(m, options...)
	var invalid *protovalidate.ValidationError
	switch {
	case errors.As(err, &invalid):
		for _, violation := range invalid.Violations[:min(len(invalid.Violations), MaxViolations)] {
			found = append(found, describe(violation))
		}
	case err != nil:
		return fmt.Errorf("validate %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}

	if path := nulIn(m); path != "" {
		found.Add(path, "must not contain the character U+0000")
	}

	for i := range found {
		// Over REST a rule is the body, and its validation names its fields so, too.
		found[i].Field = strings.TrimPrefix(found[i].Field, "rule.")
	}
	return found.Err()
}

// nulIn returns the path of a string with a NUL in it, which no database stores
// alike, or "".
func nulIn(m proto.Message) (path string) {
	// The function that is called fails only to end the search.
	_ = protorange.Range(m.ProtoReflect(), func(p protopath.Values) error {
		text, ok := p.Index(-1).Value.Interface().(string)
		if !ok || strings.IndexByte(text, 0) < 0 {
			return nil
		}
		path = strings.TrimPrefix(p.Path[1:].String(), ".")
		return protorange.Terminate
	})
	return path
}

// describe says what is wrong with a field: in the words of protovalidate, but
// for the rules that it explains less well.
func describe(v *protovalidate.Violation) errs.FieldViolation {
	text := strings.TrimPrefix(v.Proto.GetMessage(), "value ")
	switch rule := v.Proto.GetRuleId(); {
	case rule == "int32.gte":
		text = fmt.Sprintf("must be at least %d; it is %d", v.RuleValue.Int(), v.FieldValue.Int())
	case strings.HasPrefix(rule, "enum."):
		text = "must be one of " + strings.Join(EnumWords(v.FieldDescriptor.Enum()), ", ")
	case rule == "string.pattern":
		text = describePattern(v.RuleValue.String())
	}

	return errs.FieldViolation{Field: protovalidate.FieldPathString(v.Proto.GetField()), Description: text}
}

// describePattern says what a text must be that does not match a pattern of the API.
func describePattern(pattern string) string {
	switch pattern {
	case `^~?[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){1,19}$`:
		return "must be `<owner>/<repository>`, each of 1 to 100 letters, digits, dots, hyphens and underscores"
	case `^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)?$`:
		return "must be `<name>` or `<category>/<name>`, each of lower-case letters, digits, dots, hyphens and " +
			"underscores, with a letter or digit first"
	case `^[A-Za-z0-9_-]+$`:
		return "must be of letters, digits, hyphens and underscores"
	case `^[a-z0-9][a-z0-9._-]*$`:
		return "must be of lower-case letters, digits, dots, hyphens and underscores, with a letter or digit first"
	case `^[0-9a-f]{40}$`:
		return "must be the whole identifier of a commit: 40 hexadecimal digits in lower case"
	case `^[0-9a-f]+$`:
		return "must be hexadecimal digits in lower case"
	case `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`:
		return "must be a day as YYYY-MM-DD"
	}

	return "does not match regex pattern " + pattern
}

// EnumWords returns the words of an enum that may be sent: all but the one for
// zero, which says that nothing was.
func EnumWords(ed protoreflect.EnumDescriptor) []string {
	var out []string
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); v.Number() != 0 {
			out = append(out, string(v.Name()))
		}
	}

	return out
}
