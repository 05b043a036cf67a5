package web

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

// detailKeys are the fields that the form has in one text, as rules files have them: what a
// rule of a type asks beside its pattern.
var detailKeys = map[string][]string{
	"regex":     {"in", "entropy", "checksum", "stopwords", "allow", "supersedes"},
	"structure": {"any", "all", "not", "inside", "not_inside", "has", "depth", "where", "focus", "supersedes"},
	"taint":     {"sources", "sinks", "sanitizers", "supersedes"},
	"spelling":  {"words", "in", "allow", "supersedes"},
}

// detailFields are the details of all types. A rule that is saved loses those that its type has not.
func detailFields() []string {
	all := slices.Concat(slices.Collect(maps.Values(detailKeys))...)
	slices.Sort(all)

	return slices.Compact(all)
}

// conditionKeys are the keys whose values are conditions.
var conditionKeys = map[string]bool{
	"any": true, "all": true, "not": true, "inside": true, "not_inside": true, "has": true,
	"sources": true, "sinks": true, "sanitizers": true,
}

// keyWords has words of people as keys, not names of fields.
const keyWords = "words"

// conditionText is what a rule asks beside its pattern, as rules files have it.
func conditionText(r *prwardenv1.Rule) string {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(r)
	var value map[string]any
	if err != nil || json.Unmarshal(text, &value) != nil {
		return ""
	}
	maps.DeleteFunc(value, func(key string, _ any) bool {
		return !slices.Contains(detailKeys[r.GetType().String()], key)
	})
	if len(value) == 0 {
		return ""
	}
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if encoder.Encode(shorter(value)) != nil {
		return ""
	}

	return out.String()
}

// shorter writes conditions that are only a pattern as texts.
func shorter(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = shorter(v[i])
		}
	case map[string]any:
		if pattern, ok := v["pattern"]; ok && len(v) == 1 {
			return pattern
		}
		for key := range v {
			if key != keyWords {
				v[key] = shorter(v[key])
			}
		}
	}

	return value
}

// longer makes conditions of texts that stand for their patterns.
func longer(value any, isCondition bool) any {
	switch v := value.(type) {
	case string:
		if isCondition {
			return map[string]any{"pattern": v}
		}
	case []any:
		for i := range v {
			v[i] = longer(v[i], isCondition)
		}
	case map[string]any:
		for key := range v {
			if key != keyWords {
				v[key] = longer(v[key], conditionKeys[key])
			}
		}
	}

	return value
}

// yaml is the rule of the form as a rules file has it.
func (f ruleForm) yaml() string {
	r, err := f.rule()
	if err != nil {
		return "# " + err.Error()
	}

	return ruleYAML(r)
}

// details reads what the form says in one text.
func (f ruleForm) details() (*prwardenv1.Rule, error) {
	r := &prwardenv1.Rule{}
	var value map[string]any
	decoder := yaml.NewDecoder(strings.NewReader(f.Conditions))
	err := decoder.Decode(&value)
	if errors.Is(err, io.EOF) { // nothing is said
		return r, nil
	}
	if err == nil && !errors.Is(decoder.Decode(new(any)), io.EOF) {
		return nil, errs.Invalid("conditions", "has more than one YAML document")
	}
	for key := range value {
		if known := detailKeys[f.Type]; !slices.Contains(known, key) {
			return nil, errs.Invalid("conditions", "%q is none of those of a rule of type %s, which are %s",
				key, f.Type, strings.Join(known, ", "))
		}
	}
	if err == nil && len(value) > 0 {
		var text []byte
		if text, err = json.Marshal(longer(value, false)); err == nil {
			err = protojson.Unmarshal(text, r)
		}
	}
	if err != nil {
		return nil, errs.Invalid("conditions", "can't be read: %v", err)
	}

	return r, nil
}

// typed gives a rule the type and the details of the form.
func (f ruleForm) typed(r *prwardenv1.Rule) (*prwardenv1.Rule, error) {
	details, err := f.details()
	if err != nil {
		return nil, err
	}
	proto.Merge(r, details)
	r.Type = prwardenv1.Rule_regex.Enum()
	if n, ok := prwardenv1.Rule_Type_value[f.Type]; ok && n > 0 {
		r.Type = prwardenv1.Rule_Type(n).Enum()
	}

	return r, nil
}
