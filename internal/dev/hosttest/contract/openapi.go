// Package contract checks requests against the documents that vendors publish of their
// interfaces. The documents aren't ours: `make test-hosts` fetches them.
package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// OpenAPI is an OpenAPI document, as far as operations of it are used.
type OpenAPI struct {
	router  routers.Router
	missing []string
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// shape is an operation without the names of its parameters.
func shape(operation string) string { return parameter.ReplaceAllString(operation, "{}") }

// LoadOpenAPI reads a document and keeps operations such as `GET /repos/{owner}`. What
// they answer is left out, because only requests are checked. The whole of GitHub's
// document takes many seconds to read.
func LoadOpenAPI(file string, operations []string) (*OpenAPI, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}

	return trim(file, b, operations)
}

// trim makes a router of the operations of a document that are wanted.
func trim(file string, b []byte, operations []string) (*OpenAPI, error) {
	var doc struct {
		Info       json.RawMessage                       `json:"info"`
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components map[string]map[string]any             `json:"components"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}

	wanted := map[string]bool{}
	for _, o := range operations {
		wanted[shape(o)] = true
	}

	paths := map[string]any{}
	for path, methods := range doc.Paths {
		kept := map[string]any{}
		for method, raw := range methods {
			name := shape(strings.ToUpper(method) + " " + path)
			if !wanted[name] {
				continue
			}
			wanted[name] = false
			var operation map[string]any
			if err := json.Unmarshal(raw, &operation); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, name, err)
			}
			operation["responses"] = map[string]any{"default": map[string]any{"description": "left out"}}
			delete(operation, "callbacks")
			delete(operation, "security") // the fakes look at credentials
			kept[method] = operation
		}
		if len(kept) > 0 {
			if shared, ok := methods["parameters"]; ok {
				kept["parameters"] = shared
			}
			paths[path] = kept
		}
	}

	trimmed, err := json.Marshal(map[string]any{
		"openapi": "3.0.3", "info": doc.Info, "paths": paths, "components": used(doc.Components, paths),
	})
	if err != nil {
		return nil, err
	}

	return load(trimmed, wanted)
}

// load makes a router of a document. What is still wanted is not in it.
func load(trimmed []byte, wanted map[string]bool) (*OpenAPI, error) {
	doc, err := openapi3.NewLoader().LoadFromData(trimmed)
	if err != nil {
		return nil, err
	}

	o := &OpenAPI{}
	if o.router, err = gorillamux.NewRouter(doc); err != nil {
		return nil, err
	}

	for name, still := range wanted {
		if still {
			o.missing = append(o.missing, name)
		}
	}

	return o, nil
}

// used are the components that a value refers to, and those that they refer to.
func used(components map[string]map[string]any, value any) map[string]map[string]any {
	kept := map[string]map[string]any{}
	var follow func(any)
	follow = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			ref, _ := v["$ref"].(string)
			if kind, name, ok := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/"); ok {
				if kept[kind] == nil {
					kept[kind] = map[string]any{}
				}
				if _, seen := kept[kind][name]; !seen {
					kept[kind][name] = components[kind][name]
					follow(components[kind][name])
				}
			}
			for _, each := range v {
				follow(each)
			}
		case []any:
			for _, each := range v {
				follow(each)
			}
		}
	}

	follow(value)
	return kept
}

// Missing are the operations that the document does not have.
func (o *OpenAPI) Missing() []string { return o.missing }

// Check checks a request, whose path in the document is another than its own. It
// returns which operation it is. The body can be read again afterwards.
func (o *OpenAPI) Check(q *http.Request, path string) (operation string, err error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return "", err
	}

	q.Body = io.NopCloser(bytes.NewReader(body))
	copied := q.Clone(context.Background())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	copied.URL = &url.URL{Path: path, RawQuery: q.URL.RawQuery}
	route, parameters, err := o.router.FindRoute(copied)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", q.Method, path, err)
	}

	operation = shape(q.Method + " " + route.Path)
	err = openapi3filter.ValidateRequest(q.Context(), &openapi3filter.RequestValidationInput{
		Request: copied, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{
			MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	})
	if err != nil {
		return operation, fmt.Errorf("%s: %w\n%.2000s", operation, err, body)
	}

	return operation, nil
}
