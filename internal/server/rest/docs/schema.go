package docs

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// row is one field of a schema, one parameter, or one header.
type row struct {
	Name        string
	Type        template.HTML
	In          string // of a parameter
	Required    bool
	Limits      []template.HTML
	Description template.HTML
}

// rows returns the fields of an object: what is required first, and then by
// name.
func rows(s schema) []row {
	var out []row
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		value := s.Properties[field]
		out = append(out, row{
			Name: field, Type: typeOf(value), Required: slices.Contains(s.Required, field),
			Limits: limits(value), Description: prose(value.Description),
		})
	}

	slices.SortStableFunc(out, func(a, b row) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}

		return 1
	})
	return out
}

// typeOf says what a value is, with links to the schemas that it has.
func typeOf(s schema) template.HTML {
	switch {
	case s.Ref != "":
		return template.HTML(fmt.Sprintf(`<a href="#schema-%[1]s">%[1]s</a>`, template.HTMLEscapeString(name(s.Ref))))
	case len(s.AllOf) == 1:
		return typeOf(s.AllOf[0])
	case len(s.OneOf) > 0:
		kinds := make([]string, len(s.OneOf))
		for i, one := range s.OneOf {
			kinds[i] = string(typeOf(one))
		}
		return template.HTML(strings.Join(kinds, " or "))
	case s.Items != nil:
		return "array of " + typeOf(*s.Items)
	}

	switch s.Format {
	case "", "int32", "int64", "re2":
		return template.HTML(template.HTMLEscapeString(s.Type))
	}

	return template.HTML(template.HTMLEscapeString(s.Type + ", " + s.Format))
}

// limits says what a value may be, beyond its type.
func limits(s schema) []template.HTML {
	var out []template.HTML
	add := func(format string, args ...any) {
		out = append(out, template.HTML(template.HTMLEscapeString(fmt.Sprintf(format, args...))))
	}
	code := func(before, text string) {
		out = append(out, template.HTML(before+"<code>"+template.HTMLEscapeString(text)+"</code>"))
	}
	for _, word := range s.Enum {
		// Most are explained where the value is.
		if !strings.Contains(s.Description, fmt.Sprintf("- %v: ", word)) {
			code("", fmt.Sprint(word))
		}
	}

	if s.Type == "integer" {
		if text := numbers(s.Minimum, s.Maximum); text != "" {
			add("%s", text)
		}
	}

	if text := span(s.MinLength, s.MaxLength, "character"); text != "" {
		add("%s", text)
	}
	if text := span(s.MinItems, s.MaxItems, "item"); text != "" {
		add("%s", text)
	}
	if s.UniqueItems {
		add("no item twice")
	}
	if s.Pattern != "" {
		code("matches ", s.Pattern)
	}
	if s.Format == "re2" {
		add("an RE2 regular expression")
	}
	if s.Default != nil {
		code("default ", fmt.Sprint(s.Default))
	}
	if s.ReadOnly {
		add("only in answers")
	}
	if s.Items != nil {
		for _, limit := range limits(*s.Items) {
			out = append(out, "each "+limit)
		}
		if len(s.Items.Enum) > 0 {
			out = slices.DeleteFunc(out, func(l template.HTML) bool { return strings.HasPrefix(string(l), "each <code>") })
			out = append(out, limits(schema{Enum: s.Items.Enum})...)
		}
	}

	return out
}

// span says how many there may be.
func span(low int, high *int, what string) string {
	many := func(n int) string {
		if n == 1 {
			return "1 " + what
		}
		return grouped(float64(n)) + " " + what + "s"
	}
	switch {
	case high != nil && *high == low:
		return many(low)
	case high != nil && low > 0:
		return grouped(float64(low)) + " to " + many(*high)
	case high != nil:
		return "at most " + many(*high)
	case low > 0:
		return "at least " + many(low)
	}

	return ""
}

// numbers says which integers a value may be; nothing where its type says all.
func numbers(low, high *float64) string {
	switch {
	case low == nil || high == nil, *low <= math.MinInt32 && *high >= math.MaxInt32:
		return ""
	case *high >= math.MaxInt32 && *low == 0:
		return "" // a count
	case *high >= math.MaxInt32:
		return "at least " + grouped(*low)
	}

	return grouped(*low) + " to " + grouped(*high)
}

// grouped writes a whole number with commas between thousands.
func grouped(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// sealed reports whether a schema takes no fields but its own.
func (s schema) sealed() bool {
	var allowed bool
	return json.Unmarshal(s.AdditionalProperties, &allowed) == nil && !allowed
}
