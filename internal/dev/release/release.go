package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// release is what is built, and from what.
type release struct {
	Version    string // with its v
	Targets    []target
	Repository string // folder in the repository, "" for the current one
	Log        io.Writer

	commit string    // full name
	date   time.Time // of the commit: that of everything in the archives
	source string    // folder with the files of the commit, and nothing else
	work   string    // folder for what is on the way
}

// make builds everything into out/VERSION, which appears when it is whole.
func (r *release) make(ctx context.Context, commit, out string) (err error) {
	began := time.Now()
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "prwarden-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := r.checkout(ctx, commit); err != nil {
		return err
	}
	fmt.Fprintf(r.Log, "prwarden %s from %s of %s\n", r.Version, r.commit[:12], r.date.Format(time.DateOnly))

	fresh, err := os.MkdirTemp(out, ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	// The program for this machine writes what goes with all of them.
	host, err := r.build(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	for _, t := range r.Targets {
		began := time.Now()
		if err := r.pack(ctx, t, host, fresh); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Fprintf(r.Log, "  %-14s %5.1f s\n", t, time.Since(began).Seconds())
	}
	if err := writeChecksums(fresh); err != nil {
		return err
	}
	done := filepath.Join(out, r.Version)
	if err := os.RemoveAll(done); err != nil {
		return err
	}
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	if err := os.Rename(fresh, done); err != nil {
		return err
	}
	fmt.Fprintf(r.Log, "%s is complete after %.0f s.\n", done, time.Since(began).Seconds())
	return nil
}

// pack builds for one system, and writes its archive and SBOM into dir.
func (r *release) pack(ctx context.Context, t target, host, dir string) error {
	program, err := r.build(ctx, t)
	if err != nil {
		return err
	}
	facts, err := inspect(program, t)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("prwarden_%s_%s_%s", strings.TrimPrefix(r.Version, "v"), t.OS, t.Arch)
	bom, err := r.bom(t, facts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".cdx.json"), bom, 0o644); err != nil {
		return err
	}
	files, err := r.documents(ctx, t, host)
	if err != nil {
		return err
	}
	notices, err := r.notices(ctx, facts.info.Deps)
	if err != nil {
		return err
	}
	files = append(files, file{Name: "THIRD-PARTY-NOTICES.txt", Content: notices})
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	files = append(files, file{Name: t.program(), Content: content, Executable: true})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.Name, b.Name) })

	write, extension := writeTarGz, ".tar.gz"
	if t.OS == "windows" {
		write, extension = writeZip, ".zip"
	}
	f, err := os.Create(filepath.Join(dir, name+extension))
	if err != nil {
		return err
	}
	return errors.Join(write(f, name, files, r.date), f.Close())
}

// writeChecksums writes SHA256SUMS of all files in dir, as sha256sum reads it.
func writeChecksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := fileSum(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}

// fileSum is the SHA-256 of a file, in hexadecimal.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
