// Command protoc-gen-prwarden-openapi is a protoc plugin that writes openapi.json, the OpenAPI 3.0 document of the REST
// API.
//
// Calls, fields, limits and comments come from the protos; base.yaml has what they don't say, such as how calls fail.
// The result is checked with a strict loader before it is written.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"
)

// base is the document without its calls and their schemas.
//
//go:embed base.yaml
var base []byte

func main() {
	protogen.Options{}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		text, err := generate(plugin)
		if err != nil {
			return err
		}
		_, err = plugin.NewGeneratedFile("openapi.json", "").Write(text)
		return err
	})
}

const (
	jsonType       = "application/json"
	failuresOfBase = "x-failures"
)

// generator adds the calls of the protos to a document.
type generator struct {
	doc      *openapi3.T
	failures map[string]map[string]string // of calls by status: names of responses
	calls    []*call
	answers  map[string]bool // names of the schemas that answers use
}

func newGenerator() (*generator, error) {
	doc, err := openapi3.NewLoader().LoadFromData(base)
	if err != nil {
		return nil, fmt.Errorf("base.yaml: %w", err)
	}
	g := &generator{doc: doc, answers: map[string]bool{}}
	text, err := json.Marshal(doc.Extensions[failuresOfBase])
	if err != nil {
		return nil, err
	}
	delete(doc.Extensions, failuresOfBase)

	for _, response := range doc.Components.Responses {
		headers := commonHeaders()
		maps.Copy(headers, response.Value.Headers)
		response.Value.Headers = headers
		response.Value.Content[jsonType].Schema = componentRef("Status")
	}

	return g, json.Unmarshal(text, &g.failures)
}

// generate makes the whole document, prints it and checks it.
func generate(plugin *protogen.Plugin) ([]byte, error) {
	g, err := newGenerator()
	if err != nil {
		return nil, err
	}
	for _, file := range plugin.Files {
		if !file.Generate {
			continue
		}
		for _, service := range file.Services {
			if err := g.addService(service); err != nil {
				return nil, fmt.Errorf("%s: %w", service.Desc.Name(), err)
			}
		}
	}

	// Schemas of requests, links and samples need all calls.
	for _, c := range g.calls {
		if c.body != nil {
			c.op.RequestBody = &openapi3.RequestBodyRef{Value: g.requestBody(c)}
		}
		g.link(c)
		if err := c.addSample(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.op.OperationID, err)
		}
	}

	text, err := render(g.doc)
	if err != nil {
		return nil, err
	}
	return text, check(text)
}

// tagName makes `Reviews` of ReviewService.
func tagName(s *protogen.Service) string {
	return strings.TrimSuffix(string(s.Desc.Name()), "Service") + "s"
}

// addService adds the calls of a service and the answers that they give.
func (g *generator) addService(s *protogen.Service) error {
	tag := g.doc.Tags.Get(tagName(s))
	if tag == nil {
		return nil // a service that is not for users
	}
	tag.Description = sentence(string(s.Desc.Name()), reflow(s.Comments.Leading))

	for _, method := range s.Methods {
		c, err := newCall(method)
		if err != nil {
			return fmt.Errorf("%s: %w", method.Desc.Name(), err)
		}
		g.doc.AddOperation(c.path, c.verb, c.op)
		g.calls = append(g.calls, c)

		status, description := c.success()
		c.op.AddResponse(status, g.answerOf(c, status, description))
		failures := maps.Clone(g.failures["every"])
		if c.body != nil {
			maps.Copy(failures, g.failures["body"])
		}
		maps.Copy(failures, g.failures[string(method.Desc.Name())])
		for status, name := range failures {
			c.op.Responses.Set(status, &openapi3.ResponseRef{Ref: "#/components/responses/" + name})
		}
	}

	return nil
}

// requestBody makes the body of a call that has one. It may be left out when nothing in it is required.
func (g *generator) requestBody(c *call) *openapi3.RequestBody {
	ref := g.message(c.body, request, c.params...)
	media := openapi3.NewMediaType().WithSchemaRef(ref)
	media.Example = example(c.body, request)
	if media.Example == nil {
		media.Example = map[string]any{}
	}
	schema := g.doc.Components.Schemas[strings.TrimPrefix(ref.Ref, componentRef("").Ref)].Value
	return openapi3.NewRequestBody().WithRequired(len(schema.Required) > 0).
		WithContent(openapi3.Content{jsonType: media})
}

// answerOf makes the answer of a call that went well.
func (g *generator) answerOf(c *call, status int, description string) *openapi3.Response {
	response := openapi3.NewResponse().WithDescription(description)
	response.Headers = commonHeaders()
	if status == http.StatusNoContent {
		return response
	}

	media, kind := openapi3.NewMediaType(), jsonType
	switch {
	case c.answer.Desc.FullName() == "google.api.HttpBody":
		// The form of such a document is not ours; base.yaml has what readers can rely on.
		schema := g.doc.Components.Schemas["SarifLog"].Value
		kind, media.Schema = c.options.GetProduces()[0], componentRef("SarifLog")
		media.Example, schema.Example = schema.Example, nil
	case c.method.Desc.IsStreamingServer():
		response.WithDescription("A stream of JSON objects, one on each line; the schema is that of a line.")
		kind, media.Schema = "application/x-ndjson", g.streamLine(c.answer)
		media.Example = map[string]any{"result": example(c.answer, answer)}
	default:
		media.Schema, media.Example = g.message(c.answer, answer), example(c.answer, answer)
	}
	response.Content = openapi3.Content{kind: media}
	return response
}

// streamLine makes the schema of one line of a stream, as grpc-gateway writes it: a message, or the error that ended
// the stream.
func (g *generator) streamLine(m *protogen.Message) *openapi3.SchemaRef {
	line := openapi3.NewObjectSchema().WithMinProperties(1).WithMaxProperties(1).WithoutAdditionalProperties()
	line.Description = "One line of the stream: `result`, or `error` when it breaks."
	line.Properties = openapi3.Schemas{"result": g.message(m, answer), "error": componentRef("Status")}
	name := componentName(m.Desc) + "Line"
	g.doc.Components.Schemas[name] = line.NewRef()
	return componentRef(name)
}

// link says in the successful answer of a call which other calls take what it holds: an identifier goes where a path of
// the same service names it, and the token of a page to the call that answered it.
func (g *generator) link(from *call) {
	if from.method.Desc.IsStreamingServer() {
		return // its body is many answers
	}
	links := openapi3.Links{}
	add := func(name string, to *call, description, parameter, pointer string) openapi3.Link {
		link := openapi3.Link{
			OperationID: to.op.OperationID, Description: description,
			Parameters: map[string]any{parameter: "$response.body#" + pointer},
		}
		links[name] = &openapi3.LinkRef{Value: &link}
		return link
	}

	for _, to := range g.calls {
		if from == to || from.method.Parent != to.method.Parent || len(to.params) != 1 {
			continue
		}
		id := to.op.OperationID
		if name := to.params[0]; fieldOf(from.answer, name) != nil {
			add(id, to, "What has the `"+name+"` of this answer.", name, "/"+name)
		}
		if id == "listRules" && from.op.OperationID == "listRulesets" {
			add(id, to, "The rules of the first ruleset.", "name", "/rulesets/0/name")
		}
	}

	if fieldOf(from.answer, "next_page_token") != nil {
		page := add("next_page", from, "The next page, unless this is the last one.", "page_token", "/next_page_token")
		for _, name := range from.params {
			page.Parameters[name] = "$request.path." + name
		}
	}

	if status, _ := from.success(); len(links) > 0 {
		from.op.Responses.Value(strconv.Itoa(status)).Value.Links = links
	}
}

// commonHeaders returns those that every answer has.
func commonHeaders() openapi3.Headers {
	refs := openapi3.Headers{}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"} {
		refs[name] = &openapi3.HeaderRef{Ref: "#/components/headers/" + name}
	}
	return refs
}

// render writes a document with sorted keys, indented, and without escaping what only HTML needs escaped.
func render(doc *openapi3.T) ([]byte, error) {
	compact, err := doc.MarshalJSON()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(compact))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}

	text, err := encoded(tree, "  ")
	return []byte(text + "\n"), err
}

func encoded(value any, indent string) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return strings.TrimSpace(text.String()), err
}

// check loads the printed document as a reader would and validates it, the examples against their schemas included.
func check(text []byte) error {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return fmt.Errorf("load the document: %w", err)
	}
	openapi3.DefineStringFormatValidator("re2", openapi3.NewCallbackValidator(func(pattern string) error {
		_, err := regexp.Compile(pattern)
		return err
	}))
	err = doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation())
	if err != nil {
		return fmt.Errorf("validate the document: %w", err)
	}
	return nil
}
