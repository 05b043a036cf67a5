package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
)

// The units in docs/operations start commands that there are.
func TestUnits(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob("../../docs/operations/*.service")
	require.NoError(t, err)
	require.Len(t, units, 2)
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		require.NoError(t, err)
		_, line, found := strings.Cut(string(text), "\nExecStart=/usr/local/bin/prwarden ")
		require.True(t, found, unit)
		line, _, _ = strings.Cut(line, "\n")
		cmd, args, err := newRoot(cli.Streams{}).Find(strings.Fields(line))
		require.NoError(t, err, unit)
		require.True(t, cmd.HasParent(), unit)
		require.NoError(t, cmd.ParseFlags(args), unit)
		assert.Empty(t, cmd.Flags().Args(), unit)
	}
}
