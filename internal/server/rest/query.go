package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rest/strictjson"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// maxQuoted is how much of a name that a caller made up is repeated.
const maxQuoted = 60

// queryable reports whether checkQuery knows how to check the field.
func queryable(fd protoreflect.FieldDescriptor) bool {
	switch fd.Kind() {
	case protoreflect.StringKind, protoreflect.Int32Kind, protoreflect.EnumKind:
		return !fd.IsList() && !fd.IsMap()
	}
	return false
}

// checkQuery returns what is wrong with a query: parameters that are unknown,
// repeated, empty, or not of their type. grpc-gateway ignores the first and
// takes camelCase names, enum numbers and hexadecimal. Ranges are left to the
// constraints in the protos.
func checkQuery(raw string, allowed map[string]protoreflect.FieldDescriptor) []errs.FieldViolation {
	if raw == "" {
		return nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return []errs.FieldViolation{{Field: "query", Description: "can't be read: " + err.Error()}}
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	var found []errs.FieldViolation
	for _, name := range names {
		if len(found) == strictjson.MaxViolations {
			break
		}
		if wrong := checkParameter(name, values[name], allowed); wrong != "" {
			if name == "" {
				name = "query" // a violation without a field would lose its place
			}
			found = append(found, errs.FieldViolation{Field: shown(name), Description: wrong})
		}
	}
	return found
}

func checkParameter(name string, values []string, allowed map[string]protoreflect.FieldDescriptor) string {
	fd := allowed[name]
	if fd == nil {
		return "unknown query parameter; " + parameters(allowed)
	}
	if len(values) > 1 {
		return "is given more than once"
	}
	value := values[0]
	if value == "" {
		return "must not be empty; leave it out instead"
	}
	switch fd.Kind() {
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || strconv.FormatInt(n, 10) != value {
			return fmt.Sprintf("must be an integer from -2147483648 to 2147483647, not %s", shown(strconv.Quote(value)))
		}
	case protoreflect.EnumKind:
		if words := strictjson.EnumWords(fd.Enum()); !slices.Contains(words, value) {
			return fmt.Sprintf("must be one of `%s`, not %s", strings.Join(words, "`, `"), shown(strconv.Quote(value)))
		}
	default:
		if !utf8.ValidString(value) {
			return "must be valid UTF-8"
		}
	}
	return ""
}

func parameters(allowed map[string]protoreflect.FieldDescriptor) string {
	if len(allowed) == 0 {
		return "this call takes none"
	}
	names := make([]string, 0, len(allowed))
	for name := range allowed {
		names = append(names, "`"+name+"`")
	}
	slices.Sort(names)
	return "allowed are " + strings.Join(names, ", ")
}

// shown cuts what a caller made up.
func shown(s string) string { return rpcerr.Cut(s, maxQuoted) }
