package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

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
	for _, rt := range routes {
		if !rt.path.MatchString(path) {
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
func readRoutes() ([]*route, error) {
	var out []*route
	for _, file := range []protoreflect.FileDescriptor{
		prwardenv1.File_prwarden_v1_review_proto, prwardenv1.File_prwarden_v1_rule_proto,
		prwardenv1.File_prwarden_v1_key_proto,
	} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				rt, err := readRoute(methods.Get(j))
				if err != nil {
					return nil, fmt.Errorf("route of %s: %w", methods.Get(j).FullName(), err)
				}
				out = append(out, rt)
			}
		}
	}

	slices.SortFunc(out, func(a, b *route) int { return strings.Compare(a.verb, b.verb) })
	return out, nil
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
	case *annotations.HttpRule_Delete:
		rt.verb, rt.pattern = http.MethodDelete, p.Delete
	default:
		return nil, fmt.Errorf("no GET, POST or DELETE binding in %v", rule)
	}

	path := segment.ReplaceAllString(regexp.QuoteMeta(rt.pattern), `(?P<$1>[^/:]+)`)
	path = segments.ReplaceAllString(path, `(?P<$1>.+)`)
	rt.path = regexp.MustCompile(`(?s)^` + path + `$`)

	input := md.Input()
	if field := rule.GetBody(); field != "" && field != "*" {
		input = input.Fields().ByName(protoreflect.Name(field)).Message()
	}

	var err error
	switch {
	case rule.GetBody() != "":
		rt.body, err = protoregistry.GlobalTypes.FindMessageByName(input.FullName())
	case rt.verb == http.MethodGet:
		rt.query = make(map[string]protoreflect.FieldDescriptor)
		for i := range input.Fields().Len() {
			if fd := input.Fields().Get(i); rt.path.SubexpIndex(string(fd.Name())) < 0 {
				rt.query[string(fd.Name())] = fd
			}
		}
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
