package main

import (
	"bytes"
	"compress/flate"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match/ngram"
)

var update = flag.Bool("update", false, "write the golden table")

func tree(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return m
}

func TestGatherTakesDifferentTextFiles(t *testing.T) {
	t.Parallel()
	first := tree(map[string]string{
		"b.go":            "package b",
		"a/a.GO":          "package a",
		"a/copy.go":       "package b",
		"a/empty.go":      "",
		"a/large.go":      strings.Repeat("x", maxFile+1),
		"a/limit.txt":     strings.Repeat("y", maxFile),
		"image.png":       "\x89PNG\x00",
		"late.bin":        strings.Repeat("z", sniffed) + "\x00",
		"picture.svg":     "<svg/>",
		"Makefile":        "all:",
		".git/config":     "[core]",
		"sub/.gitignore":  "*.o",
		"sub/.git/x/y.go": "package y",
	})
	first["link.go"] = &fstest.MapFile{Data: []byte("b.go"), Mode: fs.ModeSymlink | 0o777}
	second := tree(map[string]string{"c.go": "package c", "b.go": "package b", ".git": "gitdir: elsewhere"})

	c, err := gather([]fs.FS{first, second}, []string{".svg"})
	require.NoError(t, err)
	var paths []string
	for _, f := range c.files {
		paths = append(paths, f.path)
	}
	assert.Equal(t, []string{"Makefile", "a/a.GO", "a/copy.go", "a/limit.txt", "late.bin", "sub/.gitignore", "c.go"},
		paths)
	assert.Equal(t, map[string]int64{"": 4, ".go": 27, ".txt": maxFile, ".bin": sniffed + 1, ".gitignore": 3}, c.size)
}

func TestNoKindCountsForMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	c, err := gather([]fs.FS{tree(map[string]string{"a.go": strings.Repeat("a", 300), "b.go": strings.Repeat("b", 100),
		"c.py": "c"})}, nil)
	require.NoError(t, err)
	bytes := map[string]float64{}
	for _, f := range c.files {
		bytes[f.kind] += float64(f.size) * c.weight(f, 200)
	}
	assert.Equal(t, map[string]float64{".go": 200, ".py": 1}, bytes)
}

// The table of testdata/tree is testdata/tree.bin: neither counting nor the
// format changes unseen. `go test -update` writes it anew.
func TestTrainingGivesTheGoldenTable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "table.bin")
	var out bytes.Buffer
	require.NoError(t, run([]string{"-o", file, "-rarest", "200", "-corrections", "300", "testdata/tree"}, &out))
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `^3 files, table of \d+ bytes\n$`, out.String())
	golden := filepath.Join("testdata", "tree.bin")
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(inflate(t, want), inflate(t, got)), "the table is another: %d bytes, %d before", len(got),
		len(want))
}

// inflate returns what is in a table's file: releases of Go may deflate it in
// different ways.
func inflate(t *testing.T, file []byte) []byte {
	const header = 7
	require.Greater(t, len(file), header)
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(file[header:])))
	require.NoError(t, err)
	return append(file[:header:header], body...)
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"."}, {"-o", "x"}} {
		require.ErrorContains(t, run(args, &bytes.Buffer{}), "give -o FILE", args)
	}
	require.Error(t, run([]string{"-o", "x", filepath.Join(t.TempDir(), "absent")}, &bytes.Buffer{}))
	_, err := train(&corpus{}, 1, ngram.Size{})
	require.ErrorContains(t, err, "nothing was counted")
}
