package docs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func TestProse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":    {"", ""},
		"paragraphs": {"One.\nStill one.\n\nTwo.", "<p>One. Still one.</p><p>Two.</p>"},
		"code":       {"A `<b>` and `c`.", "<p>A <code>&lt;b&gt;</code> and <code>c</code>.</p>"},
		"markup":     {"<script>alert(1)</script> & more", "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</p>"},
		"address": {"See https://example.com/a?b=1&c=2.",
			`<p>See <a href="https://example.com/a?b=1&amp;c=2">https://example.com/a?b=1&amp;c=2</a>.</p>`},
		"address in parentheses": {"(https://example.com/x)",
			`<p>(<a href="https://example.com/x">https://example.com/x</a>)</p>`},
		"list": {"Words:\n- a: first\n- b",
			"<p>Words:</p><ul><li><code>a</code>: first</li><li>b</li></ul>"},
		"list of code":         {"- `A`: x", "<ul><li><code>A</code>: x</li></ul>"},
		"sentence in a list":   {"- One thing: another", "<ul><li>One thing: another</li></ul>"},
		"open code":            {"a ` b", "<p>a ` b</p>"},
		"script as an address": {"javascript:alert(1)", "<p>javascript:alert(1)</p>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, string(prose(tc.in)))
		})
	}
}

func TestHighlighted(t *testing.T) {
	t.Parallel()
	got, err := highlighted(json.RawMessage(`{"a":"<b>","c":[1,true,null],"d":"x: \"y\""}`))
	require.NoError(t, err)
	assert.Equal(t, strings.Join([]string{
		`{`,
		`  <span class="k">&#34;a&#34;</span>: <span class="s">&#34;&lt;b&gt;&#34;</span>,`,
		`  <span class="k">&#34;c&#34;</span>: [`,
		`    <span class="n">1</span>,`,
		`    <span class="n">true</span>,`,
		`    <span class="n">null</span>`,
		`  ],`,
		`  <span class="k">&#34;d&#34;</span>: <span class="s">&#34;x: \&#34;y\&#34;&#34;</span>`,
		`}`,
	}, "\n"), string(got))
	_, err = highlighted(json.RawMessage(`{`))
	assert.Error(t, err)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"text":        {`{"type":"string","minLength":1,"maxLength":4096}`, "1 to 4,096 characters"},
		"exact":       {`{"type":"string","minLength":40,"maxLength":40}`, "40 characters"},
		"at most":     {`{"type":"string","maxLength":500}`, "at most 500 characters"},
		"at least":    {`{"type":"array","minItems":1}`, "at least 1 item"},
		"pattern":     {`{"type":"string","pattern":"^<a>$"}`, "matches <code>^&lt;a&gt;$</code>"},
		"integer":     {`{"type":"integer","minimum":1,"maximum":1000}`, "1 to 1,000"},
		"negative":    {`{"type":"integer","minimum":-1000,"maximum":5}`, "-1,000 to 5"},
		"from":        {`{"type":"integer","minimum":1,"maximum":2147483647}`, "at least 1"},
		"any integer": {`{"type":"integer","minimum":-2147483648,"maximum":2147483647}`, ""},
		"count":       {`{"type":"integer","minimum":0,"maximum":2147483647}`, ""},
		"words":       {`{"type":"string","enum":["a","b"]}`, "<code>a</code> · <code>b</code>"},
		"words, told": {`{"type":"string","enum":["a"],"description":"X\n- a: first"}`, ""},
		"default":     {`{"type":"integer","default":50}`, "default <code>50</code>"},
		"unique words": {`{"type":"array","uniqueItems":true,"items":{"type":"string","enum":["a"]}}`,
			"no item twice · <code>a</code>"},
		"limited items": {`{"type":"array","items":{"type":"string","maxLength":9}}`, "each at most 9 characters"},
		"answers only":  {`{"type":"string","readOnly":true}`, "only in answers"},
		"RE2":           {`{"type":"string","format":"re2"}`, "an RE2 regular expression"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s schema
			require.NoError(t, json.Unmarshal([]byte(tc.in), &s))
			var got []string
			for _, limit := range limits(s) {
				got = append(got, string(limit))
			}
			assert.Equal(t, tc.want, strings.Join(got, " · "))
		})
	}
}

func TestTypeOf(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"string"}`:                                          "string",
		`{"type":"string","format":"date-time"}`:                     "string, date-time",
		`{"type":"integer","format":"int32"}`:                        "integer",
		`{"$ref":"#/components/schemas/Rule"}`:                       `<a href="#schema-Rule">Rule</a>`,
		`{"allOf":[{"$ref":"#/components/schemas/Rule"}]}`:           `<a href="#schema-Rule">Rule</a>`,
		`{"type":"array","items":{"type":"string"}}`:                 "array of string",
		`{"oneOf":[{"type":"string"},{"$ref":"#/x/A"}]}`:             `string or <a href="#schema-A">A</a>`,
		`{"type":"array","items":{"$ref":"#/components/schemas/A"}}`: `array of <a href="#schema-A">A</a>`,
	} {
		var s schema
		require.NoError(t, json.Unmarshal([]byte(in), &s))
		assert.Equal(t, want, string(typeOf(s)))
	}
}

// Whatever a description holds, its HTML has no elements but ours.
func FuzzProse(f *testing.F) {
	for _, seed := range []string{"", "a\n\n- b: c\n- `d`", "https://x.y/\"onclick=z", "`<script>`", "<a href=x>",
		"``` `a\n\n`", "- \n-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parent := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
		nodes, err := html.ParseFragment(strings.NewReader(string(prose(text))), parent)
		require.NoError(t, err)
		for _, top := range nodes {
			parent.AppendChild(top)
		}
		for n := range parent.Descendants() {
			if n.Type != html.ElementNode {
				assert.Equal(t, html.TextNode, n.Type)
				continue
			}
			assert.True(t, slices.Contains([]string{"p", "ul", "li", "code", "a"}, n.Data), n.Data)
			for _, a := range n.Attr {
				assert.Equal(t, "href", a.Key)
				assert.Regexp(t, `^https?://`, a.Val)
			}
		}
	})
}
