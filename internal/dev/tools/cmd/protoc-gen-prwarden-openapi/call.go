package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
	openapiv2 "github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// call is one RPC as its HTTP rule has it.
type call struct {
	method    *protogen.Method
	options   *openapiv2.Operation
	verb      string            // GET, POST or DELETE
	path      string            // as OpenAPI writes it: `/v1/rules/{id}`
	params    []string          // names of the path's parameters
	body      *protogen.Message // of the request; nil for none
	bodyField string            // the field that is the body, or `*`
	answer    *protogen.Message // what the JSON of a success is
	meaning   string            // of a success
	op        *openapi3.Operation
}

func newCall(method *protogen.Method) (*call, error) {
	rule := option[*annotations.HttpRule](method.Desc, annotations.E_Http)
	c := &call{
		method: method, options: option[*openapiv2.Operation](method.Desc, openapiv2.E_Openapiv2Operation),
		bodyField: rule.GetBody(), answer: method.Output, meaning: "Success.",
	}

	var template string
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		c.verb, template = http.MethodGet, pattern.Get
	case *annotations.HttpRule_Post:
		c.verb, template = http.MethodPost, pattern.Post
	case *annotations.HttpRule_Delete:
		c.verb, template = http.MethodDelete, pattern.Delete
	default:
		return nil, errors.New("it has no HTTP rule of GET, POST or DELETE")
	}

	// `{name=**}` is a parameter that may hold slashes.
	for i, part := range strings.Split(template, "{") {
		if i == 0 {
			c.path = part
			continue
		}
		variable, rest, _ := strings.Cut(part, "}")
		name, _, _ := strings.Cut(variable, "=")
		c.params = append(c.params, name)
		c.path += "{" + name + "}" + rest
	}

	switch c.bodyField {
	case "":
	case "*":
		c.body = method.Input
	default:
		c.body = fieldOf(method.Input, c.bodyField).Message
	}
	if name := rule.GetResponseBody(); name != "" {
		field := fieldOf(method.Output, name)
		c.answer, c.meaning = field.Message, reflow(field.Comments.Leading)
	}
	return c, c.describe()
}

// describe makes the operation without its request body and answers.
func (c *call) describe() error {
	name := string(c.method.Desc.Name())
	c.op = &openapi3.Operation{
		OperationID: strings.ToLower(name[:1]) + name[1:],
		Summary:     title(name),
		Description: sentence(name, reflow(c.method.Comments.Leading)),
		Tags:        []string{tagName(c.method.Parent)},
		Responses:   openapi3.NewResponsesWithCapacity(12),
	}

	for _, name := range c.params {
		parameter := parameterOf(fieldOf(c.method.Input, name), openapi3.ParameterInPath)
		if parameter.Example == nil {
			return fmt.Errorf("the path parameter %s has no example", name)
		}
		parameter.Required = true
		c.op.AddParameter(parameter)
	}

	for _, header := range c.options.GetParameters().GetHeaders() {
		// The server does not look into the value: visible ASCII of a length that every store takes.
		schema := openapi3.NewStringSchema().WithPattern("^[!-~]{1,255}$").WithMinLength(1).WithMaxLength(255)
		c.op.AddParameter(openapi3.NewHeaderParameter(header.GetName()).
			WithDescription(header.GetDescription()).WithSchema(schema))
	}

	if c.verb == http.MethodGet {
		for _, f := range c.method.Input.Fields {
			if !strings.Contains(c.path, "{"+f.Desc.TextName()+"}") {
				c.op.AddParameter(parameterOf(f, openapi3.ParameterInQuery))
			}
		}
	}

	return nil
}

// parameterOf makes a path or query parameter of a field.
func parameterOf(f *protogen.Field, in string) *openapi3.Parameter {
	parameter := &openapi3.Parameter{Name: f.Desc.TextName(), In: in, Description: reflow(f.Comments.Leading)}
	if f.Enum != nil {
		schema, meanings := wordsOf(f.Enum)
		parameter.Schema = schema.NewRef()
		parameter.Description += "\n\n" + meanings
		return parameter
	}

	schema := plainSchema(f, rulesOf(f))
	if f.Desc.Kind() == protoreflect.StringKind {
		schema.MinLength = max(schema.MinLength, 1) // no parameter may be empty
	}
	parameter.Schema = schema.NewRef()
	parameter.Example = decoded(optionsOf(f).GetExample())
	schema.Default = decoded(optionsOf(f).GetDefault())
	return parameter
}

// success returns the status of a success and what it says: those of the annotation, else 200.
func (c *call) success() (status int, description string) {
	for key, response := range c.options.GetResponses() {
		if n, err := strconv.Atoi(key); err == nil && n < http.StatusMultipleChoices {
			return n, response.GetDescription()
		}
	}

	return http.StatusOK, c.meaning
}

// addSample adds what to type in a shell for a call, as the extension x-codeSamples that documentation tools show, and
// the name of the gRPC method.
func (c *call) addSample() error {
	path := c.path
	message := map[string]any{} // of the gRPC call
	for _, ref := range c.op.Parameters {
		if p := ref.Value; p.In == openapi3.ParameterInPath {
			path = strings.Replace(path, "{"+p.Name+"}", fmt.Sprint(p.Example), 1)
			message[p.Name] = p.Example
		}
	}

	curl := `curl -sS -H "Authorization: Bearer $KEY" `
	switch {
	case c.method.Desc.IsStreamingServer():
		curl += "-N "
	case c.verb == http.MethodDelete, c.verb == http.MethodPost && c.body == nil:
		curl += "-X " + c.verb + " "
	}
	curl += "\\\n  \"$SERVER" + path + "\""
	if c.body != nil {
		body := c.op.RequestBody.Value.Content[jsonType].Example.(map[string]any)
		text, err := quoted(body)
		if err != nil {
			return err
		}
		curl += " \\\n  -H 'Content-Type: application/json' \\\n  -d " + text
		if c.bodyField == "*" {
			maps.Copy(message, body)
		} else {
			message[c.bodyField] = body
		}
	}

	method := fmt.Sprintf("%s/%s", c.method.Parent.Desc.FullName(), c.method.Desc.Name())
	text, err := quoted(message)
	grpcurl := "grpcurl -H \"authorization: Bearer $KEY\" \\\n  -d " + text + " \\\n  \"$GRPC\" " + method
	c.op.Extensions = map[string]any{
		"x-grpc-method": method,
		"x-codeSamples": []any{
			map[string]any{"lang": "Shell", "label": "curl", "source": curl},
			map[string]any{"lang": "Shell", "label": "grpcurl", "source": grpcurl},
		},
	}

	return err
}

// quoted is JSON for a shell, on one line, or on several when it is long.
func quoted(value any) (string, error) {
	const wide = 60
	text, err := encoded(value, "")
	if err == nil && len(text) >= wide {
		text, err = encoded(value, "  ")
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'", err
}

// fieldOf returns the field of a message, or nil.
func fieldOf(m *protogen.Message, name string) *protogen.Field {
	for _, f := range m.Fields {
		if f.Desc.TextName() == name {
			return f
		}
	}

	return nil
}

// title makes `List findings` of ListFindings.
func title(method string) string {
	var out strings.Builder
	for i, r := range method {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}

	return strings.Replace(out.String(), "sarif", "SARIF", 1)
}

// reflow joins the lines of each paragraph of a comment.
func reflow(comment protogen.Comments) string {
	paragraphs := strings.Split(strings.TrimSpace(string(comment)), "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(paragraph), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// sentence takes the name that a Go-style comment starts with from its front: `CreateKey makes a key.` becomes `Makes a
// key.`
func sentence(name, text string) string {
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok {
		return text
	}
	return upper(rest)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
