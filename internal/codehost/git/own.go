package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// Own is a repository of whoever runs prwarden, on this machine. It is only
// read: what git has to write goes to a temporary directory, nothing is fetched,
// and no hook, filter or other program that its configuration names is run.
//
// Its configuration is in force only to say which files are ignored and how
// line endings are stored. Everything is compared as for a pull request: in a
// temporary bare repository that borrows the objects.
type Own struct {
	path    string // of git
	limits  Limits
	env     []string // without what would lead git elsewhere
	dir     string   // of the repository, GIT_DIR
	top     string   // of the work tree; "" for a bare repository
	objects string
	shallow string // where the list of cut off commits would be
	index   string
	only    string // see OwnOptions
	inside  string // where commands are run
	skipped func(path string, err error)
}

// OwnOptions are what FindOwn needs.
type OwnOptions struct {
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
	ErrBare         = errors.New("this is a bare repository or the inside of .git, where there are no files but those of commits")
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
		return fmt.Sprintf("%s has no commit yet", e.Ref)
	}
	return fmt.Sprintf("%q names no commit of this repository", e.Ref)
}

// FindOwn finds the repository that a path is in.
func FindOwn(ctx context.Context, o OwnOptions) (*Own, error) {
	path := o.Git
	if path == "" {
		var err error
		if path, err = exec.LookPath("git"); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
		}
	}
	if err := checkVersion(path); err != nil {
		return nil, err
	}
	env, err := ownEnv(o.Env)
	if err != nil {
		return nil, err
	}
	target, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("gitrepo: %w", err)
	}
	own := &Own{path: path, limits: o.Limits, env: env, inside: target, skipped: o.Skipped}
	if info, err := os.Stat(target); err == nil && !info.IsDir() {
		own.inside = filepath.Dir(target)
	}
	if err := own.locate(ctx); err != nil {
		return nil, err
	}
	if o.Only {
		return own, own.limit(target)
	}
	return own, nil
}

// ownEnv is the environment of the caller without the variables that give git
// other objects, configuration or programs than those of the repository.
// Variables that say where the repository is stay, because git itself sets them
// for hooks: the index that is going to be committed may be another file.
func ownEnv(environ []string) ([]string, error) {
	stay := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"}
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
				return nil, fmt.Errorf("gitrepo: %s: %w", name, err)
			}
			pair = name + "=" + absolute
		}
		env = append(env, pair)
	}
	return append(env, "LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_OPTIONAL_LOCKS=0"), nil
}

// git runs commands in the repository, with more variables.
func (o *Own) git(more ...string) *git {
	return &git{path: o.path, limits: o.limits, own: slices.Concat(o.env, more)}
}

// command is one in the repository, without what its configuration would run.
func (o *Own) command(verb word, options ...word) *command {
	c := newCommand(verb, options...)
	c.chdir = o.inside
	for _, s := range []setting{
		{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull}, {"core.splitIndex", "false"}, {"core.untrackedCache", "false"},
		{"core.safecrlf", "false"}, {"core.looseCompression", "0"}, {"core.quotePath", "false"}, {"core.alternateRefsCommand", ""},
		{"core.packedGitLimit", "256m"}, {"core.packedGitWindowSize", "32m"}, // within Limits.Memory
		{"submodule.recurse", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	} {
		c.set(s.key, s.value)
	}
	return c
}

// locate asks git where everything is.
func (o *Own) locate(ctx context.Context) error {
	ask := func(options ...word) (string, error) {
		out, err := o.git().run(ctx, "", o.command("rev-parse", options...))
		return strings.TrimSuffix(string(out), "\n"), err
	}
	kind, err := ask("--is-bare-repository", "--show-object-format")
	var failed *gitError
	if errors.As(err, &failed) && strings.Contains(failed.stderr, "not a git repository") {
		return ErrNoRepository
	}
	if err != nil {
		return err
	}
	facts := strings.Fields(kind)
	if len(facts) != 2 {
		return fmt.Errorf("gitrepo: git rev-parse said %q", kind)
	}
	if facts[1] != "sha1" {
		return fmt.Errorf("the repository names its objects by %s; only sha1 is known", facts[1])
	}
	for _, path := range []struct {
		to      *string
		options []word
	}{
		{&o.dir, []word{"--absolute-git-dir"}},
		{&o.objects, []word{"--path-format=absolute", "--git-path", "objects"}},
		{&o.shallow, []word{"--path-format=absolute", "--git-path", "shallow"}},
		{&o.index, []word{"--path-format=absolute", "--git-path", "index"}},
	} {
		if *path.to, err = ask(path.options...); err != nil {
			return err
		}
	}
	if facts[0] == "true" {
		return nil
	}
	o.top, err = ask("--path-format=absolute", "--show-toplevel")
	if errors.As(err, &failed) { // the inside of .git
		o.top = ""
		return nil
	}
	if o.top != "" {
		// The work tree may be where git would find no repository, by GIT_WORK_TREE
		// or core.worktree.
		o.inside, o.env = o.top, append(o.env, "GIT_DIR="+o.dir)
	}
	return err
}

// limit leaves out what is not below a path.
func (o *Own) limit(target string) error {
	if o.top == "" {
		return fmt.Errorf("a path can't be given here: %w", ErrBare)
	}
	there, err := filepath.EvalSymlinks(target)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(filepath.FromSlash(o.top), there)
	if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%w: %s is not below %s", ErrOutside, target, o.top)
	}
	if relative != "." {
		o.only = filepath.ToSlash(relative)
	}
	return nil
}

// Top is the directory of the work tree; "" in a bare repository.
func (o *Own) Top() string { return o.top }

// Shallow tells whether history is cut off.
func (o *Own) Shallow() bool { return has(filepath.Dir(o.shallow), filepath.Base(o.shallow)) }

// Commits is the change from where head left base to head, as a pull request
// has it. Both are what git understands as the name of a commit.
func (o *Own) Commits(base, head string) scan.Source {
	return ownSource{o, func(ctx context.Context, r *Repo) (*change, error) {
		headCommit, err := o.named(ctx, r, head)
		if err != nil {
			return nil, err
		}
		baseCommit, err := o.named(ctx, r, base)
		if err != nil {
			return nil, err
		}
		return r.change(ctx, headCommit, baseCommit)
	}}
}

// ownSource opens a change of a repository; the target says nothing.
type ownSource struct {
	own  *Own
	open func(ctx context.Context, r *Repo) (*change, error)
}

// Open implements scan.Source.
func (s ownSource) Open(ctx context.Context, _ scan.Target) (scan.Change, error) {
	r, err := s.own.borrow()
	if err != nil {
		return nil, err
	}
	c, err := s.open(ctx, r)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	if only := s.own.only; only != "" {
		c.pairs = slices.DeleteFunc(c.pairs, func(p pair) bool { return p.path != only && !strings.HasPrefix(p.path, only+"/") })
	}
	return c, nil
}

// borrow makes a temporary bare repository that has the objects of o.
func (o *Own) borrow() (*Repo, error) {
	dir, err := os.MkdirTemp("", "prwarden-*"+genSuffix)
	if err != nil {
		return nil, fmt.Errorf("gitrepo: temporary files: %w", err)
	}
	files := map[string]string{
		"HEAD":                    "ref: refs/heads/none\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"objects/info/alternates": quoteAlternate(o.objects) + "\n",
		"refs/none":               "",
	}
	list, err := os.ReadFile(o.shallow)
	switch {
	case err == nil:
		files["shallow"] = string(list)
	case errors.Is(err, os.ErrNotExist):
		err = nil
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
	}
	config := ""
	if err == nil {
		config, err = writeConfig(dir, o.limits)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("gitrepo: temporary files: %w", err)
	}
	g := &git{path: o.path, config: config, limits: o.limits}
	return &Repo{
		store:   &Store{git: g, dir: dir},
		gen:     &generation{dir: dir, fresh: true, complete: true, temporary: true},
		objects: &objects{git: g, dir: dir},
		bases:   make(map[[2]OID]OID),
	}, nil
}

// quoteAlternate writes a path as git reads it in a list of alternates.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, "\n\"\\") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// named reads the commit that a name leads to.
func (o *Own) named(ctx context.Context, r *Repo, name string) (Commit, error) {
	oid, err := o.resolve(ctx, name)
	if err != nil {
		return Commit{}, err
	}
	return r.Commit(ctx, oid)
}

// resolve asks git for the commit that a name leads to.
func (o *Own) resolve(ctx context.Context, name string) (OID, error) {
	c := o.command("rev-parse", "--verify", "--quiet").revision(name)
	out, err := o.git().run(ctx, "", c)
	var failed *gitError
	if errors.As(err, &failed) {
		unborn := name == "HEAD" && o.unborn(ctx)
		return "", &RefError{Ref: name, Unborn: unborn}
	}
	if err != nil {
		return "", err
	}
	return parseOID(strings.TrimSpace(string(out)))
}

// unborn tells whether HEAD is a branch without a commit.
func (o *Own) unborn(ctx context.Context) bool {
	out, err := o.git().run(ctx, "", o.command("symbolic-ref", "--quiet", "HEAD"))
	if err != nil {
		return false
	}
	_, err = o.git().run(ctx, "", o.command("show-ref", "--verify", "--quiet").reference(strings.TrimSpace(string(out))))
	return err != nil
}

// lacking is for objects that a repository should have.
func lacking(oids []OID) *scan.Failure {
	return &scan.Failure{Code: scan.CodeRepositoryInvalid, Lasting: true, Message: fmt.Sprintf(
		"The repository lacks %d of the objects to compare, such as %s. Of a partial clone, fetch them first: `git diff` of the same does.", len(oids), oids[0])}
}
