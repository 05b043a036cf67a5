// Command protoc-gen-prwarden-openapi is a protoc plugin that writes
// openapi.json, the OpenAPI 3.0 document of the REST API.
//
// Calls, fields, limits and comments come from the protos; base.yaml has what
// they don't say, and failures.yaml how calls fail. The result is checked with a
// strict loader before it is written.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"

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
	if err := g.finish(); err != nil {
		return nil, err
	}
	text, err := render(g.doc)
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

	text, err := encoded(tree, "  ")
	return []byte(text + "\n"), err
}

// check loads the printed document as a reader would and validates it, the
// examples against their schemas included.
func check(text []byte) error {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return fmt.Errorf("load the document: %w", err)
	}
	err = doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation())
	if err != nil {
		return fmt.Errorf("validate the document: %w", err)
	}
	return nil
}
