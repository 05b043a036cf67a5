package blackbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No attribute, filter or encoding that a repository declares hides a line.
func TestAttributesHideNothing(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)
	addRule(t, c, todoRule)
	for i, attributes := range []string{
		"* -diff", "* binary", "* diff=hidden", "* -text", "* eol=crlf", "* filter=gone", "* filter=lfs diff=lfs merge=lfs -text", "* working-tree-encoding=UTF-16",
		"* export-ignore", "* ident", "* linguist-generated", "* -merge", "* diff=bin\n*.txt -diff",
		"[attr]none -diff -text\n* none",
	} {
		t.Run(attributes, func(t *testing.T) {
			t.Parallel()
			for where, at := range map[string][2]files{
				"base": {files{".gitattributes": attributes + "\n"}, files{"a.txt": "frobnicate(1)\n"}},
				"head": {files{"README": "x"}, files{".gitattributes": attributes + "\n", "a.txt": "frobnicate(1)\n"}},
			} {
				name := fmt.Sprintf("acme/attr%d-%s", i, where)
				r := h.create(t, name, at[0])
				r.git("", "config", "diff.hidden.textconv", "true")
				r.git("", "config", "diff.bin.binary", "true")
				r.pull(1, at[1])
				m := c.scan(t, name, 1)
				require.Equal(t, "complete", m["status"], "%v", m)
				assert.Len(t, m["findings"], 1, where)
			}
		})
	}
}

// A repository made to kill its reader ends in a complete review, or in a failed
// one with a reason, and the server still answers.
func TestBombs(t *testing.T) {
	t.Parallel()
	_, c, h := setup(t)

	// grow wraps a tree in depth trees of width entries each.
	grow := func(r *repository, depth, width int) string {
		mode, kind, id := "100644", "blob", r.git("boom", "hash-object", "-w", "--stdin")
		for range depth {
			var tree strings.Builder
			for i := range width {
				fmt.Fprintf(&tree, "%s %s %s\t%04d\n", mode, kind, id, i)
			}
			id = r.git(tree.String(), "mktree")
			mode, kind = "040000", "tree"
		}

		return id
	}

	for name, bomb := range map[string]struct {
		tree func(*repository) string
		code string
	}{
		"wide": {func(r *repository) string { return grow(r, 12, 10) }, "pull_request_too_large"},
		"deep": {func(r *repository) string { return grow(r, 300, 1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := h.create(t, "acme/"+name, files{"README": "x"})
			r.git(
				"", "update-ref", "refs/pull/1/head",
				r.git("", "commit-tree", bomb.tree(r), "-m", "x", "-p", r.sha("refs/heads/main")),
			)
			m := c.scan(t, "acme/"+name, 1)
			if bomb.code == "" {
				require.Equal(t, "complete", m["status"], "%v", m)
				return
			}
			require.Equal(t, "failed", m["status"], "%v", m)
			e := m["error"].(map[string]any)
			assert.NotEmpty(t, e["message"])
			assert.Equal(t, bomb.code, e["code"])
			assert.NotContains(t, fmt.Sprint(e), h.dir)
		})
	}

	assert.Equal(t, 200, c.do(t, "GET", "/v1/rules", nil).status)
}
