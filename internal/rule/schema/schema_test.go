package schema_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/rule/schema"
)

var update = flag.Bool("update", false, "write the schema instead of comparing")

const published = "../../../gen/jsonschema/rules.schema.json"

// The published schema is the one that the code makes.
func TestPublished(t *testing.T) {
	t.Parallel()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(published), 0o755))
		require.NoError(t, os.WriteFile(published, schema.JSON(), 0o644))
	}
	want, err := os.ReadFile(published)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(schema.JSON()), "run go test ./internal/rule/schema -update")
}

// compile returns the schema, held to that of schemas of its draft.
func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(schema.URL, doc))
	s, err := c.Compile(schema.URL)
	require.NoError(t, err)
	return s
}

// accepts says whether the schema takes a rules file, and why not.
func accepts(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var value any
	require.NoError(t, yaml.Unmarshal([]byte(text), &value))
	return s.Validate(value)
}

func fixtures(t *testing.T, folder string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../testdata/" + folder + "/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	texts := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[strings.TrimSuffix(filepath.Base(path), ".yml")] = string(data)
	}
	return texts
}

func TestAcceptsWhatTheParserAccepts(t *testing.T) {
	t.Parallel()
	s := compile(t)
	for name, text := range fixtures(t, "valid") {
		_, err := rule.ParseFile(t.Context(), []byte(text))
		require.NoError(t, err, name)
		require.NoError(t, accepts(t, s, text), name)
	}
	defaults, err := filepath.Glob("../default/*/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, defaults)
	for _, path := range defaults {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, accepts(t, s, "version: 1\n"+string(data)), path)
	}
}

// What a schema can refuse of what the parser refuses, ours does.
func TestRefusesWhatASchemaCan(t *testing.T) {
	t.Parallel()
	s := compile(t)
	beyond := []string{ // patterns, cases, YAML itself, and what is there twice
		"04-lookaround", "05-backreference", "06-unclosed-groups", "07-matches-everything", "08-glob-as-a-pattern",
		"18-ids-that-are-taken", "21-failing-cases", "27-anchors", "28-escapes-of-other-engines", "32-not-meant",
	}
	refused := 0
	for name, text := range fixtures(t, "broken") {
		var value any
		if yaml.Unmarshal([]byte(text), &value) != nil || strings.Contains(text, "\n---\n") {
			continue // no YAML, or not one document: no schema is asked
		}
		err := accepts(t, s, text)
		if slices.Contains(beyond, name) {
			assert.NoError(t, err, name)
			continue
		}
		assert.Error(t, err, name)
		refused++
	}
	assert.Greater(t, refused, 10)
}

// The keys of the schema are those that the parser knows: an unknown key is
// answered with them.
func TestKeysAreThoseOfTheParser(t *testing.T) {
	t.Parallel()
	var doc struct {
		Properties  map[string]any
		Definitions map[string]struct {
			Properties map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, yaml.Unmarshal(schema.JSON(), &doc))
	keys := func(n int, each func(yield func(string))) (list []string) {
		each(func(key string) { list = append(list, key) })
		require.Len(t, list, n)
		slices.Sort(list)
		return list
	}
	aRule := doc.Definitions["rule"].Properties
	for _, tt := range []struct {
		file string
		want []string
	}{
		{"version: 1\nqqqqqq: 1", keys(5, func(yield func(string)) {
			for k := range doc.Properties {
				yield(k)
			}
		})},
		{"version: 1\nrules:\n- qqqqqq: 1", keys(10, func(yield func(string)) {
			for k := range aRule {
				yield(k)
			}
		})},
		{"version: 1\nrules:\n- paths: {qqqqqq: 1}", keys(2, func(yield func(string)) {
			for k := range aRule["paths"].Properties {
				yield(k)
			}
		})},
		{"version: 1\nrules:\n- cases: {qqqqqq: 1}", keys(2, func(yield func(string)) {
			for k := range aRule["cases"].Properties {
				yield(k)
			}
		})},
		{"version: 1\noverride: {a/b: {qqqqqq: 1}}", keys(2, func(yield func(string)) {
			for k := range doc.Definitions["override"].Properties {
				yield(k)
			}
		})},
	} {
		_, err := rule.ParseFile(t.Context(), []byte(tt.file))
		var mistakes *rule.FileError
		require.ErrorAs(t, err, &mistakes)
		var known []string
		for _, m := range mistakes.Mistakes {
			if _, list, ok := strings.Cut(m.Message, "known keys: "); ok {
				known = strings.Split(list, ", ")
			}
		}
		assert.Equal(t, known, tt.want, tt.file)
	}
}

// Every key says what it is for: that is what an editor shows.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	require.NoError(t, yaml.Unmarshal(schema.JSON(), &doc))
	described := 0
	var walk func(path string, n map[string]any)
	walk = func(path string, n map[string]any) {
		for key, value := range n {
			child, ok := value.(map[string]any)
			if !ok {
				continue
			}
			if key == "properties" {
				for name, p := range child {
					p := p.(map[string]any)
					_, refers := p["$ref"]
					assert.True(t, refers || p["description"] != nil, path+"/"+name)
					described++
				}
			}
			walk(path+"/"+key, child)
		}
	}
	walk("", doc)
	assert.Greater(t, described, 15)
}
