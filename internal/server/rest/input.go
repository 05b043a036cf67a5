package rest

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

const (
	// bodyField is the name that a violation has for the body as a whole.
	bodyField = "body"
	// maxQuoted is how much of a text that a caller made up is repeated.
	maxQuoted = 60
)

// shown cuts what a caller made up.
func shown(s string) string { return rpcerr.Cut(s, maxQuoted) }

// readJSON reads a whole body into a message; nothing may follow it. An empty
// body is an empty message.
func readJSON(body []byte, into proto.Message) error {
	if len(strings.TrimSpace(string(body))) == 0 {
		return nil
	}
	if err := protojson.Unmarshal(body, into); err != nil {
		return jsonError(err, into.ProtoReflect().Descriptor())
	}
	return nil
}

// The forms in which protojson says what is wrong.
var (
	jsonPlace   = regexp.MustCompile(`\(line (\d+):(\d+)\): `)
	jsonValue   = regexp.MustCompile(`^invalid value for \S+ field (\w+): `)
	jsonName    = regexp.MustCompile(`^(unknown|duplicate) field ("(?:[^"\\]|\\.)*")`)
	jsonMessage = regexp.MustCompile(`^invalid (google\.protobuf\.\w+) value `)
	jsonSyntax  = regexp.MustCompile(`^(unexpected (EOF|token)|invalid (value|character|escape code|UTF-8 in string))`)
)

// jsonError says in the words of this API what protojson says, with the field
// where it names one. It repeats no value: that may be a secret.
func jsonError(err error, md protoreflect.MessageDescriptor) error {
	// protojson varies its spaces, so that nobody depends on them.
	text := strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto:"))
	place := ""
	if at := jsonPlace.FindStringSubmatchIndex(text); at != nil {
		place = fmt.Sprintf(" (line %s, column %s)", text[at[2]:at[3]], text[at[4]:at[5]])
		text = strings.TrimPrefix(text[:at[0]]+text[at[1]:], "syntax error ")
	}

	if found := jsonName.FindStringSubmatch(text); found != nil {
		name, err := strconv.Unquote(found[2])
		if err != nil {
			name = found[2]
		}
		if found[1] == "duplicate" {
			return errs.Invalid(fieldName(name), "is given more than once%s", place)
		}
		return errs.Invalid(fieldName(name), "unknown field%s; the body takes %s", place, listed(fieldNames(md)))
	}

	if found := jsonValue.FindStringSubmatch(text); found != nil {
		wanted := func(fd protoreflect.FieldDescriptor) bool { return fd.JSONName() == found[1] }
		if fd := findField(md, wanted); fd != nil {
			return errs.Invalid(string(fd.Name()), "must be %s%s", expected(fd), place)
		}
	}

	if found := jsonMessage.FindStringSubmatch(text); found != nil {
		wanted := func(fd protoreflect.FieldDescriptor) bool {
			return fd.Message() != nil && string(fd.Message().FullName()) == found[1]
		}
		if fd := findField(md, wanted); fd != nil {
			return errs.Invalid(string(fd.Name()), "must be %s%s", expected(fd), place)
		}
	}

	what := cmp.Or(jsonSyntax.FindString(text), "it can't be read")
	return errs.Invalid(bodyField, "is not valid JSON for this call: %s%s", what, place)
}

// fieldName is the name of a violation: one without would lose its place.
func fieldName(name string) string {
	if name == "" {
		return bodyField
	}
	return shown(name)
}

// findField looks for a field of a message or of the messages in it.
func findField(
	md protoreflect.MessageDescriptor, wanted func(protoreflect.FieldDescriptor) bool,
) protoreflect.FieldDescriptor {
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if wanted(fd) {
			return fd
		}
		if inner := fd.Message(); inner != nil && inner.FullName() != md.FullName() {
			if found := findField(inner, wanted); found != nil {
				return found
			}
		}
	}

	return nil
}

// expected says what a value of a field must be.
func expected(fd protoreflect.FieldDescriptor) string {
	switch {
	case fd.Kind() == protoreflect.BoolKind:
		return "true or false"
	case fd.Kind() == protoreflect.Int32Kind:
		return "an integer from -2147483648 to 2147483647"
	case fd.Kind() == protoreflect.EnumKind:
		words := enumWords(fd.Enum())
		if len(words) == 1 {
			return "`" + words[0] + "`"
		}
		return "one of " + listed(words)
	case fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Timestamp":
		return `a time as in RFC 3339, such as "2026-11-20T09:30:00Z"`
	case fd.Message() != nil:
		return "an object"
	}

	return "a string"
}

// enumWords returns the words of an enum that may be sent: all but the one for
// zero, which says that nothing was.
func enumWords(ed protoreflect.EnumDescriptor) []string {
	var out []string
	for i := range ed.Values().Len() {
		if v := ed.Values().Get(i); v.Number() != 0 {
			out = append(out, string(v.Name()))
		}
	}

	return out
}

// fieldNames returns the names of the fields that a request may set.
func fieldNames(md protoreflect.MessageDescriptor) (out []string) {
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		behaviors, _ := proto.GetExtension(fd.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
		if !slices.Contains(behaviors, annotations.FieldBehavior_OUTPUT_ONLY) {
			out = append(out, string(fd.Name()))
		}
	}

	return out
}

func listed(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// checkQuery returns what is wrong with a query: parameters that are unknown,
// repeated, empty, or not of their type. grpc-gateway ignores the first, and
// takes camelCase names, enum numbers and hexadecimal. Ranges are left to the
// constraints in the protos.
func checkQuery(raw string, allowed map[string]protoreflect.FieldDescriptor) []errs.FieldViolation {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return []errs.FieldViolation{{Field: "query", Description: "can't be read: " + err.Error()}}
	}
	var found []errs.FieldViolation
	for _, name := range slices.Sorted(maps.Keys(values)) {
		wrong := checkParameter(name, values[name], allowed)
		if wrong == "" || len(found) == rpcerr.MaxViolations {
			continue
		}
		if name == "" {
			name = "query" // a violation without a field would lose its place
		}
		found = append(found, errs.FieldViolation{Field: shown(name), Description: wrong})
	}

	return found
}

func checkParameter(name string, values []string, allowed map[string]protoreflect.FieldDescriptor) string {
	fd := allowed[name]
	value := values[0]
	switch {
	case fd == nil && len(allowed) == 0:
		return "unknown query parameter; this call takes none"
	case fd == nil:
		return "unknown query parameter; allowed are " + listed(slices.Sorted(maps.Keys(allowed)))
	case len(values) > 1:
		return "is given more than once"
	case value == "":
		return "must not be empty; leave it out instead"
	case !utf8.ValidString(value):
		return "must be valid UTF-8"
	}

	ok := true
	switch fd.Kind() {
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(value, 10, 32)
		ok = err == nil && strconv.FormatInt(n, 10) == value
	case protoreflect.EnumKind:
		ok = slices.Contains(enumWords(fd.Enum()), value)
	}

	if !ok {
		return fmt.Sprintf("must be %s, not %s", expected(fd), shown(strconv.Quote(value)))
	}
	return ""
}
