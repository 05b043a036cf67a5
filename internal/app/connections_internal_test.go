package app

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/seal"
)

// TestNewSealer holds where the key is that seals secrets.
func TestNewSealer(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
	env := func(name string) string { return map[string]string{"KEY": key}[name] }
	seals := func(c config.Config) error {
		s, err := newSealer(c, env, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			return err
		}
		_, err = s.Seal([]byte("secret"), "row")

		return err
	}

	c, file := config.Default(), filepath.Join(t.TempDir(), "prwarden.db")
	c.Database = "postgres://prwarden@db/prwarden"
	require.ErrorIs(t, seals(c), seal.ErrNoKey, "none is made for servers that share a database")
	c.SecretKeys = []seal.Source{{Name: "k1", Env: "KEY"}}
	require.NoError(t, seals(c))
	c.SecretKeys[0].Env = "NONE"
	require.ErrorContains(t, seals(c), "the variable NONE")

	c.Database = "sqlite:" + file
	require.ErrorContains(t, seals(c), "the variable NONE", "a key that was named is not replaced by another")
	assert.NoFileExists(t, seal.FileOf(file))
	assert.Empty(t, log.String())
	c.SecretKeys = nil
	require.NoError(t, seals(c))
	made, err := os.ReadFile(seal.FileOf(file))
	require.NoError(t, err)
	assert.Contains(t, log.String(), seal.FileOf(file))
	assert.NotContains(t, log.String(), string(bytes.TrimSpace(made)))
}
