package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/getkin/kin-openapi/openapi3"
	openapiv2 "github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// direction says whether a schema describes what a client sends or what it
// gets. A request refuses unknown and output-only fields and may leave out what
// has a default; an answer always holds every field that can't be absent.
type direction int

const (
	request direction = iota
	answer
)

// componentName is the name of a message or enum without its package and dots.
func componentName(d protoreflect.Descriptor) string {
	name := strings.TrimPrefix(string(d.FullName()), string(d.ParentFile().Package())+".")
	return strings.ReplaceAll(name, ".", "")
}

func componentRef(name string) *openapi3.SchemaRef {
	return openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
}

// message returns a reference to the schema of a message, which it makes at the
// first use, without the fields that omit names. Answers have to be made before
// requests: a message of both has `Input` behind the name of its request side.
func (g *generator) message(m *protogen.Message, dir direction, omit ...string) *openapi3.SchemaRef {
	name := componentName(m.Desc)
	if dir == answer {
		g.answers[name] = true
	} else if g.answers[name] {
		name += "Input"
	}
	if g.doc.Components.Schemas[name] != nil {
		return componentRef(name)
	}

	schema := openapi3.NewObjectSchema()
	g.doc.Components.Schemas[name] = schema.NewRef()
	schema.Description = reflow(m.Comments.Leading)
	schema.Properties = openapi3.Schemas{}
	for _, f := range m.Fields {
		name := f.Desc.TextName()
		if slices.Contains(omit, name) || dir == request && outputOnly(f) {
			continue
		}
		schema.Properties[name] = g.field(f, dir)
		if required(f) || dir == answer && !f.Desc.HasPresence() {
			schema.Required = append(schema.Required, name)
		}
	}
	slices.Sort(schema.Required)

	if dir == request {
		schema.AdditionalProperties = openapi3.AdditionalProperties{Has: openapi3.Ptr(false)}
		if len(m.Fields) == len(omit) {
			schema.Description = "An empty object."
		}
	}
	return componentRef(name)
}

func (g *generator) field(f *protogen.Field, dir direction) *openapi3.SchemaRef {
	rules := rulesOf(f)
	description := reflow(f.Comments.Leading)
	if !f.Desc.IsList() {
		return g.value(f, dir, rules, description)
	}

	repeated := rules.GetRepeated()
	items := g.value(f, dir, repeated.GetItems(), "")
	if items.Value != nil && len(items.Value.Enum) > 0 {
		items = g.words(f, items)
	}
	list := openapi3.NewArraySchema()
	list.Description = description
	list.Items = items
	list.MinItems = repeated.GetMinItems()
	list.UniqueItems = repeated.GetUnique()
	if n := max(repeated.GetMaxItems(), optionsOf(f).GetMaxItems()); n > 0 {
		list.MaxItems = &n
	}
	return list.NewRef()
}

// words makes a component of the words that the items of a list may be: `Scope`
// for a field `scopes`. Some generators of clients need a name for them.
func (g *generator) words(f *protogen.Field, items *openapi3.SchemaRef) *openapi3.SchemaRef {
	name := upper(strings.TrimSuffix(f.Desc.TextName(), "s"))
	items.Value.Description = "One of the `" + f.Desc.TextName() + "`."
	g.doc.Components.Schemas[name] = items
	return componentRef(name)
}

// value returns the schema of a single value of a field.
func (g *generator) value(
	f *protogen.Field, dir direction, rules *validate.FieldRules, description string,
) *openapi3.SchemaRef {
	var ref *openapi3.SchemaRef
	switch {
	case f.Enum != nil:
		schema, meanings := wordsOf(f.Enum)
		schema.Description = reflow(f.Enum.Comments.Leading) + "\n\n" + meanings
		g.doc.Components.Schemas[componentName(f.Enum.Desc)] = schema.NewRef()
		ref = componentRef(componentName(f.Enum.Desc))
	case f.Message != nil && !isTimestamp(f.Message):
		ref = g.message(f.Message, dir)
	default:
		schema := plainSchema(f, rules)
		schema.Description = description
		schema.ReadOnly = outputOnly(f)
		if dir == answer && schema.Min != nil {
			schema.Min = openapi3.Ptr(max(*schema.Min, 0)) // no answer has a negative number
		}
		return schema.NewRef()
	}

	if description == "" {
		return ref
	}

	// OpenAPI 3.0 ignores what stands beside a $ref.
	schema := &openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}, Description: description, ReadOnly: outputOnly(f)}
	return schema.NewRef()
}

// wordsOf returns the words of an enum but for its zero value, and a list of
// what they mean.
func wordsOf(e *protogen.Enum) (*openapi3.Schema, string) {
	schema := openapi3.NewStringSchema()
	var meanings []string
	for _, value := range e.Values[1:] {
		schema.Enum = append(schema.Enum, string(value.Desc.Name()))
		meanings = append(meanings, fmt.Sprintf("- %s: %s", value.Desc.Name(), reflow(value.Comments.Leading)))
	}
	return schema, strings.Join(meanings, "\n")
}

// plainSchema returns the schema of a value that is neither a message nor an
// enum, with the bounds that protovalidate rules and the openapiv2_field option
// give. A limit in bytes becomes the same limit in characters, the tightest that
// always holds.
func plainSchema(f *protogen.Field, rules *validate.FieldRules) *openapi3.Schema {
	switch f.Desc.Kind() {
	case protoreflect.BoolKind:
		return openapi3.NewBoolSchema()
	case protoreflect.BytesKind:
		return openapi3.NewBytesSchema()
	case protoreflect.MessageKind:
		return openapi3.NewDateTimeSchema()
	case protoreflect.Int32Kind:
		schema := openapi3.NewInt32Schema().WithMin(math.MinInt32).WithMax(math.MaxInt32)
		if rules.GetInt32().GetGreaterThan() != nil {
			schema.WithMin(float64(rules.GetInt32().GetGte()))
		}
		if rules.GetInt32().GetLessThan() != nil {
			schema.WithMax(float64(rules.GetInt32().GetLte()))
		}
		return schema
	}

	schema, documented, rule := openapi3.NewStringSchema(), optionsOf(f), rules.GetString()
	schema.MinLength = max(rule.GetMinLen(), documented.GetMinLength())
	if n := max(rule.GetMaxLen(), rule.GetMaxBytes(), documented.GetMaxLength()); n > 0 {
		schema.MaxLength = &n
	}
	schema.Pattern = rule.GetPattern()
	if documented.GetPattern() != "" {
		schema.Pattern = documented.GetPattern()
	}
	schema.Format = documented.GetFormat()
	for _, word := range rule.GetIn() {
		schema.Enum = append(schema.Enum, word)
	}
	return schema
}

// required says whether a request must give a field, or an answer always has it
// although the wire format lets it be absent.
func required(f *protogen.Field) bool {
	return hasBehavior(f, annotations.FieldBehavior_REQUIRED) || rulesOf(f).GetRequired()
}

func outputOnly(f *protogen.Field) bool { return hasBehavior(f, annotations.FieldBehavior_OUTPUT_ONLY) }

func hasBehavior(f *protogen.Field, behavior annotations.FieldBehavior) bool {
	return slices.Contains(option[[]annotations.FieldBehavior](f.Desc, annotations.E_FieldBehavior), behavior)
}

func rulesOf(f *protogen.Field) *validate.FieldRules {
	return option[*validate.FieldRules](f.Desc, validate.E_Field)
}

func optionsOf(f *protogen.Field) *openapiv2.JSONSchema {
	return option[*openapiv2.JSONSchema](f.Desc, openapiv2.E_Openapiv2Field)
}

// option returns an option of a descriptor, the zero value without it.
func option[T any](d protoreflect.Descriptor, kind protoreflect.ExtensionType) T {
	value, _ := proto.GetExtension(d.Options(), kind).(T)
	return value
}

func isTimestamp(m *protogen.Message) bool { return m.Desc.FullName() == "google.protobuf.Timestamp" }

// decoded returns a value that an option writes as JSON, or nil.
func decoded(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	return value
}

// example returns the example of a message from its openapiv2_schema option, or
// nil. That of a request has no output-only fields.
func example(m *protogen.Message, dir direction) any {
	options := option[*openapiv2.Schema](m.Desc, openapiv2.E_Openapiv2Schema)
	value, ok := decoded(options.GetExample()).(map[string]any)
	if !ok {
		return nil
	}
	for _, f := range m.Fields {
		if dir == request && outputOnly(f) {
			delete(value, f.Desc.TextName())
		}
	}
	return value
}
