package main

import (
	"math"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

func TestReflow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"empty":     {"", ""},
		"one line":  {"Says it.", "Says it."},
		"wrapped":   {"Says\nit.\nAll.", "Says it. All."},
		"paragraph": {"One\nand a half.\n\nTwo.", "One and a half.\n\nTwo."},
		"list":      {"Words.\n\n - a: first\n - b: second", "Words.\n\n- a: first\n- b: second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, reflow(tc.in))
		})
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Makes a key.", sentence("CreateKey", "CreateKey makes a key."))
	assert.Equal(t, "Makes a key.", sentence("CreateKey", "Makes a key."))
	assert.Equal(t, "CreateKey ", sentence("CreateKey", "CreateKey "))
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "Watch": "Watch", "ListFindings": "List findings", "GetSarif": "Get SARIF",
	} {
		assert.Equal(t, want, title(in))
	}
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"short": {map[string]any{"a": "<b>"}, `{"a":"<b>"}`},
		"long":  {map[string]any{"a": strings.Repeat("x", 60)}, "{\n  \"a\": \"" + strings.Repeat("x", 60) + "\"\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := printed(tc.value)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
	assert.Equal(t, `it'\''s`, quote("it's"))
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	one := reason{word: "A", when: "it is so"}
	assert.Equal(t, "It is so (reason `A`).", describe([]reason{one}))
	assert.Equal(t, "One of these reasons:\n\n- `A`: it is so\n- `B`: it is not",
		describe([]reason{one, {word: "B", when: "it is not"}}))
}

// A call has to be in the table, and its comment has to name its scope.
func TestFailures(t *testing.T) {
	t.Parallel()
	op := operation{method: serviceMethod(t, "GetReview")}
	found, err := failures(op, "Reads it. Scope: reviews:read.")
	require.NoError(t, err)
	var words []string
	for status, reasons := range found {
		for _, r := range reasons {
			assert.Equal(t, status, r.status, r.word)
			words = append(words, r.word)
		}
	}
	assert.ElementsMatch(t, []string{
		"INVALID_ARGUMENT", "KEY_MISSING", "KEY_INVALID", "KEY_EXPIRED", "KEY_REVOKED", "SCOPE_MISSING",
		"ORGANIZATION_REMOVED", "REVIEW_NOT_FOUND", "RATE_LIMITED", "INTERNAL", "UNAVAILABLE",
	}, words)
	assert.Equal(t, "This needs a key with the scope reviews:read; yours has rules:read.", found[403][0].message)

	_, err = failures(op, "Reads it.")
	assert.ErrorContains(t, err, "Scope")
	_, err = failures(operation{method: serviceMethod(t, "Other")}, "Scope: reviews:read.")
	assert.ErrorContains(t, err, "calls.go")
}

// Every reason of the table is known, and every reason is one of some call.
func TestReasonsOfCalls(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range reasons() {
		assert.False(t, known[r.word], r.word)
		known[r.word] = true
	}
	for name, c := range calls() {
		for _, word := range c.reasons {
			assert.True(t, known[word], "%s of %s", word, name)
		}
		assert.NotEmpty(t, c.invalid.field, name)
	}
}

func TestNewOperation(t *testing.T) {
	t.Parallel()
	method := serviceMethod(t, "Test")

	op, err := newOperation(method, &annotations.HttpRule{
		Pattern: &annotations.HttpRule_Delete{Delete: "/v1/sets/{name=**}/rules/{id}:undo"},
	})
	require.NoError(t, err)
	assert.Equal(t, "DELETE", op.verb)
	assert.Equal(t, "/v1/sets/{name}/rules/{id}:undo", op.path)
	assert.Equal(t, []string{"name", "id"}, op.params)
	assert.True(t, op.slashes["name"])
	assert.False(t, op.slashes["id"])

	for name, rule := range map[string]*annotations.HttpRule{
		"unknown verb": {Pattern: &annotations.HttpRule_Put{Put: "/v1"}},
		"additional bindings": {
			Pattern:            &annotations.HttpRule_Get{Get: "/v1"},
			AdditionalBindings: []*annotations.HttpRule{{}},
		},
		"response body that is no message": {
			Pattern:      &annotations.HttpRule_Get{Get: "/v1"},
			ResponseBody: "field",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newOperation(method, rule)
			assert.Error(t, err)
		})
	}
}

// serviceMethod makes a method of a name with google.rpc.BadRequest.FieldViolation, whose
// `field` is a string, as its input and output.
func serviceMethod(t *testing.T, name string) protoreflect.MethodDescriptor {
	t.Helper()
	file := protodesc.ToFileDescriptorProto(errdetails.File_google_rpc_error_details_proto)
	message := ".google.rpc.BadRequest.FieldViolation"
	file.Service = append(file.Service, &descriptorpb.ServiceDescriptorProto{
		Name: proto.String("TestService"),
		Method: []*descriptorpb.MethodDescriptorProto{{
			Name:       proto.String(name),
			InputType:  &message,
			OutputType: &message,
		}},
	})
	built, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	require.NoError(t, err)
	return built.Services().Get(0).Methods().Get(0)
}

func TestConstrainInt32(t *testing.T) {
	t.Parallel()
	field := status.File_google_rpc_status_proto.Messages().ByName("Status").Fields().ByName("code")
	for name, tc := range map[string]struct {
		rules     *validate.Int32Rules
		low, high float64
	}{
		"none": {nil, math.MinInt32, math.MaxInt32},
		"closed": {&validate.Int32Rules{
			GreaterThan: &validate.Int32Rules_Gte{Gte: 1}, LessThan: &validate.Int32Rules_Lte{Lte: 200},
		}, 1, 200},
		"open": {&validate.Int32Rules{
			GreaterThan: &validate.Int32Rules_Gt{Gt: 1}, LessThan: &validate.Int32Rules_Lt{Lt: 200},
		}, 2, 199},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := openapi3.NewInt32Schema()
			constrain(schema, field, &validate.FieldRules{Type: &validate.FieldRules_Int32{Int32: tc.rules}})
			assert.InDelta(t, tc.low, *schema.Min, 0)
			assert.InDelta(t, tc.high, *schema.Max, 0)
		})
	}
}

func TestConstrainString(t *testing.T) {
	t.Parallel()
	schema := openapi3.NewStringSchema()
	constrainString(schema, &validate.StringRules{
		MinLen: proto.Uint64(2), MaxBytes: proto.Uint64(9), Pattern: proto.String("^a"), In: []string{"ab", "ac"},
	})
	assert.Equal(t, uint64(2), schema.MinLength)
	assert.Equal(t, uint64(9), *schema.MaxLength)
	assert.Equal(t, "^a", schema.Pattern)
	assert.Equal(t, []any{"ab", "ac"}, schema.Enum)
}

func TestCheckRefusesABadExample(t *testing.T) {
	t.Parallel()
	doc := &openapi3.T{
		OpenAPI: "3.0.3",
		Info:    &openapi3.Info{Title: "t", Version: "v1"},
		Paths:   openapi3.NewPaths(),
	}
	media := openapi3.NewMediaType().WithSchema(openapi3.NewInt32Schema())
	response := openapi3.NewResponse().WithDescription("d").WithContent(openapi3.Content{jsonType: media})
	doc.Paths.Set("/v1", &openapi3.PathItem{Get: &openapi3.Operation{
		Responses: openapi3.NewResponses(openapi3.WithStatus(200, &openapi3.ResponseRef{Value: response})),
	}})

	media.Example = 1
	text, err := render(doc)
	require.NoError(t, err)
	require.NoError(t, check(text))

	media.Example = "one"
	text, err = render(doc)
	require.NoError(t, err)
	assert.Error(t, check(text))
}
