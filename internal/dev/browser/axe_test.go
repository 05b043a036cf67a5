//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// axe is the text of axe-core, which looks for what keeps people from using a page.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("PRWARDEN_BROWSER_MODULES"), "axe-core", "axe.min.js"))
	return string(text), err
})

// accessible fails for each violation that axe finds on the page, and when the page is
// wider than its window.
func (b *tab) accessible(name string) {
	b.t.Helper()
	script, err := axe()
	require.NoError(b.t, err)
	// The debugger's evaluation is not bound by the page's content policy.
	var answer string
	b.run(
		chromedp.Evaluate(script, nil),
		chromedp.Evaluate(`axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(
			v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 300) + ' ' + n.failureSummary)}))))`,
			&answer, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
	)
	var found []struct {
		ID, Help string
		Nodes    []string
	}
	require.NoError(b.t, json.Unmarshal([]byte(answer), &found))
	for _, v := range found {
		assert.Fail(b.t, name+": "+v.ID, "%s\n%s", v.Help, strings.Join(v.Nodes, "\n"))
	}

	var wider int
	b.run(chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wider))
	assert.LessOrEqual(b.t, wider, 0, "%s scrolls sideways", name)
}

// picture leaves one of the window where the environment says.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	var image []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		image, err = page.CaptureScreenshot().Do(ctx)
		return err
	}))
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), image, 0o644))
}

// look checks a page in both themes and on both sizes, and leaves a picture of each.
func (b *tab) look(name, path string) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for _, s := range []size{desktop, phone} {
			b.theme(theme)
			b.resize(s)
			b.open(path)
			label := fmt.Sprintf("%s-%s-%d", name, theme, s.width)
			b.accessible(label)
			b.picture(label)
		}
	}
	b.resize(desktop)
	b.quiet()
}
