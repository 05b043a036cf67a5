package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"

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
	pattern string                                  // as runtime.Pattern writes it, such as /v1/rules/{id=**}
	method  string                                  // gRPC method, /package.Service/Method
	body    protoreflect.MessageType                // nil for none
	query   map[string]protoreflect.FieldDescriptor // what the query may have
	success int                                     // HTTP status
	stream  bool
}

// routes are all routes of the API, by verb and pattern.
type routes map[string]*route

func (r routes) find(verb, pattern string) *route { return r[verb+" "+pattern] }

// readRoutes reads the routes from the descriptors of the API.
func readRoutes() (routes, error) {
	out := make(routes)
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
				out[rt.verb+" "+rt.pattern] = rt
			}
		}
	}

	return out, nil
}

var (
	bareVariable = regexp.MustCompile(`\{([a-z_]+)\}`)
	variable     = regexp.MustCompile(`\{([a-z_]+)=`)
)

func readRoute(md protoreflect.MethodDescriptor) (*route, error) {
	rule, _ := proto.GetExtension(md.Options(), annotations.E_Http).(*annotations.HttpRule)
	rt := &route{
		method:  fmt.Sprintf("/%s/%s", md.Parent().FullName(), md.Name()),
		stream:  md.IsStreamingServer(),
		success: successOf(md),
	}

	var path string
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		rt.verb, path = http.MethodGet, p.Get
	case *annotations.HttpRule_Post:
		rt.verb, path = http.MethodPost, p.Post
	case *annotations.HttpRule_Delete:
		rt.verb, path = http.MethodDelete, p.Delete
	default:
		return nil, fmt.Errorf("no GET, POST or DELETE binding in %v", rule)
	}

	rt.pattern = bareVariable.ReplaceAllString(path, "{$1=*}")

	var bound []string
	for _, m := range variable.FindAllStringSubmatch(rt.pattern, -1) {
		bound = append(bound, m[1])
	}
	return rt, rt.readInput(md.Input(), rule.GetBody(), bound)
}

// readInput finds out what the body and the query may have.
func (rt *route) readInput(input protoreflect.MessageDescriptor, body string, bound []string) (err error) {
	if body != "" && body != "*" {
		input = input.Fields().ByName(protoreflect.Name(body)).Message()
	}
	if body != "" {
		rt.body, err = protoregistry.GlobalTypes.FindMessageByName(input.FullName())
		return err
	}

	if rt.verb != http.MethodGet {
		return nil
	}

	rt.query = make(map[string]protoreflect.FieldDescriptor)
	for i := range input.Fields().Len() {
		if fd := input.Fields().Get(i); !slices.Contains(bound, string(fd.Name())) {
			rt.query[string(fd.Name())] = fd
		}
	}

	return nil
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
