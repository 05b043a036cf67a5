package main

import (
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/grpc/codes"
)

// apiError is an error that many calls can answer with.
type apiError struct {
	status      int
	name        string // of its component
	description string
	code        codes.Code // the rest is for its example
	reason      string
	message     string
	details     []any // beside the ErrorInfo
}

const typePrefix = "type.googleapis.com/google.rpc."

// apiErrors returns the errors that more than one call shares, by ascending
// status.
func apiErrors() []apiError {
	wait := map[string]any{"@type": typePrefix + "RetryInfo", "retry_delay": "12s"}
	return []apiError{
		{
			http.StatusBadRequest, "InvalidArgument",
			"The request is wrong; the details name each field and what it may be.",
			codes.InvalidArgument, "INVALID_ARGUMENT", "pr_number: must be at least 1; it is 0",
			[]any{map[string]any{
				"@type": typePrefix + "BadRequest",
				"field_violations": []any{map[string]any{
					"field":       "pr_number",
					"description": "must be at least 1; it is 0",
				}},
			}},
		},
		{
			http.StatusUnauthorized, "Unauthenticated",
			"There is no key, or it is unknown, expired or revoked.",
			codes.Unauthenticated, "KEY_MISSING", "This needs an API key. Send it in the header `Authorization: Bearer <API key>`.", nil,
		},
		{
			http.StatusForbidden, "PermissionDenied",
			"The key may not do this (reasons SCOPE_MISSING, REPOSITORY_NOT_ALLOWED, ORGANIZATION_REMOVED, DEFAULT_RULE).",
			codes.PermissionDenied, "SCOPE_MISSING", "This needs a key with the scope rules:write; yours has rules:read.", nil,
		},
		{
			http.StatusNotFound, "NotFound",
			"There is no such thing, or none that the key's organization may see.",
			codes.NotFound, "REVIEW_NOT_FOUND", "There is no such review.", nil,
		},
		{
			http.StatusRequestEntityTooLarge, "BodyTooLarge",
			"The body is over 1 MiB.",
			codes.InvalidArgument, "BODY_TOO_LARGE", "The request body is larger than 1 MiB (1048576 bytes), which is the most that this server takes.", nil,
		},
		{
			http.StatusUnsupportedMediaType, "UnsupportedMediaType",
			"The body is not application/json.",
			codes.InvalidArgument, "UNSUPPORTED_MEDIA_TYPE", "The Content-Type of the request is not JSON; send the body as `Content-Type: application/json`, in UTF-8 and not compressed.", nil,
		},
		{
			http.StatusTooManyRequests, "RateLimited",
			"The key made more requests in a minute than it may.",
			codes.ResourceExhausted, "RATE_LIMITED", "This API key made more than 60 requests in a minute; try again after 2026-11-20T09:30:12Z.", []any{wait},
		},
		{
			http.StatusInternalServerError, "Internal",
			"Something went wrong in the server; its log says what.",
			codes.Internal, "INTERNAL", "Something went wrong on the server; its log has the details under this request's x-request-id.", nil,
		},
		{
			http.StatusServiceUnavailable, "Unavailable",
			"Not now: the database is away, or a limit of waiting reviews or open watches is reached (reasons UNAVAILABLE, QUEUE_FULL, WATCH_LIMIT).",
			codes.Unavailable, "UNAVAILABLE", "The server is not ready.", []any{wait},
		},
	}
}

// responseName returns the name of the component that describes an error.
func responseName(status int) string {
	for _, e := range apiErrors() {
		if e.status == status {
			return e.name
		}
	}
	panic("no component for status " + http.StatusText(status))
}

// commonErrors returns the statuses that follow from the shape of a call: 404
// when its path names something, 413 and 415 when it has a body. Every call
// can be unauthenticated, without scope or limited, and refuses query
// parameters that it does not know.
func commonErrors(op operation) []int {
	statuses := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if len(op.params) > 0 {
		statuses = append(statuses, http.StatusNotFound)
	}
	if op.body != "" {
		statuses = append(statuses, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return statuses
}

func errorResponses() openapi3.ResponseBodies {
	responses := openapi3.ResponseBodies{}
	for _, e := range apiErrors() {
		response := errorResponse(e.description)
		info := map[string]any{
			"@type":  typePrefix + "ErrorInfo",
			"reason": e.reason,
			"domain": "prwarden",
		}
		if e.reason == "SCOPE_MISSING" {
			info["metadata"] = map[string]any{"scope": "rules:write"}
		}
		response.Content[jsonType].Example = map[string]any{
			"code":    int(e.code),
			"message": e.message,
			"details": append([]any{info}, e.details...),
		}
		switch e.status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			response.Headers["Retry-After"] = headerRef("Retry-After")
		case http.StatusUnauthorized:
			response.Headers["WWW-Authenticate"] = headerRef("WWW-Authenticate")
		}
		responses[e.name] = &openapi3.ResponseRef{Value: response}
	}
	return responses
}

// errorResponse makes an answer with a Status.
func errorResponse(description string) *openapi3.Response {
	response := openapi3.NewResponse().WithDescription(description)
	response.Headers = rateLimitHeaders()
	response.Content = openapi3.Content{
		jsonType: openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef("#/components/schemas/Status", nil)),
	}
	return response
}

func rateLimitHeaders() openapi3.Headers {
	refs := openapi3.Headers{}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		refs[name] = headerRef(name)
	}
	return refs
}

func headerRef(name string) *openapi3.HeaderRef {
	return &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
}

// headers returns the headers that answers carry.
func headers() openapi3.Headers {
	number := func(low float64, description string) *openapi3.HeaderRef {
		return &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: description,
			Required:    true,
			Schema:      openapi3.NewIntegerSchema().WithMin(low).NewRef(),
		}}}
	}
	return openapi3.Headers{
		"X-RateLimit-Limit":     number(1, "Requests that the key may make in a window of one minute."),
		"X-RateLimit-Remaining": number(0, "Requests that are left in the current window."),
		"X-RateLimit-Reset":     number(0, "When the current window ends, in seconds since 1970-01-01T00:00:00Z."),
		"Retry-After":           number(0, "Seconds after which trying again makes sense."),
		"WWW-Authenticate": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "The scheme of authentication, `Bearer`.",
			Required:    true,
			Schema:      openapi3.NewStringSchema().WithPattern("^Bearer").NewRef(),
		}}},
	}
}

// errorSchemas returns the JSON of google.rpc.Status and of the details that
// the server uses.
func errorSchemas() openapi3.Schemas {
	object := func(description string, properties openapi3.Schemas, required ...string) *openapi3.SchemaRef {
		schema := openapi3.NewObjectSchema()
		schema.Description = description
		schema.Properties = properties
		schema.Required = required
		return schema.NewRef()
	}
	text := func(description string) *openapi3.SchemaRef {
		schema := openapi3.NewStringSchema()
		schema.Description = description
		return schema.NewRef()
	}
	typeOf := func(name string) *openapi3.SchemaRef {
		return openapi3.NewStringSchema().WithEnum(typePrefix + name).NewRef()
	}
	code := openapi3.NewInt32Schema().WithMin(1).WithMax(16)
	code.Description = "gRPC status code, https://grpc.io/docs/guides/status-codes/."
	reason := openapi3.NewStringSchema().WithPattern("^[A-Z][A-Z0-9_]*$")
	reason.Description = "Stable word for programs, such as `RULE_EXISTS`."
	domain := openapi3.NewStringSchema().WithEnum("prwarden")
	violation := object("What is wrong with one field.", openapi3.Schemas{
		"field":       text("Path of the field in the JSON of the request, such as `paths.include[2]`."),
		"description": text("What was wrong and what is allowed."),
	}, "field", "description")
	metadata := openapi3.NewObjectSchema().WithAdditionalProperties(openapi3.NewStringSchema())
	metadata.Description = "More for programs, such as the scope that is missing."

	refs := openapi3.SchemaRefs{}
	for _, name := range []string{"ErrorInfo", "BadRequest", "RetryInfo"} {
		refs = append(refs, openapi3.NewSchemaRef("#/components/schemas/"+name, nil))
	}
	details := openapi3.NewArraySchema()
	details.Description = "An ErrorInfo, and where they apply a BadRequest or a RetryInfo."
	details.Items = (&openapi3.Schema{OneOf: refs}).NewRef()

	return openapi3.Schemas{
		"Status": object("An error.", openapi3.Schemas{
			"code":    code.NewRef(),
			"message": text("A sentence that a person can act on."),
			"details": details.NewRef(),
		}, "code", "message", "details"),
		"ErrorInfo": object("Why a request failed, for programs.", openapi3.Schemas{
			"@type":    typeOf("ErrorInfo"),
			"reason":   reason.NewRef(),
			"domain":   domain.NewRef(),
			"metadata": metadata.NewRef(),
		}, "@type", "reason", "domain"),
		"BadRequest": object("What is wrong in a request, field by field.", openapi3.Schemas{
			"@type":            typeOf("BadRequest"),
			"field_violations": openapi3.NewArraySchema().WithItems(violation.Value).WithMinItems(1).NewRef(),
		}, "@type", "field_violations"),
		"RetryInfo": object("When trying again makes sense.", openapi3.Schemas{
			"@type":       typeOf("RetryInfo"),
			"retry_delay": openapi3.NewStringSchema().WithPattern(`^[0-9]+(\.[0-9]+)?s$`).NewRef(),
		}, "@type", "retry_delay"),
	}
}
