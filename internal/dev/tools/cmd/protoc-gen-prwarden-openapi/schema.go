package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	openapiv2 "github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// direction says whether a schema describes what a client sends or what it gets. A request refuses unknown and
// output-only fields and may leave out what has a default, and a change what stays; an answer always holds every field
// that can't be absent.
type direction int

const (
	request direction = iota
	change
	answer
)

// nested is the direction of what a message holds: a change replaces it as a whole.
func (d direction) nested() direction {
	if d == change {
		return request
	}
	return d
}

// componentName is the name of a message or enum without its package and dots.
func componentName(d protoreflect.Descriptor) string {
	name := strings.TrimPrefix(string(d.FullName()), string(d.ParentFile().Package())+".")
	return strings.ReplaceAll(name, ".", "")
}

func componentRef(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// message returns a reference to the schema of a message, which it makes at the first use, without the fields that omit
// names. What a request holds has `Input` behind its name: it may be part of answers, too.
func (g *generator) message(m *protogen.Message, dir direction, omit ...string) object {
	name := componentName(m.Desc)
	if dir == request && !strings.HasSuffix(name, "Request") {
		name += "Input"
	}
	if dir == change {
		name += "Patch"
	}
	if g.schemas[name] != nil {
		if g.messages[name] != m {
			panic(fmt.Sprintf("two messages would have the schema %s", name))
		}
		return componentRef(name)
	}
	g.messages[name] = m

	properties := object{}
	schema := object{"type": "object", "properties": properties}
	g.schemas[name] = schema
	set(schema, "description", reflow(m.Comments.Leading))
	var required []string
	for _, f := range m.Fields {
		name := f.Desc.TextName()
		if slices.Contains(omit, name) || dir != answer && outputOnly(f) {
			continue
		}
		properties[name] = g.field(f, dir.nested())
		demanded := hasBehavior(f, annotations.FieldBehavior_REQUIRED) || rulesOf(f).GetRequired()
		if demanded && dir != change || dir == answer && !f.Desc.HasPresence() {
			required = append(required, name)
		}
	}

	if slices.Sort(required); len(required) > 0 {
		schema["required"] = required
	}
	if dir != answer {
		schema["additionalProperties"] = false
		if len(properties) == 0 {
			schema["description"] = "An empty object."
		}
	}
	return componentRef(name)
}

func (g *generator) field(f *protogen.Field, dir direction) object {
	rules := rulesOf(f)
	description := reflow(f.Comments.Leading)
	if f.Desc.IsMap() {
		entry := f.Message.Fields[1] // beside its key
		pairs := object{"type": "object", "additionalProperties": g.value(entry, dir, rules.GetMap().GetValues(), "")}
		set(pairs, "description", description)
		set(pairs, "maxProperties", rules.GetMap().GetMaxPairs())
		return pairs
	}
	if !f.Desc.IsList() {
		return g.value(f, dir, rules, description)
	}

	repeated := rules.GetRepeated()
	list := object{"type": "array", "items": g.value(f, dir, repeated.GetItems(), "")}
	set(list, "description", description)
	set(list, "minItems", repeated.GetMinItems())
	set(list, "maxItems", max(repeated.GetMaxItems(), optionsOf(f).GetMaxItems()))
	set(list, "uniqueItems", repeated.GetUnique() || optionsOf(f).GetUniqueItems())
	return list
}

// value returns the schema of a single value of a field.
func (g *generator) value(f *protogen.Field, dir direction, rules *validate.FieldRules, description string) object {
	schema := object{}
	switch {
	case f.Enum != nil:
		schema = g.words(f.Enum)
	case f.Message != nil && !isText(f.Message):
		schema = g.message(f.Message, dir)
	default:
		schema = plainSchema(f, rules)
		if least, ok := schema["minimum"].(int32); ok && dir == answer {
			schema["minimum"] = max(least, 0) // no answer has a negative number
		}
	}

	if schema["$ref"] != nil && description != "" {
		schema = object{"allOf": []object{schema}} // OpenAPI 3.0 ignores what stands beside a $ref
	}
	set(schema, "description", description)
	set(schema, "readOnly", outputOnly(f) && schema["$ref"] == nil)
	return schema
}

const fieldMask = "google.protobuf.FieldMask"

// isText reports whether JSON has the message as a text.
func isText(m *protogen.Message) bool {
	name := m.Desc.FullName()
	return name == "google.protobuf.Timestamp" || name == fieldMask
}

// words returns a reference to the schema of an enum: its words but for the zero value, and what they mean.
func (g *generator) words(e *protogen.Enum) object {
	var words, meanings []string
	for _, value := range e.Values[1:] {
		words = append(words, string(value.Desc.Name()))
		meanings = append(meanings, fmt.Sprintf("- %s: %s", value.Desc.Name(), reflow(value.Comments.Leading)))
	}
	description := reflow(e.Comments.Leading) + "\n\n" + strings.Join(meanings, "\n")
	g.schemas[componentName(e.Desc)] = object{"type": "string", "enum": words, "description": description}
	return componentRef(componentName(e.Desc))
}

// plainSchema returns the schema of a value that is neither a message nor an enum, with the bounds that protovalidate
// rules and the openapiv2_field option give. A limit in bytes becomes the same limit in characters, the tightest that
// always holds.
func plainSchema(f *protogen.Field, rules *validate.FieldRules) object {
	switch f.Desc.Kind() {
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.BytesKind:
		return object{"type": "string", "format": "byte"}
	case protoreflect.MessageKind:
		if f.Message.Desc.FullName() == fieldMask {
			return object{"type": "string", "pattern": `^[a-z_.]+(,[a-z_.]+)*$`, "maxLength": 1000}
		}
		return object{"type": "string", "format": "date-time"}
	case protoreflect.DoubleKind: // every one has both bounds
		return object{
			"type": "number", "format": "double",
			"minimum": rules.GetDouble().GetGte(), "maximum": rules.GetDouble().GetLte(),
		}
	case protoreflect.Int32Kind:
		least, most := int32(math.MinInt32), int32(math.MaxInt32)
		if rules.GetInt32().GetGreaterThan() != nil {
			least = rules.GetInt32().GetGte()
		}
		if rules.GetInt32().GetLessThan() != nil {
			most = rules.GetInt32().GetLte()
		}
		return object{"type": "integer", "format": "int32", "minimum": least, "maximum": most}
	}

	schema, documented, rule := object{"type": "string"}, optionsOf(f), rules.GetString()
	set(schema, "minLength", max(rule.GetMinLen(), documented.GetMinLength()))
	set(schema, "maxLength", max(rule.GetMaxLen(), rule.GetMaxBytes(), documented.GetMaxLength()))
	set(schema, "pattern", rule.GetPattern())
	set(schema, "pattern", documented.GetPattern())
	set(schema, "format", documented.GetFormat())
	if len(rule.GetIn()) > 0 {
		schema["enum"] = rule.GetIn()
	}
	return schema
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

// decoded returns a value that an option writes as JSON, or nil.
func decoded(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	return value
}

// example returns the example of a message from its openapiv2_schema option. That of a request has no output-only
// fields.
func example(m *protogen.Message, dir direction) object {
	value, _ := decoded(option[*openapiv2.Schema](m.Desc, openapiv2.E_Openapiv2Schema).GetExample()).(object)
	if value == nil {
		return object{}
	}
	for _, f := range m.Fields {
		if dir == request && outputOnly(f) {
			delete(value, f.Desc.TextName())
		}
	}
	return value
}
