package plainyaml_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/rule/plainyaml"
)

// node is what callers use of a yaml.Node.
type node struct {
	Kind    yaml.Kind
	Tag     string
	Value   string
	Anchor  string
	Line    int
	Content []node
}

func reduce(n *yaml.Node) node {
	r := node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value, Anchor: n.Anchor, Line: n.Line}
	for _, c := range n.Content {
		r.Content = append(r.Content, reduce(c))
	}
	return r
}

// same fails when a text that Parse reads is another one to yaml.v3. It says
// whether Parse read it.
func same(t require.TestingT, text string) bool {
	root, ok := plainyaml.Parse([]byte(text))
	if !ok {
		return false
	}
	stream := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	require.NoError(t, stream.Decode(&doc), "%q", text)
	require.Equal(t, reduce(doc.Content[0]), reduce(root), "%q", text)
	require.True(t, errors.Is(stream.Decode(&more), io.EOF), "%q", text)
	return true
}

const plainFile = `# Rules.
version: 1
disable: [secrets/generic-token, 'a/b']   # off
exclude: ["vendor/**", "**/*.min.js",]

rules:
  # The first.
  - id: no-print
    type: regex
    pattern: 'fmt\.Print(ln|f)?\(''?'

    message: Use the logger, please: it's better.
    severity: warning
    multiline: true
    paths: {include: ["**/*.go"], exclude: [ "cmd/**" , x ]}
    cases: { match: ['fmt.Println("x") # no comment'], no_match: [] }
  -   id: other
      message: "…"
      references:
      - https://example.com/a#b
      - 'x'
      cases:
          match:
            - x
`

func TestParse(t *testing.T) {
	t.Parallel()
	text := strings.Replace(plainFile, `",]`, `"]`, 1)
	text = strings.Replace(text, "please: it's", "it's", 1)
	assert.True(t, same(t, text))
	assert.True(t, same(t, strings.TrimSuffix(text, "\n")))
	assert.False(t, same(t, plainFile), "a comma at the end, a colon in a plain text")

	for _, plain := range []string{
		"a: b", "a: b # c", "a: 'b' # c", "a: b # c: d", "a: b#c", "a: 1\nb: true\nc: 0x1F\nd: 2001-01-01\ne: 1e3\nf: .5", "a:\n- b\n- c\nd: e", "a:\n  - b\n  - c: d\n    e: f\n  - g",
		"a: \"\"\nb: ''\nc: ''''\nd: '''x'''", "a: [[x], {b: c}, [], {}]", "a: b\na: c", "a: null\nb: yes\nc: no_", "# x\n\n  \na: b\n# y", "a: (x)\\d+$ ^", "_: x", `a: "\\b\"\n\t"`, `a: ["\\", b]`, `a: "\n"`,
		"a: '\t'", "a: x]y,z}", "a:\n     b: c\nd:\n - e", "a: é\nb: '日本\U0001F600'",
		`a: "\x41b\x7E\x3a\xE9\x00\r\u202e"`, "a: [b\n]", "a:\n  - [\n    b, 'c',\n\n  # d\n d\n  ] # e\n  - {\n  f: g}\nh: i",
	} {
		assert.True(t, same(t, plain), "%q", plain)
	}
	for _, other := range []string{
		"", "\n", "# x", "a", "- a", "a:", "a:\nb: c", "a: |\n  b", "a: >-\n b", "a: &x b", "a: *x", "a: !!str b", "? a\n: b", "'a': b", "A: b", "a : b", "a:b",
		"a: b\n  c", "a: b\n  c: d", "a: 'b\n  c'", `a: "\x4"`, `a: "\x+1"`, `a: "\ud800"`, `a: "\u20"`, `a: "\e"`, "a: \"b\\", "a: \"b\\\"", "a: 'b' c", "a: 'b'#c", "a: [b # c\n]", "a: [b\n c]", "a: [b,\n", "a: {b:\n c}", "a: [b,\n---\n]", "a: [b", "a: {b}", "a: {b: }", "a: {b:c}", "a: [b: c]", "a: [b c]", "a: [,]", "a: [b,]",
		"--- \na: b", "a: b\n---\n", "a: b\n...\n", "%YAML 1.2\n---\na: b", "\ufeffa: b", "a: b\r\nc: d", "a: b\rc: d", "a:\tb", "\ta: b", "a: b\tc", "a: \u0085", "a: '\u2028'", "a: '\x01'", "a: '\x7f'",
		"a:\n- b\n  c", "a:\n -\n  b", "a:\n  - - b", "a:\n  b: c\n d: e", "a:\n- b: c\n   d: e", "a:\n- b: c\n d: e", "a: -1", "a: ~", "a: %x", "a: @x", "a: `x`", "a: x:", "a: x: y",
		" a: b\nc: d", "a: b\n c: d", "a: [[[[[[[[[[x]]]]]]]]]]",
	} {
		assert.False(t, same(t, other), "%q", other)
	}
}

// The default rules are written plainly, as they are read at every start, and none
// is misread.
func TestParseOfDefaultRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../default/*/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, same(t, string(data)), file)
	}
}

// Texts of pieces that YAML cares about: most are not plain, and of those that
// are, none is read as anything else.
func TestParseIsYAML(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"a", "b", "key", ":", ": ", " ", "  ", "    ", "\n", "\n", "\n", "\n  ", "\n    ", "- ", "-", "\n- ", "\n  - ", "'", "''", `"`, "[", "]", "{", "}", ", ", ",", "#", " # c", "x y", "1", "true", "null", "~",
		"a: ", "b:\n", "a: b", "c: 'd'", "- e: f", "[a, 'b']", "{a: b}", "|", ">", "&", "*", "!", "%", "@", "`", "?", "\t", "é", `"\\n"`, `\"`, `"\x41\u00e9"`, "[\n", ",\n ", "---", "...", "\\", "<<", "=", ".", "/",
	}
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 60_000 {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if same(t, text.String()) {
			read++
		}
	}
	assert.Greater(t, read, 500)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{plainFile, "a: b", "a:\n- b: c\n  d: [e, 'f']\n", "a: {b: \"c\"}\n# d\ne: 'f''g'", "a:\n  b:\n    - c\n    - d"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if utf8.Valid(data) {
			same(t, string(data))
		}
	})
}

func rulesFile(n int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: r%d\n    type: regex\n    pattern: '\\b(?:advertise|CoverageHtmlConfig%d)[\\t\\f\\r ]*\\('\n    message: Use something else.\n    severity: warning\n", i, i)
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	data := rulesFile(5000)
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			_, ok := plainyaml.Parse(data)
			require.True(b, ok)
		}
	})
	b.Run("yaml", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var n yaml.Node
			require.NoError(b, yaml.NewDecoder(bytes.NewReader(data)).Decode(&n))
		}
	})
}
