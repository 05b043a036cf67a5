package docs

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The page's parts, as page.html shows them.
type (
	view struct {
		Title, Version string
		About          template.HTML
		Style          template.CSS
		Authentication template.HTML
		More           *externalDocs
		Groups         []group
		Shared         []answer // that many calls give
		Headers        []row
		Schemas        []component
	}

	group struct {
		Name, ID    string
		Description template.HTML
		Calls       []call
	}

	call struct {
		ID, Verb    string
		Path        template.HTML
		Summary     string
		Scope, GRPC string
		Description template.HTML
		Parameters  []row
		Body        *body
		Answers     []answer
		Samples     []sample
	}

	body struct {
		Type     template.HTML
		Required bool
		Sealed   bool
		Rows     []row
	}

	answer struct {
		Status, Phrase string
		Name           string // of a shared answer
		Good           bool
		Description    template.HTML
		Type           template.HTML
		MediaType      string
		Headers        []string // beside those that every answer has
		Next           []string // operations that take what it holds
		Examples       []sample
	}

	sample struct {
		Label string
		Text  template.HTML
	}

	component struct {
		Name, ID    string
		Type        template.HTML
		Description template.HTML
		Limits      []template.HTML
		Rows        []row
		More        *externalDocs
	}
)

func newView(doc *document) (*view, error) {
	v := &view{
		Title: doc.Info.Title, Version: doc.Info.Version,
		About: prose(doc.Info.Description), More: doc.ExternalDocs,
	}
	for _, scheme := range doc.Components.SecuritySchemes {
		v.Authentication += prose(scheme.Description)
	}
	for _, t := range doc.Tags {
		g := group{Name: t.Name, ID: "tag-" + t.Name, Description: prose(failures.ReplaceAllString(t.Description, ""))}
		for _, e := range doc.operations(t.Name) {
			c, err := newCall(doc, e)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.OperationID, err)
			}
			g.Calls = append(g.Calls, c)
		}

		v.Groups = append(v.Groups, g)
	}

	for name, r := range doc.Components.Responses {
		shared, err := newAnswer(doc, "", r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		shared.Name = name
		v.Shared = append(v.Shared, shared)
	}

	statuses(v)
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Headers)) {
		h := doc.Components.Headers[name]
		v.Headers = append(v.Headers,
			row{Name: name, Type: typeOf(h.Schema), Limits: limits(h.Schema), Description: prose(h.Description)})
	}

	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		s := doc.Components.Schemas[name]
		v.Schemas = append(v.Schemas, component{
			Name: name, ID: "schema-" + name, Type: typeOf(s), Description: prose(s.Description),
			Limits: limits(s), Rows: rows(s), More: s.ExternalDocs,
		})
	}

	return v, nil
}

// statuses gives the shared answers the statuses that calls give them.
func statuses(v *view) {
	for i, shared := range v.Shared {
		for _, g := range v.Groups {
			for _, c := range g.Calls {
				for _, a := range c.Answers {
					if a.Name == shared.Name {
						v.Shared[i].Status, v.Shared[i].Phrase = a.Status, a.Phrase
					}
				}
			}
		}
	}

	slices.SortFunc(v.Shared, func(a, b answer) int { return strings.Compare(a.Status, b.Status) })
}

var (
	scope = regexp.MustCompile(`\s*Scope: ([a-z]+:[a-z]+)\.`)
	// What a comment says of errors is in gRPC's words; the answers say it all.
	failures = regexp.MustCompile(`\s*Errors(?: of every call)?: [^.]*\.`)
	variable = regexp.MustCompile(`\{[^}]+\}`)
)

func newCall(doc *document, e endpoint) (call, error) {
	c := call{
		ID: e.OperationID, Verb: strings.ToUpper(e.verb), Summary: e.Summary, GRPC: e.GRPCMethod,
		Path: template.HTML(variable.ReplaceAllString(template.HTMLEscapeString(e.path), "<var>$0</var>")),
	}
	if found := scope.FindStringSubmatch(e.Description); found != nil {
		c.Scope = found[1]
	}
	c.Description = prose(failures.ReplaceAllString(scope.ReplaceAllString(e.Description, ""), ""))
	for _, p := range e.Parameters {
		p.Schema.Description = p.Description
		c.Parameters = append(c.Parameters, row{
			Name: p.Name, Type: typeOf(p.Schema), In: p.In, Required: p.Required,
			Limits: limits(p.Schema), Description: prose(p.Description),
		})
	}

	if e.RequestBody != nil {
		for _, m := range e.RequestBody.Content {
			s := m.Schema
			if s.Ref != "" {
				s = doc.Components.Schemas[name(s.Ref)]
			}
			c.Body = &body{Type: typeOf(m.Schema), Required: e.RequestBody.Required, Sealed: s.sealed(), Rows: rows(s)}
		}
	}

	for _, s := range e.Samples {
		c.Samples = append(c.Samples, sample{Label: s.Label, Text: template.HTML(template.HTMLEscapeString(s.Source))})
	}
	for _, status := range slices.Sorted(maps.Keys(e.Responses)) {
		a, err := newAnswer(doc, status, e.Responses[status])
		if err != nil {
			return call{}, fmt.Errorf("answer %s: %w", status, err)
		}
		c.Answers = append(c.Answers, a)
	}

	return c, nil
}

func newAnswer(doc *document, status string, r response) (answer, error) {
	a := answer{Status: status, Good: strings.HasPrefix(status, "2")}
	if code, err := strconv.Atoi(status); err == nil {
		a.Phrase = http.StatusText(code)
	}
	if r.Ref != "" {
		a.Name = name(r.Ref)
		r = doc.resolve(r)
	}

	a.Description = prose(r.Description)
	for _, h := range slices.Sorted(maps.Keys(r.Headers)) {
		if !strings.HasPrefix(h, "X-") {
			a.Headers = append(a.Headers, h)
		}
	}

	for _, link := range r.Links {
		if !slices.Contains(a.Next, link.OperationID) {
			a.Next = append(a.Next, link.OperationID)
		}
	}

	slices.Sort(a.Next)
	for mediaType, m := range r.Content {
		a.MediaType, a.Type = mediaType, typeOf(m.Schema)
		if m.Example != nil {
			m.Examples = map[string]struct {
				Summary string          `json:"summary"`
				Value   json.RawMessage `json:"value"`
			}{"": {Value: m.Example}}
		}

		for _, label := range slices.Sorted(maps.Keys(m.Examples)) {
			text, err := highlighted(m.Examples[label].Value)
			if err != nil {
				return answer{}, err
			}
			a.Examples = append(a.Examples, sample{Label: label, Text: text})
		}
	}

	return a, nil
}
