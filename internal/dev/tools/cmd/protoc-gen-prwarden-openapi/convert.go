package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// operation is one RPC that has an HTTP rule.
type operation struct {
	method   protoreflect.MethodDescriptor
	verb     string                         // GET, POST or DELETE
	path     string                         // as OpenAPI writes it: `/v1/rules/{id}`
	slashes  map[string]bool                // path parameters that may hold slashes
	params   []string                       // path parameters
	body     string                         // "", "*", or the field that is the body
	response protoreflect.MessageDescriptor // what the JSON of a success is
}

// findOperations returns the RPCs with an HTTP rule of the files that are to
// be generated, in the order of the files.
func findOperations(request *pluginpb.CodeGeneratorRequest) ([]operation, error) {
	files, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: request.GetProtoFile()})
	if err != nil {
		return nil, err
	}
	var found []operation
	for _, path := range request.GetFileToGenerate() {
		file, err := files.FindFileByPath(path)
		if err != nil {
			return nil, err
		}
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				rule := httpRule(methods.Get(j))
				if rule == nil {
					continue
				}
				op, err := newOperation(methods.Get(j), rule)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", methods.Get(j).FullName(), err)
				}
				found = append(found, op)
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no RPC has an HTTP rule")
	}
	return found, nil
}

func httpRule(method protoreflect.MethodDescriptor) *annotations.HttpRule {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	return rule
}

func newOperation(method protoreflect.MethodDescriptor, rule *annotations.HttpRule) (operation, error) {
	op := operation{method: method, body: rule.GetBody(), slashes: map[string]bool{}, response: method.Output()}
	var template string
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		op.verb, template = "GET", pattern.Get
	case *annotations.HttpRule_Post:
		op.verb, template = "POST", pattern.Post
	case *annotations.HttpRule_Delete:
		op.verb, template = "DELETE", pattern.Delete
	default:
		return op, fmt.Errorf("HTTP rule of a kind that this program does not know: %T", pattern)
	}
	if len(rule.GetAdditionalBindings()) > 0 {
		return op, errors.New("additional bindings are not supported")
	}
	for template != "" {
		before, rest, found := strings.Cut(template, "{")
		op.path += before
		if !found {
			break
		}
		variable, after, _ := strings.Cut(rest, "}")
		name, glob, _ := strings.Cut(variable, "=")
		op.path += "{" + name + "}"
		op.params = append(op.params, name)
		op.slashes[name] = strings.Contains(glob, "**")
		template = after
	}
	if name := rule.GetResponseBody(); name != "" {
		field := method.Output().Fields().ByName(protoreflect.Name(name))
		if field == nil || field.Message() == nil || field.IsList() {
			return op, fmt.Errorf("response_body %q is not a message field", name)
		}
		op.response = field.Message()
	}
	return op, nil
}

// convert runs protoc-gen-openapiv2 on the files with operations and converts
// its document to OpenAPI 3.0.
func convert(request *pluginpb.CodeGeneratorRequest, operations []operation) (*openapi3.T, error) {
	request = proto.CloneOf(request)
	request.FileToGenerate = nil
	for _, op := range operations {
		if path := op.method.ParentFile().Path(); !slices.Contains(request.FileToGenerate, path) {
			request.FileToGenerate = append(request.FileToGenerate, path)
		}
	}
	request.Parameter = proto.String(strings.Join([]string{
		"allow_merge=true",
		"disable_default_errors=true",
		"generate_unbound_methods=false",
		"json_names_for_fields=false",
		"omit_enum_default_value=true",
		"openapi_naming_strategy=fqn",
		"use_allof_for_refs=true",
	}, ","))
	text, err := runOpenAPIv2(request)
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-openapiv2: %w", err)
	}
	var doc openapi2.T
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read what protoc-gen-openapiv2 wrote: %w", err)
	}
	return openapi2conv.ToV3(&doc)
}

// runOpenAPIv2 runs the plugin beside this one and returns its only file.
func runOpenAPIv2(request *pluginpb.CodeGeneratorRequest) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	command := exec.Command(filepath.Join(filepath.Dir(self), "protoc-gen-openapiv2"))
	command.Stdin = bytes.NewReader(input)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return nil, err
	}
	if message := response.GetError(); message != "" {
		return nil, errors.New(message)
	}
	if n := len(response.GetFile()); n != 1 {
		return nil, fmt.Errorf("wrote %d files, expected 1", n)
	}
	return []byte(response.GetFile()[0].GetContent()), nil
}
