package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// The steps of git by hand.
const (
	gitFetch = "git fetch"
	gitBlobs = "git fetch of the blobs" // cold only
	gitDiff  = "git diff base...head"
	gitRead  = "git cat-file --batch"
)

// plain is git without prwarden: the commands that someone would type to get
// the same commits, the same difference and the same contents.
type plain struct {
	origin string // URL
	dir    string // of the bare repository they run in
	took   sample
}

// git runs one command, adds its time to a step, and returns what it printed.
// With step "" the time doesn't count; out, if not nil, gets the output.
func (p *plain) git(ctx context.Context, step string, stdin []byte, out io.Writer, args ...string) error {
	settings := []string{
		"--git-dir=" + p.dir, "-c", "remote.origin.url=" + p.origin, "-c", "remote.origin.promisor=true",
		"-c", "remote.origin.partialCloneFilter=blob:none", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_GLOBAL=" + p.config(), "GIT_CONFIG_NOSYSTEM=1"}
	cmd.Stdin = bytes.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	// To a pipe that is read, as programs get it, not to /dev/null: git looks
	// at that and does less.
	if out == nil {
		out = struct{ io.Writer }{io.Discard}
	}
	cmd.Stdout = out
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	if step != "" {
		took := time.Since(start)
		p.took.add(step, took)
		p.took.add(stepTotal, took)
	}
	return nil
}

// config is the configuration that upload-pack needs to serve blobs by name.
func (p *plain) config() string { return filepath.Join(filepath.Dir(p.dir), "plain.gitconfig") }

func (p *plain) writeConfig() error {
	return os.WriteFile(p.config(), []byte("[safe]\n\tdirectory = *\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"), 0o600)
}

// fetch gets the commits of a pull request, as prwarden's scanner does.
func (p *plain) fetch(ctx context.Context, pull int32) error {
	refs := []string{"HEAD", fmt.Sprintf("refs/pull/%d/head", pull), fmt.Sprintf("refs/pull/%d/merge", pull)}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune", "--refmap=", "origin"}
	for i, ref := range refs {
		args = append(args, fmt.Sprintf("+%s*:refs/prwarden/in/%d/ref*", ref, i))
	}
	return p.git(ctx, gitFetch, nil, nil, args...)
}

// work is what is done with the commits once they are there.
type work struct {
	base, head string
	read       []byte // names of the files' contents at head, a line each
	both       []byte // on either side
	files      int    // changed ones
}

// prepare finds out what there is to read, which takes no one's time.
func (p *plain) prepare(ctx context.Context, r review.Review) (w work, err error) {
	w.base, w.head = r.BaseSHA, r.HeadSHA
	var raw bytes.Buffer
	if err := p.git(ctx, "", nil, &raw, "diff", "--raw", "-r", "--no-renames", "--no-abbrev", w.base+"..."+w.head); err != nil {
		return w, err
	}
	for line := range strings.Lines(raw.String()) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(line, ":") {
			return w, errors.New("git diff --raw printed " + line)
		}
		for i, list := range []*[]byte{nil, &w.read} {
			mode, oid := strings.TrimPrefix(fields[i], ":"), fields[2+i]
			if !strings.HasPrefix(mode, "10") && !strings.HasPrefix(mode, "12") {
				continue
			}
			w.both = append(append(w.both, oid...), '\n')
			if list != nil {
				*list = append(append(*list, oid...), '\n')
				w.files++
			}
		}
	}
	return w, nil
}

// diff compares and reads.
func (p *plain) diff(ctx context.Context, w work) error {
	if err := p.git(ctx, gitDiff, nil, nil, "diff", "--find-renames", w.base+"..."+w.head); err != nil {
		return err
	}
	return p.git(ctx, gitRead, w.read, nil, "cat-file", "--batch", "--buffer")
}

// warm does it all in a repository that has everything.
func (p *plain) warm(ctx context.Context, pull int32, w work) (sample, error) {
	p.took = sample{}
	err := p.writeConfig()
	if err == nil {
		err = p.fetch(ctx, pull)
	}
	if err == nil {
		err = p.diff(ctx, w)
	}
	return p.took, err
}

// cold does it all in an empty repository.
func (p *plain) cold(ctx context.Context, pull int32, w work) (sample, error) {
	p.took = sample{}
	err := os.MkdirAll(filepath.Dir(p.dir), 0o700)
	if err == nil {
		err = p.writeConfig()
	}
	if err == nil {
		err = p.git(ctx, "", nil, nil, "init", "--quiet", "--bare", "--template=", p.dir)
	}
	if err == nil {
		err = p.fetch(ctx, pull)
	}
	if err == nil && len(w.both) > 0 {
		err = p.git(ctx, gitBlobs, w.both, nil, "-c", "fetch.negotiationAlgorithm=noop",
			"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--stdin", "origin")
	}
	if err == nil {
		err = p.diff(ctx, w)
	}
	return p.took, err
}

// madePull is the number of the pull request that withPull makes.
const madePull = 900_000_000

// withPull makes a bare repository at to with all refs of dir, whose objects
// it shares, and a pull request from one commit of span, BASE...HEAD, to the
// other. It returns to.
func withPull(ctx context.Context, dir, to, span string) (string, error) {
	base, head, ok := strings.Cut(span, "...")
	if !ok {
		return "", fmt.Errorf("-range %s is not BASE...HEAD", span)
	}
	copied := []string{"HEAD", "packed-refs", "config"}
	for _, sub := range []string{"refs", "objects/info"} {
		if err := os.MkdirAll(filepath.Join(to, sub), 0o700); err != nil {
			return "", err
		}
	}
	for _, name := range copied {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) && name != "HEAD" {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(to, "objects/info/alternates"), []byte(filepath.Join(dir, "objects")+"\n"), 0o600); err != nil {
		return "", err
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + to}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.com", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.com")
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	oids := make([]string, 2)
	for i, name := range []string{base, head} {
		var err error
		if oids[i], err = git("rev-parse", "--verify", "--end-of-options", name+"^{commit}"); err != nil {
			return "", err
		}
	}
	// The server's trial merge says what the base is.
	merge, err := git("commit-tree", oids[1]+"^{tree}", "-p", oids[0], "-p", oids[1], "-m", "Merge")
	if err != nil {
		return "", err
	}
	for name, oid := range map[string]string{"head": oids[1], "merge": merge} {
		if _, err := git("update-ref", fmt.Sprintf("refs/pull/%d/%s", madePull, name), oid); err != nil {
			return "", err
		}
	}
	return to, nil
}
