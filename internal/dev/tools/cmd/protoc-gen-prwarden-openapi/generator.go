package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// generator completes a converted document.
type generator struct {
	converted  *openapi3.T                                  // what it starts from
	operations []operation                                  // all RPCs with an HTTP rule
	used       map[direction]map[protoreflect.FullName]bool // messages and enums by where they occur
	schemas    openapi3.Schemas                             // the schemas made so far, by component name
}

func newGenerator(converted *openapi3.T, operations []operation) *generator {
	return &generator{
		converted:  converted,
		operations: operations,
		used: map[direction]map[protoreflect.FullName]bool{
			toServer: {},
			toClient: {},
		},
		schemas: openapi3.Schemas{},
	}
}

const repository = "https://github.com/prwarden/prwarden"

// aboutAPI is the description of the whole API.
const aboutAPI = `prwarden scans pull requests against rules and reports findings.

Every request carries an API key: ` + "`Authorization: Bearer prw_…`" + `. A key belongs to one organization and sees nothing of any other. Each call says which scope the key needs.

Requests are checked strictly: an unknown or repeated field or query parameter, a value of another type (a number as a string, ` + "`null`" + `), or bytes after the JSON are refused with 400 and the name of the field. Enumerations are the lower-case words given here. No text has the character U+0000. Times are RFC 3339, in answers always UTC with a trailing ` + "`Z`" + `.

Answers always hold the fields marked as required; a value that is not known yet, such as ` + "`completed_at`" + `, is absent. Clients should ignore fields that they don't know: fields and calls may be added, and none is removed or changes its meaning.

Every error is a Status: ` + "`code`" + ` is a gRPC status code, ` + "`message`" + ` a sentence for people, and ` + "`details`" + ` has an ErrorInfo whose ` + "`reason`" + ` is a stable word for programs. A path that there is not is 404 ` + "`ROUTE_NOT_FOUND`" + `, and a method that a path does not take is 405 ` + "`METHOD_NOT_ALLOWED`" + ` with those that it takes in the header ` + "`Allow`" + `. OPTIONS says the same with 204, and HEAD is answered as GET, without the body.

Every answer says what is left of the key's rate limit in the headers ` + "`X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`" + `. Over the limit the answer is 429; it and 503 say in ` + "`Retry-After`" + ` when to try again.`

// complete makes the final document.
func (g *generator) complete() (*openapi3.T, error) {
	for _, op := range g.operations {
		if msg := bodyMessage(op); msg != nil {
			g.reach(msg, toServer)
		}
		if !isDocument(op.response) {
			g.reach(op.response, toClient)
		}
	}
	doc := &openapi3.T{
		OpenAPI: "3.0.3",
		Info: &openapi3.Info{
			Title: "prwarden", Version: "v1", Description: aboutAPI,
			Contact: &openapi3.Contact{Name: "prwarden", URL: repository},
		},
		Servers:      openapi3.Servers{{URL: "/", Description: "The server that this document is from."}},
		ExternalDocs: &openapi3.ExternalDocs{Description: "The same with the gRPC side of each call, and why reviews fail.", URL: repository + "/blob/main/docs/api.md"},
		Paths:        openapi3.NewPaths(),
		Components: &openapi3.Components{
			Schemas:   g.schemas,
			Headers:   headers(),
			Responses: sharedFailures(),
			SecuritySchemes: openapi3.SecuritySchemes{"api_key": {Value: &openapi3.SecurityScheme{
				Type:         "http",
				Scheme:       "bearer",
				BearerFormat: "prw_…",
				Description:  "An API key: `prw_` and 36 letters and digits.",
			}}},
		},
		Security: openapi3.SecurityRequirements{{"api_key": {}}},
	}
	for name, schema := range errorSchemas() {
		g.schemas[name] = schema
	}
	for _, tag := range g.converted.Tags {
		doc.Tags = append(doc.Tags, &openapi3.Tag{Name: tagName(tag.Name), Description: sentence(tag.Name, reflow(tag.Description))})
	}
	// What most readers come for is first.
	slices.SortStableFunc(doc.Tags, func(a, b *openapi3.Tag) int { return tagOrder(a.Name) - tagOrder(b.Name) })
	for _, op := range g.operations {
		item := doc.Paths.Value(op.path)
		if item == nil {
			item = &openapi3.PathItem{}
			doc.Paths.Set(op.path, item)
		}
		finished, err := g.operation(op)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op.method.FullName(), err)
		}
		item.SetOperation(op.verb, finished)
	}
	if err := g.link(doc); err != nil {
		return nil, err
	}
	for _, schema := range g.schemas {
		slices.Sort(schema.Value.Required)
	}
	return doc, nil
}

// bodyMessage returns the message that the body of a request is, or nil.
func bodyMessage(op operation) protoreflect.MessageDescriptor {
	switch op.body {
	case "":
		return nil
	case "*":
		return op.method.Input()
	}
	return op.method.Input().Fields().ByTextName(op.body).Message()
}

// tagOrder is where a tag is among the others; those that are not known come
// first, to be seen.
func tagOrder(name string) int { return slices.Index([]string{"Reviews", "Rules", "Keys"}, name) }

// tagName makes `Reviews` of `ReviewService`.
func tagName(service string) string {
	return strings.TrimSuffix(service, "Service") + "s"
}

// reflow joins the lines of each paragraph of a comment; lists keep theirs.
func reflow(text string) string {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		for i, line := range strings.Split(strings.TrimSpace(paragraph), "\n") {
			line = strings.TrimSpace(line)
			switch {
			case i == 0:
			case strings.HasPrefix(line, "- "):
				out.WriteByte('\n')
			default:
				out.WriteByte(' ')
			}
			out.WriteString(line)
		}
	}
	return out.String()
}

// sentence takes the name that a Go-style comment starts with from its front:
// `CreateKey makes a key.` becomes `Makes a key.`
func sentence(name, text string) string {
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok || rest == "" {
		return text
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
