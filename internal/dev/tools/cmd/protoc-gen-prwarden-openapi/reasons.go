package main

import (
	"net/http"
	"slices"

	"google.golang.org/grpc/codes"
)

const typePrefix = "type.googleapis.com/google.rpc."

// reason is one way in which a call can fail: the word of its ErrorInfo, and
// what an example shows.
type reason struct {
	word    string
	status  int
	code    codes.Code
	when    string // of the description
	message string
	retry   bool // the answer says when to try again

	// Of one call.
	field violation
	scope string
}

// example returns the JSON of the error.
func (r reason) example() map[string]any {
	info := map[string]any{"@type": typePrefix + "ErrorInfo", "reason": r.word, "domain": "prwarden"}
	if r.scope != "" {
		info["metadata"] = map[string]any{"scope": r.scope}
	}
	details := []any{info}
	if r.field.field != "" {
		details = append(details, map[string]any{
			"@type":            typePrefix + "BadRequest",
			"field_violations": []any{map[string]any{"field": r.field.field, "description": r.field.description}},
		})
	}
	if r.retry {
		details = append(details, map[string]any{"@type": typePrefix + "RetryInfo", "retry_delay": "12s"})
	}
	return map[string]any{"code": int(r.code), "message": r.message, "details": details}
}

// reasons returns every way in which a call can fail, by ascending status.
func reasons() []reason {
	return slices.Concat(callerReasons(), thingReasons(), serverReasons())
}

// callerReasons are about who calls, and what the call says.
func callerReasons() []reason {
	return []reason{
		{
			word: "INVALID_ARGUMENT", status: http.StatusBadRequest, code: codes.InvalidArgument,
			when:    "the request is wrong; the details name each field and what it may be",
			message: "%s: %s",
		},
		{
			word: "KEY_MISSING", status: http.StatusUnauthorized, code: codes.Unauthenticated,
			when:    "there is no `Authorization: Bearer`",
			message: "This needs an API key. Send it in the header `Authorization: Bearer <API key>`.",
		},
		{
			word: "KEY_INVALID", status: http.StatusUnauthorized, code: codes.Unauthenticated,
			when:    "it is not a key, mistyped, or unknown",
			message: "There is no such API key on this server.",
		},
		{
			word: "KEY_EXPIRED", status: http.StatusUnauthorized, code: codes.Unauthenticated,
			when:    "the key has expired",
			message: "The API key key_01k9w3t5zq8h4m2x expired at 2026-11-20T09:00:00Z.",
		},
		{
			word: "KEY_REVOKED", status: http.StatusUnauthorized, code: codes.Unauthenticated,
			when:    "the key was revoked",
			message: "The API key key_01k9w3t5zq8h4m2x was revoked at 2026-11-20T09:00:00Z.",
		},
		{
			word: "SCOPE_MISSING", status: http.StatusForbidden, code: codes.PermissionDenied,
			when:    "the key lacks the scope %s",
			message: "This needs a key with the scope %s; yours has %s.",
		},
		{
			word: "ORGANIZATION_REMOVED", status: http.StatusForbidden, code: codes.PermissionDenied,
			when:    "the key's organization is not in the server's configuration any more",
			message: "The organization acme of this API key is not in the server's configuration any more.",
		},
		{
			word: "REPOSITORY_NOT_ALLOWED", status: http.StatusForbidden, code: codes.PermissionDenied,
			when:    "the organization may not use the repository",
			message: "Organization acme may not use repository other/shop; the server's configuration lists the repositories of each organization.",
		},
		{
			word: "DEFAULT_RULE", status: http.StatusForbidden, code: codes.PermissionDenied,
			when:    "rules of the default ruleset can't be deleted",
			message: "security/no-eval is a rule of the default ruleset and can't be deleted. To switch it off for a repository, add `disable: [security/no-eval]` to its .prwarden/rules.yml.",
		},
	}
}

// thingReasons are about what the call is for.
func thingReasons() []reason {
	return []reason{
		{
			word: "REVIEW_NOT_FOUND", status: http.StatusNotFound, code: codes.NotFound,
			when:    "there is no such review, or it is another organization's",
			message: `There is no review "rev_01k9w3t5zq8h4m2x7d6c0b1a".`,
		},
		{
			word: "RULE_NOT_FOUND", status: http.StatusNotFound, code: codes.NotFound,
			when:    "there is no such rule, or it is another organization's",
			message: `There is no rule "security/no-eval".`,
		},
		{
			word: "RULESET_NOT_FOUND", status: http.StatusNotFound, code: codes.NotFound,
			when:    "there is no such ruleset",
			message: `There is no ruleset "acme/shop"; GET /v1/rules lists the rulesets.`,
		},
		{
			word: "KEY_NOT_FOUND", status: http.StatusNotFound, code: codes.NotFound,
			when:    "there is no such key, or it is another organization's",
			message: `There is no key "key_01k9w3t5zq8h4m2x".`,
		},
		{
			word: "IDEMPOTENCY_CONFLICT", status: http.StatusConflict, code: codes.Aborted,
			when:    "the idempotency key was used with another request",
			message: "The idempotency key was used with another request. Use a new key for a new request.",
		},
		{
			word: "REVIEW_FINISHED", status: http.StatusConflict, code: codes.FailedPrecondition,
			when:    "the review is complete, failed or canceled already",
			message: `The review "rev_01k9w3t5zq8h4m2x7d6c0b1a" is complete already and can't be canceled.`,
		},
		{
			word: "REVIEW_NOT_COMPLETE", status: http.StatusConflict, code: codes.FailedPrecondition,
			when:    "the review waits, runs, failed or was canceled",
			message: `The review "rev_01k9w3t5zq8h4m2x7d6c0b1a" is queued; wait until it is complete.`,
		},
		{
			word: "RULE_EXISTS", status: http.StatusConflict, code: codes.AlreadyExists,
			when:    "the id is taken, maybe by a default rule",
			message: `There is a rule "custom/no-print" already. Delete it first, or choose another id.`,
		},
		{
			word: "RULE_QUOTA", status: http.StatusConflict, code: codes.FailedPrecondition,
			when:    "the organization has 5,000 rules, which is the most",
			message: "The organization has 5000 custom rules, which is the most. Delete one first.",
		},
	}
}

// serverReasons are about what the server takes, and how it is.
func serverReasons() []reason {
	return []reason{
		{
			word: "BODY_TOO_LARGE", status: http.StatusRequestEntityTooLarge, code: codes.InvalidArgument,
			when:    "the body is over 1 MiB",
			message: "The request body is larger than 1 MiB (1048576 bytes), which is the most that this server takes.",
		},
		{
			word: "UNSUPPORTED_MEDIA_TYPE", status: http.StatusUnsupportedMediaType, code: codes.InvalidArgument,
			when:    "the body is not application/json in UTF-8, or is compressed",
			message: "The Content-Type of the request is not JSON; send the body as `Content-Type: application/json`, in UTF-8 and not compressed.",
		},
		{
			word: "RATE_LIMITED", status: http.StatusTooManyRequests, code: codes.ResourceExhausted,
			when:    "the key, or without a valid one the address, made more requests in a minute than it may",
			message: "This API key made more than 60 requests in a minute; try again after 2026-11-20T09:30:12Z.",
			retry:   true,
		},
		{
			word: "INTERNAL", status: http.StatusInternalServerError, code: codes.Internal,
			when:    "something went wrong in the server; its log says what, under the X-Request-Id of the answer",
			message: "Something went wrong on the server; its log has the details under this request's x-request-id.",
		},
		{
			word: "UNAVAILABLE", status: http.StatusServiceUnavailable, code: codes.Unavailable,
			when:    "the database is away, or the server has more requests than it can take",
			message: "The database can't be used at the moment. Try again.",
			retry:   true,
		},
		{
			word: "QUEUE_FULL", status: http.StatusServiceUnavailable, code: codes.Unavailable,
			when:    "10,000 reviews of the organization wait",
			message: "The organization has 10000 reviews waiting, which is the most. Try again when some are done.",
			retry:   true,
		},
		{
			word: "WATCH_LIMIT", status: http.StatusServiceUnavailable, code: codes.Unavailable,
			when:    "the key has 100 open watches",
			message: "This API key has 100 open watches, which is the most that it may have; close one or poll the review.",
			retry:   true,
		},
	}
}
