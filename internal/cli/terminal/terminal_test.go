package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

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
	in := "{\n  \"file\": \"a\u009bb\u202ec\U000e0001d\u2028é ##[add-mask] ##vso[task.x]\"\n}"
	out := terminal.SafeJSON([]byte(in))
	assert.NotContains(t, out, "\u009b")
	assert.NotContains(t, out, "\u202e")
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
}

func TestWidth(t *testing.T) {
	t.Parallel()
	var notATerminal strings.Builder
	assert.Equal(t, terminal.DefaultWidth, terminal.Width(&notATerminal, ""))
	assert.Equal(t, 132, terminal.Width(&notATerminal, "132"))
	assert.Equal(t, 40, terminal.Width(&notATerminal, "3"))
	assert.Equal(t, terminal.DefaultWidth, terminal.Width(&notATerminal, "wide"))
	assert.False(t, terminal.Is(&notATerminal))
}

// FuzzWrap: what is printed is safe, fits, and loses nothing but white space.
func FuzzWrap(f *testing.F) {
	for _, seed := range []string{
		"", "one two three", "日本語 日本語", "\x1b[31mred", "e\u0301\u0301", "\xff", strings.Repeat("x", 300),
	} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, text string, columns int) {
		if columns < 2 || columns > 1000 {
			return
		}
		safe := terminal.Safe(text)
		if !utf8.ValidString(safe) || strings.ContainsAny(safe, "\x1b\r\n\t\x00\u202e\u009b") {
			t.Fatalf("%q is not safe", safe)
		}
		lines := terminal.Wrap(safe, columns)
		for _, line := range lines {
			if n := terminal.Columns(line); n > columns {
				t.Fatalf("%q has %d columns", line, n)
			}
		}
		got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.Join(strings.Fields(safe), "")
		if got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}
