package web

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

// The keys of a condition that have conditions.
var conditionKeys = map[string]bool{
	"any": true, "all": true, "not": true, "inside": true, "not_inside": true, "has": true,
}

// conditionText is what a structure rule asks beside its pattern, as rules files have it.
func conditionText(r *prwardenv1.Rule) string {
	c := &prwardenv1.Condition{
		Any: r.GetAny(), All: r.GetAll(), Not: r.GetNot(), Inside: r.GetInside(), NotInside: r.GetNotInside(),
		Has: r.GetHas(), Depth: r.GetDepth(), Where: r.GetWhere(), Focus: r.GetFocus(),
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(c)
	var value map[string]any
	if err != nil || json.Unmarshal(text, &value) != nil || len(value) == 0 {
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
			v[key] = shorter(v[key])
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
			v[key] = longer(v[key], conditionKeys[key])
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

// condition reads what the form says of a structure rule's conditions.
func (f ruleForm) condition() (*prwardenv1.Condition, error) {
	c := &prwardenv1.Condition{}
	if strings.TrimSpace(f.Conditions) == "" {
		return c, nil
	}
	if f.Type != prwardenv1.Rule_structure.String() {
		return nil, errs.Invalid("conditions", "are for rules of type structure")
	}
	var value map[string]any
	err := yaml.Unmarshal([]byte(f.Conditions), &value)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(longer(value, false)); err == nil {
			err = protojson.Unmarshal(text, c)
		}
	}
	if err != nil {
		return nil, errs.Invalid("conditions", "can't be read: %v", err)
	}
	if c.GetPattern() != "" {
		return nil, errs.Invalid("conditions", "must not have `pattern`, which has a field of its own")
	}

	return c, nil
}

// typed gives a rule the type and the conditions of the form.
func (f ruleForm) typed(r *prwardenv1.Rule) (*prwardenv1.Rule, error) {
	c, err := f.condition()
	if err != nil {
		return nil, err
	}
	r.Type = prwardenv1.Rule_regex.Enum()
	if f.Type == prwardenv1.Rule_structure.String() {
		r.Type = prwardenv1.Rule_structure.Enum()
	}
	r.Any, r.All, r.Not, r.Inside, r.NotInside = c.GetAny(), c.GetAll(), c.GetNot(), c.GetInside(), c.GetNotInside()
	r.Has, r.Depth, r.Where, r.Focus = c.GetHas(), c.GetDepth(), c.GetWhere(), c.GetFocus()

	return r, nil
}
