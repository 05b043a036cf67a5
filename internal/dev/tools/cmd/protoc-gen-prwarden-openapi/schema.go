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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// direction says whether a schema describes what a client sends or what it
// gets. The two differ: a request refuses unknown and output-only fields and
// may leave out what has a default, an answer always holds every field that
// can't be absent.
type direction int

const (
	toServer direction = iota
	toClient
)

// reach records, for msg and every message below it, that it is used in
// direction dir.
func (g *generator) reach(msg protoreflect.MessageDescriptor, dir direction) {
	if g.used[dir][msg.FullName()] || isTimestamp(msg) {
		return
	}
	g.used[dir][msg.FullName()] = true
	for i := range msg.Fields().Len() {
		field := msg.Fields().Get(i)
		if field.Message() != nil && !field.IsMap() && (dir == toClient || !outputOnly(field)) {
			g.reach(field.Message(), dir)
		}
	}
}

// componentName is the name of a message or enum without its package and
// dots. A message used in both directions has `Input` behind the name of its
// request side.
func (g *generator) componentName(d protoreflect.Descriptor, dir direction) string {
	name := strings.TrimPrefix(string(d.FullName()), string(d.ParentFile().Package())+".")
	name = strings.ReplaceAll(name, ".", "")
	if dir == toServer && g.used[toServer][d.FullName()] && g.used[toClient][d.FullName()] {
		name += "Input"
	}
	return name
}

// message returns a reference to the schema of msg, which it makes when there
// is none yet. Fields named in omit are not part of it.
func (g *generator) message(msg protoreflect.MessageDescriptor, dir direction, omit ...string) (*openapi3.SchemaRef, error) {
	name := g.componentName(msg, dir)
	ref := openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
	if _, ok := g.schemas[name]; ok {
		return ref, nil
	}
	schema := openapi3.NewObjectSchema()
	schema.Properties = openapi3.Schemas{}
	g.schemas[name] = schema.NewRef()
	base := g.converted.Components.Schemas[string(msg.FullName())]
	if base != nil {
		schema.Description = reflow(base.Value.Description)
	}
	for i := range msg.Fields().Len() {
		field := msg.Fields().Get(i)
		if slices.Contains(omit, field.TextName()) || dir == toServer && outputOnly(field) {
			continue
		}
		if base == nil || base.Value.Properties[field.TextName()] == nil {
			return nil, fmt.Errorf("%s: protoc-gen-openapiv2 did not describe it", field.FullName())
		}
		property, err := g.field(field, dir, base.Value.Properties[field.TextName()].Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.FullName(), err)
		}
		schema.Properties[field.TextName()] = property
		if required(field) || dir == toClient && !field.HasPresence() {
			schema.Required = append(schema.Required, field.TextName())
		}
	}
	if dir == toServer {
		schema.AdditionalProperties = openapi3.AdditionalProperties{Has: openapi3.Ptr(false)}
	}
	return ref, nil
}

// field returns the schema of one field; base is what protoc-gen-openapiv2
// says of it.
func (g *generator) field(field protoreflect.FieldDescriptor, dir direction, base *openapi3.Schema) (*openapi3.SchemaRef, error) {
	rules := rulesOf(field)
	description := reflow(base.Description)
	if !field.IsList() {
		return g.value(field, dir, base, rules, description)
	}
	item := &openapi3.Schema{}
	if base.Items != nil && base.Items.Value != nil {
		item = base.Items.Value
	}
	items, err := g.value(field, dir, item, rules.GetRepeated().GetItems(), "")
	if err != nil {
		return nil, err
	}
	if items.Value != nil && len(items.Value.Enum) > 0 {
		items = g.words(field, items)
	}
	list := openapi3.NewArraySchema()
	list.Description = description
	list.Items = items
	list.MinItems = rules.GetRepeated().GetMinItems()
	if n := optionsOf(field).GetMaxItems(); n > 0 {
		list.MaxItems = &n
	}
	if r := rules.GetRepeated(); r != nil && r.MaxItems != nil {
		list.MaxItems = r.MaxItems
	}
	list.UniqueItems = rules.GetRepeated().GetUnique()
	return list.NewRef(), nil
}

// words makes a component of the words that the items of a list may be:
// `Scope` for a field `scopes`. Some generators of clients get enumerations
// without a name wrong there.
func (g *generator) words(field protoreflect.FieldDescriptor, items *openapi3.SchemaRef) *openapi3.SchemaRef {
	name := strings.TrimSuffix(field.TextName(), "s")
	name = strings.ToUpper(name[:1]) + name[1:]
	items.Value.Description = "One of the `" + field.TextName() + "`."
	g.schemas[name] = items
	return openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
}

// value returns the schema of a single value of field.
func (g *generator) value(field protoreflect.FieldDescriptor, dir direction, base *openapi3.Schema, rules *validate.FieldRules, description string) (*openapi3.SchemaRef, error) {
	var ref *openapi3.SchemaRef
	switch {
	case field.IsMap():
		return nil, fmt.Errorf("maps are not supported")
	case field.Enum() != nil:
		name := g.componentName(field.Enum(), dir)
		ref = openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
		converted := g.converted.Components.Schemas[string(field.Enum().FullName())]
		if converted == nil {
			return nil, fmt.Errorf("protoc-gen-openapiv2 did not describe %s", field.Enum().FullName())
		}
		enum := *converted.Value
		enum.Default = nil
		enum.Description = reflow(enum.Description)
		g.schemas[name] = enum.NewRef()
	case field.Message() != nil && !isTimestamp(field.Message()):
		var err error
		if ref, err = g.message(field.Message(), dir); err != nil {
			return nil, err
		}
	default:
		schema := &openapi3.Schema{Type: base.Type, Format: base.Format, Description: description}
		constrain(schema, field, rules)
		if dir == toClient && field.Kind() == protoreflect.Int32Kind && *schema.Min < 0 {
			schema.Min = openapi3.Ptr(0.0) // nothing that is answered is negative
		}
		schema.ReadOnly = outputOnly(field)
		return schema.NewRef(), nil
	}
	if description == "" {
		return ref, nil
	}
	// OpenAPI 3.0 ignores what stands beside a $ref.
	return (&openapi3.Schema{AllOf: openapi3.SchemaRefs{ref}, Description: description, ReadOnly: outputOnly(field)}).NewRef(), nil
}

// constrain adds the bounds that protovalidate rules and the openapiv2_field
// option give to a value of field. protovalidate counts characters as OpenAPI
// does; a limit in bytes becomes the same limit in characters, which is the
// tightest that always holds.
func constrain(schema *openapi3.Schema, field protoreflect.FieldDescriptor, rules *validate.FieldRules) {
	switch field.Kind() {
	case protoreflect.StringKind:
		constrainString(schema, rules.GetString())
		documented := optionsOf(field)
		if n := documented.GetMinLength(); n > 0 {
			schema.MinLength = n
		}
		if n := documented.GetMaxLength(); n > 0 {
			schema.MaxLength = &n
		}
		if f := documented.GetFormat(); f != "" {
			schema.Format = f
		}
		if p := documented.GetPattern(); p != "" {
			schema.Pattern = p
		}
	case protoreflect.Int32Kind:
		low, high := int32(math.MinInt32), int32(math.MaxInt32)
		switch bound := rules.GetInt32().GetGreaterThan().(type) {
		case *validate.Int32Rules_Gte:
			low = bound.Gte
		case *validate.Int32Rules_Gt:
			low = bound.Gt + 1
		}
		switch bound := rules.GetInt32().GetLessThan().(type) {
		case *validate.Int32Rules_Lte:
			high = bound.Lte
		case *validate.Int32Rules_Lt:
			high = bound.Lt - 1
		}
		schema.Min = openapi3.Ptr(float64(low))
		schema.Max = openapi3.Ptr(float64(high))
	}
}

func constrainString(schema *openapi3.Schema, rules *validate.StringRules) {
	if rules == nil {
		return
	}
	schema.Pattern = rules.GetPattern()
	schema.MinLength = rules.GetMinLen()
	schema.MaxLength = rules.MaxLen
	if rules.MaxBytes != nil {
		schema.MaxLength = rules.MaxBytes
	}
	if rules.Len != nil {
		schema.MinLength, schema.MaxLength = rules.GetLen(), rules.Len
	}
	for _, word := range rules.GetIn() {
		schema.Enum = append(schema.Enum, word)
	}
}

// required says whether a field must be given in a toServer, or always is in an
// toClient, although the wire format lets it be absent.
func required(field protoreflect.FieldDescriptor) bool {
	return hasBehavior(field, annotations.FieldBehavior_REQUIRED) || rulesOf(field).GetRequired()
}

func outputOnly(field protoreflect.FieldDescriptor) bool {
	return hasBehavior(field, annotations.FieldBehavior_OUTPUT_ONLY)
}

func hasBehavior(field protoreflect.FieldDescriptor, behavior annotations.FieldBehavior) bool {
	list, _ := proto.GetExtension(field.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return slices.Contains(list, behavior)
}

func rulesOf(field protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

func optionsOf(field protoreflect.FieldDescriptor) *openapiv2.JSONSchema {
	options, _ := proto.GetExtension(field.Options(), openapiv2.E_Openapiv2Field).(*openapiv2.JSONSchema)
	return options
}

func isTimestamp(msg protoreflect.MessageDescriptor) bool {
	return msg.FullName() == "google.protobuf.Timestamp"
}

// example returns the example of a message from its openapiv2_schema option,
// or nil. Output-only fields are left out of a request's.
func example(msg protoreflect.MessageDescriptor, dir direction) (any, error) {
	options, _ := proto.GetExtension(msg.Options(), openapiv2.E_Openapiv2Schema).(*openapiv2.Schema)
	if options.GetExample() == "" {
		return nil, nil
	}
	var value map[string]any
	if err := json.Unmarshal([]byte(options.GetExample()), &value); err != nil {
		return nil, fmt.Errorf("example of %s: %w", msg.FullName(), err)
	}
	for name := range value {
		field := msg.Fields().ByTextName(name)
		if dir == toServer && field != nil && outputOnly(field) {
			delete(value, name)
		}
	}
	return value, nil
}
