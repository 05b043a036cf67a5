package rest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

const (
	// bodyField is the name that a violation has for the body as a whole.
	bodyField = "body"

	// maxQuoted is how much of a text that a caller made up is repeated.
	maxQuoted = 60
)

// shown cuts what a caller made up.
func shown(s string) string { return errs.Cut(s, maxQuoted) }

// readInput reads the body of a request, and says what is wrong with it in the
// order in which a caller would mend it.
func (g *Gateway) readInput(e *exchange, r *http.Request) error {
	if err := rpc.Authorize(e.call.Caller, e.route.method); err != nil {
		return err
	}
	body, err := readBody(e, r)
	if err != nil {
		return err
	}

	r.Body = io.NopCloser(bytes.NewReader(body))
	if err := checkQuery(r.URL.RawQuery, e.route.query).Err(); err != nil || len(body) == 0 {
		return err
	}
	return checkJSON(body, e.route.body.New().Interface())
}

// readBody reads a body of at most as many bytes as its call takes, whatever
// Content-Length says. While the client takes its time, the request is not one that is worked
// on.
func readBody(e *exchange, r *http.Request) ([]byte, error) {
	size := r.ContentLength
	switch {
	case size == 0, e.route.body == nil && size < 0:
		return nil, nil
	case e.route.body == nil:
		return nil, errs.Invalid(bodyField, "this call takes no body")
	}

	most, who := int64(rpc.MaxBody), "server"
	if e.route.method == prwardenv1.RuleService_BatchRules_FullMethodName {
		most, who = rpc.MaxDocument, "call"
	}
	tooLarge := errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge,
		"The request body is larger than %d MiB (%d bytes), which is the most that this %s takes.", most>>20, most, who)
	if size > most {
		return nil, tooLarge
	}

	e.request.Release(overload.LimitWork)
	if most > rpc.MaxBody { // the limit of open requests is for others
		if err := e.request.Hold(r.Context(), overload.LimitBatches, 1); err != nil {
			return nil, err
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(e.ResponseWriter, r.Body, most))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, errs.Invalid(bodyField, "could not be read to its end")
	}

	if len(body) > 0 {
		if err := checkMediaType(r.Header); err != nil {
			return nil, err
		}
	}

	return body, e.request.Hold(r.Context(), overload.LimitWork, 1)
}

// checkMediaType returns an error for a body that says it is not JSON in
// UTF-8.
func checkMediaType(h http.Header) error {
	kind, params, err := mime.ParseMediaType(strings.Join(h.Values("Content-Type"), ", "))
	charset, coding := params["charset"], h.Get("Content-Encoding")
	if err == nil && kind == jsonType && (charset == "" || strings.EqualFold(charset, "utf-8")) &&
		(coding == "" || coding == "identity") {
		return nil
	}
	return errs.New(errs.InvalidArgument, errs.ReasonUnsupportedMediaType,
		"The request has a body that is not said to be JSON; send it as `Content-Type: application/json`, in UTF-8 "+
			"and not compressed.")
}

// The forms in which protojson says what is wrong.
var (
	jsonPlace = regexp.MustCompile(`\(line (\d+):(\d+)\): `)
	jsonName  = regexp.MustCompile(`^(unknown|duplicate) field "([^"]+)"`)
	jsonValue = regexp.MustCompile(`^invalid (?:value for \S+ field (\w+): |(google\.protobuf\.\w+) value )`)
)

// checkJSON returns what is wrong with a body, in the words of protojson, with
// the field where those name one.
func checkJSON(body []byte, message proto.Message) error {
	err := protojson.Unmarshal(body, message)
	if err == nil || len(bytes.TrimSpace(body)) == 0 {
		return nil
	}

	// protojson varies its spaces, so that nobody depends on them.
	text := strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto:"))
	place := ""
	if at := jsonPlace.FindStringSubmatchIndex(text); at != nil {
		place = fmt.Sprintf(" (line %s, column %s)", text[at[2]:at[3]], text[at[4]:at[5]])
		text = strings.TrimPrefix(text[:at[0]]+text[at[1]:], "syntax error ")
	}

	if found := jsonName.FindStringSubmatch(text); found != nil {
		return errs.Invalid(shown(found[2]), "%s field%s", found[1], place)
	}

	if found := jsonValue.FindStringSubmatch(text); found != nil {
		fields := message.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			if fd.JSONName() == found[1] || fd.Message() != nil && string(fd.Message().FullName()) == found[2] {
				return errs.Invalid(string(fd.Name()), "must be %s%s", expected(fd), place)
			}
		}
	}

	return errs.Invalid(bodyField, "is not valid JSON for this call: %s%s", shown(text), place)
}

// expected says what a value of a field must be.
func expected(fd protoreflect.FieldDescriptor) string {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.Int32Kind:
		return "an integer from -2147483648 to 2147483647"
	case protoreflect.EnumKind:
		return "one of " + listed(rpc.EnumWords(fd.Enum()))
	case protoreflect.MessageKind:
		return `a time as in RFC 3339, such as "2026-11-20T09:30:00Z"`
	}

	return "a string"
}

func listed(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// checkQuery returns what is wrong with a query: parameters that are unknown,
// repeated, empty, or not of their type. grpc-gateway ignores the first, and
// takes camelCase names, enum numbers and hexadecimal. Ranges are left to the
// constraints in the protos.
func checkQuery(raw string, allowed map[string]protoreflect.FieldDescriptor) (found errs.Violations) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		found.Add("query", "can't be read: %s", shown(err.Error()))
		return found
	}

	for _, name := range slices.Sorted(maps.Keys(values)) {
		var wrong string
		switch fd := allowed[name]; {
		case fd != nil:
			wrong = checkParameter(values[name], fd)
		case len(allowed) == 0:
			wrong = "unknown query parameter; this call takes none"
		default:
			wrong = "unknown query parameter; allowed are " + listed(slices.Sorted(maps.Keys(allowed)))
		}

		if wrong != "" {
			found.Add(cmp.Or(shown(name), "query"), "%s", wrong)
		}
	}

	return found
}

func checkParameter(values []string, fd protoreflect.FieldDescriptor) string {
	if len(values) > 1 && !fd.IsList() {
		return "is given more than once"
	}
	for _, value := range values {
		if wrong := checkValue(value, fd); wrong != "" {
			return wrong
		}
	}

	return ""
}

func checkValue(value string, fd protoreflect.FieldDescriptor) string {
	switch {
	case value == "":
		return "must not be empty; leave it out instead"
	case !utf8.ValidString(value):
		return "must be valid UTF-8"
	}

	ok := true
	switch fd.Kind() {
	case protoreflect.BoolKind:
		ok = value == "true" || value == "false"
	case protoreflect.MessageKind:
		if fd.Message().FullName() != "google.protobuf.FieldMask" { // its paths are checked where they are used
			_, err := time.Parse(time.RFC3339Nano, value)
			ok = err == nil
		}
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(value, 10, 32)
		ok = err == nil && strconv.FormatInt(n, 10) == value
	case protoreflect.EnumKind:
		ok = slices.Contains(rpc.EnumWords(fd.Enum()), value)
	}

	if !ok {
		return fmt.Sprintf("must be %s, not %s", expected(fd), shown(strconv.Quote(value)))
	}
	return ""
}

// route is what the protos say of one way to call a method over REST.
type route struct {
	verb    string                                  // HTTP method
	pattern string                                  // path, such as /v1/reviews/{review_id}
	path    *regexp.Regexp                          // matches the paths of the pattern
	method  string                                  // gRPC method, /package.Service/Method
	body    protoreflect.MessageType                // nil for none
	query   map[string]protoreflect.FieldDescriptor // what the query may have
	success int                                     // HTTP status
	stream  bool
}

// match returns the route of a request; nil for none. allowed are then the HTTP
// methods that its path takes.
func match(routes []*route, verb, path string) (found *route, allowed []string) {
	// The longest pattern says most: /v1/rules/{id=**}:history of a rule's history,
	// which is no rule of that name.
	pattern := ""
	for _, rt := range routes {
		if len(rt.pattern) > len(pattern) && rt.path.MatchString(path) {
			pattern = rt.pattern
		}
	}

	for _, rt := range routes {
		if rt.pattern != pattern {
			continue
		}

		allowed = append(allowed, rt.verb)
		head := rt.verb == http.MethodGet && !rt.stream
		if head {
			allowed = append(allowed, http.MethodHead)
		}
		if rt.verb == verb || head && verb == http.MethodHead {
			return rt, nil
		}
	}

	if len(allowed) > 0 {
		allowed = append(allowed, http.MethodOptions)
	}
	return nil, allowed
}

// readRoutes reads the routes from the descriptors of the API.
func readRoutes() (out []*route, err error) {
	pkg := prwardenv1.File_prwarden_v1_review_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(pkg, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				rt, failed := readRoute(methods.Get(j))
				if failed != nil {
					err = fmt.Errorf("route of %s: %w", methods.Get(j).FullName(), failed)
					return false
				}
				out = append(out, rt)
			}
		}
		return true
	})

	slices.SortFunc(out, func(a, b *route) int {
		return cmp.Or(strings.Compare(a.verb, b.verb), strings.Compare(a.pattern, b.pattern))
	})
	return out, err
}

// The variables of a path: of one segment, and of many.
var (
	segment  = regexp.MustCompile(`\\\{(\w+)\\\}`)
	segments = regexp.MustCompile(`\\\{(\w+)=\\\*\\\*\\\}`)
)

func readRoute(md protoreflect.MethodDescriptor) (*route, error) {
	rule, _ := proto.GetExtension(md.Options(), annotations.E_Http).(*annotations.HttpRule)
	rt := &route{
		method:  fmt.Sprintf("/%s/%s", md.Parent().FullName(), md.Name()),
		stream:  md.IsStreamingServer(),
		success: successOf(md),
	}

	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		rt.verb, rt.pattern = http.MethodGet, p.Get
	case *annotations.HttpRule_Post:
		rt.verb, rt.pattern = http.MethodPost, p.Post
	case *annotations.HttpRule_Put:
		rt.verb, rt.pattern = http.MethodPut, p.Put
	case *annotations.HttpRule_Patch:
		rt.verb, rt.pattern = http.MethodPatch, p.Patch
	case *annotations.HttpRule_Delete:
		rt.verb, rt.pattern = http.MethodDelete, p.Delete
	default:
		return nil, fmt.Errorf("no GET, POST, PUT, PATCH or DELETE binding in %v", rule)
	}

	path := segment.ReplaceAllString(regexp.QuoteMeta(rt.pattern), `(?P<$1>[^/:]+)`)
	path = segments.ReplaceAllString(path, `(?P<$1>.+)`)
	rt.path = regexp.MustCompile(`(?s)^` + path + `$`)

	// What is in neither the path nor the body is in the query.
	fields, body := md.Input().Fields(), rule.GetBody()
	if body != "*" {
		rt.query = make(map[string]protoreflect.FieldDescriptor)
		for i := range fields.Len() {
			name := string(fields.Get(i).Name())
			if rt.path.SubexpIndex(name) < 0 && name != body {
				rt.query[name] = fields.Get(i)
			}
		}
	}

	var err error
	switch body {
	case "":
	case "*":
		rt.body, err = protoregistry.GlobalTypes.FindMessageByName(md.Input().FullName())
	default:
		field := fields.ByName(protoreflect.Name(body)).Message()
		rt.body, err = protoregistry.GlobalTypes.FindMessageByName(field.FullName())
	}

	return rt, err
}

// successOf returns the status that the OpenAPI annotation promises, 200
// without one.
func successOf(md protoreflect.MethodDescriptor) int {
	op, _ := proto.GetExtension(md.Options(), options.E_Openapiv2Operation).(*options.Operation)
	for code := range op.GetResponses() {
		if n, err := strconv.Atoi(code); err == nil && n >= 200 && n < 300 {
			return n
		}
	}

	return http.StatusOK
}
