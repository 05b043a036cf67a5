//go:build browser

package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/program"
)

// patience bounds every wait; it is only reached when something is broken. tick is how
// often what has no signal is looked at.
const (
	patience = 20 * time.Second
	tick     = 20 * time.Millisecond
)

var (
	binary   string          // the program under test
	chromium context.Context // all tests have tabs of one browser
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, remove, err := program.Build("./cmd/prwarden")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	binary = filepath.Join(dir, "prwarden")

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(os.Getenv("CHROMIUM")), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-color-profile", "srgb"),
	)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	var closeAll context.CancelFunc
	chromium, closeAll = chromedp.NewContext(allocator)
	defer closeAll()
	if err := chromedp.Run(chromium); err != nil {
		fmt.Fprintln(os.Stderr, "Chromium can't be started:", err)
		return 1
	}

	return m.Run()
}

// site is a running server with the sample repository.
type site struct {
	*program.Installation
	server *program.Process
	url    string // http://HOST:PORT
	api    program.Client
}

const (
	org      = "demo"
	password = "quiet river marble lamp"
	owner    = "ada@example.com"
)

// newSite starts a server for the sample repository, with more arguments. Nobody has
// signed in there.
func newSite(t *testing.T, args ...string) *site {
	t.Helper()
	dir := t.TempDir()
	i, err := stage.Install(t.Context(), binary, dir)
	require.NoError(t, err)
	require.NoError(t, stage.MakeRepository(t.Context(), dir))

	return serve(t, i, args...)
}

func serve(t *testing.T, i *program.Installation, args ...string) *site {
	t.Helper()
	server, err := i.Serve(context.Background(), args...) // the test ends it
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	key, err := i.Key(t.Context(), org)
	require.NoError(t, err)

	s := &site{Installation: i, server: server, url: "http://" + server.HTTP}
	s.api = program.Client{URL: s.url, Token: key}

	return s
}

var setUpAddress = regexp.MustCompile(`"url":"([^"]*/setup\?token=[^"]*)"`)

// setUpURL is where the log says that the first user is made.
func (s *site) setUpURL(t *testing.T) string {
	t.Helper()
	found := setUpAddress.FindStringSubmatch(s.server.Log())
	require.NotNil(t, found, s.server.Log())

	return found[1]
}

// tab is a tab of the browser, and what it complained about.
type tab struct {
	t    *testing.T
	ctx  context.Context
	site *site

	mu         sync.Mutex
	complaints []string
}

// size is that of a window, in CSS pixels.
type size struct {
	width, height int64
	phone         bool
}

var (
	desktop = size{1440, 900, false}
	phone   = size{390, 844, true}
)

// newTab opens a tab with cookies of its own.
func (s *site) newTab(t *testing.T) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	limited, stop := context.WithTimeout(ctx, 30*patience)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: limited, site: s}
	chromedp.ListenTarget(limited, b.hear)
	require.NoError(t, chromedp.Run(limited)) // the tab ends with the context of the first run
	b.run(log.Enable(), runtime.Enable(), page.Enable())
	b.resize(desktop)

	return b
}

// hear keeps errors of the console, of scripts, and violations of the content policy.
func (b *tab) hear(event any) {
	var text string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// An answer of 4xx is what some tests ask for.
		if e.Entry.Level == log.LevelError && e.Entry.Source != log.SourceNetwork {
			text = string(e.Entry.Source) + ": " + e.Entry.Text
		}
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeAssert {
			text = fmt.Sprint("console: ", e.Args)
		}
	}
	if text != "" {
		b.mu.Lock()
		b.complaints = append(b.complaints, text)
		b.mu.Unlock()
	}
}

// quiet fails when the browser complained.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.complaints)
	b.complaints = nil
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var where, text string
		_ = chromedp.Run(b.ctx, chromedp.Location(&where), chromedp.Evaluate(`document.body.innerText.slice(0, 2000)`, &text))
		require.NoError(b.t, err, "at %s:\n%s", where, text)
	}
}

// act does something to an element. A page that is live may put another in its place
// between finding and using it; then it is looked for again.
func (b *tab) act(action chromedp.Action) {
	b.t.Helper()
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			err := action.Do(ctx)
			if err == nil || !strings.Contains(err.Error(), "Could not find node with given id") {
				return err
			}
		}
	}))
}

func (b *tab) resize(s size) {
	b.run(emulation.SetDeviceMetricsOverride(s.width, s.height, 1, s.phone))
}

// theme has the system say that it is dark or light.
func (b *tab) theme(name string) {
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

// withoutScript has pages run none.
func (b *tab) withoutScript() { b.run(emulation.SetScriptExecutionDisabled(true)) }

// open goes to a path of the site and waits until it is there.
func (b *tab) open(path string) {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.site.url + path
	}
	b.run(chromedp.Navigate(path), chromedp.WaitReady("main"))
}

// text is what stands in the first element of a selector.
func (b *tab) text(selector string) (text string) {
	b.t.Helper()
	b.act(chromedp.Text(selector, &text, chromedp.ByQuery))

	return text
}

// sees waits until a text is on the page. A navigation on the way is no failure.
func (b *tab) sees(text string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		var there bool
		err := chromedp.Run(b.ctx, chromedp.Evaluate(
			fmt.Sprintf(`!!document.body && document.body.innerText.includes(%q)`, text), &there))

		return err == nil && there
	}, patience, tick, "%q is not on the page", text)
}

func (b *tab) count(selector string) (n int) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`document.querySelectorAll(%q).length`, selector), &n))

	return n
}

// fill writes into a field, and click presses.
func (b *tab) fill(selector, value string) {
	b.t.Helper()
	b.act(chromedp.SetValue(selector, value, chromedp.ByQuery))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.act(chromedp.Click(selector, chromedp.ByQuery))
}

// press presses a key.
func (b *tab) press(key string) {
	b.t.Helper()
	b.run(chromedp.KeyEvent(key))
}

// setUp makes the first user, by the page, who is then signed in.
func (b *tab) setUp() {
	b.t.Helper()
	b.open(b.site.setUpURL(b.t))
	b.fill(`[name=email]`, owner)
	b.fill(`[name=name]`, "Ada Lovelace")
	b.fill(`[name=password]`, password)
	b.fill(`[name=organization]`, org)
	b.click(`form[action="/setup"] button`)
	b.run(chromedp.WaitVisible(`.side`, chromedp.ByQuery))
}

// signIn signs in as somebody.
func (b *tab) signIn(email, password string) {
	b.t.Helper()
	b.open("/sign-in")
	b.fill(`[name=email]`, email)
	b.fill(`[name=password]`, password)
	b.click(`form[action="/sign-in"] button`)
	b.run(chromedp.WaitVisible(`.side`, chromedp.ByQuery))
}
