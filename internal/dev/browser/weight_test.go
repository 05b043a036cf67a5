//go:build browser

package browser

import (
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// traffic is what a tab asks for and gets.
type traffic struct {
	mu    sync.Mutex
	paths map[network.RequestID]string
	bytes map[network.RequestID]float64 // of finished ones, as on the wire, headers included
	open  map[network.RequestID]bool    // but for streams of events, which do not end
}

// listen begins to count. Nothing comes from the browser's cache from now on.
func (b *tab) listen() *traffic {
	b.t.Helper()
	f := &traffic{}
	f.reset()
	chromedp.ListenTarget(b.ctx, f.hear)
	b.run(network.Enable(), network.SetCacheDisabled(true))

	return f
}

func (f *traffic) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths, f.bytes = map[network.RequestID]string{}, map[network.RequestID]float64{}
	f.open = map[network.RequestID]bool{}
}

func (f *traffic) hear(event any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil {
			f.paths[e.RequestID] = u.Path
		}
		f.open[e.RequestID] = e.Type != network.ResourceTypeEventSource
	case *network.EventLoadingFinished:
		f.bytes[e.RequestID] = e.EncodedDataLength
		f.open[e.RequestID] = false
	case *network.EventLoadingFailed:
		f.open[e.RequestID] = false
	}
}

// idle reports whether everything has come that was asked for.
func (f *traffic) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, open := range f.open {
		if open {
			return false
		}
	}

	return true
}

// kinds are the bytes of what was loaded, by the end of its name; "" for pages.
func (f *traffic) kinds() (kinds map[string]float64, total float64, requests int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds = map[string]float64{}
	for id, n := range f.bytes {
		kinds[filepath.Ext(f.paths[id])] += n
		total += n
	}

	return kinds, total, len(f.paths)
}

// What a first visit loads is small: it may be on a phone, or far away.
func TestWeight(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	makeMany(t, filepath.Join(s.Dir, "repos", "acme", "fifty.git"), 10, 5)
	b := s.newTab(t)
	b.setUp()
	id := s.reviewOf(t, "acme/fifty", 1)
	require.Equal(t, 50, sum(s.read(t, id).Summary))
	s.fillList(t)

	f := b.listen()
	for name, page := range map[string]struct {
		path string
		most float64 // bytes
	}{
		"list":   {"/reviews", 40 << 10},
		"review": {"/reviews/" + id, 60 << 10},
		"keys":   {"/settings/keys", 40 << 10},
	} {
		b.run(chromedp.Navigate("about:blank"))
		f.reset()
		b.open("/o/" + org + page.path)
		b.settle()
		require.Eventually(t, f.idle, patience, tick)
		kinds, total, requests := f.kinds()
		t.Logf("%s: %.0f bytes in %d requests, of which page %.0f, script %.0f, style %.0f",
			name, total, requests, kinds[""], kinds[".js"], kinds[".css"])
		assert.LessOrEqual(t, total, page.most, name)
		assert.LessOrEqual(t, requests, 5, name)
		assert.Positive(t, kinds[""], name)
		for kind, most := range map[string]float64{".js": 20 << 10, ".css": 10 << 10} {
			assert.Positive(t, kinds[kind], name+kind)
			assert.LessOrEqual(t, kinds[kind], most, name+kind)
		}
	}
	b.quiet()
}

// fillList starts as many reviews as a page of the list has.
func (s *site) fillList(t *testing.T) {
	t.Helper()
	var ids []string
	for range 49 {
		ids = append(ids, s.start(t, "acme/fifty", 1))
	}
	for _, id := range ids {
		require.Eventually(t, func() bool { return s.read(t, id).Status == "complete" }, 3*patience, tick)
	}
}

// settle waits until the page is loaded and has been drawn, so that it has asked for
// what is near.
func (b *tab) settle() {
	b.t.Helper()
	b.run(chromedp.Evaluate(`new Promise((done) => {
		const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
		document.readyState === 'complete' ? drawn() : addEventListener('load', drawn);
	})`, nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}
