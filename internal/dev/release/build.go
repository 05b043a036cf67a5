package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// checkout puts the files of a commit into a folder of their own, so that
// nothing else of the work tree can get into a release.
func (r *release) checkout(ctx context.Context, commit string) error {
	name, err := command(ctx, r.Repository, nil, "git", "rev-parse", "--verify", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return fmt.Errorf("-commit: %w", err)
	}
	r.commit = strings.TrimSpace(string(name))
	stamp, err := command(ctx, r.Repository, nil, "git", "show", "--no-patch", "--format=%ct", r.commit)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(stamp)), 10, 64)
	if err != nil {
		return fmt.Errorf("the date of commit %s: %w", r.commit, err)
	}
	r.date = time.Unix(seconds, 0).UTC()
	// From the top level, whatever the current folder is.
	top, err := command(ctx, r.Repository, nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	archive, err := command(ctx, strings.TrimSpace(string(top)), nil, "git", "archive", "--format=tar", r.commit)
	if err != nil {
		return err
	}
	r.source = filepath.Join(r.work, "source")
	return extract(archive, r.source)
}

// extract writes the files of a tar archive of our own git into a folder.
func extract(archive []byte, dir string) error {
	for entries := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%q is not below the folder", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, content, h.FileInfo().Mode()); err != nil {
			return err
		}
	}
}

// build builds the program for a system and returns its path. It is built once
// in a release.
func (r *release) build(ctx context.Context, t target) (string, error) {
	path := filepath.Join(r.work, t.OS+"-"+t.Arch, t.program())
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	const of = "github.com/prwarden/prwarden/internal/build."
	link := fmt.Sprintf("-s -w -X %sversion=%s -X %scommit=%s", of, r.Version, of, r.commit)
	_, err := command(ctx, r.source, buildEnvironment(t),
		"go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", link, "-o", path, "./cmd/prwarden")
	return path, err
}

// buildEnvironment is what the toolchain sees beside the user's settings: all
// that changes what it makes is fixed.
func buildEnvironment(t target) []string {
	return []string{
		"GOOS=" + t.OS, "GOARCH=" + t.Arch, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off",
		"GOFLAGS=-trimpath", "GOWORK=off",
	}
}

// command runs a program in a folder ("" for the current one) with more of an
// environment, and returns its standard output.
func command(ctx context.Context, dir string, environment []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environment...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
