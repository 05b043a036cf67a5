package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, run(dir, false))

	first := read(t, dir)
	for _, path := range []string{
		"buf/validate/validate.proto",
		"google/api/annotations.proto",
		"google/api/field_behavior.proto",
		"google/api/http.proto",
		"google/rpc/error_details.proto",
		"google/rpc/status.proto",
		"protoc-gen-openapiv2/options/annotations.proto",
		"protoc-gen-openapiv2/options/openapiv2.proto",
	} {
		assert.Contains(t, first, path)
	}
	assert.NotContains(t, first, "google/protobuf/descriptor.proto")

	require.NoError(t, run(dir, false))
	assert.Equal(t, first, read(t, dir), "a second run changes nothing")

	require.NoError(t, run(dir, true))
	all := read(t, dir)
	assert.Contains(t, all, "google/protobuf/descriptor.proto")
	assert.Contains(t, all, "google/protobuf/timestamp.proto")
}

// read returns the text of every file below dir by its path.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	}))
	return files
}
