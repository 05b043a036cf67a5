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

// New makes the page of an OpenAPI document in JSON.
func New(openAPI []byte) (*Page, error) {
	var doc document
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}

	page, err := template.New("page").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"prose":  prose,
		"name":   name,
		"upper":  strings.ToUpper,
		"phrase": phrase,
		"indent": indent,
		"join":   strings.Join,
	}).Parse(layout)
	if err != nil {
		return nil, err
	}

	var text bytes.Buffer
	if err := page.Execute(&text, &doc); err != nil {
		return nil, err
	}

	sum := sha256.Sum256([]byte(style))
	return &Page{
		HTML: text.Bytes(),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}, nil
}

// name is the last part of a reference.
func name(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// phrase is what a status is called.
func phrase(status string) string {
	code, _ := strconv.Atoi(status)
	return http.StatusText(code)
}

func indent(raw json.RawMessage) (string, error) {
	var out bytes.Buffer
	err := json.Indent(&out, raw, "", "  ")
	return out.String(), err
}

// inline finds what stands out in a paragraph: code, and addresses.
var inline = regexp.MustCompile("`([^`]+)`|https?://[^\\s<>\"'`)&]+[^\\s<>\"'`).,;:&]")

// prose makes HTML of the part of Markdown that descriptions use: paragraphs,
// lists, code and bare addresses. Everything else is text.
func prose(text string) template.HTML {
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

// document is what the page shows of an OpenAPI document.
type document struct {
	Info struct {
		Title, Version, Description string
	}
	ExternalDocs *externalDocs
	Tags         []struct{ Name, Description string }
	Paths        map[string]map[string]operation
	Components   struct {
		Schemas         map[string]schema
		Headers         map[string]parameter
		Responses       map[string]response
		SecuritySchemes map[string]struct{ Description string }
	}
}

type externalDocs struct{ Description, URL string }

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       *struct{ Content map[string]media }
	Responses                         map[string]response
	GRPCMethod                        string                           `json:"x-grpc-method"`
	Samples                           []struct{ Label, Source string } `json:"x-codeSamples"`
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]media
}

type media struct {
	Schema   schema
	Example  json.RawMessage
	Examples map[string]struct{ Value json.RawMessage }
}

type schema struct {
	Ref                       string `json:"$ref"`
	Type, Format, Description string
	Properties                map[string]schema
	Required                  []string
	Items                     *schema
	AllOf, OneOf              []schema
	Enum                      []any
	Default                   any
	Pattern                   string
	MinLength, MinItems       *int
	MaxLength, MaxItems       *int
	Minimum, Maximum          *int
	ReadOnly                  bool
	ExternalDocs              *externalDocs
}

// Operation is an operation and where it is.
type Operation struct {
	Verb, Path string
	operation
}

// Operations returns the operations of a tag: by path, and those of a path in
// the order in which a thing lives.
func (d *document) Operations(tag string) []Operation {
	var found []Operation
	for path, verbs := range d.Paths {
		for verb, o := range verbs {
			if slices.Contains(o.Tags, tag) {
				found = append(found, Operation{verb, path, o})
			}
		}
	}

	life := []string{"post", "get", "put", "patch", "delete"}
	slices.SortFunc(found, func(a, b Operation) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return slices.Index(life, a.Verb) - slices.Index(life, b.Verb)
	})
	return found
}

// Body is the schema of a media type, with the fields of the one that it refers
// to.
func (d *document) Body(m media) schema {
	if s, ok := d.Components.Schemas[name(m.Schema.Ref)]; ok {
		return s
	}
	return m.Schema
}

// Rows are the fields of an object: by name, and those that are required first.
func (s schema) Rows() []parameter {
	var required, others []parameter
	for field, value := range s.Properties {
		row := parameter{Name: field, Description: value.Description, Schema: value}
		if row.Required = slices.Contains(s.Required, field); row.Required {
			required = append(required, row)
		} else {
			others = append(others, row)
		}
	}

	byName := func(a, b parameter) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(required, byName)
	slices.SortFunc(others, byName)
	return append(required, others...)
}

// Is says what a value is, with links to the schemas that it has.
func (s schema) Is() template.HTML {
	switch {
	case s.Ref != "":
		return template.HTML(fmt.Sprintf(`<a href="#schema-%[1]s">%[1]s</a>`, html.EscapeString(name(s.Ref))))
	case len(s.AllOf) == 1:
		return s.AllOf[0].Is()
	case len(s.OneOf) > 0:
		out := s.OneOf[0].Is()
		for _, other := range s.OneOf[1:] {
			out += " or " + other.Is()
		}
		return out
	case s.Items != nil:
		return "array of " + s.Items.Is()
	}

	return template.HTML(html.EscapeString(s.Type))
}

// Limits says what a value may be, beyond its type.
func (s schema) Limits() []string {
	var out []string
	add := func(format string, value any) { out = append(out, fmt.Sprintf(format, value)) }
	words := make([]string, len(s.Enum))
	for i, word := range s.Enum {
		words[i] = fmt.Sprint(word)
	}
	if len(words) > 0 {
		add("one of %s", strings.Join(words, ", "))
	}

	for format, limit := range map[string]*int{
		"at least %d characters": s.MinLength, "at most %d characters": s.MaxLength, "at least %d items": s.MinItems,
		"at most %d items": s.MaxItems, "at least %d": s.Minimum, "at most %d": s.Maximum,
	} {
		if limit != nil {
			add(format, *limit)
		}
	}

	slices.Sort(out)
	if s.Format != "" {
		add("%s", s.Format)
	}
	if s.Pattern != "" {
		add("matches %s", s.Pattern)
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	if s.ReadOnly {
		add("%s", "only in answers")
	}
	if s.Items != nil {
		for _, limit := range s.Items.Limits() {
			add("each %s", limit)
		}
	}

	return out
}
