// Package strictjson says whether a JSON text is exactly what a protobuf
// message looks like in this API: snake_case names that exist, each once,
// values of the declared type and no null, integers written as integers,
// enum words, and nothing after the end. protojson reads much more than that.
//
// A Schema is made once from a message descriptor, so the protos stay the only
// place that says what a request holds. What a Schema accepts, protojson
// accepts and reads the same.
package strictjson

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Schema is what is allowed in one request body. It is immutable and safe for
// concurrent use.
type Schema struct{ root *message }

// New makes a Schema of a message. Fields named in bound are filled from
// elsewhere (the path of the URL), so the body must not have them; the same
// holds for fields marked OUTPUT_ONLY. It fails for a kind of field that no
// request of this API has.
func New(md protoreflect.MessageDescriptor, bound ...string) (*Schema, error) {
	b := builder{messages: make(map[protoreflect.FullName]*message)}
	root, err := b.message(md)
	if err != nil {
		return nil, err
	}
	// The root is not shared: deeper uses of the same message have no bound
	// fields.
	top := *root
	top.fields = make(map[string]*field, len(root.fields))
	for name, f := range root.fields {
		if slices.Contains(bound, name) {
			c := *f
			c.refused, c.required = "is taken from the path of the URL and must not be in the body", false
			f = &c
		}
		top.fields[name] = f
	}
	return &Schema{root: top.finished()}, nil
}

// Required reports whether the body has fields that must be there.
func (s *Schema) Required() bool { return len(s.root.required) > 0 }

type kind int

const (
	kindString kind = iota
	kindBool
	kindInt32
	kindEnum
	kindTimestamp
	kindMessage
)

type message struct {
	fields   map[string]*field
	allowed  string            // the names that may be given, for messages
	required []string          // in order of declaration
	hints    map[string]string // from the camelCase name to the right one
	order    []string          // all names in order of declaration
}

type field struct {
	kind     kind
	list     bool
	required bool
	refused  string // why the field must not be given; "" when it may
	words    []string
	message  *message
}

// finished fills what follows from the fields.
func (m message) finished() *message {
	m.required, m.hints = nil, make(map[string]string)
	var allowed []string
	for _, name := range m.order {
		f := m.fields[name]
		if f.refused != "" {
			continue
		}
		allowed = append(allowed, "`"+name+"`")
		if f.required {
			m.required = append(m.required, name)
		}
		if c := camel(name); c != name {
			m.hints[c] = name
		}
	}
	m.allowed = "none"
	if len(allowed) > 0 {
		m.allowed = strings.Join(allowed, ", ")
	}
	return &m
}

type builder struct {
	messages map[protoreflect.FullName]*message
}

func (b builder) message(md protoreflect.MessageDescriptor) (*message, error) {
	if m, ok := b.messages[md.FullName()]; ok {
		return m, nil
	}
	m := &message{fields: make(map[string]*field)}
	b.messages[md.FullName()] = m
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		f, err := b.field(fd)
		if err != nil {
			return nil, err
		}
		m.fields[string(fd.Name())] = f
		m.order = append(m.order, string(fd.Name()))
	}
	*m = *m.finished()
	return m, nil
}

func (b builder) field(fd protoreflect.FieldDescriptor) (*field, error) {
	f := &field{list: fd.IsList()}
	behaviors, _ := proto.GetExtension(fd.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	f.required = slices.Contains(behaviors, annotations.FieldBehavior_REQUIRED)
	if slices.Contains(behaviors, annotations.FieldBehavior_OUTPUT_ONLY) {
		f.refused = "is set by the server and must not be in a request"
	}
	switch {
	case fd.IsMap():
		return nil, fmt.Errorf("strictjson: %s: maps are not supported", fd.FullName())
	case fd.Kind() == protoreflect.StringKind:
		f.kind = kindString
	case fd.Kind() == protoreflect.BoolKind:
		f.kind = kindBool
	case fd.Kind() == protoreflect.Int32Kind:
		f.kind = kindInt32
	case fd.Kind() == protoreflect.EnumKind:
		f.kind = kindEnum
		f.words = EnumWords(fd.Enum())
	case fd.Kind() == protoreflect.MessageKind && fd.Message().FullName() == "google.protobuf.Timestamp":
		f.kind = kindTimestamp
	case fd.Kind() == protoreflect.MessageKind && !strings.HasPrefix(string(fd.Message().FullName()), "google.protobuf."):
		f.kind = kindMessage
		m, err := b.message(fd.Message())
		if err != nil {
			return nil, err
		}
		f.message = m
	default:
		return nil, fmt.Errorf("strictjson: %s: fields of kind %s are not supported", fd.FullName(), fd.Kind())
	}
	return f, nil
}

// EnumWords returns the words of an enum that may be sent: all but the one for
// zero, which says that nothing was.
func EnumWords(ed protoreflect.EnumDescriptor) []string {
	var words []string
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); v.Number() != 0 {
			words = append(words, string(v.Name()))
		}
	}
	return words
}

// camel is how protojson would write the name.
func camel(name string) string {
	var b strings.Builder
	up := false
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			up = true
			continue
		case up && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}
