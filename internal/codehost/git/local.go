package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Local is a repository of whoever runs prwarden, on this machine. It is only
// read: what git has to write goes to a temporary directory, nothing is fetched,
// and no hook, filter or other program that its configuration names is run.
//
// Its configuration is in force only to say which files are ignored and how
// line endings are stored. Everything is compared as for a pull request: in a
// temporary bare repository that borrows the objects.
type Local struct {
	path    string // of git
	limits  Limits
	env     []string // without what would lead git elsewhere
	dir     string   // of the repository, GIT_DIR
	top     string   // of the work tree; "" for a bare repository
	objects string
	shallow string // where the list of cut off commits would be
	index   string
	only    string // see LocalOptions
	inside  string // where commands are run
	skipped func(path string, err error)
}

// LocalOptions are what FindLocal needs.
type LocalOptions struct {
	// Path is a directory in the work tree or the repository, or a file there.
	Path string
	// Only leaves out what is not at Path or below it.
	Only   bool
	Git    string   // path of git; looked for in PATH when empty
	Env    []string // as os.Environ gives it
	Limits Limits   // DefaultLimits()
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
func (e *RefError) Error() string {
	if e.Unborn {
		return e.Ref + " has no commit yet"
	}
	return fmt.Sprintf("%q names no commit of this repository", e.Ref)
}

// FindLocal finds the repository that a path is in.
func FindLocal(ctx context.Context, o LocalOptions) (*Local, error) {
	path, err := findGit(o.Git)
	if err != nil {
		return nil, err
	}
	env, err := localEnv(o.Env)
	if err != nil {
		return nil, err
	}
	target, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}

	l := &Local{path: path, limits: o.Limits, env: env, inside: target, skipped: o.Skipped}
	if l.skipped == nil {
		l.skipped = func(string, error) {}
	}
	if info, err := os.Stat(target); err == nil && !info.IsDir() {
		l.inside = filepath.Dir(target)
	}
	if err := l.locate(ctx); err != nil {
		return nil, err
	}
	if o.Only {
		return l, l.limit(target)
	}
	return l, nil
}

// localEnv is the environment of the caller without the variables that give git
// other objects, configuration or programs than those of the repository.
// Variables that say where the repository is stay, because git itself sets them
// for hooks: the index that is going to be committed may be another file.
func localEnv(environ []string) ([]string, error) {
	stay := []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	}
	paths := stay[:4]

	var env []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "GIT_") && !slices.Contains(stay, name) || name == "LC_ALL" || name == "LANGUAGE" {
			continue
		}
		if slices.Contains(paths, name) && value != "" { // relative to where the caller is
			absolute, err := filepath.Abs(value)
			if err != nil {
				return nil, fmt.Errorf("git: %s: %w", name, err)
			}
			pair = name + "=" + absolute
		}
		env = append(env, pair)
	}
	return append(env, "LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_OPTIONAL_LOCKS=0"), nil
}

// git runs commands in the repository, with more variables.
func (l *Local) git(more ...string) *git {
	return &git{path: l.path, limits: l.limits, local: slices.Concat(l.env, more)}
}

// command is one in the repository, without what its configuration would run.
// Its memory stays within Limits.Memory.
func (l *Local) command(verb word, options ...word) *command {
	c := newCommand(verb, options...)
	c.chdir = l.inside
	c.config = []setting{
		{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull}, {"core.splitIndex", "false"},
		{"core.untrackedCache", "false"}, {"core.safecrlf", "false"}, {"core.looseCompression", "0"},
		{"core.quotePath", "false"}, {"core.alternateRefsCommand", ""},
		{"core.packedGitLimit", "256m"}, {"core.packedGitWindowSize", "32m"},
		{"submodule.recurse", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	}
	return c
}

// locate asks git where everything is.
func (l *Local) locate(ctx context.Context) error {
	out, err := l.git().run(ctx, "", l.command("rev-parse",
		"--is-bare-repository", "--show-object-format", "--absolute-git-dir", "--path-format=absolute",
		"--git-path", "objects", "--git-path", "shallow", "--git-path", "index"))
	var failed *gitError
	if errors.As(err, &failed) && failed.says("not a git repository") {
		return ErrNoRepository
	}
	if err != nil {
		return err
	}
	facts := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(facts) != 6 {
		return fmt.Errorf("git: rev-parse said %q; a path must not have a line ending in it", out)
	}
	if facts[1] != "sha1" {
		return fmt.Errorf("the repository names its objects by %s; only sha1 is known", facts[1])
	}
	l.dir, l.objects, l.shallow, l.index = facts[2], facts[3], facts[4], facts[5]
	if facts[0] == "true" {
		return nil
	}

	out, err = l.git().run(ctx, "", l.command("rev-parse", "--path-format=absolute", "--show-toplevel"))
	if errors.As(err, &failed) { // the inside of .git
		return nil
	}
	l.top = strings.TrimSuffix(string(out), "\n")
	if err != nil || l.top == "" {
		return err
	}
	// The work tree may be where git would find no repository, by GIT_WORK_TREE
	// or core.worktree.
	l.inside, l.env = l.top, append(l.env, "GIT_DIR="+l.dir)
	return nil
}

// limit leaves out what is not below a path.
func (l *Local) limit(target string) error {
	if l.top == "" {
		return fmt.Errorf("a path can't be given here: %w", ErrBare)
	}
	there, err := filepath.EvalSymlinks(target)
	if err != nil {
		return err
	}

	relative, err := filepath.Rel(filepath.FromSlash(l.top), there)
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
func (l *Local) Shallow() bool { return has(filepath.Dir(l.shallow), filepath.Base(l.shallow)) }

// Commits is the change from where head left base to head, as a pull request
// has it. Both are what git understands as the name of a commit.
func (l *Local) Commits(base, head string) scan.Source {
	return localSource{l, func(ctx context.Context, r *Repo) (*change, error) {
		headCommit, err := l.named(ctx, r, head)
		if err != nil {
			return nil, err
		}
		baseCommit, err := l.named(ctx, r, base)
		if err != nil {
			return nil, err
		}
		return r.change(ctx, headCommit, baseCommit)
	}}
}

// localSource opens a change of a repository; the target says nothing.
type localSource struct {
	local *Local
	open  func(ctx context.Context, r *Repo) (*change, error)
}

// Open implements scan.Source.
func (s localSource) Open(ctx context.Context, _ scan.Target) (scan.Change, error) {
	r, err := s.local.borrow()
	if err != nil {
		return nil, err
	}
	c, err := s.open(ctx, r)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}

	if only := s.local.only; only != "" {
		c.files = slices.DeleteFunc(c.files, func(f changedFile) bool {
			return f.path != only && !strings.HasPrefix(f.path, only+"/")
		})
	}
	return c, nil
}

// borrow makes a temporary bare repository that has the objects of l.
func (l *Local) borrow() (*Repo, error) {
	dir, err := os.MkdirTemp("", "prwarden-*"+genSuffix)
	if err != nil {
		return nil, fmt.Errorf("git: temporary files: %w", err)
	}
	files := map[string]string{
		"HEAD":                    "ref: refs/heads/none\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"objects/info/alternates": quoteAlternate(l.objects) + "\n",
		"refs/none":               "",
	}
	if list, err := os.ReadFile(l.shallow); err == nil {
		files["shallow"] = string(list)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("git: %w", err), os.RemoveAll(dir))
	}

	config, err := writeConfig(dir, l.limits)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("git: temporary files: %w", err), os.RemoveAll(dir))
	}
	store := &Store{git: &git{path: l.path, config: config, limits: l.limits}, dir: dir}
	return newRepo(store, &generation{dir: dir, fresh: true, complete: true, temporary: true}, Request{}), nil
}

// quoteAlternate writes a path as git reads it in a list of alternates.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, "\n\"\\") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// named reads the commit that a name leads to.
func (l *Local) named(ctx context.Context, r *Repo, name string) (Commit, error) {
	oid, err := l.resolve(ctx, name)
	if err != nil {
		return Commit{}, err
	}
	return r.Commit(ctx, oid)
}

// resolve asks git for the commit that a name leads to.
func (l *Local) resolve(ctx context.Context, name string) (OID, error) {
	out, err := l.git().run(ctx, "", l.command("rev-parse", "--verify", "--quiet").revision(name))
	var failed *gitError
	if errors.As(err, &failed) {
		_, err := l.git().run(ctx, "", l.command("symbolic-ref", "--quiet", "HEAD"))
		return "", &RefError{Ref: name, Unborn: name == "HEAD" && err == nil}
	}
	if err != nil {
		return "", err
	}
	return parseOID(strings.TrimSpace(string(out)))
}

// lacking is for objects that a repository should have.
func lacking(oids []OID) *scan.Failure {
	return &scan.Failure{
		Code: scan.CodeRepositoryInvalid, Lasting: true,
		Message: fmt.Sprintf("The repository lacks %d of the objects to compare, such as %s. "+
			"Of a partial clone, fetch them first: `git diff` of the same does.", len(oids), oids[0]),
	}
}
