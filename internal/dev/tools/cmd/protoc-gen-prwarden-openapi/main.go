// Command protoc-gen-prwarden-openapi is a protoc plugin that writes
// openapi.json, the OpenAPI 3.0 document of the REST API.
//
// It lets protoc-gen-openapiv2 (which must lie beside it) describe routes,
// parameters and comments, converts that to OpenAPI 3.0, and completes it from
// the descriptors with what that generator leaves out: protovalidate
// constraints, success statuses other than 200, the errors and headers of each
// answer, examples, and the difference between what a request may hold and
// what an answer always holds. The result is checked with a strict loader
// before it is written.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "protoc-gen-prwarden-openapi:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{}
	if err := proto.Unmarshal(data, request); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	text, err := document(request)
	response := &pluginpb.CodeGeneratorResponse{
		SupportedFeatures: proto.Uint64(uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)),
	}
	if err != nil {
		response.Error = proto.String(err.Error())
	} else {
		response.File = []*pluginpb.CodeGeneratorResponse_File{{
			Name:    proto.String("openapi.json"),
			Content: proto.String(string(text)),
		}}
	}
	encoded, err := proto.Marshal(response)
	if err != nil {
		return err
	}
	_, err = out.Write(encoded)
	return err
}

// document makes the whole document, checks it and prints it.
func document(request *pluginpb.CodeGeneratorRequest) ([]byte, error) {
	operations, err := findOperations(request)
	if err != nil {
		return nil, err
	}
	converted, err := convert(request, operations)
	if err != nil {
		return nil, err
	}
	doc, err := newGenerator(converted, operations).complete()
	if err != nil {
		return nil, err
	}
	text, err := render(doc)
	if err != nil {
		return nil, err
	}
	openapi3.DefineStringFormatValidator("re2", openapi3.NewCallbackValidator(func(pattern string) error {
		_, err := regexp.Compile(pattern)
		return err
	}))
	return text, check(text)
}

// render writes a document with sorted keys, indented, and without escaping
// what only HTML needs escaped.
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
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(tree); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// check loads the printed document as a reader would and validates it, the
// examples against their schemas included.
func check(text []byte) error {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return fmt.Errorf("load the document: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		return fmt.Errorf("validate the document: %w", err)
	}
	return nil
}
