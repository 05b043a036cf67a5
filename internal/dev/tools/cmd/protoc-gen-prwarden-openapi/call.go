package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	openapiv2 "github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
)

// call is one RPC as its HTTP rule has it.
type call struct {
	*protogen.Method
	rule    *annotations.HttpRule
	options *openapiv2.Operation
	verb    string   // get, post, patch or delete
	path    string   // as OpenAPI writes it: `/v1/rules/{id}`
	params  []string // names of the path's parameters
}

func newCall(method *protogen.Method) *call {
	rule := option[*annotations.HttpRule](method.Desc, annotations.E_Http)
	message := rule.ProtoReflect()
	pattern := message.WhichOneof(message.Descriptor().Oneofs().ByName("pattern"))
	c := &call{
		Method: method, rule: rule, verb: string(pattern.Name()),
		options: option[*openapiv2.Operation](method.Desc, openapiv2.E_Openapiv2Operation),
	}

	// `{name=**}` is a parameter that may hold slashes.
	variable := regexp.MustCompile(`{(\w+)[^}]*}`)
	c.path = variable.ReplaceAllString(message.Get(pattern).String(), "{$1}")
	for _, match := range variable.FindAllStringSubmatch(c.path, -1) {
		c.params = append(c.params, match[1])
	}
	return c
}

// direction is that of what is sent: a PATCH leaves out what stays.
func (c *call) direction() direction {
	if c.verb == "patch" {
		return change
	}
	return request
}

// addCall adds a call and the schemas of what is sent and answered.
func (g *generator) addCall(method *protogen.Method, tag any) {
	c := newCall(method)
	name := string(method.Desc.Name())
	op := object{
		"operationId":   strings.ToLower(name[:1]) + name[1:],
		"summary":       title(name),
		"description":   sentence(name, reflow(method.Comments.Leading)),
		"tags":          []any{tag},
		"responses":     g.responses(c),
		"x-grpc-method": fmt.Sprintf("%s/%s", method.Parent.Desc.FullName(), name),
	}

	var sent object
	switch field := c.rule.GetBody(); field {
	case "":
	case "*":
		op["requestBody"], sent = g.requestBody(method.Input, request, c.params...)
	default:
		op["requestBody"], sent = g.requestBody(fieldOf(method.Input, field).Message, c.direction())
	}
	if parameters := g.parameters(c); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	op["x-codeSamples"] = c.samples(op["x-grpc-method"], sent)

	paths := g.Document["paths"].(object)
	if paths[c.path] == nil {
		paths[c.path] = object{}
	}
	paths[c.path].(object)[c.verb] = op
}

// parameters are those of the path, of the query and of headers.
func (g *generator) parameters(c *call) (all []object) {
	for _, f := range c.Input.Fields {
		if slices.Contains(c.params, f.Desc.TextName()) {
			parameter := g.parameter(f, "path")
			parameter["required"] = true
			all = append(all, parameter)
		} else if body := c.rule.GetBody(); body != "*" && body != f.Desc.TextName() {
			parameter := g.parameter(f, "query")
			set(parameter, "required", hasBehavior(f, annotations.FieldBehavior_REQUIRED))
			all = append(all, parameter)
		}
	}

	for _, header := range c.options.GetParameters().GetHeaders() {
		// The server does not look into the value: visible ASCII of a length that every store takes.
		schema := object{"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255}
		all = append(all, object{
			"name": header.GetName(), "in": "header", "description": header.GetDescription(), "schema": schema,
		})
	}

	return all
}

// parameter makes a path or query parameter of a field.
func (g *generator) parameter(f *protogen.Field, in string) object {
	if f.Desc.IsList() { // given once for each value
		list := g.field(f, request)
		delete(list, "description")
		parameter := object{"name": f.Desc.TextName(), "in": in, "schema": list, "style": "form", "explode": true}
		set(parameter, "description", reflow(f.Comments.Leading))
		return parameter
	}

	schema := g.value(f, request, rulesOf(f), "")
	if schema["type"] == "string" && schema["minLength"] == nil {
		schema["minLength"] = 1 // no parameter may be empty
	}
	set(schema, "default", decoded(optionsOf(f).GetDefault()))
	parameter := object{"name": f.Desc.TextName(), "in": in, "schema": schema}
	set(parameter, "description", reflow(f.Comments.Leading))
	set(parameter, "example", decoded(optionsOf(f).GetExample()))
	return parameter
}

// requestBody makes the body of a call that has one, and its example. It may be left out when nothing is required.
func (g *generator) requestBody(m *protogen.Message, dir direction, omit ...string) (body, sent object) {
	ref, sent := g.message(m, dir, omit...), example(m, request)
	body = object{"content": object{jsonType: object{"schema": ref, "example": sent}}}
	name := strings.TrimPrefix(ref["$ref"].(string), "#/components/schemas/")
	set(body, "required", dir == change || g.schemas[name].(object)["required"] != nil)
	return body, sent
}

// responses makes the success of a call, and adds how it can fail.
func (g *generator) responses(c *call) object {
	success, got := object{"description": "Success."}, c.Output
	if name := c.rule.GetResponseBody(); name != "" {
		field := fieldOf(c.Output, name)
		success["description"], got = reflow(field.Comments.Leading), field.Message
	}

	status := "200"
	for key, response := range c.options.GetResponses() {
		if strings.HasPrefix(key, "2") {
			status, success["description"] = key, response.GetDescription()
		}
	}
	if status != "204" && got.Desc.FullName() != "google.api.HttpBody" {
		success["content"] = object{jsonType: object{"schema": g.message(got, answer), "example": example(got, answer)}}
	}
	maps.Copy(success, g.Success["every"])
	maps.Copy(success, g.Success[string(c.Desc.Name())])

	responses := maps.Clone(g.Failures[string(c.Desc.Name())])
	responses[status] = success
	return responses
}

// samples are what to type in a shell for a call, which documentation tools show.
func (c *call) samples(grpcMethod any, sent object) []object {
	path, message := c.path, object{}
	for _, name := range c.params {
		message[name] = decoded(optionsOf(fieldOf(c.Input, name)).GetExample())
		path = strings.Replace(path, "{"+name+"}", fmt.Sprint(message[name]), 1)
	}

	flags, data := "", ""
	if c.verb == "delete" || c.verb == "patch" {
		flags = "-X " + strings.ToUpper(c.verb) + " "
	}
	if sent != nil {
		data = " \\\n  -H 'Content-Type: application/json' \\\n  -d " + quoted(sent)
	}
	if field := c.rule.GetBody(); field == "*" {
		maps.Copy(message, sent)
	} else if field != "" {
		message[field] = sent
	}

	curl := fmt.Sprintf("curl -sS -H \"Authorization: Bearer $KEY\" %s\\\n  \"$SERVER%s\"%s", flags, path, data)
	grpcurl := fmt.Sprintf("grpcurl -H \"authorization: Bearer $KEY\" \\\n  -d %s \\\n  \"$GRPC\" %s",
		quoted(message), grpcMethod)
	return []object{
		{"lang": "Shell", "label": "curl", "source": curl},
		{"lang": "Shell", "label": "grpcurl", "source": grpcurl},
	}
}

// quoted is JSON for a shell.
func quoted(value object) string { return "'" + strings.ReplaceAll(encoded(value), "'", `'\''`) + "'" }

// fieldOf returns the field of a message.
func fieldOf(m *protogen.Message, name string) *protogen.Field {
	return m.Fields[m.Desc.Fields().ByTextName(name).Index()]
}

// title makes `List findings` of ListFindings.
func title(method string) string {
	words := regexp.MustCompile(`\B[A-Z]`).ReplaceAllString(method, " $0")
	return strings.Replace(words[:1]+strings.ToLower(words[1:]), "sarif", "SARIF", 1)
}
