// Package errs is the one error type that crosses package boundaries. A layer
// that knows what went wrong says so with a Kind, a Reason for programs and a
// sentence for people; the transport turns that into a status in one table
// (internal/server/rpc). An error that is not an *Error is unexpected:
// callers see a fixed text and the log sees the rest.
package errs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is what sort of failure an error is. It decides the status code.
type Kind int

// The kinds. Internal is the zero value, so that a forgotten Kind never tells
// a caller more than it should.
const (
	Internal           Kind = iota // unexpected; details go to the log only
	InvalidArgument                // the request is wrong and will stay so
	Unauthenticated                // no valid key
	PermissionDenied               // a valid key that may not do this
	NotFound                       // no such thing, or none that the caller may see
	AlreadyExists                  // the identifier is taken
	Aborted                        // conflicts with an earlier request
	FailedPrecondition             // not in the present state
	ResourceExhausted              // over the rate limit
	Unavailable                    // not now; try again
	Canceled                       // the caller went away
	DeadlineExceeded               // the caller's deadline passed
	Unimplemented                  // there is no such call
)

// Reasons, the stable words of google.rpc.ErrorInfo. docs/api.md explains each.
const (
	ReasonInvalidArgument      = "INVALID_ARGUMENT"
	ReasonKeyMissing           = "KEY_MISSING"
	ReasonKeyInvalid           = "KEY_INVALID"
	ReasonKeyExpired           = "KEY_EXPIRED"
	ReasonKeyRevoked           = "KEY_REVOKED"
	ReasonSignatureInvalid     = "SIGNATURE_INVALID"
	ReasonScopeMissing         = "SCOPE_MISSING"
	ReasonSignInAgain          = "SIGN_IN_AGAIN"
	ReasonSignInFailed         = "SIGN_IN_FAILED"
	ReasonSessionEnded         = "SESSION_ENDED"
	ReasonPersonNeeded         = "PERSON_NEEDED"
	ReasonSingleSignOnOnly     = "SINGLE_SIGN_ON_ONLY"
	ReasonInvitedOther         = "INVITED_OTHER"
	ReasonLastOwner            = "LAST_OWNER"
	ReasonUserNotFound         = "USER_NOT_FOUND"
	ReasonMemberNotFound       = "MEMBER_NOT_FOUND"
	ReasonSessionNotFound      = "SESSION_NOT_FOUND"
	ReasonInvitationNotFound   = "INVITATION_NOT_FOUND"
	ReasonLinkNotFound         = "LINK_NOT_FOUND"
	ReasonOrganizationNotFound = "ORGANIZATION_NOT_FOUND"
	ReasonUserExists           = "USER_EXISTS"
	ReasonMemberExists         = "MEMBER_EXISTS"
	ReasonMemberQuota          = "MEMBER_QUOTA"
	ReasonMemberElsewhere      = "MEMBER_ELSEWHERE"
	ReasonRepositoryNotAllowed = "REPOSITORY_NOT_ALLOWED"
	ReasonDefaultRule          = "DEFAULT_RULE"
	ReasonReviewNotFound       = "REVIEW_NOT_FOUND"
	ReasonFindingNotFound      = "FINDING_NOT_FOUND"
	ReasonTriageNotFound       = "TRIAGE_NOT_FOUND"
	ReasonTriageChanged        = "TRIAGE_CHANGED"
	ReasonTriageNotAllowed     = "TRIAGE_NOT_ALLOWED"
	ReasonRuleNotFound         = "RULE_NOT_FOUND"
	ReasonRulesetNotFound      = "RULESET_NOT_FOUND"
	ReasonKeyNotFound          = "KEY_NOT_FOUND"
	ReasonPullRequestNotFound  = "PULL_REQUEST_NOT_FOUND"
	ReasonConnectionNotFound   = "CONNECTION_NOT_FOUND"
	ReasonRouteNotFound        = "ROUTE_NOT_FOUND"
	ReasonMethodNotAllowed     = "METHOD_NOT_ALLOWED"
	ReasonRuleExists           = "RULE_EXISTS"
	ReasonIdempotencyConflict  = "IDEMPOTENCY_CONFLICT"
	ReasonEtagMismatch         = "ETAG_MISMATCH"
	ReasonReviewFinished       = "REVIEW_FINISHED"
	ReasonReviewNotComplete    = "REVIEW_NOT_COMPLETE"
	ReasonRuleQuota            = "RULE_QUOTA"
	ReasonKeyQuota             = "KEY_QUOTA"
	ReasonConnectionExists     = "CONNECTION_EXISTS"
	ReasonConnectionQuota      = "CONNECTION_QUOTA"
	ReasonConnectionDeclared   = "CONNECTION_DECLARED"
	ReasonConnectionBroken     = "CONNECTION_BROKEN"
	ReasonSecretsKeyMissing    = "SECRETS_KEY_MISSING"
	ReasonPublicURLMissing     = "PUBLIC_URL_MISSING"
	ReasonWebhookNotFound      = "WEBHOOK_NOT_FOUND"
	ReasonMessageNotFound      = "MESSAGE_NOT_FOUND"
	ReasonWebhookQuota         = "WEBHOOK_QUOTA"
	ReasonWebhookDisabled      = "WEBHOOK_DISABLED"
	ReasonHostUnavailable      = "HOST_UNAVAILABLE"
	ReasonBodyTooLarge         = "BODY_TOO_LARGE"
	ReasonUnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
	ReasonRateLimited          = "RATE_LIMITED"
	ReasonInternal             = "INTERNAL"
	ReasonUnavailable          = "UNAVAILABLE"
	ReasonQueueFull            = "QUEUE_FULL"
	ReasonWatchLimit           = "WATCH_LIMIT"
	ReasonCanceled             = "CANCELED"
	ReasonDeadlineExceeded     = "DEADLINE_EXCEEDED"
)

// Error is a failure with everything that a caller may know of it.
type Error struct {
	Kind       Kind
	Reason     string            // UPPER_SNAKE_CASE, one of the constants above
	Message    string            // a sentence that a person can act on
	Fields     []FieldViolation  // what was wrong in the request, field by field
	RetryAfter time.Duration     // when trying again makes sense; 0 when not known
	Metadata   map[string]string // more for programs, such as the scope that is missing
	Err        error             // the cause, for the log only
}

// FieldViolation says what is wrong with one field of a request.
type FieldViolation struct {
	Field       string // path in snake_case, such as `paths.include[2]`
	Description string // what was wrong and what is allowed
}

// Error returns the message followed by the cause; it is for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Err)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an Error from a kind, a reason and a formatted sentence.
func New(kind Kind, reason, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes an InvalidArgument error for one field.
func Invalid(field, format string, args ...any) *Error {
	return InvalidFields(FieldViolation{Field: field, Description: fmt.Sprintf(format, args...)})
}

// InvalidFields makes an InvalidArgument error for at least one violation. The
// sentence names the first.
func InvalidFields(fields ...FieldViolation) *Error {
	message := fields[0].Field + ": " + fields[0].Description
	if n := len(fields) - 1; n > 0 {
		message += fmt.Sprintf(" (and %d more, see details)", n)
	}
	return &Error{Kind: InvalidArgument, Reason: ReasonInvalidArgument, Message: message, Fields: fields}
}

// Violations are what is wrong with a request, field by field.
type Violations []FieldViolation

// Add adds what is wrong with one field.
func (v *Violations) Add(field, format string, args ...any) {
	*v = append(*v, FieldViolation{Field: field, Description: fmt.Sprintf(format, args...)})
}

// AddOf adds the violations of an error of a part of the request, such as `rules[0].`.
func (v *Violations) AddOf(part string, e *Error) {
	for _, f := range e.Fields {
		v.Add(part+f.Field, "%s", f.Description)
	}
}

// Err is InvalidFields, or nil when nothing is wrong.
func (v Violations) Err() error {
	if len(v) == 0 {
		return nil
	}
	return InvalidFields(v...)
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

// KindOf returns the kind of err: that of the *Error in its chain, the kinds
// of the context errors, and Internal for everything else.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return DeadlineExceeded
	}
	return Internal
}

// ReasonOf returns the reason of the *Error in err's chain, or "".
func ReasonOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}
