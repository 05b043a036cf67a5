//go:build browser

package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// makeMany makes a repository whose pull request 1 has files with as many findings each.
func makeMany(t *testing.T, path string, files, each int) {
	t.Helper()
	const who = "Ada <ada@example.com> 1700000000 +0000"
	var s strings.Builder
	commit := func(ref, from string) {
		fmt.Fprintf(&s, "commit %s\nauthor %s\ncommitter %s\ndata 4\nMany\n%s", ref, who, who, from)
	}
	file := func(name, text string) {
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	commit("refs/heads/main", "")
	file("README.md", "# Large\n")
	commit("refs/pull/1/head", "from refs/heads/main\n")
	for i := range files {
		var text strings.Builder
		for j := range each {
			fmt.Fprintf(&text, "eval(x%d_%d)\n", i, j)
		}
		file(fmt.Sprintf("src/file%02d.js", i), text.String())
	}
	require.NoError(t, program.MakeRepository(t.Context(), path, s.String()))
}

// A review with 10,000 findings opens, and its findings are gone through by a key.
func TestLarge(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	makeMany(t, filepath.Join(s.Dir, "repos", "acme", "large.git"), 100, 100)
	b := s.newTab(t)
	b.setUp()
	id := s.reviewOf(t, "acme/large", 1)
	require.GreaterOrEqual(t, sum(s.read(t, id).Summary), 10_000)

	began := time.Now()
	b.open("/o/" + org + "/reviews/" + id)
	opened := time.Since(began)
	nodes := b.count("*")
	assert.LessOrEqual(t, nodes, 15_000)
	b.press("j")
	b.run(chromedp.WaitVisible(`.fd.cur`, chromedp.ByQuery))
	first := b.text(".fd.cur .fh")
	require.NotEmpty(t, first)

	// From the press of the key to the frame that shows the next finding, measured in the page.
	var took float64
	b.run(chromedp.Evaluate(`(() => {
		const before = document.querySelector('.fd.cur'), began = performance.now();
		document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}));
		const now = document.querySelector('.fd.cur');
		now.getBoundingClientRect();
		return now && now !== before ? performance.now() - began : -1;
	})()`, &took))
	require.GreaterOrEqual(t, took, 0.0, "the key goes to another finding")
	t.Logf("opened in %d ms with %d nodes, next finding in %.1f ms", opened.Milliseconds(), nodes, took)
	b.quiet()
}
