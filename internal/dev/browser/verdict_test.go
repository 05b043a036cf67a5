//go:build browser

package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gate is the exit status of `prwarden review` for a pull request.
func (s *site) gate(t *testing.T, repo, number string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.Binary, "review", repo, number, "--server", s.url)
	cmd.Env = append(os.Environ(), "PRWARDEN_API_KEY="+s.api.Token)
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err, string(out))
	}

	return cmd.ProcessState.ExitCode()
}

// A decision by a key changes the verdict on the page and the exit status in CI, and its
// undo changes both back.
func TestVerdictFollowsKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	makeMany(t, filepath.Join(s.Dir, "repos", "acme", "one.git"), 1, 1)
	b := s.newTab(t)
	b.setUp()
	require.Equal(t, 1, s.gate(t, "acme/one", "1"))
	id := s.reviewOf(t, "acme/one", 1) // decisions change the newest review of a pull request

	b.open("/o/" + org + "/reviews/" + id)
	assert.Contains(t, b.text("#verdict"), "Fails at")
	decide := func() {
		t.Helper()
		b.press("j")
		b.run(chromedp.WaitVisible(`.fd.cur`, chromedp.ByQuery))
		b.press("w")
		b.run(chromedp.WaitVisible(`.dec [name=reason]`, chromedp.ByQuery))
		b.fill(`.dec [name=reason]`, "The code goes away.")
		b.click(`.dec button:not([type=button])`)
		b.sees("Passes at")
		assert.Equal(t, "pass", s.read(t, id).Verdict.Outcome)
		b.act(chromedp.Focus("main", chromedp.ByQuery))
	}
	decide()
	b.press("u")
	b.sees("Fails at")
	assert.Equal(t, "fail", s.read(t, id).Verdict.Outcome)

	decide()
	assert.Equal(t, 0, s.gate(t, "acme/one", "1"))
	b.press("u")
	require.Eventually(t, func() bool { return s.gate(t, "acme/one", "1") == 1 }, patience, tick)
	b.quiet()
}
