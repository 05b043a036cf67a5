// Package docs makes the page that people read about the REST API from its
// OpenAPI document: one piece of HTML with its style in it, without scripts
// and without anything that would have to be loaded.
package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
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
	doc, err := parse(openAPI)
	if err != nil {
		return nil, err
	}
	v, err := newView(doc)
	if err != nil {
		return nil, err
	}
	v.Style = template.CSS(style)
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, v); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(style))
	return &Page{
		HTML: text.Bytes(),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}, nil
}
