// Package docs makes the page that people read about the REST API from its
// OpenAPI document: one piece of HTML with its style in it, without scripts
// and without anything that would have to be loaded.
package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	//go:embed page.html
	layout string
	//go:embed style.css
	style string
)

// Page is the page and what its answer has to say.
type Page struct {
	HTML []byte

	// Policy is the Content-Security-Policy under which it works: its own style
	// and nothing else.
	Policy string
}

// object is a JSON object of the OpenAPI document.
type object = map[string]any

// New makes the page of an OpenAPI document in JSON.
func New(openAPI []byte) (*Page, error) {
	var doc object
	numbers := json.NewDecoder(bytes.NewReader(openAPI))
	numbers.UseNumber()
	if err := numbers.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}

	page, err := template.New("page").Funcs(template.FuncMap{
		"style":      func() template.CSS { return template.CSS(style) },
		"prose":      prose,
		"name":       name,
		"phrase":     phrase,
		"indent":     indent,
		"operations": operations,
		"rows":       rows,
		"is":         is,
		"limits":     limits,
	}).Parse(layout)
	if err != nil {
		return nil, err
	}

	var text bytes.Buffer
	if err := page.Execute(&text, doc); err != nil {
		return nil, fmt.Errorf("show the OpenAPI document: %w", err)
	}

	sum := sha256.Sum256([]byte(style))
	return &Page{
		HTML: text.Bytes(),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}, nil
}

// name is the last part of a reference.
func name(ref any) string {
	text, _ := ref.(string)
	return text[strings.LastIndexByte(text, '/')+1:]
}

// phrase is what a status is called.
func phrase(status string) string {
	code, _ := strconv.Atoi(status)
	return http.StatusText(code)
}

func indent(example any) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(example)
	return out.String(), err
}

// inline finds what stands out in a paragraph: code, and addresses.
var inline = regexp.MustCompile("`([^`]+)`|https?://[^\\s<>\"'`)&]+[^\\s<>\"'`).,;:&]")

// prose makes HTML of the part of Markdown that descriptions use: paragraphs,
// lists, code and bare addresses. Everything else is text.
func prose(description any) template.HTML {
	text, _ := description.(string)
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(html.EscapeString(text)), "\n\n") {
		block = inline.ReplaceAllStringFunc(block, func(found string) string {
			if code, ok := strings.CutPrefix(found, "`"); ok {
				return "<code>" + strings.TrimSuffix(code, "`") + "</code>"
			}
			return `<a href="` + found + `">` + found + `</a>`
		})

		words, items, _ := strings.Cut("\n"+block, "\n- ")
		if words = strings.TrimSpace(words); words != "" {
			out.WriteString("<p>" + words + "</p>")
		}
		if items != "" {
			out.WriteString("<ul><li>" + strings.ReplaceAll(items, "\n- ", "</li><li>") + "</li></ul>")
		}
	}

	return template.HTML(out.String())
}

// operations returns the operations of a tag, with their verb and path.
func operations(doc object, tag string) (found []object) {
	paths, _ := doc["paths"].(object)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		verbs, _ := paths[path].(object)
		for _, verb := range slices.Sorted(maps.Keys(verbs)) {
			o, _ := verbs[verb].(object)
			if tags, _ := o["tags"].([]any); slices.Contains(tags, any(tag)) {
				o["verb"], o["path"] = strings.ToUpper(verb), path
				found = append(found, o)
			}
		}
	}

	return found
}

// rows are the fields of an object as parameters, those that are required first.
func rows(doc, schema object) (out []object) {
	if ref := name(schema["$ref"]); ref != "" {
		components, _ := doc["components"].(object)
		schemas, _ := components["schemas"].(object)
		schema, _ = schemas[ref].(object)
	}

	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(object)
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		value, _ := properties[field].(object)
		row := object{
			"name": field, "description": value["description"], "schema": value,
			"required": slices.Contains(required, any(field)),
		}
		if row["required"] == true {
			out = slices.Insert(out, 0, row)
		} else {
			out = append(out, row)
		}
	}

	return out
}

// is says what a value is, with a link to the schema that it has.
func is(schema object) template.HTML {
	if ref := html.EscapeString(name(schema["$ref"])); ref != "" {
		return template.HTML(`<a href="#schema-` + ref + `">` + ref + `</a>`)
	}
	if items, ok := schema["items"].(object); ok {
		return "array of " + is(items)
	}

	for _, combined := range []string{"allOf", "oneOf"} {
		var kinds []string
		list, _ := schema[combined].([]any)
		for _, one := range list {
			one, _ := one.(object)
			kinds = append(kinds, string(is(one)))
		}
		if len(kinds) > 0 {
			return template.HTML(strings.Join(kinds, " or "))
		}
	}

	return template.HTML(html.EscapeString(fmt.Sprint(schema["type"])))
}

// limits says what a value may be, beyond its type, in the words of JSON Schema.
func limits(schema object) string {
	var out []string
	for _, word := range []string{
		"enum", "format", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "default",
		"readOnly",
	} {
		if value, ok := schema[word]; ok {
			out = append(out, strings.Trim(fmt.Sprintf("%s %v", word, value), "[]"))
		}
	}

	if items, ok := schema["items"].(object); ok {
		if of := limits(items); of != "" {
			out = append(out, "each: "+of)
		}
	}

	return strings.Join(out, " · ")
}
