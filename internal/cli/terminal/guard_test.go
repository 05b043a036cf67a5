package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

func TestGuardLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                         "",
		"main.go:3: std::move":     "main.go:3: std::move",
		"::error title=x::many":    `\x3a:error title=x::many`,
		"  ::stop-commands::x\n":   "  \\x3a:stop-commands::x\n",
		"a ##[add-mask]b ##[c]":    `a ##\x5badd-mask]b ##\x5bc]`,
		"##vso[task.complete]":     `##vso\x5btask.complete]`,
		"x ##teamcity[testFailed]": `x ##teamcity\x5btestFailed]`,
		"##octopus[stdout-none]":   `##octopus\x5bstdout-none]`,
		"##[##vso[###[":            `##\x5b##vso\x5b###\x5b`,
		"##x_1[a]":                 `##x_1\x5ba]`,
		"##a##b[c":                 `##a##b\x5bc`,
		"## [a] #[b] ##a-b[c]":     "## [a] #[b] ##a-b[c]",
	} {
		assert.Equal(t, want, terminal.GuardLine(line))
	}
}

func TestGuardLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "one\n\\x3a:error::two\n\nthree ##\\x5bgroup]\n",
		terminal.GuardLines("one\n::error::two\n\nthree ##[group]\n"))
	assert.Empty(t, terminal.GuardLines(""))
}

func TestEscapeMarks(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a[0] ##vso&#91;x] ##&#91;y]", terminal.EscapeMarks("a[0] ##vso[x] ##[y]", "&#91;"))
	assert.Equal(t, "a[0] #[x]", terminal.EscapeMarks("a[0] #[x]", "&#91;"))
}

// FuzzGuardLine: no line is a command, and what is not escaped is as it was.
func FuzzGuardLine(f *testing.F) {
	for _, seed := range []string{
		"", "  ::error::x", "##[add-mask]", "a ##vso[task.x]y", "##teamcity[##[", "####x[", ":: ::",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := terminal.Safe(text)
		got := terminal.GuardLine(line)
		assert.False(t, strings.HasPrefix(strings.TrimSpace(got), "::"), got)
		for _, mark := range []string{"##[", "##vso[", "##teamcity[", "##octopus["} {
			assert.NotContains(t, got, mark)
		}
		if !strings.Contains(line, `\x`) {
			assert.Equal(t, line, strings.NewReplacer(`\x3a`, ":", `\x5b`, "[").Replace(got))
		}
	})
}
