package roletest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/prwarden/prwarden/gen/go/prwarden/v1" // the services
)

const public = "prwarden.v1."

// Complete fails unless the table has each call of each public service once, and
// nothing else.
func Complete(t testing.TB) {
	t.Helper()
	var there, written []string
	protoregistry.GlobalFiles.RangeFilesByPackage("prwarden.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				there = append(there, string(s.Name())+"/"+string(s.Methods().Get(j).Name()))
			}
		}

		return true
	})
	for _, c := range Calls {
		written = append(written, c.Method)
	}
	require.NotEmpty(t, there)
	assert.ElementsMatch(t, there, written, "the table of calls")
}

// Named returns the call with a name.
func Named(method string) Call {
	return Calls[slices.IndexFunc(Calls, func(c Call) bool { return c.Method == method })]
}

// Allowed reports whether a role is enough.
func (c Call) Allowed(role string) bool {
	at := func(name string) int {
		return slices.IndexFunc(Roles, func(r struct{ Name, Scopes string }) bool { return r.Name == name })
	}

	return at(role) >= at(c.Role)
}

var word = regexp.MustCompile(`\$\w+`)

// Filled is the request about what an organization owns, by name; about what there is
// not where that has no such name.
func (c Call) Filled(owned map[string]string) string {
	return word.ReplaceAllStringFunc(c.Request, func(w string) string {
		if value, ok := owned[w[1:]]; ok {
			return value
		}

		return "unknown"
	})
}

func (c Call) descriptor(t testing.TB) protoreflect.MethodDescriptor {
	t.Helper()
	name := protoreflect.FullName(public + strings.Replace(c.Method, "/", ".", 1))
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	require.NoError(t, err)

	return d.(protoreflect.MethodDescriptor)
}

func message(t testing.TB, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	made, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	require.NoError(t, err)

	return made.New().Interface()
}

// Invoke makes the call over gRPC. The answer of a stream is its first message.
func (c Call) Invoke(ctx context.Context, t testing.TB, conn grpc.ClientConnInterface, request string) (string, error) {
	t.Helper()
	d := c.descriptor(t)
	in, out := message(t, d.Input()), message(t, d.Output())
	require.NoError(t, protojson.Unmarshal([]byte(request), in), "%s: %s", c.Method, request)
	if !d.IsStreamingClient() && !d.IsStreamingServer() {
		err := conn.Invoke(ctx, "/"+public+c.Method, in, out)

		return protojson.Format(out), err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{
		ClientStreams: d.IsStreamingClient(), ServerStreams: d.IsStreamingServer(),
	}, "/"+public+c.Method)
	if err != nil {
		return "", err
	}

	_ = stream.SendMsg(in) // RecvMsg says why not
	_ = stream.CloseSend()
	if err := stream.RecvMsg(out); err != nil {
		return "", err
	}

	return protojson.Format(out), nil
}

var variable = regexp.MustCompile(`\{(\w+)(=\*\*)?\}`)

// REST is the call as a request over REST.
func (c Call) REST(t testing.TB, request string) (verb, path, body string) {
	t.Helper()
	rule := proto.GetExtension(c.descriptor(t).Options(), annotations.E_Http).(*annotations.HttpRule)
	for v, p := range map[string]string{
		"GET": rule.GetGet(), "POST": rule.GetPost(), "PUT": rule.GetPut(), "PATCH": rule.GetPatch(),
		"DELETE": rule.GetDelete(),
	} {
		if p != "" {
			verb, path = v, p
		}
	}
	require.NotEmpty(t, path, c.Method)
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(request), &fields))
	path = variable.ReplaceAllStringFunc(path, func(v string) string {
		name := variable.FindStringSubmatch(v)[1]
		defer delete(fields, name)

		return fmt.Sprint(fields[name])
	})

	var sent any = fields
	switch field := rule.GetBody(); field {
	case "":
		return verb, path + query(fields), ""
	case "*":
	default:
		sent = fields[field]
		delete(fields, field)
		path += query(fields)
	}
	text, err := json.Marshal(sent)
	require.NoError(t, err)

	return verb, path, string(text)
}

func query(fields map[string]any) string {
	if len(fields) == 0 {
		return ""
	}
	q := url.Values{}
	for name, value := range fields {
		q.Set(name, fmt.Sprint(value))
	}

	return "?" + q.Encode()
}
