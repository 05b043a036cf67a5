package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
)

// Local is a repository of whoever runs prwarden, on this machine. It is only
// read, and no hook, filter or other program that its configuration names is run.
//
// Everything is compared as for a pull request, in a temporary bare repository
// that borrows the objects and copies the index. Of the configuration only what
// says which files are ignored and how they are stored is in force there.
type Local struct {
	git     git               // with the repository's own configuration
	plain   []string          // the environment without what concerns git
	objects string            // where the repository has its objects
	copied  map[string]string // its other files that the temporary one needs, by their paths there
	index   map[string]string // likewise the index, which comparing commits does not need
	top     string            // of the work tree; "" for a bare repository
	only    string            // see LocalOptions
	skipped func(path string, err error)
}

// LocalOptions are what FindLocal needs.
type LocalOptions struct {
	// Path is a directory in the work tree or the repository, or a file there.
	Path string
	// Only leaves out what is not at Path or below it.
	Only bool
	Env  []string // as os.Environ gives it
	// MaxFileSize is the size, in bytes, over which a file is not scanned;
	// scan.MaxFileSize when 0.
	MaxFileSize int64
	// Skipped hears of files in the work tree that can't be read.
	Skipped func(path string, err error)
}

// The faults of a repository that are the caller's.
var (
	ErrNoGit        = errors.New("git is not installed, or not in PATH")
	ErrNoRepository = errors.New("this is in no git repository")
	ErrBare         = errors.New("this is a bare repository or the inside of .git: it has no files but those of commits")
	ErrOutside      = errors.New("the path is not in the work tree")
	ErrUnmerged     = errors.New("there are files with unresolved conflicts, so nothing can be committed")
)

// RefError says that a name leads to no commit.
type RefError struct {
	Ref    string
	Unborn bool // it is HEAD, and there is no commit yet
}

// Error names the ref.
func (e *RefError) Error() string { return fmt.Sprintf("%q names no commit of this repository", e.Ref) }

// FindLocal finds the repository that a path is in.
func FindLocal(ctx context.Context, o LocalOptions) (*Local, error) {
	path, err := findGit()
	if err != nil {
		return nil, err
	}
	target, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}

	l := &Local{skipped: o.Skipped, git: git{path: path, limits: DefaultLimits(), dir: target}}
	l.git.limits.ScannedSize = cmp.Or(o.MaxFileSize, scan.MaxFileSize)
	if info, err := os.Stat(target); err == nil && !info.IsDir() {
		l.git.dir = filepath.Dir(target)
	}
	if err := l.setEnv(o.Env); err != nil {
		return nil, err
	}
	if err := l.locate(ctx); err != nil {
		return nil, err
	}

	if o.Only {
		return l, l.limit(target)
	}
	return l, nil
}

// setEnv takes over the variables of the caller. git itself sets some for hooks,
// where the index that is going to be committed may be another file. Paths in them
// are relative to where the caller is.
func (l *Local) setEnv(environ []string) (err error) {
	paths := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "GIT_") {
			l.plain = append(l.plain, pair)
		}

		if slices.Contains(paths, name) && value != "" {
			if value, err = filepath.Abs(value); err != nil {
				return fmt.Errorf("git: %s: %w", name, err)
			}
		}
		l.git.env = append(l.git.env, name+"="+value)
	}

	l.git.env = append(l.git.env,
		"LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0")
	return nil
}

// run runs a command in the repository that starts no program.
func (l *Local) run(ctx context.Context, c *command) (string, error) {
	c.set("core.fsmonitor", "false")
	out, err := l.git.run(ctx, c)
	return strings.TrimSuffix(string(out), "\n"), err
}

// locate asks git where everything is.
func (l *Local) locate(ctx context.Context) error {
	copied := []string{"shallow", "info/exclude", "info/attributes", "index"}
	c := newCommand("rev-parse", "--is-bare-repository", "--show-object-format", "--absolute-git-dir",
		"--path-format=absolute", "--git-path", "objects")
	for _, name := range copied {
		c.options = append(c.options, "--git-path", word(name))
	}
	out, err := l.run(ctx, c)
	var failed *gitError
	if errors.As(err, &failed) && failed.says("not a git repository") {
		return ErrNoRepository
	}
	if err != nil {
		return err
	}

	facts := strings.Split(out, "\n")
	if len(facts) != 4+len(copied) || facts[1] != "sha1" {
		return fmt.Errorf("the repository has objects that are not named by sha1, or a line ending in its path: %q", out)
	}
	l.objects, l.copied = facts[3], map[string]string{}
	for i, name := range copied {
		l.copied[name] = facts[4+i]
	}

	l.index = map[string]string{"index": l.copied["index"]}
	delete(l.copied, "index")
	parts, _ := filepath.Glob(filepath.Join(filepath.Dir(l.index["index"]), "sharedindex.*"))
	for _, part := range parts { // of an index that is split
		l.index[filepath.Base(part)] = part
	}
	if facts[0] == "true" {
		return nil
	}

	l.top, err = l.run(ctx, newCommand("rev-parse", "--path-format=absolute", "--show-toplevel"))
	if errors.As(err, &failed) { // the inside of .git
		return nil
	}
	if err == nil && l.top != "" {
		// The work tree may be where git would find no repository, by GIT_WORK_TREE
		// or core.worktree.
		l.git.dir, l.git.env = filepath.FromSlash(l.top), append(l.git.env, "GIT_DIR="+facts[2])
	}

	return err
}

// limit leaves out what is not below a path.
func (l *Local) limit(target string) error {
	if l.top == "" {
		return fmt.Errorf("a path can't be given here: %w", ErrBare)
	}
	name := "."
	if link, err := os.Lstat(target); err == nil && link.Mode().Type() == os.ModeSymlink {
		if to, err := os.Stat(target); err == nil && !to.IsDir() { // so the link is scanned as a file
			target, name = filepath.Split(target)
		}
	}
	there, err := filepath.EvalSymlinks(target)
	if err != nil {
		return err
	}

	relative, err := filepath.Rel(filepath.FromSlash(l.top), filepath.Join(there, name))
	if err != nil || !filepath.IsLocal(relative) {
		return fmt.Errorf("%w: %s is not below %s", ErrOutside, target, l.top)
	}
	if relative != "." {
		l.only = filepath.ToSlash(relative)
	}
	return nil
}

// Top is the directory of the work tree; "" in a bare repository.
func (l *Local) Top() string { return l.top }

// Shallow tells whether history is cut off.
func (l *Local) Shallow() bool {
	_, err := os.Stat(l.copied["shallow"])
	return err == nil
}

// Commits is the change from where head left base to head, as a pull request
// has it. Both are what git understands as the name of a commit.
func (l *Local) Commits(base, head string) scan.Source {
	return localSource{l, func(ctx context.Context, r *repo) (*change, error) {
		headCommit, err := l.commit(ctx, r, head)
		if err != nil {
			return nil, err
		}
		baseCommit, err := l.commit(ctx, r, base)
		if err != nil {
			return nil, err
		}
		return r.between(ctx, baseCommit.OID, headCommit, finding.BaseRequested)
	}}
}

// commit reads the commit that a name leads to.
func (l *Local) commit(ctx context.Context, r *repo, name string) (Commit, error) {
	c := newCommand("rev-parse", "--verify", "--quiet")
	c.names = []string{name + "^{commit}"}
	out, err := l.run(ctx, c)
	var failed *gitError
	if errors.As(err, &failed) {
		_, err := l.run(ctx, newCommand("symbolic-ref", "--quiet", "HEAD"))
		return Commit{}, &RefError{Ref: name, Unborn: name == "HEAD" && err == nil}
	}
	if err != nil {
		return Commit{}, err
	}

	oid, err := parseOID(out)
	if err != nil {
		return Commit{}, err
	}
	return r.commit(ctx, oid)
}

// localSource opens a change of a repository; the target says nothing. open may
// return files that no tree has.
type localSource struct {
	local *Local
	open  func(ctx context.Context, r *repo) (*change, error)
}

// Open implements scan.Source.
func (s localSource) Open(ctx context.Context, _ scan.Target) (scan.Change, error) {
	r, err := s.local.borrow()
	if err != nil {
		return nil, err
	}
	var c *change
	var apart []changedFile
	if err = r.start(ctx); err == nil {
		c, err = s.open(ctx, r)
	}
	if err == nil {
		apart = c.files
		err = c.compare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}

	c.files = append(apart, c.files...) // of a file that is in both, the first stays
	slices.SortStableFunc(c.files, byPath)
	c.files = slices.CompactFunc(c.files, func(a, b changedFile) bool { return a.path == b.path })
	if only := s.local.only; only != "" {
		c.files = slices.DeleteFunc(c.files, func(f changedFile) bool {
			return f.path != only && !strings.HasPrefix(f.path, only+"/")
		})
	}
	return c, nil
}

// borrow makes a temporary bare repository that has the objects of l.
func (l *Local) borrow() (*repo, error) {
	dir, err := os.MkdirTemp("", "prwarden-*.git")
	if err != nil {
		return nil, fmt.Errorf("git: temporary files: %w", err)
	}

	config, err := writeConfig(dir, l.git.limits)
	for name, text := range map[string]string{
		"HEAD":                    "ref: refs/heads/none\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n",
		"objects/info/alternates": l.objects + "\n",
		"refs/none":               "",
	} {
		err = errors.Join(err, writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)))
	}

	if err = errors.Join(err, copyFiles(l.copied, dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("git: temporary files: %w", err), os.RemoveAll(dir))
	}

	r := &repo{git: git{path: l.git.path, limits: l.git.limits, env: l.plain}.in(dir, config)}
	r.release = func() error { return os.RemoveAll(dir) }
	r.fail = func(ctx context.Context, err error) error {
		failure, _ := judge(ctx, err)
		return failure
	}
	return r, nil
}

// copyFiles copies files to their paths in dir.
func copyFiles(files map[string]string, dir string) (err error) {
	for name, path := range files {
		err = errors.Join(err, copyFile(path, filepath.Join(dir, filepath.FromSlash(name))))
	}
	return err
}

// copyFile copies a file if there is one. The copy is of the same time: by that of
// an index git tells which files may have changed just after they were looked at.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	data, err := os.ReadFile(from)
	if err == nil {
		err = writeFile(to, data)
	}

	if err == nil {
		err = os.Chtimes(to, time.Time{}, info.ModTime())
	}
	return err
}
