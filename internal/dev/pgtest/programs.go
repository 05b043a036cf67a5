package pgtest

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var errNotInstalled = errors.New("these tests need a Postgres server, and neither PATH nor " +
	"/usr/lib/postgresql has its initdb: install it (for example: sudo apt-get install postgresql) and try again")

// findPrograms returns the folder that holds initdb and postgres: that of the
// initdb on PATH, else the newest one where Debian puts them.
func findPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		// A link, as some systems put into /usr/bin, has no postgres beside it.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		if dir := filepath.Dir(path); isProgram(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	version := func(path string) int {
		n, err := strconv.Atoi(strings.Split(path, "/")[4])
		if err != nil {
			return 0
		}
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	for _, path := range found {
		if dir := filepath.Dir(path); isProgram(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", errNotInstalled
}

// Program is the path of a program of the Postgres that tests run, such as
// pg_dump.
func Program(name string) (string, error) {
	dir, err := findPrograms()
	return filepath.Join(dir, name), err
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
