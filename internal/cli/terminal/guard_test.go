package terminal_test

import (
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
		"## [a] #[b]":              "## [a] #[b]",
	} {
		assert.Equal(t, want, terminal.GuardLine(line))
	}
}

func TestGuardLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "one\n\\x3a:error::two\n\nthree ##\\x5bgroup]\n", terminal.GuardLines("one\n::error::two\n\nthree ##[group]\n"))
	assert.Empty(t, terminal.GuardLines(""))
}
