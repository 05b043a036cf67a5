package main

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func TestText(t *testing.T) {
	t.Parallel()
	assert.Empty(t, reflow(""))
	assert.Equal(t, "Says it. All.", reflow(" Says\n it.\n All.\n"))
	assert.Equal(t, "One and a half.\n\nTwo.", reflow("One\nand a half.\n\nTwo."))
	assert.Equal(t, "Makes a key.", sentence("CreateKey", "CreateKey makes a key."))
	assert.Equal(t, "Makes a key.", sentence("CreateKey", "Makes a key."))
	assert.Equal(t, "List findings", title("ListFindings"))
	assert.Equal(t, "Get SARIF", title("GetSarif"))
	assert.Equal(t, `it'\''s`, quote("it's"))

	one := reason{Word: "A", When: "it is so"}
	assert.Equal(t, "It is so (reason `A`).", explain([]reason{one}))
	assert.Equal(t, "One of these reasons:\n\n- `A`: it is so\n- `B`: it is not",
		explain([]reason{one, {Word: "B", When: "it is not"}}))
}

// method makes a method with an HTTP rule, whose request and answer have the
// fields `field` and `description`, texts.
func method(t *testing.T, name string, rule *annotations.HttpRule) *protogen.Method {
	t.Helper()
	file := protodesc.ToFileDescriptorProto(errdetails.File_google_rpc_error_details_proto)
	message := ".google.rpc.BadRequest.FieldViolation"
	options := &descriptorpb.MethodOptions{}
	proto.SetExtension(options, annotations.E_Http, rule)
	file.Service = append(file.Service, &descriptorpb.ServiceDescriptorProto{
		Name: proto.String("TestService"),
		Method: []*descriptorpb.MethodDescriptorProto{
			{Name: &name, InputType: &message, OutputType: &message, Options: options},
		},
	})
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{file.GetName()},
		ProtoFile: []*descriptorpb.FileDescriptorProto{
			protodesc.ToFileDescriptorProto(durationpb.File_google_protobuf_duration_proto), file,
		},
	})
	require.NoError(t, err)
	return plugin.FilesByPath[file.GetName()].Services[0].Methods[0]
}

func TestNewCall(t *testing.T) {
	t.Parallel()
	c, err := newCall(method(t, "Test", &annotations.HttpRule{
		Pattern: &annotations.HttpRule_Delete{Delete: "/v1/sets/{name=**}/rules/{id}:undo"},
	}))
	require.NoError(t, err)
	assert.Equal(t, "DELETE", c.verb)
	assert.Equal(t, "/v1/sets/{name}/rules/{id}:undo", c.path)
	assert.Equal(t, []string{"name", "id"}, c.params)

	_, err = newCall(method(t, "Test", &annotations.HttpRule{Pattern: &annotations.HttpRule_Put{Put: "/v1"}}))
	require.ErrorContains(t, err, "no HTTP rule of GET, POST or DELETE")
}

// A call has to be in failures.yaml, and its comment has to name its scope.
func TestFailuresOfACall(t *testing.T) {
	t.Parallel()
	f, err := readFailures()
	require.NoError(t, err)
	get := &annotations.HttpRule{Pattern: &annotations.HttpRule_Get{Get: "/v1"}}
	for name, tt := range map[string]struct{ call, comment, problem string }{
		"right":    {"GetReview", "Reads it. Scope: reviews:read.", ""},
		"no scope": {"GetReview", "Reads it.", "Scope"},
		"unknown":  {"Other", "Reads it. Scope: reviews:read.", "failures.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := newCall(method(t, tt.call, get))
			require.NoError(t, err)
			op := &openapi3.Operation{Description: tt.comment, Responses: openapi3.NewResponsesWithCapacity(10)}
			err = f.add(c, op)
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				return
			}
			require.NoError(t, err)
			text, err := encoded(op.Responses.Value("403").Value, "")
			require.NoError(t, err)
			assert.Contains(t, text, "This needs a key with the scope reviews:read; yours has rules:read.")
			assert.Nil(t, op.Responses.Value("413"), "it has no body")
		})
	}
}

// Each word of a call is explained once.
func TestFailuresFile(t *testing.T) {
	t.Parallel()
	f, err := readFailures()
	require.NoError(t, err)
	known := map[string]bool{}
	for _, r := range f.Reasons {
		assert.False(t, known[r.Word], r.Word)
		known[r.Word] = true
	}
	for name, c := range f.Calls {
		for _, word := range c.Reasons {
			assert.True(t, known[word], "%s of %s", word, name)
		}
		assert.NotEmpty(t, c.Invalid.Field, name)
	}
}

func TestCheckRefusesABadExample(t *testing.T) {
	t.Parallel()
	for example, right := range map[any]bool{1: true, "one": false} {
		media := openapi3.NewMediaType().WithSchema(openapi3.NewInt32Schema())
		media.Example = example
		op := openapi3.NewOperation()
		op.AddResponse(200, openapi3.NewResponse().WithDescription("d").WithContent(openapi3.Content{jsonType: media}))
		doc := &openapi3.T{OpenAPI: "3.0.3", Info: &openapi3.Info{Title: "t", Version: "v1"}}
		doc.AddOperation("/v1", "GET", op)

		text, err := render(doc)
		require.NoError(t, err)
		assert.Equal(t, right, check(text) == nil, example)
	}
}
