package rpc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// receiveTimeout is how long a caller may take to send its message, from when
// the server asks for it. Over REST it is as long for the whole request.
const receiveTimeout = 30 * time.Second

// validation is the link in which a request that breaks the constraints of its
// proto ends, with everything that is wrong with it.
type validation struct {
	validator protovalidate.Validator
	wait      time.Duration // for a message
}

func newValidation() (validation, error) {
	v, err := protovalidate.New()
	if err != nil {
		return validation{}, fmt.Errorf("validation of requests: %w", err)
	}
	return validation{v, receiveTimeout}, nil
}

func (v validation) pass(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, validatedStream{ss, v})
}

type validatedStream struct {
	grpc.ServerStream
	v validation
}

func (s validatedStream) RecvMsg(m any) error {
	d := decoded{message: m}
	if err := s.receive(&d); err != nil {
		return err
	}
	if d.err != nil {
		return d.err
	}
	return s.v.check(m)
}

// receive is RecvMsg within the time that there is. A message of the gateway
// is there already. The call has to end after an error: what was asked for may
// still come.
func (s validatedStream) receive(d *decoded) error {
	c := callOf(s.Context())
	if c.inProcess {
		return s.ServerStream.RecvMsg(d)
	}
	if c.watch {
		if err := c.pass.Watch(); err != nil {
			return err
		}
	}
	c.pass.Pause()
	received := make(chan error, 1)
	go func() { received <- s.ServerStream.RecvMsg(d) }()
	timer, slow := time.NewTimer(s.v.wait), time.NewTimer(slowMessage)
	defer timer.Stop()
	defer slow.Stop()
	for {
		select {
		case err := <-received:
			if err != nil || c.endless {
				return err
			}
			return c.pass.Resume(s.Context())
		case <-slow.C:
			if c.endless {
				continue
			}
			if err := c.pass.Body(s.Context()); err != nil {
				return err
			}
		case <-timer.C:
			return errs.New(errs.DeadlineExceeded, errs.ReasonDeadlineExceeded, "The request was not received within %s.", s.v.wait)
		}
	}
}

func (v validation) check(req any) error {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	var found []errs.FieldViolation
	if path := nulIn(m.ProtoReflect(), ""); path != "" {
		found = append(found, errs.FieldViolation{Field: path, Description: "must not contain the character U+0000"})
	}
	found = append(found, tooLong(m.ProtoReflect(), "")...)
	err := v.validator.Validate(m, protovalidate.WithFilter(protovalidate.FilterFunc(worthwhile)))
	var invalid *protovalidate.ValidationError
	switch {
	case errors.As(err, &invalid):
		for _, violation := range invalid.Violations {
			if len(found) == rpcerr.MaxViolations {
				break
			}
			found = append(found, describe(violation))
		}
	case err != nil:
		return fmt.Errorf("validate %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	if len(found) == 0 {
		return nil
	}
	if _, ok := m.(*prwardenv1.CreateRuleRequest); ok {
		// Over REST the rule is the body. Its fields have the same names in
		// both, which are also those that rule validation uses.
		for i := range found {
			found[i].Field = strings.TrimPrefix(found[i].Field, "rule.")
		}
	}
	return errs.InvalidFields(found...)
}

// worthwhile keeps protovalidate from the items of a list that is too long
// anyway: a body has room for hundreds of thousands.
func worthwhile(m protoreflect.Message, d protoreflect.Descriptor) bool {
	fd, ok := d.(protoreflect.FieldDescriptor)
	if !ok || !fd.IsList() || fd.ContainingMessage() != m.Descriptor() {
		return true
	}
	return m.Get(fd).List().Len() <= maxItems(fd)
}

// maxItems returns how many items a list may have.
func maxItems(fd protoreflect.FieldDescriptor) int {
	rules, err := protovalidate.ResolveFieldRules(fd)
	if err != nil || !rules.GetRepeated().HasMaxItems() {
		return math.MaxInt
	}
	return int(min(rules.GetRepeated().GetMaxItems(), math.MaxInt))
}

// tooLong returns a violation for each list with too many items.
func tooLong(m protoreflect.Message, path string) (found []errs.FieldViolation) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsList():
			if limit := maxItems(fd); v.List().Len() > limit {
				found = append(found, errs.FieldViolation{
					Field:       path + string(fd.Name()),
					Description: fmt.Sprintf("must have at most %d items; it has %d", limit, v.List().Len()),
				})
			}
		case fd.Kind() == protoreflect.MessageKind && !fd.IsMap():
			found = append(found, tooLong(v.Message(), path+string(fd.Name())+".")...)
		}
		return true
	})
	return found
}

// nulIn returns the path of the first string with a NUL in it, which no
// database stores alike, or "".
func nulIn(m protoreflect.Message, path string) (found string) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		at := path + string(fd.Name())
		look := func(v protoreflect.Value, at string) {
			switch {
			case fd.Kind() == protoreflect.StringKind && strings.IndexByte(v.String(), 0) >= 0:
				found = at
			case fd.Kind() == protoreflect.MessageKind:
				found = nulIn(v.Message(), at+".")
			}
		}
		if fd.IsList() {
			if v.List().Len() > maxItems(fd) {
				return true
			}
			for i := 0; i < v.List().Len() && found == ""; i++ {
				look(v.List().Get(i), at+"["+strconv.Itoa(i)+"]")
			}
		} else if !fd.IsMap() {
			look(v, at)
		}
		return found == ""
	})
	return found
}

// describe says in our words which constraint a field breaks: protovalidate's
// tell the rule, but not the value that there was.
func describe(v *protovalidate.Violation) errs.FieldViolation {
	field := protovalidate.FieldPathString(v.Proto.GetField())
	limit := v.RuleValue
	say := func(format string, args ...any) errs.FieldViolation {
		return errs.FieldViolation{Field: field, Description: fmt.Sprintf(format, args...)}
	}
	switch v.Proto.GetRuleId() {
	case "required":
		return say("is required")
	case "string.min_len":
		return say("must have at least %d %s", limit.Uint(), plural(limit.Uint(), "character"))
	case "string.max_len":
		return say("must have at most %d characters; it has %d", limit.Uint(), utf8.RuneCountInString(v.FieldValue.String()))
	case "string.max_bytes":
		return say("must have at most %d bytes; it has %d", limit.Uint(), len(v.FieldValue.String()))
	case "string.pattern":
		if string(v.FieldDescriptor.Name()) == "repo" {
			return say("must be `<owner>/<repository>`, each of 1 to 100 letters, digits, dots, hyphens and underscores")
		}
		return say("must match %s", limit.String())
	case "string.in":
		return say("must be one of %s", strings.Join(listOf(limit), ", "))
	case "enum.defined_only", "enum.not_in":
		return say("must be one of %s", strings.Join(words(v.FieldDescriptor.Enum()), ", "))
	case "int32.gte_lte":
		rules, err := protovalidate.ResolveFieldRules(v.FieldDescriptor)
		if err != nil {
			break
		}
		return say("must be from %d to %d; it is %d", rules.GetInt32().GetGte(), rules.GetInt32().GetLte(), v.FieldValue.Int())
	case "int32.gte":
		return say("must be at least %d; it is %d", limit.Int(), v.FieldValue.Int())
	case "int32.lte":
		return say("must be at most %d; it is %d", limit.Int(), v.FieldValue.Int())
	case "repeated.min_items":
		return say("must have at least %d %s", limit.Uint(), plural(limit.Uint(), "item"))
	case "repeated.unique":
		return say("must not have the same item twice")
	}
	return say("%s", v.Proto.GetMessage())
}

func plural(n uint64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func listOf(v protoreflect.Value) []string {
	list, ok := v.Interface().(protoreflect.List)
	if !ok {
		return []string{v.String()}
	}
	out := make([]string, list.Len())
	for i := range out {
		out[i] = list.Get(i).String()
	}
	return out
}

func words(ed protoreflect.EnumDescriptor) []string {
	var out []string
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); v.Number() != 0 {
			out = append(out, string(v.Name()))
		}
	}
	return out
}
