package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// validate is the link in which a request that breaks the constraints of its
// proto ends, with everything that is wrong with it.
func validate(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if m, ok := req.(proto.Message); ok {
		if err := check(m); err != nil {
			return nil, err
		}
	}
	return handler(ctx, req)
}

// check returns what is wrong with a message. A large one has room for hundreds
// of thousands of mistakes, so only its first is named.
func check(m proto.Message) error {
	var options []protovalidate.ValidationOption
	if proto.Size(m) > overload.Large {
		options = append(options, protovalidate.WithFailFast())
	}

	var found []errs.FieldViolation
	err := protovalidate.Validate(m, options...)
	var invalid *protovalidate.ValidationError
	switch {
	case errors.As(err, &invalid):
		for _, violation := range invalid.Violations[:min(len(invalid.Violations), MaxViolations)] {
			found = append(found, describe(violation))
		}
	case err != nil:
		return fmt.Errorf("validate %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}

	if path := nulIn(m); path != "" {
		found = append(found, errs.FieldViolation{Field: path, Description: "must not contain the character U+0000"})
	}

	for i := range found {
		// Over REST a rule is the body, and its validation names its fields so, too.
		found[i].Field = strings.TrimPrefix(found[i].Field, "rule.")
	}
	if len(found) > 0 {
		return errs.InvalidFields(found...)
	}
	return nil
}

// nulIn returns the path of a string with a NUL in it, which no database stores
// alike, or "".
func nulIn(m proto.Message) (path string) {
	// The function that is called fails only to end the search.
	_ = protorange.Range(m.ProtoReflect(), func(p protopath.Values) error {
		text, ok := p.Index(-1).Value.Interface().(string)
		if !ok || strings.IndexByte(text, 0) < 0 {
			return nil
		}
		path = strings.TrimPrefix(p.Path[1:].String(), ".")
		return protorange.Terminate
	})
	return path
}

// describe says what is wrong with a field: in the words of protovalidate, but
// for the rules that it explains less well.
func describe(v *protovalidate.Violation) errs.FieldViolation {
	text := strings.TrimPrefix(v.Proto.GetMessage(), "value ")
	switch rule := v.Proto.GetRuleId(); {
	case rule == "int32.gte":
		text = fmt.Sprintf("must be at least %d; it is %d", v.RuleValue.Int(), v.FieldValue.Int())
	case strings.HasPrefix(rule, "enum."):
		text = "must be one of " + strings.Join(EnumWords(v.FieldDescriptor.Enum()), ", ")
	case rule == "string.pattern" && v.FieldDescriptor.Name() == "repo":
		text = "must be `<owner>/<repository>`, each of 1 to 100 letters, digits, dots, hyphens and underscores"
	}

	return errs.FieldViolation{Field: protovalidate.FieldPathString(v.Proto.GetField()), Description: text}
}

// EnumWords returns the words of an enum that may be sent: all but the one for
// zero, which says that nothing was.
func EnumWords(ed protoreflect.EnumDescriptor) []string {
	var out []string
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); v.Number() != 0 {
			out = append(out, string(v.Name()))
		}
	}

	return out
}
