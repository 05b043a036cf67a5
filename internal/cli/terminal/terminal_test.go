package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

func TestSafe(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text":        "plain text",
		"日本語 é":             "日本語 é",
		"\x1b[2Jgone":       `\x1b[2Jgone`,
		"a\rb\nc\td":        `a\rb\nc\td`,
		"\u009b31m":         `\u009b31m`,
		"abc\u202edcba":     `abc\u202edcba`,
		"zero\u200bwidth":   `zero\u200bwidth`,
		"a\ufe0fb\u3164":    `a\ufe0fb\u3164`,
		"bad\xff\xfebyte":   `bad\xff\xfebyte`,
		"replaced \uFFFD":   "replaced \uFFFD",
		"bell\a and \x00\\": `bell\a and \x00\`,
		"\U000e0001tag":     `\U000e0001tag`,
	} {
		assert.Equal(t, want, terminal.Safe(in))
	}
}

func TestSafeJSON(t *testing.T) {
	t.Parallel()
	in := "{\n  \"file\": \"a\u009bb\u202e\ufe0fc\U000e0001d\u2028é ##[add-mask] ##vso[task.x]\"\n}"
	out := terminal.SafeJSON([]byte(in))
	assert.NotContains(t, out, "\u009b")
	assert.NotContains(t, out, "\u202e")
	assert.NotContains(t, out, "\ufe0f")
	assert.Contains(t, out, "é")
	assert.Contains(t, out, `##\u005badd-mask] ##vso\u005btask.x]`)
	var before, after map[string]string
	require.NoError(t, json.Unmarshal([]byte(in), &before))
	require.NoError(t, json.Unmarshal([]byte(out), &after))
	assert.Equal(t, before, after)
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 10, []string{""}},
		{"one two three", 9, []string{"one two", "three"}},
		{"one two three", 100, []string{"one two three"}},
		{"abcdefghijkl", 5, []string{"abcde", "fghij", "kl"}},
		{"a abcdefghijkl", 5, []string{"a", "abcde", "fghij", "kl"}},
		{"日本語 日本語", 6, []string{"日本語", "日本語"}},
		{"日本語", 5, []string{"日本", "語"}},
	}

	for _, tt := range tests {
		assert.Equal(t, tt.want, terminal.Wrap(tt.text, tt.columns), "%q in %d", tt.text, tt.columns)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 3, terminal.Columns("abc"))
	assert.Equal(t, 6, terminal.Columns("日本語"))
	assert.Equal(t, 1, terminal.Columns("e\u0301"), "a combining mark takes no column")
	assert.Equal(t, "日本  |", terminal.Pad("日本", 6)+"|")
	assert.Equal(t, "long|", terminal.Pad("long", 2)+"|")
	assert.Equal(t, "ab…", terminal.Cut("abcd", 3))
	assert.Equal(t, "日…", terminal.Cut("日本語", 4), "half a character is none")
}

func TestWidth(t *testing.T) {
	t.Parallel()
	var notATerminal strings.Builder
	for columns, want := range map[string]int{
		"": terminal.DefaultWidth, "132": 132, "3": 40, "wide": terminal.DefaultWidth,
	} {
		assert.Equal(t, want, terminal.Width(&notATerminal, columns), columns)
	}

	assert.False(t, terminal.Is(&notATerminal))
}

func TestColors(t *testing.T) {
	t.Parallel()
	var notATerminal strings.Builder
	for name, tt := range map[string]struct {
		when string
		env  map[string]string
		want bool
	}{
		"no terminal":      {terminal.ColorAuto, nil, false},
		"always":           {terminal.ColorAlways, nil, true},
		"always, NO_COLOR": {terminal.ColorAlways, map[string]string{"NO_COLOR": "1"}, true},
		"never":            {terminal.ColorNever, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, terminal.Colors(&notATerminal, tt.when, func(name string) string { return tt.env[name] }))
		})
	}
}

func TestGuardLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                       "",
		"main.go:3: std::move":   "main.go:3: std::move",
		"::error title=x::many":  `\x3a:error title=x::many`,
		"  ::stop-commands::x\n": "  \\x3a:stop-commands::x\n",
		"a ##[add-mask]b ##[c]":  `a ##\x5badd-mask]b ##\x5bc]`,
		"##vso[task.complete]":   `##vso\x5btask.complete]`,
		"##octopus[stdout-none]": `##octopus\x5bstdout-none]`,
		"##x_1[a]":               `##x_1\x5ba]`,
		"##a##b[c":               `##a##b\x5bc`,
		"## [a] #[b] ##a-b[c]":   "## [a] #[b] ##a-b[c]",
	} {
		assert.Equal(t, want, terminal.GuardLine(line))
	}
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
