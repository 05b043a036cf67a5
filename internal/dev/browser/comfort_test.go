//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

// The Tab key goes through a review in the order of its text, from the link that skips
// the menu, to everything that can be used, and each place is outlined.
func TestTabOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	id := s.review(t, stage.Small)
	b.run(emulation.SetFocusEmulationEnabled(true)) // another tab may be in front
	for _, path := range []string{"/reviews", "/reviews/" + id, "/settings/keys"} {
		b.open("/o/" + org + path)
		b.settle()
		var wanted int
		b.run(chromedp.Evaluate(watchFocus, &wanted))
		require.Greater(t, wanted, 10, path)
		for range wanted {
			b.press(kb.Tab)
		}
		var went struct {
			First                     string
			Missed, Back, NotOutlined []string
		}
		b.run(chromedp.Evaluate(`went()`, &went))
		assert.Contains(t, went.First, "skip", path)
		assert.Empty(t, went.Missed, path)
		assert.Empty(t, went.Back, "%s: not in the order of the text", path)
		assert.Empty(t, went.NotOutlined, path)

		b.run(chromedp.Evaluate(`document.activeElement.blur(); document.querySelector('.skip').focus()`, nil))
		b.press(kb.Enter)
		b.run(chromedp.WaitReady(`main:focus`, chromedp.ByQuery))
	}
	b.quiet()
}

// watchFocus notes each element that gets the focus, and whether it is outlined then, or
// its row, or it is a field whose frame changes. It returns how many can get it. Those of a
// row that was brought up to date meanwhile are gone, and none that can't be reached.
const watchFocus = `(() => {
	const seen = [], bare = [];
	const name = (e) => e.outerHTML.slice(0, 120);
	const framed = (e) => e && getComputedStyle(e).outlineStyle !== 'none' && parseFloat(getComputedStyle(e).outlineWidth) >= 1;
	const ringed = (e) => e && e.type !== 'checkbox' && e.type !== 'radio' && getComputedStyle(e).boxShadow.includes('3px');
	addEventListener('focusin', ({target: e}) => {
		if (seen.includes(e)) return;
		seen.push(e);
		const field = e.matches('input, select, textarea') && (e.closest('.search') ?? e);
		if (!framed(e) && !framed(e.closest('.row')) && !(field && ringed(field))) bare.push(name(e));
	});
	const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
		.filter((e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({visibilityProperty: true}));
	window.went = () => ({
		First: seen.length ? name(seen[0]) : '',
		Missed: all.filter((e) => e.isConnected && !seen.includes(e)).map(name),
		Back: seen.filter((e, i) => i && !(seen[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)).map(name),
		NotOutlined: bare,
	});
	return all.length;
})()`

// On a window of 1440 pixels that is enlarged twice, nothing is beside the window.
func TestZoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	paths := map[string]string{"review": "/reviews/" + s.scanned(t)}
	for name, path := range screens {
		paths[name] = path
	}
	b.run(emulation.SetDeviceMetricsOverride(720, 450, 2, false))
	for name, path := range paths {
		b.open("/o/" + org + path)
		var wide, wider int
		b.run(
			chromedp.Evaluate(`innerWidth`, &wide),
			chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wider),
		)
		require.Equal(t, 720, wide)
		assert.LessOrEqual(t, wider, 0, "%s scrolls sideways", name)
		b.picture("zoom-" + name)
	}
	b.quiet()
}

// moving counts the elements that would move by themselves, or on their way from one
// state to another.
const moving = `[...document.querySelectorAll('*')].flatMap((e) => [null, '::before', '::after'].map((p) => getComputedStyle(e, p)))
	.filter((c) => c.scrollBehavior === 'smooth' || c.animationName !== 'none' && parseFloat(c.animationDuration) > .001 ||
		c.transitionDuration.split(', ').some((d) => parseFloat(d) > .001)).length`

// Nothing moves for people who have told their system so.
func TestReducedMotion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	id := s.review(t, stage.Small)
	for _, size := range []size{desktop, phone} {
		b.resize(size)
		var with, without int
		b.run(emulation.SetEmulatedMedia())
		b.open("/o/" + org + "/reviews/" + id)
		b.run(chromedp.Evaluate(moving, &with))
		assert.Positive(t, with, "it moves for others, or there is nothing to test")
		b.theme("light")
		b.run(chromedp.Evaluate(moving, &without))
		assert.Zero(t, without)
	}
	b.click("[data-menu]")
	var running int
	b.run(chromedp.Evaluate(`document.getAnimations().filter((a) => a.effect.getTiming().duration > 1).length`, &running))
	assert.Zero(t, running)
	b.quiet()
}
