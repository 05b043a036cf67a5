package openapi_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/gen/openapi"
)

type (
	object = map[string]any

	// rule is one HTTP rule of the protos.
	rule struct {
		method protoreflect.MethodDescriptor
		verb   string
		path   string
	}
)

// rules returns the HTTP rules compiled into the server.
func rules(t *testing.T) []rule {
	t.Helper()
	variable := regexp.MustCompile(`=[^}]*}`)
	var found []rule
	protoregistry.GlobalFiles.RangeFilesByPackage("prwarden.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				http, _ := proto.GetExtension(methods.Get(j).Options(), annotations.E_Http).(*annotations.HttpRule)
				require.NotNil(t, http, "%s has no HTTP rule", methods.Get(j).FullName())
				var verb, path string
				switch pattern := http.GetPattern().(type) {
				case *annotations.HttpRule_Get:
					verb, path = "get", pattern.Get
				case *annotations.HttpRule_Post:
					verb, path = "post", pattern.Post
				case *annotations.HttpRule_Put:
					verb, path = "put", pattern.Put
				case *annotations.HttpRule_Patch:
					verb, path = "patch", pattern.Patch
				case *annotations.HttpRule_Delete:
					verb, path = "delete", pattern.Delete
				}
				found = append(found, rule{methods.Get(j), verb, variable.ReplaceAllString(path, "}")})
			}
		}

		return true
	})

	return found
}

func load(t *testing.T) object {
	t.Helper()
	var doc object
	require.NoError(t, json.Unmarshal(openapi.JSON(), &doc))
	return doc
}

// at follows keys through nested objects and fails when one is missing.
func at(t *testing.T, value any, keys ...string) any {
	t.Helper()
	for i, key := range keys {
		node, ok := value.(object)
		require.True(t, ok, "%v is not an object", keys[:i])
		require.Contains(t, node, key, "under %v", keys[:i])
		value = node[key]
	}
	return value
}

// resolve follows a $ref.
func resolve(t *testing.T, doc object, value any) object {
	t.Helper()
	node := value.(object)
	if ref, ok := node["$ref"].(string); ok {
		return at(t, doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(object)
	}
	return node
}

// walk calls visit for every object of the document, with its path.
func walk(value any, path []string, visit func(path []string, node object)) {
	switch value := value.(type) {
	case object:
		visit(path, value)
		for key, child := range value {
			walk(child, append(slices.Clone(path), key), visit)
		}
	case []any:
		for _, child := range value {
			walk(child, append(slices.Clone(path), "[]"), visit)
		}
	}
}

func TestDocumentHasExactlyTheCallsOfTheProtos(t *testing.T) {
	t.Parallel()
	doc := load(t)
	assert.Equal(t, "3.0.3", doc["openapi"])

	expected := map[string]string{}
	for _, r := range rules(t) {
		name := string(r.method.Name())
		expected[r.verb+" "+r.path] = strings.ToLower(name[:1]) + name[1:]
	}
	require.NotEmpty(t, expected)

	documented := map[string]string{}
	for path, item := range at(t, doc, "paths").(object) {
		for verb, operation := range item.(object) {
			documented[verb+" "+path] = at(t, operation, "operationId").(string)
		}
	}
	assert.Equal(t, expected, documented)
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	doc := load(t)
	all := []string{"400", "401", "403", "429", "500", "503"}
	for call, more := range map[string][]string{
		"createReview":    {"202", "409", "413", "415"},
		"getReview":       {"200", "404"},
		"listReviews":     {"200"},
		"cancelReview":    {"200", "404", "409", "413", "415"},
		"listFindings":    {"200", "404", "409"},
		"getSarif":        {"200", "404", "409"},
		"watchReview":     {"200", "404"},
		"listRulesets":    {"200"},
		"listRules":       {"200", "404"},
		"getRule":         {"200", "404"},
		"createRule":      {"201", "409", "413", "415"},
		"updateRule":      {"200", "404", "409", "413", "415"},
		"batchRules":      {"200", "409", "413", "415"},
		"exportRules":     {"200"},
		"listRuleHistory": {"200", "404"},
		"testRule":        {"200", "413", "415"},
		"tryRules":        {"200", "413", "415"},
		"deleteRule":      {"204", "404"},
		"createKey":       {"201", "409", "413", "415"},
		"listKeys":        {"200"},
		"deleteKey":       {"204", "404"},
		"getPolicy":       {"200"},
		"setPolicy":       {"200", "409", "413", "415"},
		"listRuleStats":   {"200"},
		"listEvents":      {"200"},
		"setTriage":       {"200", "404", "413", "415"},
		"undoTriage":      {"200", "404", "409", "413", "415"},
		"listTriage":      {"200"},

		"createConnection":           {"201", "409", "413", "415"},
		"listConnections":            {"200"},
		"getConnection":              {"200", "404"},
		"updateConnection":           {"200", "404", "409", "413", "415"},
		"deleteConnection":           {"204", "404", "409"},
		"rotateConnectionSecret":     {"200", "404", "409", "413", "415"},
		"testConnection":             {"200", "404", "413", "415"},
		"listConnectionRepositories": {"200", "404", "409"},

		"createWebhook":           {"201", "409", "413", "415"},
		"listWebhooks":            {"200"},
		"getWebhook":              {"200", "404"},
		"updateWebhook":           {"200", "404", "409", "413", "415"},
		"deleteWebhook":           {"204", "404"},
		"rotateWebhookSecret":     {"200", "404", "409", "413", "415"},
		"sendTestWebhook":         {"200", "404", "409", "413", "415"},
		"listWebhookMessages":     {"200", "404"},
		"redeliverWebhookMessage": {"200", "404", "409", "413", "415"},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			var statuses []string
			for status := range at(t, operation(t, doc, call), "responses").(object) {
				statuses = append(statuses, status)
			}
			assert.ElementsMatch(t, append(slices.Clone(all), more...), statuses)
		})
	}
}

// operation finds a call by its operationId.
func operation(t *testing.T, doc object, id string) object {
	t.Helper()
	for _, item := range at(t, doc, "paths").(object) {
		for _, candidate := range item.(object) {
			if candidate.(object)["operationId"] == id {
				return candidate.(object)
			}
		}
	}
	require.Fail(t, "no such call", id)
	return nil
}

func TestEveryResponse(t *testing.T) {
	t.Parallel()
	doc := load(t)
	for path, item := range at(t, doc, "paths").(object) {
		for verb, candidate := range item.(object) {
			for status, ref := range at(t, candidate, "responses").(object) {
				where := verb + " " + path + " " + status
				response := resolve(t, doc, ref)
				headers := []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"}
				switch status {
				case "429", "503":
					headers = append(headers, "Retry-After")
				case "401":
					headers = append(headers, "WWW-Authenticate")
				}
				for _, name := range headers {
					assert.Contains(t, response["headers"], name, where)
				}
				if status == "204" {
					assert.NotContains(t, response, "content", where)
					continue
				}
				content := at(t, response, "content").(object)
				assert.Len(t, content, 1, where)
				if status[0] == '2' {
					mediaType := successType(candidate.(object)["operationId"].(string))
					assert.Contains(t, at(t, content, mediaType), "example", where)
					continue
				}
				media := at(t, content, "application/json")
				assert.Equal(t, object{"$ref": "#/components/schemas/Status"}, at(t, media, "schema"), where)
				for word, example := range at(t, media, "examples").(object) {
					info := at(t, example, "value", "details").([]any)[0]
					assert.Equal(t, word, at(t, info, "reason"), where)
				}
			}
		}
	}
}

// successType returns the media type of a call's answer.
func successType(operationID string) string {
	switch operationID {
	case "getSarif":
		return "application/sarif+json"
	case "watchReview":
		return "application/x-ndjson"
	}
	return "application/json"
}

func TestEveryReferenceResolves(t *testing.T) {
	t.Parallel()
	doc := load(t)
	count := 0
	walk(doc, nil, func(_ []string, node object) {
		if _, ok := node["$ref"]; ok {
			resolve(t, doc, node)
			count++
		}
	})
	assert.Positive(t, count)
}

// Numbers are never strings, enumerations never have their zero value, and
// integers in bodies and parameters are bounded.
func TestSchemaWords(t *testing.T) {
	t.Parallel()
	enums := map[string]int{}
	walk(load(t), nil, func(path []string, node object) {
		if words, ok := node["enum"].([]any); ok {
			enums[path[len(path)-1]] = len(words)
			for _, word := range words {
				assert.NotContains(t, word, "unspecified", path)
			}
		}
		if node["type"] == "integer" && path[1] != "headers" {
			assert.Equal(t, "int32", node["format"], path)
			assert.Contains(t, node, "minimum", path)
			assert.Contains(t, node, "maximum", path)
		}
		if len(path) < 2 || path[1] != "headers" {
			assert.NotContains(t, []any{"int64", "uint64"}, node["format"], path)
		}
	})
	assert.Equal(t, 5, enums["ReviewStatus"])
	assert.Equal(t, 6, enums["SeverityLevel"])
	assert.Equal(t, 2, enums["RulesetScope"])
	assert.Equal(t, 4, enums["RuleType"])
}

func TestRequestBodies(t *testing.T) {
	t.Parallel()
	doc := load(t)
	for call, required := range map[string][]any{
		"createReview": {"pr_number", "repo"},
		"cancelReview": nil,
		"createRule":   {"id", "message", "severity", "type"},
		"testRule":     nil,
		"createKey":    {"name", "scopes"},
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			body := at(t, operation(t, doc, call), "requestBody").(object)
			assert.Equal(t, required != nil, body["required"] == true)
			media := at(t, body, "content", "application/json").(object)
			schema := resolve(t, doc, media["schema"])
			assert.Equal(t, false, schema["additionalProperties"])
			if required == nil {
				assert.NotContains(t, schema, "required")
			} else {
				assert.Equal(t, required, schema["required"])
			}
			properties, _ := schema["properties"].(object)
			for name, property := range properties {
				assert.NotEqual(t, true, property.(object)["readOnly"], name)
			}
			for name := range media["example"].(object) {
				assert.Contains(t, properties, name, "example")
			}
		})
	}
}

// Answers name the fields of the protos in snake_case, and no others.
func TestAnswersHaveTheFieldsOfTheProtos(t *testing.T) {
	t.Parallel()
	doc := load(t)
	for _, r := range rules(t) {
		msg := r.method.Output()
		http := proto.GetExtension(r.method.Options(), annotations.E_Http).(*annotations.HttpRule)
		if name := http.GetResponseBody(); name != "" {
			msg = msg.Fields().ByTextName(name).Message()
		}
		responses := at(t, doc, "paths", r.path, r.verb, "responses").(object)
		if _, ok := responses["204"]; ok || msg.FullName() == "google.api.HttpBody" {
			continue
		}
		var fields []string
		for i := range msg.Fields().Len() {
			fields = append(fields, msg.Fields().Get(i).TextName())
		}
		var properties []string
		for name := range at(t, doc, "components", "schemas", string(msg.Name()), "properties").(object) {
			properties = append(properties, name)
		}
		assert.ElementsMatch(t, fields, properties, msg.FullName())
	}
	assert.Equal(t, true, at(t, doc, "components", "schemas", "Rule", "properties", "created_at", "readOnly"))
}

func TestLimitsOfTheContract(t *testing.T) {
	t.Parallel()
	schemas := at(t, load(t), "components", "schemas")
	assert.EqualValues(t, 1, at(t, schemas, "CreateReviewRequest", "properties", "pr_number", "minimum"))
	assert.EqualValues(t, 1<<31-1, at(t, schemas, "CreateReviewRequest", "properties", "pr_number", "maximum"))
	assert.EqualValues(t, 100, at(t, schemas, "RuleInput", "properties", "id", "maxLength"))
	assert.EqualValues(t, 1024, at(t, schemas, "RuleInput", "properties", "pattern", "maxLength"))
	assert.EqualValues(t, 10000, at(t, schemas, "Review", "properties", "findings", "maxItems"))
	assert.EqualValues(t, 1000, at(t, schemas, "ListFindingsResponse", "properties", "findings", "maxItems"))
	assert.EqualValues(t, 0, at(t, schemas, "Finding", "properties", "line", "minimum"))
	header := at(t, operation(t, load(t), "createReview"), "parameters").([]any)[0]
	assert.Equal(t, "Idempotency-Key", at(t, header, "name"))
	assert.EqualValues(t, 255, at(t, header, "schema", "maxLength"))
}

// Links name calls that there are, and parameters that these have.
func TestLinks(t *testing.T) {
	t.Parallel()
	doc := load(t)
	found := map[string][]string{}
	for _, item := range at(t, doc, "paths").(object) {
		for _, candidate := range item.(object) {
			for _, response := range at(t, candidate, "responses").(object) {
				links, _ := response.(object)["links"].(object)
				for _, link := range links {
					target := at(t, link, "operationId").(string)
					id := at(t, candidate, "operationId").(string)
					found[id] = append(found[id], target)
					var names []string
					for _, parameter := range at(t, operation(t, doc, target), "parameters").([]any) {
						names = append(names, at(t, parameter, "name").(string))
					}
					for name := range at(t, link, "parameters").(object) {
						assert.Contains(t, names, name, "%s to %s", id, target)
					}
				}
			}
		}
	}
	ofReview := []string{"getReview", "listFindings", "getSarif", "cancelReview", "watchReview"}
	assert.ElementsMatch(t, ofReview, found["createReview"])
	assert.ElementsMatch(t, []string{"getRule", "updateRule", "deleteRule"}, found["createRule"])
	assert.Equal(t, []string{"deleteKey"}, found["createKey"])
	assert.Empty(t, found["watchReview"])
	assert.Equal(t, []string{"listReviews"}, found["listReviews"])
	assert.Equal(t, []string{"listFindings"}, found["listFindings"])
	assert.Equal(t, []string{"listRules"}, found["listRulesets"])
}

// Documentation tools show what to type; it names the method and the path.
func TestSamples(t *testing.T) {
	t.Parallel()
	doc := load(t)
	for _, r := range rules(t) {
		op := at(t, doc, "paths", r.path, r.verb)
		assert.Equal(t, string(r.method.Parent().FullName())+"/"+string(r.method.Name()), at(t, op, "x-grpc-method"))
		samples := at(t, op, "x-codeSamples").([]any)
		require.Len(t, samples, 2)
		assert.Contains(t, at(t, samples[0], "source"), "curl ")
		assert.NotContains(t, at(t, samples[0], "source"), "{id}")
		assert.Contains(t, at(t, samples[1], "source"), at(t, op, "x-grpc-method"))
	}
	assert.Equal(t, "Get SARIF", at(t, operation(t, doc, "getSarif"), "summary"))
	source := at(t, operation(t, doc, "createReview"), "x-codeSamples").([]any)[0].(object)["source"]
	assert.Equal(t, `curl -sS -H "Authorization: Bearer $KEY" \
  "$SERVER/v1/reviews" \
  -H 'Content-Type: application/json' \
  -d '{
  "pr_number": 42,
  "repo": "acme/shop"
}'`, source)
}

func TestJSONIsACopy(t *testing.T) {
	t.Parallel()
	openapi.JSON()[0] = 'x'
	assert.Equal(t, byte('{'), openapi.JSON()[0])
}
