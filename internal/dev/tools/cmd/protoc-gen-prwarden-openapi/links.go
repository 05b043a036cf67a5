package main

import (
	"fmt"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// link says, in the successful answers of calls, which other calls take what
// they hold: an identifier goes where a path of the same service names it, and
// the token of a page to the call that answered it.
func (g *generator) link(doc *openapi3.T) error {
	for _, from := range g.operations {
		if from.method.IsStreamingServer() {
			continue // its body is many answers
		}
		links := openapi3.Links{}
		for _, to := range g.operations {
			if from.method.Parent() == to.method.Parent() {
				linkPath(links, from, to)
			}
		}
		linkPage(links, from)
		if from.method.Name() == "ListRulesets" {
			links["listRules"] = newLink("listRules", "The rules of the first ruleset.", "name", "$response.body#/rulesets/0/name")
		}
		if len(links) == 0 {
			continue
		}
		response, err := successOf(doc.Paths.Value(from.path).GetOperation(from.verb))
		if err != nil {
			return fmt.Errorf("%s: %w", from.method.FullName(), err)
		}
		response.Links = links
	}
	return nil
}

// linkPath links to a call whose path has one identifier, which the answer has
// as well.
func linkPath(links openapi3.Links, from, to operation) {
	if len(to.params) != 1 || from.method == to.method {
		return
	}
	name := to.params[0]
	if field := from.response.Fields().ByTextName(name); field == nil || field.Kind() != protoreflect.StringKind {
		return
	}
	id := operationID(to)
	links[id] = newLink(id, "What has the `"+name+"` of this answer.", name, "$response.body#/"+name)
}

// linkPage links to the next page.
func linkPage(links openapi3.Links, op operation) {
	const token = "page_token"
	if op.response.Fields().ByTextName("next_"+token) == nil || op.method.Input().Fields().ByTextName(token) == nil {
		return
	}
	id := operationID(op)
	page := newLink(id, "The next page, unless this is the last one.", token, "$response.body#/next_"+token)
	for _, name := range op.params {
		page.Value.Parameters[name] = "$request.path." + name
	}
	links["next_page"] = page
}

func newLink(operation, description, parameter, expression string) *openapi3.LinkRef {
	return &openapi3.LinkRef{Value: &openapi3.Link{
		OperationID: operation,
		Description: description,
		Parameters:  map[string]any{parameter: expression},
	}}
}

func successOf(op *openapi3.Operation) (*openapi3.Response, error) {
	for status, response := range op.Responses.Map() {
		if n, err := strconv.Atoi(status); err == nil && n < 300 {
			return response.Value, nil
		}
	}
	return nil, fmt.Errorf("it never succeeds")
}
