package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Diff returns the fields in which two values differ as JSON objects. Either may
// be nil. Fields of objects in them have names such as `host.url`; a list is one
// field.
func Diff(before, after any) []Field {
	was, is := map[string]string{}, map[string]string{}
	flatten(was, "", asJSON(before))
	flatten(is, "", asJSON(after))

	names := maps.Clone(was)
	maps.Copy(names, is)
	var fields []Field
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] {
			fields = append(fields, Field{Name: name, Before: was[name], After: is[name]})
		}
	}

	return fields
}

// asJSON returns what a value is as JSON: maps, lists and scalars.
func asJSON(v any) (out any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("audit: %T has no JSON: %v", v, err)) // a mistake of the caller
	}
	_ = json.Unmarshal(b, &out) // it was just made

	return out
}

// flatten puts the fields of an object into out. Zero values are left out: to
// have none and to have no value is the same for a reader.
func flatten(out map[string]string, name string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for field, value := range v {
			flatten(out, strings.TrimPrefix(name+"."+field, "."), value)
		}
	case []any:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = shown(item)
		}
		if len(words) > 0 {
			out[name] = strings.Join(words, ", ")
		}
	default:
		if word := shown(v); word != "" && word != "0" && word != "false" {
			out[name] = word
		}
	}
}

// shown is a value as a person reads it: a text as it is, the rest as JSON.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v) // it came from JSON

	return string(b)
}
