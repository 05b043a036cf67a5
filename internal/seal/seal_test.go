package seal_test

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/seal"
)

const (
	row    = "connections/acme/con_a"
	secret = "a token that nobody may read"
)

// newKey is the text of a key.
func newKey() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b)

	return base64.StdEncoding.EncodeToString(b)
}

// sealer has the keys of the names.
func sealer(t *testing.T, keys map[string]string, names ...string) *seal.Sealer {
	t.Helper()
	sources := make([]seal.Source, len(names))
	for i, name := range names {
		sources[i] = seal.Source{Name: name, Env: name}
	}
	require.Empty(t, seal.Validate(sources))
	s, err := seal.Load(sources, func(name string) string { return keys[name] })
	require.NoError(t, err)

	return s
}

func TestSeal(t *testing.T) {
	t.Parallel()
	s := sealer(t, map[string]string{"k1": newKey()}, "k1")
	for _, text := range []string{"", secret, strings.Repeat("x", 1<<16)} {
		stored, err := s.Seal([]byte(text), row)
		require.NoError(t, err)
		again, err := s.Seal([]byte(text), row)
		require.NoError(t, err)
		assert.NotEqual(t, stored, again, "each has a data key and nonces of its own")
		if text != "" {
			assert.NotContains(t, string(stored), text)
		}

		got, err := s.Open(stored, row)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
		for _, other := range []string{"", "connections/acme/con_b", "connections/other/con_a", row + " "} {
			_, err := s.Open(stored, other)
			require.Error(t, err, other)
			_, _, err = s.Reseal(stored, other)
			require.Error(t, err, other)
		}
	}
}

func TestEveryFlipIsRefused(t *testing.T) {
	t.Parallel()
	s := sealer(t, map[string]string{"k1": newKey()}, "k1")
	stored, err := s.Seal([]byte(secret), row)
	require.NoError(t, err)
	spellings := 0
	for i := range len(stored) * 8 {
		flipped := slices.Clone(stored)
		flipped[i/8] ^= 1 << (i % 8)
		got, err := s.Open(flipped, row)
		if err == nil { // another spelling of the same: the case of a field's name, the last bits of base64
			assert.Equal(t, secret, string(got))
			spellings++
			continue
		}
		assert.NotContains(t, err.Error(), secret)
		assert.Empty(t, got)
	}
	assert.Less(t, spellings, 30)
}

func TestRotation(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"k1": newKey(), "k2": newKey()}
	old := sealer(t, keys, "k1")
	stored, err := old.Seal([]byte(secret), row)
	require.NoError(t, err)

	both := sealer(t, keys, "k2", "k1")
	got, err := both.Open(stored, row)
	require.NoError(t, err)
	assert.Equal(t, secret, string(got))
	moved, changed, err := both.Reseal(stored, row)
	require.NoError(t, err)
	assert.True(t, changed)
	same, changed, err := both.Reseal(moved, row)
	require.NoError(t, err)
	assert.False(t, changed)
	assert.Equal(t, moved, same)

	alone := sealer(t, keys, "k2")
	got, err = alone.Open(moved, row)
	require.NoError(t, err)
	assert.Equal(t, secret, string(got))
	_, err = alone.Open(stored, row)
	require.EqualError(t, err, `the key "k1", which sealed it, is missing`)
	_, err = old.Open(moved, row)
	require.EqualError(t, err, `the key "k2", which sealed it, is missing`)

	keys["k1"] = newKey()
	_, err = sealer(t, keys, "k1").Open(stored, row)
	require.EqualError(t, err, `the key "k1" is not the one that sealed it, or it is damaged`)
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	_, err := seal.New().Seal([]byte(secret), row)
	require.ErrorIs(t, err, seal.ErrNoKey)
	_, _, err = seal.New().Reseal(nil, row)
	require.ErrorIs(t, err, seal.ErrNoKey)
	for _, stored := range []string{"", "{}", "null", `{"key":"k1"}`, "[]"} {
		_, err := seal.New().Open([]byte(stored), row)
		require.Error(t, err, stored)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	key, dir := newKey(), t.TempDir()
	file := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
	lookup := func(name string) string { return map[string]string{"BAD": "c2hvcnQ=", "GOOD": key}[name] }
	s, err := seal.Load([]seal.Source{{Name: "a", File: file}}, lookup)
	require.NoError(t, err)
	stored, err := s.Seal([]byte(secret), row)
	require.NoError(t, err)
	byEnv, err := seal.Load([]seal.Source{{Name: "a", Env: "GOOD"}}, lookup)
	require.NoError(t, err)
	_, err = byEnv.Open(stored, row)
	require.NoError(t, err, "it is the same key wherever it comes from")

	const form = " must be 32 random bytes in base64, as `openssl rand -base64 32` prints them"
	for name, tt := range map[string]struct {
		source seal.Source
		want   string
	}{
		"not set":   {seal.Source{Name: "a", Env: "NONE"}, `the key "a" in the variable NONE` + form},
		"too short": {seal.Source{Name: "a", Env: "BAD"}, `the key "a" in the variable BAD` + form},
		"no file":   {seal.Source{Name: "a", File: filepath.Join(dir, "none")}, `the key "a" can't be read: open `},
	} {
		_, err := seal.Load([]seal.Source{tt.source}, lookup)
		require.ErrorContains(t, err, tt.want, name)
		assert.NotContains(t, err.Error(), "c2hvcnQ=", name)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	fields := func(sources ...seal.Source) (out []string) {
		for _, v := range seal.Validate(sources) {
			out = append(out, v.Field)
		}

		return out
	}
	assert.Empty(t, fields(seal.Source{Name: "k2", Env: "A"}, seal.Source{Name: "k1", File: "/f"}))
	assert.Equal(t, []string{"keys[0].name"}, fields(seal.Source{Name: "K 1", Env: "A"}))
	assert.Equal(t, []string{"keys[0].env", "keys[1].name", "keys[1].env"},
		fields(seal.Source{Name: "a"}, seal.Source{Name: "a", Env: "A", File: "/f"}))
}

// The file of a key is made once, whoever needs it first.
func TestBeside(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "prwarden.db")
	var mu sync.Mutex
	var told []string
	beside := func() *seal.Sealer {
		return seal.Beside(database, func(file string) { mu.Lock(); told = append(told, file); mu.Unlock() })
	}
	early := beside()
	_, err := early.Open([]byte(`{"key":"file-1"}`), row)
	require.ErrorContains(t, err, "is missing")
	assert.NoFileExists(t, seal.FileOf(database), "to look makes none")

	var all sync.WaitGroup
	stored := make([][]byte, 8)
	for i := range stored {
		all.Go(func() { stored[i], _ = beside().Seal([]byte(secret), row) })
	}
	all.Wait()
	for i := range stored {
		for _, s := range []*seal.Sealer{early, beside()} {
			got, err := s.Open(stored[i], row)
			require.NoError(t, err)
			assert.Equal(t, secret, string(got))
		}
	}
	assert.Equal(t, []string{database + ".key"}, told)
	info, err := os.Stat(database + ".key")
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // it has no such bits; the folder's rights hold
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}
	named := sealer(t, map[string]string{"k1": newKey()}, "k1").Or(database)
	got, err := named.Open(stored[0], row)
	require.NoError(t, err, "named keys came later")
	assert.Equal(t, secret, string(got))
	moved, changed, err := named.Reseal(stored[0], row)
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Contains(t, string(moved), `"key":"k1"`)
	entries, err := os.ReadDir(filepath.Dir(database))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside it")

	require.NoError(t, os.Remove(database+".key"))
	_, err = beside().Open(stored[0], row)
	require.ErrorContains(t, err, "is missing")
	later, err := beside().Seal([]byte(secret), row)
	require.NoError(t, err)
	_, err = beside().Open(stored[0], row)
	require.ErrorContains(t, err, "is missing", "the new key is not taken for the lost one")
	_, err = beside().Open(later, row)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(database+".key", []byte("nonsense"), 0o600))
	_, err = beside().Seal([]byte(secret), row)
	require.ErrorContains(t, err, "must be 32 random bytes", "a damaged file is not replaced")
}
