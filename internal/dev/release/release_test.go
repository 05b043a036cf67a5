package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

var date = time.Date(2026, 11, 20, 19, 20, 23, 0, time.UTC)

func TestArguments(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`-version: "" is not a version`:                                nil,
		`-version: "1.2" is not a version; write it as v1.2.3`:         {"-version", "1.2"},
		`-version: "v1.2.3 -X" is not a version`:                       {"-version", "v1.2.3 -X"},
		`unknown argument "now"`:                                       {"-version", "v1.2.3", "now"},
		`-only: "linux" is not a system of releases; those are linux/`: {"-version", "v1.2.3", "-only", "darwin/arm64,linux"},
	} {
		assert.ErrorContains(t, run(t.Context(), args, io.Discard), want)
	}
	all, err := parseTargets("")
	require.NoError(t, err)
	assert.Len(t, all, 6)
	some, err := parseTargets("windows/arm64,linux/amd64")
	require.NoError(t, err)
	assert.Equal(t, []target{{"windows", "arm64"}, {"linux", "amd64"}}, some)
}

func TestArchives(t *testing.T) {
	t.Parallel()
	files := []file{{Name: "docs/a.md", Content: []byte("a")}, {Name: "prwarden", Content: []byte("program"), Executable: true}}
	var one, two, zipped bytes.Buffer
	require.NoError(t, writeTarGz(&one, "prwarden_1", files, date))
	require.NoError(t, writeTarGz(&two, "prwarden_1", files, date.In(time.FixedZone("", 3600))))
	assert.Equal(t, one.Bytes(), two.Bytes(), "the zone of this machine does not count")

	got := unpack(t, one.Bytes())
	assert.Equal(t, []string{"prwarden_1/docs/a.md -rw-r--r-- a", "prwarden_1/prwarden -rwxr-xr-x program"}, got)

	require.NoError(t, writeZip(&zipped, "prwarden_1", files, date))
	two.Reset()
	require.NoError(t, writeZip(&two, "prwarden_1", files, date.In(time.FixedZone("", 3600))))
	assert.Equal(t, zipped.Bytes(), two.Bytes())
	z, err := zip.NewReader(bytes.NewReader(zipped.Bytes()), int64(zipped.Len()))
	require.NoError(t, err)
	require.Len(t, z.File, 2)
	assert.Equal(t, "prwarden_1/prwarden", z.File[1].Name)
	assert.Equal(t, fs.FileMode(0o755), z.File[1].Mode())
	assert.True(t, z.File[1].Modified.Equal(date))
}

// unpack lists a compressed tar archive, with the beginnings of the contents.
func unpack(t *testing.T, archive []byte) []string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	assert.True(t, compressed.ModTime.IsZero())
	var list []string
	for entries := tar.NewReader(compressed); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		assert.True(t, h.ModTime.Equal(date), h.Name)
		assert.Zero(t, h.Uid+h.Gid, h.Name)
		assert.Empty(t, h.Uname+h.Gname, h.Name)
		content, err := io.ReadAll(entries)
		require.NoError(t, err)
		list = append(list, h.Name+" "+h.FileInfo().Mode().String()+" "+string(content[:min(len(content), 30)]))
	}
}

func TestBOM(t *testing.T) {
	t.Parallel()
	r := release{Version: "v1.2.3", commit: strings.Repeat("c0", 20), date: date}
	f := facts{sum: strings.Repeat("0123456789abcdef", 4), info: &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "github.com/prwarden/prwarden"},
		Deps: []*debug.Module{
			{Path: "github.com/Some/Thing", Version: "v0.1.0+incompatible", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
			{Path: "old.example/a", Replace: &debug.Module{Path: "new.example/a", Version: "v2.0.0", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}},
		},
	}}
	got, err := r.bom(target{"linux", "arm64"}, f)
	require.NoError(t, err)
	path := filepath.Join("testdata", "bom.cdx.json")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))

	f.info.Deps = []*debug.Module{{Path: "example.com/local", Replace: &debug.Module{Path: "../local"}}}
	_, err = r.bom(target{"linux", "arm64"}, f)
	require.ErrorContains(t, err, "module ../local has the sum")
}

func TestTermsAreNeeded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "licenses.go"), nil, 0o600))
	var b bytes.Buffer
	require.ErrorContains(t, work{"example.com/a v1.0.0", dir}.writeTerms(&b), "example.com/a v1.0.0 has no file with its terms")
	for _, name := range []string{"LICENSE", "LICENSE-3RD-PARTY.md", "COPYING", "NOTICE.txt", "licence"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("terms in "+name), 0o600))
	}
	require.NoError(t, work{"example.com/a v1.0.0", dir}.writeTerms(&b))
	assert.Equal(t, 5, strings.Count(b.String(), "\nterms in "))
}

// repository makes a git repository with a module like this one: a program
// that knows the commands that a release needs.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":      "module github.com/prwarden/prwarden\n\ngo 1.26.0\n",
		"README.md":   "# prwarden\n",
		"LICENSE":     "Do as you like.\n",
		"docs/api.md": "# API\n",
		"main_test.c": "not in a release",
		"internal/build/build.go": `package build
var version, commit string
func Text() string { return version + " " + commit }
`,
		"cmd/prwarden/main.go": `package main
import ("os"; "github.com/prwarden/prwarden/internal/build")
func main() {
	switch {
	case len(os.Args) < 2:
		os.Stdout.WriteString(build.Text())
	case os.Args[1] == "completion":
		os.Stdout.WriteString("script for " + os.Args[2])
	case os.Args[1] == "man":
		os.Mkdir(os.Args[2], 0o755)
		os.WriteFile(os.Args[2]+"/prwarden.1", []byte(os.Getenv("SOURCE_DATE_EPOCH")), 0o644)
	}
}
`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "Start")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	// After a commit maintenance may go on, which a clone of a folder trips over.
	cmd := exec.Command("git", append([]string{"-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE="+date.Format(time.RFC3339), "GIT_COMMITTER_DATE="+date.Format(time.RFC3339))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

func TestMake(t *testing.T) {
	t.Parallel()
	here := target{"linux", runtime.GOARCH}
	dir := repository(t)
	commit := git(t, dir, "rev-parse", "HEAD")
	build := func(repository string) map[string][]byte {
		out := filepath.Join(t.TempDir(), "dist")
		r := release{Version: "v1.2.3", Targets: []target{here}, Repository: repository, Log: io.Discard}
		require.NoError(t, r.make(t.Context(), "HEAD", out))
		entries, err := os.ReadDir(out)
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing but the release is left")
		files := map[string][]byte{}
		entries, err = os.ReadDir(filepath.Join(out, "v1.2.3"))
		require.NoError(t, err)
		for _, e := range entries {
			files[e.Name()], err = os.ReadFile(filepath.Join(out, "v1.2.3", e.Name()))
			require.NoError(t, err)
		}
		return files
	}
	first := build(dir)
	name := "prwarden_1.2.3_linux_" + here.Arch
	require.Len(t, first, 3)
	list := unpack(t, first[name+".tar.gz"])
	assert.Regexp(t, `^`+name+`/prwarden -rwxr-xr-x \x7fELF`, list[len(list)-1])
	assert.Regexp(t, `/THIRD-PARTY-NOTICES.txt -rw-r--r-- This program contains`, list[2])
	assert.Equal(t, []string{
		name + "/LICENSE -rw-r--r-- Do as you like.\n",
		name + "/README.md -rw-r--r-- # prwarden\n",
	}, list[:2])
	assert.Equal(t, []string{
		name + "/completions/_prwarden -rw-r--r-- script for zsh",
		name + "/completions/prwarden.bash -rw-r--r-- script for bash",
		name + "/completions/prwarden.fish -rw-r--r-- script for fish",
		name + "/completions/prwarden.ps1 -rw-r--r-- script for powershell",
		name + "/docs/api.md -rw-r--r-- # API\n",
		name + "/man/man1/prwarden.1 -rw-r--r-- 1795202423",
	}, list[3:len(list)-1])
	assert.Contains(t, string(first[name+".cdx.json"]), commit)
	check := exec.Command("sha256sum", "-c")
	check.Dir = t.TempDir()
	check.Stdin = bytes.NewReader(first["SHA256SUMS"])
	for name, content := range first {
		require.NoError(t, os.WriteFile(filepath.Join(check.Dir, name), content, 0o600))
	}
	out, err := check.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, 2, strings.Count(string(out), ": OK\n"))

	// Neither the place nor what is not committed makes a difference.
	clone := filepath.Join(t.TempDir(), "elsewhere")
	git(t, dir, "clone", "-q", dir, clone)
	require.NoError(t, os.WriteFile(filepath.Join(clone, "docs/more.md"), []byte("more"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(clone, "docs/api.md"), []byte("changed"), 0o600))
	assert.Equal(t, first, build(filepath.Join(clone, "docs")))

	r := release{Version: "v1.2.3", Repository: dir, Log: io.Discard}
	require.ErrorContains(t, r.make(t.Context(), "none", t.TempDir()), "-commit: ")
}

func TestInspect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(source, []byte("package main\nfunc main() {}\n"), 0o600))
	build := func(args ...string) string {
		path := filepath.Join(t.TempDir(), "program")
		all := append(append([]string{"build", "-o", path}, args...), source)
		_, err := command(t.Context(), dir, []string{"CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off"}, "go", all...)
		require.NoError(t, err)
		return path
	}
	here := target{"linux", runtime.GOARCH}
	good := build("-trimpath")
	f, err := inspect(good, here)
	require.NoError(t, err)
	assert.Len(t, f.sum, 64)
	_, err = inspect(good, target{"windows", runtime.GOARCH})
	require.ErrorContains(t, err, `built with GOOS="linux", want "windows"`)
	_, err = inspect(build(), here)
	require.ErrorContains(t, err, `built with -trimpath=""`)
	_, err = inspect(build("-trimpath", "-buildmode=pie"), here)
	require.ErrorContains(t, err, "the program is not static")
	require.ErrorContains(t, checkELF(good, "none"), "the program is for ")
	require.Error(t, checkPE(good, runtime.GOARCH))
	require.Error(t, checkMachO(good, runtime.GOARCH))
	_, err = inspect(source, here)
	require.Error(t, err)
}
