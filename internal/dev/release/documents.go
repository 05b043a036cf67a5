package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
)

// documents are the files that go with the program: the README and the
// documents that it points to, completions, and man pages where there is man.
func (r *release) documents(ctx context.Context, t target, host string) ([]file, error) {
	files, err := readTree(r.source, "docs", "")
	if err != nil {
		return nil, err
	}
	top, err := os.ReadDir(r.source)
	if err != nil {
		return nil, err
	}
	for _, e := range top {
		if e.Name() != "README.md" && !licences.MatchString(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(r.source, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{Name: e.Name(), Content: content})
	}
	for shell, name := range map[string]string{"bash": "prwarden.bash", "fish": "prwarden.fish", "powershell": "prwarden.ps1", "zsh": "_prwarden"} {
		script, err := command(ctx, "", nil, host, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{Name: "completions/" + name, Content: script})
	}
	if t.OS == "windows" {
		return files, nil
	}
	dir := filepath.Join(r.work, "man-"+t.OS)
	args := []string{"man", dir}
	if t.OS != "linux" {
		args = append(args, "--client")
	}
	epoch := []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.date.Unix(), 10)}
	if _, err := command(ctx, "", epoch, host, args...); err != nil {
		return nil, err
	}
	pages, err := readTree(dir, ".", "man/man1/")
	return append(files, pages...), err
}

// readTree reads all files below dir/below; their names are relative to dir,
// after a prefix.
func readTree(dir, below, prefix string) ([]file, error) {
	var files []file
	err := fs.WalkDir(os.DirFS(dir), below, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		files = append(files, file{Name: prefix + path, Content: content})
		return err
	})
	return files, err
}

// licences are the names of files that say under which terms something may be
// passed on.
var licences = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([-.].*)?$`)

// notices are the terms of everything in a program that others wrote. A module
// that says nothing of them is an error: nobody may pass it on.
func (r *release) notices(ctx context.Context, modules []*debug.Module) ([]byte, error) {
	root, err := command(ctx, r.source, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	works := []work{{"Go and its standard library", strings.TrimSpace(string(root))}}
	others, err := r.modules(ctx, modules)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("This program contains the following works under the following terms.\n")
	for _, w := range append(works, others...) {
		if err := w.writeTerms(&b); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// work is what somebody else wrote.
type work struct{ name, dir string }

// modules are the folders of modules, in the same order.
func (r *release) modules(ctx context.Context, modules []*debug.Module) ([]work, error) {
	if len(modules) == 0 {
		return nil, nil // without one, go would name all that it knows
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	list, err := command(ctx, r.source, nil, "go", args...)
	if err != nil {
		return nil, err
	}
	var works []work
	for dec := json.NewDecoder(bytes.NewReader(list)); ; {
		var m struct{ Path, Version, Dir string }
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return works, nil
		}
		if err != nil {
			return nil, err
		}
		works = append(works, work{m.Path + " " + m.Version, m.Dir})
	}
}

// writeTerms writes the files with the terms of the work.
func (w work) writeTerms(b *bytes.Buffer) error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licences.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 80), w.name, e.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("%s has no file with its terms", w.name)
	}
	return nil
}
