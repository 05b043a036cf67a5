package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	jsonType = "application/json"
	// streamType is one JSON value on each line.
	streamType = "application/x-ndjson"
)

// operation completes what protoc-gen-openapiv2 says of one RPC.
func (g *generator) operation(op operation) (*openapi3.Operation, error) {
	item := g.converted.Paths.Value(op.path)
	if item == nil || item.GetOperation(op.verb) == nil {
		return nil, fmt.Errorf("protoc-gen-openapiv2 did not describe %s %s", op.verb, op.path)
	}
	base := item.GetOperation(op.verb)
	name := string(op.method.Name())
	text := sentence(name, reflow(strings.TrimSpace(base.Summary+"\n\n"+base.Description)))
	finished := &openapi3.Operation{
		OperationID: operationID(op),
		Summary:     title(name),
		Description: text,
		Tags:        []string{tagName(string(op.method.Parent().Name()))},
		Responses:   openapi3.NewResponsesWithCapacity(12),
	}
	for _, parameter := range base.Parameters {
		completed, err := g.parameter(op, parameter.Value)
		if err != nil {
			return nil, err
		}
		finished.Parameters = append(finished.Parameters, &openapi3.ParameterRef{Value: completed})
	}
	if err := g.requestBody(op, finished); err != nil {
		return nil, err
	}
	if err := g.responses(op, base, finished); err != nil {
		return nil, err
	}
	return finished, sample(op, finished)
}

// parameter completes a path, query or header parameter.
func (g *generator) parameter(op operation, base *openapi3.Parameter) (*openapi3.Parameter, error) {
	parameter := &openapi3.Parameter{
		Name:        base.Name,
		In:          base.In,
		Required:    base.Required,
		Description: reflow(base.Description),
		Schema: (&openapi3.Schema{
			Type:   base.Schema.Value.Type,
			Format: base.Schema.Value.Format,
			Enum:   base.Schema.Value.Enum,
		}).NewRef(),
	}
	schema := parameter.Schema.Value
	if parameter.In == openapi3.ParameterInHeader {
		// Headers that calls declare are opaque to the server: visible ASCII of
		// a length that every store takes.
		schema.Pattern = "^[!-~]{1,255}$"
		schema.MinLength = 1
		schema.MaxLength = openapi3.Ptr[uint64](255)
		return parameter, nil
	}
	field := op.method.Input().Fields().ByTextName(parameter.Name)
	if field == nil {
		return nil, fmt.Errorf("parameter %q is not a field of %s", parameter.Name, op.method.Input().Name())
	}
	constrain(schema, field, rulesOf(field))
	if text := optionsOf(field).GetExample(); text != "" {
		if err := json.Unmarshal([]byte(text), &parameter.Example); err != nil {
			return nil, fmt.Errorf("example of %s: %w", field.FullName(), err)
		}
	}
	if text := optionsOf(field).GetDefault(); text != "" {
		if err := json.Unmarshal([]byte(text), &schema.Default); err != nil {
			return nil, fmt.Errorf("default of %s: %w", field.FullName(), err)
		}
	}
	// No parameter may be empty.
	if schema.Type.Is(openapi3.TypeString) && len(schema.Enum) == 0 {
		schema.MinLength = max(schema.MinLength, 1)
	}
	if parameter.In == openapi3.ParameterInPath && schema.Type.Is(openapi3.TypeString) {
		if schema.Pattern == "" && !op.slashes[parameter.Name] {
			schema.Pattern = "^[^/]+$"
		}
	}
	return parameter, nil
}

// requestBody adds the body of a call that has one. It may be left out when
// nothing in it is required.
func (g *generator) requestBody(op operation, finished *openapi3.Operation) error {
	msg := bodyMessage(op)
	if msg == nil {
		return nil
	}
	ref, err := g.message(msg, toServer, op.params...)
	if err != nil {
		return err
	}
	media := openapi3.NewMediaType().WithSchemaRef(ref)
	if media.Example, err = example(msg, toServer); err != nil {
		return err
	}
	schema := g.schemas[g.componentName(msg, toServer)].Value
	if len(schema.Properties) == 0 {
		schema.Description = "An empty object."
		media.Example = map[string]any{}
	}
	finished.RequestBody = &openapi3.RequestBodyRef{Value: &openapi3.RequestBody{
		Required: len(schema.Required) > 0,
		Content:  openapi3.Content{jsonType: media},
	}}
	return nil
}

// responses adds every answer that the call can give: its success (that of
// the annotation, else 200) and its failures.
func (g *generator) responses(op operation, base, finished *openapi3.Operation) error {
	failures, err := failures(op, finished.Description)
	if err != nil {
		return err
	}
	success := "200"
	for status := range base.Responses.Map() {
		n, err := strconv.Atoi(status)
		switch {
		case err != nil:
			return fmt.Errorf("response %q is not a status", status)
		case n == http.StatusOK:
		case n < http.StatusMultipleChoices:
			success = status
		case len(failures[n]) == 0:
			return fmt.Errorf("calls.go does not say how it can fail with %s", status)
		}
	}
	response, err := g.success(op, success, base.Responses.Value(success).Value)
	if err != nil {
		return err
	}
	finished.Responses.Set(success, &openapi3.ResponseRef{Value: response})
	for status, reasons := range failures {
		ref := &openapi3.ResponseRef{Ref: "#/components/responses/" + component(status)}
		if component(status) == "" {
			ref = &openapi3.ResponseRef{Value: failureResponse(reasons)}
		}
		finished.Responses.Set(strconv.Itoa(status), ref)
	}
	return nil
}

func (g *generator) success(op operation, status string, base *openapi3.Response) (*openapi3.Response, error) {
	description := *base.Description
	if strings.HasPrefix(description, "A successful response.") {
		description = "Success."
	}
	response := openapi3.NewResponse().WithDescription(description)
	response.Headers = commonHeaders()
	if status == strconv.Itoa(http.StatusNoContent) {
		return response, nil
	}
	if isDocument(op.response) {
		g.schemas[sarifName] = sarifSchema()
		response.Content = openapi3.Content{}
		for mediaType := range base.Content {
			media := openapi3.NewMediaType().WithSchemaRef(openapi3.NewSchemaRef("#/components/schemas/"+sarifName, nil))
			media.Example = sarifExample()
			response.Content[mediaType] = media
		}
		return response, nil
	}
	ref, err := g.message(op.response, toClient)
	if err != nil {
		return nil, err
	}
	media := openapi3.NewMediaType().WithSchemaRef(ref)
	if media.Example, err = example(op.response, toClient); err != nil {
		return nil, err
	}
	response.Content = openapi3.Content{jsonType: media}
	if op.method.IsStreamingServer() {
		response.WithDescription("A stream of JSON objects, one on each line; the schema is that of a line.")
		media.Schema = g.streamLine(op.response, ref)
		if media.Example != nil {
			media.Example = map[string]any{"result": media.Example}
		}
		response.Content = openapi3.Content{streamType: media}
	}
	return response, nil
}

// isDocument reports whether an answer is a document of a media type of its
// own, whose form is not ours to describe.
func isDocument(msg protoreflect.MessageDescriptor) bool {
	return msg.FullName() == "google.api.HttpBody"
}

// streamLine makes the schema of one line of a stream, as grpc-gateway writes
// it: a message, or the error that ended the stream.
func (g *generator) streamLine(msg protoreflect.MessageDescriptor, result *openapi3.SchemaRef) *openapi3.SchemaRef {
	name := g.componentName(msg, toClient) + "Line"
	line := openapi3.NewObjectSchema().WithMinProperties(1).WithMaxProperties(1)
	line.Description = "One line of the stream: `result`, or `error` when it breaks."
	line.Properties = openapi3.Schemas{
		"result": result,
		"error":  openapi3.NewSchemaRef("#/components/schemas/Status", nil),
	}
	line.AdditionalProperties = openapi3.AdditionalProperties{Has: openapi3.Ptr(false)}
	g.schemas[name] = line.NewRef()
	return openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
}

// operationID makes `createKey` of CreateKey.
func operationID(op operation) string {
	name := string(op.method.Name())
	return strings.ToLower(name[:1]) + name[1:]
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
