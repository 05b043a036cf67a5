package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

func TestColors(t *testing.T) {
	t.Parallel()
	var notATerminal strings.Builder
	for name, tt := range map[string]struct {
		when string
		env  map[string]string
		want bool
	}{
		"no terminal":          {terminal.ColorAuto, nil, false},
		"always":               {terminal.ColorAlways, nil, true},
		"always, NO_COLOR":     {terminal.ColorAlways, map[string]string{"NO_COLOR": "1"}, true},
		"never":                {terminal.ColorNever, map[string]string{"CLICOLOR_FORCE": "1"}, false},
		"forced":               {terminal.ColorAuto, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"not forced":           {terminal.ColorAuto, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		"NO_COLOR wins":        {terminal.ColorAuto, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		"an empty NO_COLOR":    {terminal.ColorAuto, map[string]string{"NO_COLOR": "", "CLICOLOR_FORCE": "1"}, true},
		"forced on a dumb one": {terminal.ColorAuto, map[string]string{"TERM": "dumb", "CLICOLOR_FORCE": "1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, terminal.Colors(&notATerminal, tt.when, func(name string) string { return tt.env[name] }))
		})
	}
}

func TestPainter(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "\x1b[1;31mbad\x1b[0m", terminal.Painter(true).Text(terminal.Bad, "bad"))
	assert.Equal(t, "bad", terminal.Painter(false).Text(terminal.Bad, "bad"))
	assert.Empty(t, terminal.Painter(true).Text(terminal.Bad, ""))
}

func TestCut(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "abc", terminal.Cut("abc", 3))
	assert.Equal(t, "ab…", terminal.Cut("abcd", 3))
	assert.Equal(t, "日…", terminal.Cut("日本語", 4), "half a character is none")
	assert.Equal(t, "…", terminal.Cut("abc", 1))
}
