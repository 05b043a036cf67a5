package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readRaw reads the output of `git diff-tree --raw -z`, of most files at most.
func readRaw(r *bufio.Reader, most int) ([]changedFile, error) {
	var files []changedFile
	for {
		meta, err := readNUL(r)
		if errors.Is(err, io.EOF) && meta == "" {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("git: raw diff: %w", err)
		}
		f, err := parseMeta(meta)
		if err != nil {
			return nil, err
		}

		paths := 1
		if f.status == 'R' {
			paths = 2 // what it was, what it is
		}
		for i := range paths {
			if f.path, err = readNUL(r); err != nil {
				return nil, fmt.Errorf("git: raw diff: %w", err)
			}
			if i == 0 {
				f.oldPath = f.path
			}
		}
		if err := checkPath(f.path); err != nil {
			return nil, err
		}
		if files = append(files, f); len(files) > most {
			return nil, tooLarge("The pull request changes more than %d files.", most)
		}
	}
}

// parseMeta reads such as `:100644 100644 <oid> <oid> R086`.
func parseMeta(meta string) (f changedFile, err error) {
	fields := strings.Split(meta, " ")
	if len(fields) != 5 || len(fields[0]) < 2 || fields[0][0] != ':' || fields[4] == "" {
		return f, fmt.Errorf("git: raw diff has the line %q", meta)
	}

	oldMode, err1 := strconv.ParseUint(fields[0][1:], 8, 32)
	newMode, err2 := strconv.ParseUint(fields[1], 8, 32)
	var err3, err4 error
	f.old, err3 = parseOID(fields[2])
	f.now, err4 = parseOID(fields[3])
	f.oldMode, f.newMode, f.status = mode(oldMode), mode(newMode), fields[4][0]
	return f, errors.Join(err1, err2, err3, err4)
}

func readNUL(r *bufio.Reader) (string, error) {
	data, err := r.ReadBytes(0)
	return string(bytes.TrimSuffix(data, []byte{0})), err
}

// maxPath is the longest path of a changed file, in bytes.
const maxPath = 4096

// checkPath refuses paths that git itself would never make: they lead out of
// the repository, or into its own directory.
func checkPath(path string) error {
	if len(path) > maxPath {
		return tooLarge("The pull request changes a file whose path is longer than %d bytes.", maxPath)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("%w: a tree has the path %q", errDamaged, path)
		}
	}

	return nil
}
