package docs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/prwarden/prwarden/gen/openapi"
	"github.com/prwarden/prwarden/internal/server/rest/docs"
)

// elements returns every element of a page.
func elements(t *testing.T, page []byte) []*html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	require.NoError(t, err)
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			found = append(found, n)
		}
	}

	return found
}

func attribute(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}

	return "", false
}

// text returns what a reader sees of an element, with single spaces.
func text(n *html.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			out.WriteString(d.Data)
		}
	}

	return strings.Join(strings.Fields(out.String()), " ")
}

func byID(t *testing.T, nodes []*html.Node, id string) *html.Node {
	t.Helper()
	for _, n := range nodes {
		if value, _ := attribute(n, "id"); value == id {
			return n
		}
	}

	require.Fail(t, "no element", "id %s", id)
	return nil
}

func page(t *testing.T) *docs.Page {
	t.Helper()
	p, err := docs.New(openapi.JSON())
	require.NoError(t, err)
	return p
}

func TestPageShowsTheWholeDocument(t *testing.T) {
	t.Parallel()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct{ Name string }
			Responses   map[string]struct {
				Content map[string]struct{ Examples map[string]any }
			}
			Samples []struct{ Source string } `json:"x-codeSamples"`
		}

		Components struct {
			Schemas            map[string]struct{ Properties map[string]any }
			Responses, Headers map[string]any
		}
	}

	require.NoError(t, json.Unmarshal(openapi.JSON(), &doc))
	nodes := elements(t, page(t).HTML)

	calls := 0
	for path, verbs := range doc.Paths {
		for verb, op := range verbs {
			calls++
			article := byID(t, nodes, op.OperationID).Parent.Parent
			require.Equal(t, "article", article.Data)
			shown := text(article)
			assert.Contains(t, shown, strings.ToUpper(verb)+" "+path)
			for _, p := range op.Parameters {
				assert.Contains(t, shown, p.Name, op.OperationID)
			}
			for _, s := range op.Samples {
				assert.Contains(t, shown, strings.Join(strings.Fields(s.Source), " "))
			}

			for status, response := range op.Responses {
				assert.Contains(t, shown, status, op.OperationID)
				for _, media := range response.Content {
					for reason := range media.Examples {
						assert.Contains(t, shown, reason, op.OperationID)
					}
				}
			}
		}
	}

	assert.GreaterOrEqual(t, calls, 16)
	for name, schema := range doc.Components.Schemas {
		shown := text(byID(t, nodes, "schema-"+name).Parent)
		for field := range schema.Properties {
			assert.Contains(t, shown, field, name)
		}
	}

	for name := range doc.Components.Responses {
		byID(t, nodes, "answer-"+name)
	}

	errors := text(byID(t, nodes, "errors").Parent.Parent)
	for name := range doc.Components.Headers {
		assert.Contains(t, errors, name)
	}
}

// The page is all there is: it loads and runs nothing.
func TestPageLoadsNothing(t *testing.T) {
	t.Parallel()
	p := page(t)
	nodes := elements(t, p.HTML)
	ids := map[string]int{}
	for _, n := range nodes {
		if id, ok := attribute(n, "id"); ok {
			ids[id]++
		}
	}

	styles := 0
	for _, n := range nodes {
		assert.NotContains(t, []string{"script", "img", "link", "iframe", "object", "embed", "form", "base", "svg", "video",
			"audio"}, n.Data)
		for _, a := range n.Attr {
			assert.NotContains(t, []string{"src", "srcset", "style", "action"}, a.Key, n.Data)
			assert.False(t, strings.HasPrefix(a.Key, "on"), "%s of %s", a.Key, n.Data)
		}

		if n.Data == "style" {
			styles++
			assert.NotContains(t, n.FirstChild.Data, "url(")
			assert.NotContains(t, n.FirstChild.Data, "@import")
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			assert.Contains(t, p.Policy, "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}

		if n.Data != "a" {
			continue
		}

		href, _ := attribute(n, "href")
		if target, ok := strings.CutPrefix(href, "#"); ok {
			assert.Positive(t, ids[target], "the link to #%s leads nowhere", target)
		} else if href != "/openapi.json" {
			assert.Regexp(t, `^https?://`, href)
		}
	}

	assert.Equal(t, 1, styles)
	assert.True(t, strings.HasPrefix(p.Policy, "default-src 'none'; "), p.Policy)
	assert.NotContains(t, p.Policy, "unsafe")
	for id, n := range ids {
		assert.Equal(t, 1, n, "id %s", id)
	}
}

func TestNewTakesWhatThereIs(t *testing.T) {
	t.Parallel()
	p, err := docs.New([]byte(`{"info":{"title":"<b>t</b>","version":"v9"}}`))
	require.NoError(t, err)
	assert.Contains(t, string(p.HTML), "<h1>&lt;b&gt;t&lt;/b&gt; API v9</h1>")

	p, err = docs.New([]byte(`{"info":{"description":"One <i> ` + "`a<b`" +
		`.\nMore.\n\nList:\n- x\n- y\n\nhttps://e.org/a."}}`))
	require.NoError(t, err)
	assert.Contains(t, string(p.HTML), "<p>One &lt;i&gt; <code>a&lt;b</code>.\nMore.</p><p>List:</p>"+
		`<ul><li>x</li><li>y</li></ul><p><a href="https://e.org/a">https://e.org/a</a>.</p>`)

	_, err = docs.New([]byte(`{`))
	assert.ErrorContains(t, err, "read the OpenAPI document")
}
