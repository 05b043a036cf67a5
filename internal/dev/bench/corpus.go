package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// What a scan leaves out, wholly or in part. Other programs do not, so these files are no part of a comparison.
const (
	maxFile = 1 << 20
	maxLine = 16 << 10
	sniffed = 8000 // bytes in which a NUL makes a file binary
)

// copyCorpus copies about size bytes of the files below folders into dir: always the same random ones.
func copyCorpus(dir string, folders []string, size int) (files, copied int, err error) {
	var all []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && entry.Type().IsRegular() {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	for _, path := range all {
		if copied >= size {
			break
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, 0, err
		}
		if !scannedWhole(text) {
			continue
		}

		// The name keeps its ending, by which rules choose files.
		to := filepath.Join(dir, fmt.Sprint(files/1000), fmt.Sprintf("%d-%s", files, filepath.Base(path)))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return 0, 0, err
		}
		files++
		copied += len(text)
	}
	if files == 0 {
		return 0, 0, errors.New("the corpus has no text")
	}
	return files, copied, nil
}

// scannedWhole says whether a scan looks at every byte of a file.
func scannedWhole(text []byte) bool {
	if len(text) == 0 || len(text) > maxFile || bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return false
		}
	}
	return true
}
