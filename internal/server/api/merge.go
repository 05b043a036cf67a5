package api

import (
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
)

// merge sets the fields of a message that a mask names to those of another one of
// its kind. Fields that callers can't set, the id and the etag are left as they
// are (AIP-203).
func merge(into, from proto.Message, mask []string) error {
	if len(mask) == 0 {
		return errs.Invalid("update_mask", "is required: the names of the fields to change")
	}
	for _, path := range mask {
		if !mergePath(into.ProtoReflect(), from.ProtoReflect(), strings.Split(path, ".")) {
			return errs.Invalid("update_mask", "%s is not a field that can be changed", finding.Shown(path))
		}
	}
	return nil
}

func mergePath(into, from protoreflect.Message, path []string) bool {
	fd := into.Descriptor().Fields().ByName(protoreflect.Name(path[0]))
	switch {
	case fd == nil:
		return false
	case fixed(fd):
		return true
	case len(path) > 1:
		if fd.Kind() != protoreflect.MessageKind || fd.IsList() {
			return false
		}
		return mergePath(into.Mutable(fd).Message(), from.Get(fd).Message(), path[1:])
	case from.Has(fd):
		into.Set(fd, from.Get(fd))
	default:
		into.Clear(fd)
	}

	return true
}

// fixed reports whether no change of its message changes the field.
func fixed(fd protoreflect.FieldDescriptor) bool {
	behaviors, _ := proto.GetExtension(fd.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return fd.Name() == "id" || fd.Name() == "etag" || slices.Contains(behaviors, annotations.FieldBehavior_OUTPUT_ONLY)
}
