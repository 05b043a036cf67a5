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

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/server/rest/strictjson"
)

// route is what the protos say of one way to call a method over REST.
type route struct {
	verb    string // HTTP method
	pattern string // as runtime.Pattern writes it, such as /v1/rules/{id=**}
	method  string // gRPC method, /package.Service/Method
	body    *strictjson.Schema
	query   map[string]protoreflect.FieldDescriptor
	success int // HTTP status
	stream  bool
	output  protoreflect.MessageDescriptor
}

// custom reports whether the path ends in a verb of its own, as in
// /v1/reviews/{review_id}:cancel (AIP-136).
func (rt *route) custom() bool {
	return strings.Contains(rt.pattern[strings.LastIndexAny(rt.pattern, "/}")+1:], ":")
}

// routes are all routes of the API, by verb and pattern.
type routes map[string]*route

func (r routes) find(verb, pattern string) *route { return r[verb+" "+pattern] }

func (r routes) byMethod(method string) *route {
	for _, rt := range r {
		if rt.method == method {
			return rt
		}
	}
	return nil
}

// verbs returns the HTTP methods that some route has, in order.
func (r routes) verbs() []string {
	var out []string
	for _, rt := range r {
		if !slices.Contains(out, rt.verb) {
			out = append(out, rt.verb)
		}
	}
	slices.Sort(out)
	return out
}

// readRoutes reads the routes from the descriptors of the API.
func readRoutes() (routes, error) {
	out := make(routes)
	for _, file := range []protoreflect.FileDescriptor{
		prwardenv1.File_prwarden_v1_review_proto, prwardenv1.File_prwarden_v1_rule_proto, prwardenv1.File_prwarden_v1_key_proto,
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
		method: fmt.Sprintf("/%s/%s", md.Parent().FullName(), md.Name()),
		stream: md.IsStreamingServer(),
		output: md.Output(),
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
	if len(rule.GetAdditionalBindings()) > 0 {
		return nil, fmt.Errorf("additional bindings are not supported")
	}
	rt.pattern = bareVariable.ReplaceAllString(path, "{$1=*}")
	var bound []string
	for _, m := range variable.FindAllStringSubmatch(rt.pattern, -1) {
		bound = append(bound, m[1])
	}
	if err := rt.readInput(md.Input(), rule.GetBody(), bound); err != nil {
		return nil, err
	}
	rt.success = successOf(md)
	return rt, nil
}

// readInput finds out what the body and the query may have.
func (rt *route) readInput(input protoreflect.MessageDescriptor, body string, bound []string) (err error) {
	switch body {
	case "*":
		rt.body, err = strictjson.New(input, bound...)
		return err
	case "":
	default:
		fd := input.Fields().ByName(protoreflect.Name(body))
		if fd == nil || fd.Message() == nil {
			return fmt.Errorf("body %s is not a message field", body)
		}
		rt.body, err = strictjson.New(fd.Message())
		return err
	}
	if rt.verb != http.MethodGet {
		return nil
	}
	rt.query = make(map[string]protoreflect.FieldDescriptor)
	for i := range input.Fields().Len() {
		fd := input.Fields().Get(i)
		if slices.Contains(bound, string(fd.Name())) {
			continue
		}
		if !queryable(fd) {
			return fmt.Errorf("%s can't be a query parameter", fd.FullName())
		}
		rt.query[string(fd.Name())] = fd
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
