//go:build browser

package browser

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
)

// screens are the paths of all screens below an organization's, by name.
var screens = map[string]string{
	"reviews":          "/reviews",
	"new-review":       "/reviews/new",
	"findings":         "/findings",
	"findings-list":    "/findings?group=list",
	"repositories":     "/repositories",
	"rules":            "/rules",
	"rule":             "/rules/security/no-eval",
	"new-rule":         "/rules/new",
	"trends":           "/trends",
	"keys":             "/settings/keys",
	"members":          "/settings/members",
	"sso-none":         "/settings/sso",
	"go":               "/go?q=e",
	"policy":           "/settings/policy",
	"connections":      "/settings/connections",
	"connection-kinds": "/settings/connections/new",
	"connection-form":  "/settings/connections/new?kind=gitea",
	"webhooks":         "/settings/webhooks",
	"audit":            "/audit",
	"not-found":        "/nothing",
	"bad-filter":       "/reviews?page=nonsense",
}

// Every screen is for everybody, in both themes and on both sizes, while there is
// nothing yet.
func TestAccessEmpty(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.look("setup", s.setUpURL(t))
	b.look("setup-help", "/")
	b.setUp()
	for name, path := range screens {
		b.look("empty-"+name, "/o/"+org+path)
	}
	b.look("account", "/account")
	s.newTab(t).look("sign-in", "/sign-in")
}

// The same with reviews and findings.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	id := s.scanned(t)
	for name, path := range screens {
		b.look(name, "/o/"+org+path)
	}
	for _, state := range []string{"open", "new", "existing", "fixed", "suppressed", "decided", "skipped"} {
		b.look("review-"+state, "/o/"+org+"/reviews/"+id+"?state="+state)
	}
}

// scanned reviews both pull requests of the sample, the small one before and after a
// push, and returns the newest review of it.
func (s *site) scanned(t *testing.T) string {
	t.Helper()
	s.review(t, stage.Number)
	s.review(t, stage.Small)
	require.NoError(t, stage.Push(t.Context(), s.Dir))

	return s.review(t, stage.Small)
}

// review scans a pull request of the sample to its end.
func (s *site) review(t *testing.T, number int) string {
	t.Helper()

	return s.reviewOf(t, stage.Repo, number)
}

// reviewOf scans a pull request to its end.
func (s *site) reviewOf(t *testing.T, repo string, number int) string {
	t.Helper()
	id := s.start(t, repo, number)
	require.Eventually(t, func() bool { return s.read(t, id).Status == "complete" }, 3*patience, tick)

	return id
}

// start has a pull request scanned.
func (s *site) start(t *testing.T, repo string, number int) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"repo": repo, "pr_number": number})
	require.NoError(t, err)
	answer, err := s.api.Call(t.Context(), http.MethodPost, "/v1/reviews", string(body))
	require.NoError(t, err)
	var made struct {
		ReviewID string `json:"review_id"`
	}
	require.NoError(t, json.Unmarshal(answer, &made))

	return made.ReviewID
}

// reviewed is what the API says of a review.
type reviewed struct {
	Status  string
	Verdict struct{ Outcome string }
	Summary map[string]int
	Open    map[string]int
}

func (s *site) read(t *testing.T, id string) (r reviewed) {
	t.Helper()
	answer, err := s.api.Call(t.Context(), http.MethodGet, "/v1/reviews/"+id, "")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(answer, &r))

	return r
}

// A review appears on its page by itself when it is complete, and its findings are
// decided by keys.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	id := s.scanned(t)

	b.open("/o/" + org + "/reviews/" + id)
	cards := b.count(".fd")
	require.Positive(t, cards)
	b.press("j")
	b.run(chromedp.WaitVisible(`.fd.cur`, chromedp.ByQuery))
	before := s.read(t, id)
	b.press("f")
	b.run(chromedp.WaitVisible(`.dec [name=reason]`, chromedp.ByQuery))
	b.fill(`.dec [name=reason]`, "The value is a constant.")
	b.click(`.dec button[name=decision], .dec button:not([type=button])`)
	b.run(chromedp.WaitVisible(`.toast [data-key=u]`, chromedp.ByQuery))
	after := s.read(t, id)
	require.Equal(t, sum(before.Open)-1, sum(after.Open))
	require.Equal(t, before.Summary, after.Summary, "it stays the count of all")

	b.act(chromedp.Focus("main", chromedp.ByQuery))
	b.press("u")
	require.Eventually(t, func() bool { return sum(s.read(t, id).Open) == sum(before.Open) }, patience, tick)
	b.quiet()
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}

	return n
}

// Ctrl K leads to a review by its number, by the keyboard alone.
func TestPalette(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	id := s.review(t, stage.Small)
	b.open("/o/" + org + "/trends")
	b.run(chromedp.KeyEvent("k", chromedp.KeyModifiers(input.ModifierCtrl)))
	b.run(chromedp.WaitVisible(`#palette #went a`, chromedp.ByQuery))
	b.accessible("palette")
	b.picture("palette")
	b.run(chromedp.KeyEvent("#" + strconv.Itoa(stage.Small)))
	b.run(chromedp.WaitVisible(`#palette #went a[href$="`+id+`"]`, chromedp.ByQuery))
	b.run(chromedp.WaitNotPresent(`#palette #went a[href$="/trends"]`, chromedp.ByQuery))
	b.press(kb.Enter)
	b.run(chromedp.WaitVisible(`#review`, chromedp.ByQuery))

	// Enter before there is an answer doesn't lead where the list before leads.
	b.run(chromedp.KeyEvent("k", chromedp.KeyModifiers(input.ModifierCtrl)))
	b.run(chromedp.WaitVisible(`#palette #went a[href$="/findings"]`, chromedp.ByQuery))
	b.run(chromedp.KeyEvent("trends" + kb.Enter))
	b.run(chromedp.WaitNotPresent(`#review`, chromedp.ByQuery))
	var at string
	b.run(chromedp.Location(&at))
	assert.Regexp(t, `/(go\?q=trends|trends)$`, at)
	b.quiet()
}

// A list says that there is a new review, and shows it when asked to.
func TestNewReviews(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	s.review(t, stage.Number)
	b.open("/o/" + org + "/reviews")
	require.Equal(t, 1, b.count(".row"))
	b.act(chromedp.Focus(`.row .t`, chromedp.ByQuery))
	s.review(t, stage.Small)
	b.sees("1 new review")
	assert.Equal(t, 1, b.count(".row .t:focus"), "the row was loaded again")
	assert.Equal(t, 1, b.count(".row"), "the rows stay")
	b.click(".fresh")
	b.run(chromedp.WaitNotPresent(".fresh", chromedp.ByQuery))
	assert.Equal(t, 2, b.count(".row"))
	b.quiet()
}

// Going back shows the list as it was before the search, and a link within a page loads
// nothing.
func TestBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newTab(t)
	b.setUp()
	s.review(t, stage.Small)
	b.open("/o/" + org + "/reviews")
	b.fill(`#q`, "nothing has this")
	b.act(chromedp.Submit(`#q`, chromedp.ByQuery))
	b.run(chromedp.WaitNotPresent(`.row`, chromedp.ByQuery))
	b.run(chromedp.Evaluate(`location.hash = 'main'`, nil))
	assert.Zero(t, b.count(".row"))
	b.run(chromedp.Evaluate(`history.go(-2)`, nil))
	b.run(chromedp.WaitVisible(`.row`, chromedp.ByQuery))
	b.quiet()
}
