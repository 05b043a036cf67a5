package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// document is what the page shows of an OpenAPI document.
type document struct {
	Info struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	} `json:"info"`
	ExternalDocs *externalDocs                   `json:"externalDocs"`
	Tags         []tag                           `json:"tags"`
	Paths        map[string]map[string]operation `json:"paths"`
	Components   struct {
		Schemas         map[string]schema   `json:"schemas"`
		Headers         map[string]header   `json:"headers"`
		Responses       map[string]response `json:"responses"`
		SecuritySchemes map[string]struct {
			Description string `json:"description"`
		} `json:"securitySchemes"`
	} `json:"components"`
}

type externalDocs struct {
	Description string `json:"description"`
	URL         string `json:"url"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type operation struct {
	OperationID string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Tags        []string    `json:"tags"`
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Required bool             `json:"required"`
		Content  map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses  map[string]response `json:"responses"`
	GRPCMethod string              `json:"x-grpc-method"`
	Samples    []struct {
		Label  string `json:"label"`
		Source string `json:"source"`
	} `json:"x-codeSamples"`
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Required    bool   `json:"required"`
	Description string `json:"description"`
	Schema      schema `json:"schema"`
}

type header struct {
	Ref         string `json:"$ref"`
	Description string `json:"description"`
	Schema      schema `json:"schema"`
}

type response struct {
	Ref         string            `json:"$ref"`
	Description string            `json:"description"`
	Headers     map[string]header `json:"headers"`
	Content     map[string]media  `json:"content"`
	Links       map[string]struct {
		OperationID string `json:"operationId"`
	} `json:"links"`
}

type media struct {
	Schema   schema          `json:"schema"`
	Example  json.RawMessage `json:"example"`
	Examples map[string]struct {
		Summary string          `json:"summary"`
		Value   json.RawMessage `json:"value"`
	} `json:"examples"`
}

type schema struct {
	Ref                  string            `json:"$ref"`
	Type                 string            `json:"type"`
	Format               string            `json:"format"`
	Description          string            `json:"description"`
	Properties           map[string]schema `json:"properties"`
	Required             []string          `json:"required"`
	Items                *schema           `json:"items"`
	AllOf                []schema          `json:"allOf"`
	OneOf                []schema          `json:"oneOf"`
	Enum                 []any             `json:"enum"`
	Default              any               `json:"default"`
	Pattern              string            `json:"pattern"`
	MinLength            int               `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
	MinItems             int               `json:"minItems"`
	MaxItems             *int              `json:"maxItems"`
	UniqueItems          bool              `json:"uniqueItems"`
	ReadOnly             bool              `json:"readOnly"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"`
	ExternalDocs         *externalDocs     `json:"externalDocs"`
}

func parse(text []byte) (*document, error) {
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return &doc, nil
}

// name is the last part of a reference.
func name(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// resolve follows the reference of a response.
func (d *document) resolve(r response) response {
	if r.Ref != "" {
		return d.Components.Responses[name(r.Ref)]
	}
	return r
}

// operations returns the operations of a tag: by path, and those of a path in
// the order in which a thing lives.
func (d *document) operations(tag string) []endpoint {
	var found []endpoint
	for path, verbs := range d.Paths {
		for verb, op := range verbs {
			if slices.Contains(op.Tags, tag) {
				found = append(found, endpoint{verb: verb, path: path, operation: op})
			}
		}
	}

	slices.SortFunc(found, func(a, b endpoint) int {
		if a.path != b.path {
			return strings.Compare(a.path, b.path)
		}
		return slices.Index(life(), a.verb) - slices.Index(life(), b.verb)
	})
	return found
}

func life() []string { return []string{"post", "get", "put", "patch", "delete"} }

// endpoint is an operation and where it is.
type endpoint struct {
	verb, path string
	operation
}
