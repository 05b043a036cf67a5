package schema_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/rule/schema"
)

// compile returns the schema, held to that of schemas of its draft.
func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("rules.schema.json", doc))
	s, err := c.Compile("rules.schema.json")
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

// files returns the files that a pattern matches, by their names without ending.
func files(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
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
	for name, text := range files(t, "../testdata/valid/*.yml") {
		_, err := rule.ParseFile(t.Context(), []byte(text))
		require.NoError(t, err, name)
		require.NoError(t, accepts(t, s, text), name)
	}

	for name, text := range files(t, "../default/*/*.yml") {
		require.NoError(t, accepts(t, s, "version: 1\n"+text), name)
	}
}

// What a schema can refuse of what the parser refuses, ours does.
func TestRefusesWhatASchemaCan(t *testing.T) {
	t.Parallel()
	s := compile(t)
	beyond := []string{ // patterns, cases, YAML itself, and what is there twice
		"04-lookaround", "07-matches-everything", "18-ids-that-are-taken", "21-failing-cases", "27-anchors", "32-not-meant",
	}

	refused := 0
	for name, text := range files(t, "../testdata/broken/*.yml") {
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

// The keys, words and bounds of the schema are those of the parser, which
// answers an unknown key with the known ones.
func TestIsThatOfTheParser(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	require.NoError(t, yaml.Unmarshal(schema.JSON(), &doc))
	at := func(path string) (value any) {
		value = doc
		for step := range strings.SplitSeq(path, ".") {
			require.Contains(t, value, step, path)
			value = value.(map[string]any)[step]
		}

		return value
	}

	const properties = "definitions.rule.properties"
	for path, file := range map[string]string{
		"properties":                        "qqqqqq: 1",
		properties:                          "rules:\n- qqqqqq: 1",
		properties + ".paths.properties":    "rules:\n- paths: {qqqqqq: 1}",
		properties + ".cases.properties":    "rules:\n- cases: {qqqqqq: 1}",
		"definitions.test.properties":       "rules:\n- where: {X: {qqqqqq: 1}}",
		"definitions.conditions.properties": "rules:\n- not: {qqqqqq: 1}",
		"definitions.override.properties":   "override: {a/b: {qqqqqq: 1}}",
		"properties.publish.properties":     "publish: {qqqqqq: 1}",
	} {
		_, err := rule.ParsePushFile(t.Context(), []byte("version: 1\n"+file))
		keys := slices.Sorted(maps.Keys(at(path).(map[string]any)))
		assert.ErrorContains(t, err, "known keys: "+strings.Join(keys, ", "), path)
	}

	for path, want := range map[string]int{
		properties + ".words.maxProperties":                        rule.MaxWords,
		"properties.disable.maxItems":                              rule.MaxFileDisabled,
		"properties.exclude.maxItems":                              rule.MaxFileExcludes,
		"properties.override.maxProperties":                        rule.MaxFileOverrides,
		"properties.rules.maxItems":                                rule.MaxLocalFileRules,
		"properties.publish.properties.comments_max.maximum":       rule.MaxComments,
		"properties.publish.properties.forks_comments_max.maximum": rule.MaxComments,
		"definitions.glob.maxLength":                               match.MaxGlob,
		"definitions.id.maxLength":                                 rule.MaxID,
		"definitions.override.properties.exclude.maxItems":         rule.MaxGlobs,
		properties + ".pattern.maxLength":                          match.MaxPattern,
		properties + ".message.maxLength":                          rule.MaxMessage,
		properties + ".references.maxItems":                        rule.MaxReferences,
		properties + ".languages.maxItems":                         rule.MaxLanguages,
		properties + ".languages.items.maxLength":                  language.MaxName,
		properties + ".skip.maxItems":                              rule.MaxSkip,
		properties + ".references.items.maxLength":                 rule.MaxReference,
		properties + ".paths.properties.include.maxItems":          rule.MaxGlobs,
		properties + ".paths.properties.exclude.maxItems":          rule.MaxGlobs,
		properties + ".cases.properties.match.maxItems":            rule.MaxCases,
		properties + ".cases.properties.match.items.maxLength":     rule.MaxCase,
		properties + ".cases.properties.no_match.maxItems":         rule.MaxCases,
		properties + ".cases.properties.no_match.items.maxLength":  rule.MaxCase,
	} {
		assert.EqualValues(t, want, at(path), path)
	}

	assert.Equal(t, "["+strings.ReplaceAll(rule.SeverityList(), ",", "")+"]", fmt.Sprint(at("definitions.severity.enum")))
}
