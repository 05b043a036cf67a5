package main

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// failureResponse makes the answer for failures of one status.
func failureResponse(failures []reason) *openapi3.Response {
	response := openapi3.NewResponse().WithDescription(describe(failures))
	response.Headers = commonHeaders()
	switch failures[0].status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		response.Headers["Retry-After"] = headerRef("Retry-After")
	case http.StatusUnauthorized:
		response.Headers["WWW-Authenticate"] = headerRef("WWW-Authenticate")
	}
	media := openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef("#/components/schemas/Status", nil))
	media.Examples = openapi3.Examples{}
	for _, r := range failures {
		media.Examples[r.word] = &openapi3.ExampleRef{Value: &openapi3.Example{
			Summary: strings.ToUpper(r.when[:1]) + r.when[1:],
			Value:   r.example(),
		}}
	}
	response.Content = openapi3.Content{jsonType: media}
	return response
}

// describe lists the reasons of failures.
func describe(failures []reason) string {
	if len(failures) == 1 {
		r := failures[0]
		when := strings.ToUpper(r.when[:1]) + r.when[1:]
		return fmt.Sprintf("%s (reason `%s`).", when, r.word)
	}
	var text strings.Builder
	text.WriteString("One of these reasons:\n")
	for _, r := range failures {
		fmt.Fprintf(&text, "\n- `%s`: %s", r.word, r.when)
	}
	return text.String()
}

// sharedFailures returns the answers that do not depend on the call.
func sharedFailures() openapi3.ResponseBodies {
	byStatus := map[int][]reason{}
	for _, r := range reasons() {
		byStatus[r.status] = append(byStatus[r.status], r)
	}
	responses := openapi3.ResponseBodies{}
	for status, failures := range byStatus {
		if name := component(status); name != "" {
			responses[name] = &openapi3.ResponseRef{Value: failureResponse(failures)}
		}
	}
	return responses
}

// commonHeaders returns those that every answer has.
func commonHeaders() openapi3.Headers {
	refs := openapi3.Headers{}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"} {
		refs[name] = headerRef(name)
	}
	return refs
}

func headerRef(name string) *openapi3.HeaderRef {
	return &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
}

// headers returns the headers that answers carry.
func headers() openapi3.Headers {
	number := func(low, high float64, description string) *openapi3.HeaderRef {
		schema := openapi3.NewInt32Schema()
		if high > math.MaxInt32 {
			schema = openapi3.NewInt64Schema()
		}
		return &openapi3.HeaderRef{Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: description,
			Required:    true,
			Schema:      schema.WithMin(low).WithMax(high).NewRef(),
		}}}
	}
	const endOfTime = 253402300799 // 9999-12-31T23:59:59Z
	return openapi3.Headers{
		"X-RateLimit-Limit":     number(1, math.MaxInt32, "Requests that the key may make in a window of one minute."),
		"X-RateLimit-Remaining": number(0, math.MaxInt32, "Requests that are left in the current window."),
		"X-RateLimit-Reset":     number(0, endOfTime, "When the current window ends, in seconds since 1970-01-01T00:00:00Z."),
		"Retry-After":           number(0, math.MaxInt32, "Seconds after which trying again makes sense."),
		"X-Request-Id": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "The X-Request-Id of the request when it had one of 1 to 128 characters of `[A-Za-z0-9._-]`, and else a new one. It is in the server's log.",
			Required:    true,
			Schema:      openapi3.NewStringSchema().WithPattern("^[A-Za-z0-9._-]{1,128}$").WithMaxLength(128).NewRef(),
		}}},
		"WWW-Authenticate": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "The scheme of authentication, `Bearer`.",
			Required:    true,
			Schema:      openapi3.NewStringSchema().WithEnum("Bearer").NewRef(),
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
	details.WithMinItems(1).WithMaxItems(3)
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
			"field_violations": openapi3.NewArraySchema().WithItems(violation.Value).WithMinItems(1).WithMaxItems(20).NewRef(),
		}, "@type", "field_violations"),
		"RetryInfo": object("When trying again makes sense.", openapi3.Schemas{
			"@type":       typeOf("RetryInfo"),
			"retry_delay": openapi3.NewStringSchema().WithPattern(`^[0-9]+(\.[0-9]+)?s$`).NewRef(),
		}, "@type", "retry_delay"),
	}
}
