package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/rule/schema"
)

// A rule is the same document as YAML, in its JSON Schema and over the API.
func TestOneFormat(t *testing.T) {
	t.Parallel()
	var overAPI []string
	fields := (&prwardenv1.Rule{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); fd.Name() == "id" || !fixed(fd) {
			overAPI = append(overAPI, string(fd.Name()))
		}
	}

	var inDocument []string
	for field := range reflect.TypeFor[rule.Document]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inYAML, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		assert.Equal(t, name, inYAML)
		inDocument = append(inDocument, name)
	}

	var schemas struct {
		Definitions map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"definitions"`
	}
	require.NoError(t, json.Unmarshal(schema.JSON(), &schemas))
	inSchema := slices.Sorted(maps.Keys(schemas.Definitions["rule"].Properties))
	assert.ElementsMatch(t, inSchema, overAPI)
	assert.ElementsMatch(t, inSchema, inDocument)
}
