// Command protoc-gen-prwarden-openapi is a protoc plugin that writes openapi.json, the OpenAPI 3.0 document of the REST
// API.
//
// Calls, fields, limits and comments come from the protos; base.yaml has what they don't say, such as how calls fail.
// `make lint-openapi` checks the result.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	protogen.Options{}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		g := &generator{messages: map[string]*protogen.Message{}}
		if err := yaml.Unmarshal(base, g); err != nil {
			return fmt.Errorf("base.yaml: %w", err)
		}
		g.schemas = g.Document["components"].(object)["schemas"].(object)
		for _, file := range plugin.Files {
			for _, service := range file.Services {
				if file.Generate {
					g.addService(service)
				}
			}
		}
		_, err := fmt.Fprintln(plugin.NewGeneratedFile("openapi.json", ""), encoded(g.Document))
		return err
	})
}

const jsonType = "application/json"

// base is the document without its calls and their schemas.
//
//go:embed base.yaml
var base []byte

// object is an object of JSON.
type object = map[string]any

// generator adds the calls of the protos to a document.
type generator struct {
	Document object            `yaml:",inline"`
	Failures map[string]object `yaml:"x-failures"` // answers by call and status
	Success  map[string]object `yaml:"x-success"`  // by call, what the protos don't say of it
	schemas  object
	messages map[string]*protogen.Message // by the name of their schema
}

// addService adds the calls of a service. Those of ReviewService have the tag Reviews, for example, and those of
// AuditService the tag Audit.
func (g *generator) addService(s *protogen.Service) {
	name := string(s.Desc.Name())
	for _, tag := range g.Document["tags"].([]any) {
		tag := tag.(object)
		if word := strings.TrimSuffix(name, "Service"); tag["name"] != word && tag["name"] != word+"s" {
			continue
		}
		tag["description"] = sentence(name, reflow(s.Comments.Leading))
		for _, method := range s.Methods {
			g.addCall(method, tag["name"])
		}
	}
}

// set sets a value unless it is zero.
func set[T comparable](o object, key string, value T) {
	var zero T
	if value != zero {
		o[key] = value
	}
}

// encoded is JSON with sorted keys, indented, and without escaping what only HTML needs escaped.
func encoded(value object) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // something is in it that is no JSON
	}
	return strings.TrimSpace(text.String())
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
	return strings.ToUpper(rest[:1]) + rest[1:]
}
