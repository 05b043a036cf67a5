package main

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

//go:embed failures.yaml
var failuresFile []byte

// failures are all the ways in which calls fail.
type failures struct {
	Shared   map[int]string `yaml:"shared"`
	Every    []string       `yaml:"every"`
	WithBody []string       `yaml:"with_body"`
	Calls    map[string]struct {
		Invalid violation `yaml:"invalid"`
		Reasons []string  `yaml:"reasons"`
	} `yaml:"calls"`
	Reasons []reason `yaml:"reasons"`
}

// violation is a field and what is wrong with it.
type violation struct {
	Field       string `yaml:"field"`
	Description string `yaml:"description"`
}

// reason is one way in which a call can fail.
type reason struct {
	Word    string `yaml:"word"` // in the ErrorInfo
	Status  int    `yaml:"status"`
	Code    int    `yaml:"code"` // of gRPC
	When    string `yaml:"when"`
	Message string `yaml:"message"`
	Retry   bool   `yaml:"retry"` // the answer says when to try again

	// Of one call.
	violation violation
	scope     string
}

func readFailures() (*failures, error) {
	var f failures
	err := yaml.Unmarshal(failuresFile, &f)
	return &f, err
}

// sharedResponses returns the answers that are the same for every call.
func (f *failures) sharedResponses() openapi3.ResponseBodies {
	responses := openapi3.ResponseBodies{}
	for status, name := range f.Shared {
		reasons := slices.Clone(f.Reasons)
		reasons = slices.DeleteFunc(reasons, func(r reason) bool { return r.Status != status })
		responses[name] = &openapi3.ResponseRef{Value: failureResponse(reasons)}
	}
	return responses
}

// scopeWord finds the scope that the comment of a call names.
var scopeWord = regexp.MustCompile(`Scope: ([a-z]+:[a-z]+)`)

// add adds to a call every answer with which it can fail.
func (f *failures) add(c *call, op *openapi3.Operation) error {
	own, ok := f.Calls[string(c.method.Desc.Name())]
	scope := scopeWord.FindStringSubmatch(op.Description)
	if !ok || scope == nil {
		return errors.New("failures.yaml has to say how it can fail, and its comment `Scope: …`")
	}
	words := slices.Concat(f.Every, own.Reasons)
	if c.body != nil {
		words = append(words, f.WithBody...)
	}

	found := map[int][]reason{}
	for _, r := range f.Reasons {
		if !slices.Contains(words, r.Word) {
			continue
		}
		words = slices.DeleteFunc(words, func(word string) bool { return word == r.Word })
		switch r.Word {
		case "INVALID_ARGUMENT":
			r.violation = own.Invalid
			r.Message = own.Invalid.Field + ": " + own.Invalid.Description
		case "SCOPE_MISSING":
			r.scope = scope[1]
			r.When = fmt.Sprintf(r.When, r.scope)
			r.Message = fmt.Sprintf(r.Message, r.scope, otherScope(r.scope))
		}
		found[r.Status] = append(found[r.Status], r)
	}
	if len(words) > 0 {
		return fmt.Errorf("failures.yaml does not explain %q", words)
	}

	for status, reasons := range found {
		ref := &openapi3.ResponseRef{Ref: "#/components/responses/" + f.Shared[status]}
		if f.Shared[status] == "" {
			ref = &openapi3.ResponseRef{Value: failureResponse(reasons)}
		}
		op.Responses.Set(fmt.Sprint(status), ref)
	}
	return nil
}

// otherScope is one that the key of an example has and does not help.
func otherScope(scope string) string {
	if scope == "rules:read" {
		return "reviews:read"
	}
	return "rules:read"
}

// failureResponse makes the answer of failures of one status.
func failureResponse(failures []reason) *openapi3.Response {
	response := openapi3.NewResponse().WithDescription(explain(failures))
	response.Headers = commonHeaders()
	switch failures[0].Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		response.Headers["Retry-After"] = headerRef("Retry-After")
	case http.StatusUnauthorized:
		response.Headers["WWW-Authenticate"] = headerRef("WWW-Authenticate")
	}
	media := openapi3.NewMediaType().WithSchemaRef(componentRef("Status"))
	media.Examples = openapi3.Examples{}
	for _, r := range failures {
		value := &openapi3.Example{Summary: upper(r.When), Value: r.example()}
		media.Examples[r.Word] = &openapi3.ExampleRef{Value: value}
	}
	response.Content = openapi3.Content{jsonType: media}
	return response
}

// explain lists the reasons of failures.
func explain(failures []reason) string {
	if len(failures) == 1 {
		return fmt.Sprintf("%s (reason `%s`).", upper(failures[0].When), failures[0].Word)
	}
	var text strings.Builder
	text.WriteString("One of these reasons:\n")
	for _, r := range failures {
		fmt.Fprintf(&text, "\n- `%s`: %s", r.Word, r.When)
	}
	return text.String()
}

// example returns the JSON of the error.
func (r reason) example() map[string]any {
	const typePrefix = "type.googleapis.com/google.rpc."
	info := map[string]any{"@type": typePrefix + "ErrorInfo", "reason": r.Word, "domain": "prwarden"}
	if r.scope != "" {
		info["metadata"] = map[string]any{"scope": r.scope}
	}
	details := []any{info}
	if r.violation.Field != "" {
		fields := []any{map[string]any{"field": r.violation.Field, "description": r.violation.Description}}
		details = append(details, map[string]any{"@type": typePrefix + "BadRequest", "field_violations": fields})
	}
	if r.Retry {
		details = append(details, map[string]any{"@type": typePrefix + "RetryInfo", "retry_delay": "12s"})
	}
	return map[string]any{"code": r.Code, "message": r.Message, "details": details}
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
