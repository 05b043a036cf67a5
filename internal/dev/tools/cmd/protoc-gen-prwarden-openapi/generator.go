package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/compiler/protogen"
)

const jsonType = "application/json"

// generator adds the calls of the protos to a document.
type generator struct {
	doc        *openapi3.T
	failures   *failures
	calls      []*call
	operations map[*call]*openapi3.Operation
	answers    map[string]bool // names of the schemas that answers use
}

func newGenerator() (*generator, error) {
	doc, err := openapi3.NewLoader().LoadFromData(base)
	if err != nil {
		return nil, fmt.Errorf("base.yaml: %w", err)
	}
	failures, err := readFailures()
	if err != nil {
		return nil, fmt.Errorf("failures.yaml: %w", err)
	}
	doc.Components.Responses = failures.sharedResponses()
	return &generator{
		doc: doc, failures: failures,
		operations: map[*call]*openapi3.Operation{}, answers: map[string]bool{},
	}, nil
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
		op, err := c.describe()
		if err != nil {
			return fmt.Errorf("%s: %w", method.Desc.Name(), err)
		}
		g.doc.AddOperation(c.path, c.verb, op)
		g.calls = append(g.calls, c)
		g.operations[c] = op

		status, description := c.success()
		op.AddResponse(status, g.successOf(c, status, description))
		if err := g.failures.add(c, op); err != nil {
			return fmt.Errorf("%s: %w", method.Desc.Name(), err)
		}
	}
	return nil
}

// finish adds what needs all calls.
func (g *generator) finish() error {
	for _, c := range g.calls {
		op := g.operations[c]
		if c.body != nil {
			op.RequestBody = &openapi3.RequestBodyRef{Value: g.requestBody(c)}
		}
		g.link(c)
		if err := addSamples(c, op); err != nil {
			return fmt.Errorf("%s: %w", c.id(), err)
		}
	}
	return nil
}

// requestBody makes the body of a call that has one. It may be left out when
// nothing in it is required.
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

// successOf makes the answer of a call that went well.
func (g *generator) successOf(c *call, status int, description string) *openapi3.Response {
	response := openapi3.NewResponse().WithDescription(description)
	response.Headers = commonHeaders()

	switch {
	case status == http.StatusNoContent:
	case c.answer.Desc.FullName() == "google.api.HttpBody":
		// The form of such a document is not ours; base.yaml has what readers can rely on.
		schema := g.doc.Components.Schemas["SarifLog"].Value
		media := openapi3.NewMediaType().WithSchemaRef(componentRef("SarifLog"))
		media.Example, schema.Example = schema.Example, nil
		response.Content = openapi3.Content{c.options.GetProduces()[0]: media}
	case c.method.Desc.IsStreamingServer():
		response.WithDescription("A stream of JSON objects, one on each line; the schema is that of a line.")
		media := openapi3.NewMediaType().WithSchemaRef(g.streamLine(c.answer))
		media.Example = map[string]any{"result": example(c.answer, answer)}
		response.Content = openapi3.Content{"application/x-ndjson": media}
	default:
		media := openapi3.NewMediaType().WithSchemaRef(g.message(c.answer, answer))
		media.Example = example(c.answer, answer)
		response.Content = openapi3.Content{jsonType: media}
	}
	return response
}

// streamLine makes the schema of one line of a stream, as grpc-gateway writes
// it: a message, or the error that ended the stream.
func (g *generator) streamLine(m *protogen.Message) *openapi3.SchemaRef {
	line := openapi3.NewObjectSchema().WithMinProperties(1).WithMaxProperties(1).WithoutAdditionalProperties()
	line.Description = "One line of the stream: `result`, or `error` when it breaks."
	line.Properties = openapi3.Schemas{"result": g.message(m, answer), "error": componentRef("Status")}
	name := componentName(m.Desc) + "Line"
	g.doc.Components.Schemas[name] = line.NewRef()
	return componentRef(name)
}

// link says in the successful answer of a call which other calls take what it
// holds: an identifier goes where a path of the same service names it, and the
// token of a page to the call that answered it.
func (g *generator) link(from *call) {
	if from.method.Desc.IsStreamingServer() {
		return // its body is many answers
	}
	links := openapi3.Links{}
	for _, to := range g.calls {
		if from == to || from.method.Parent != to.method.Parent || len(to.params) != 1 {
			continue
		}
		if name := to.params[0]; fieldOf(from.answer, name) != nil {
			links[to.id()] = newLink(to, "What has the `"+name+"` of this answer.", name, "/"+name)
		}
		if to.id() == "listRules" && from.id() == "listRulesets" {
			links[to.id()] = newLink(to, "The rules of the first ruleset.", "name", "/rulesets/0/name")
		}
	}
	if fieldOf(from.answer, "next_page_token") != nil {
		page := newLink(from, "The next page, unless this is the last one.", "page_token", "/next_page_token")
		for _, name := range from.params {
			page.Value.Parameters[name] = "$request.path." + name
		}
		links["next_page"] = page
	}
	if len(links) > 0 {
		status, _ := from.success()
		g.operations[from].Responses.Value(strconv.Itoa(status)).Value.Links = links
	}
}

// newLink links to a call, whose parameter is at the pointer in the answer.
func newLink(to *call, description, parameter, pointer string) *openapi3.LinkRef {
	return &openapi3.LinkRef{Value: &openapi3.Link{
		OperationID: to.id(),
		Description: description,
		Parameters:  map[string]any{parameter: "$response.body#" + pointer},
	}}
}
