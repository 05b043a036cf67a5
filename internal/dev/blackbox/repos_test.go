package blackbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hosts is a folder of bare repositories, `<owner>/<name>.git`, that servers
// read as their code host.
type hosts struct {
	dir string
	url string // with {repo}
	end func() // of a silent one: ends all its answers
}

func newHosts(t *testing.T) *hosts {
	t.Helper()
	dir := t.TempDir()
	return &hosts{dir: dir, url: "file://" + dir + "/{repo}.git"}
}

// newSilentHosts returns a code host that takes every request and ends the
// answer to none until the test ends, and a channel that hears of each request.
func newSilentHosts(t *testing.T) (*hosts, <-chan struct{}) {
	t.Helper()
	asked := make(chan struct{}, 1000)
	end := make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")

		// git waits for the end of the answer before it reads that; but nothing at
		// all for 20 seconds is an error.
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 8<<10)) // its end is that of the context
			_ = http.NewResponseController(w).Flush()
			select {
			case <-end:
				return
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
		}
	}))
	t.Cleanup(host.Close)
	h := &hosts{dir: t.TempDir(), url: host.URL + "/{repo}.git", end: sync.OnceFunc(func() { close(end) })}
	t.Cleanup(h.end)
	return h, asked
}

// repository is one of them.
type repository struct {
	t    *testing.T
	name string
	dir  string
}

// files maps paths to contents. A path with the value remove is removed.
type files map[string]string

const remove = "\x00remove"

// link is the content of a symbolic link to a path.
func link(to string) string { return linkMark + to }

const linkMark = "\x00link "

// module is the content of a submodule.
const module = "\x00module"

// create makes a repository whose branch main has the given files.
func (h *hosts) create(t *testing.T, name string, base files) *repository {
	t.Helper()
	r := &repository{t: t, name: name, dir: filepath.Join(h.dir, filepath.FromSlash(name)+".git")}
	require.NoError(t, os.MkdirAll(r.dir, 0o755))
	r.git("", "init", "-q", "--bare", "-b", "main", r.dir)
	r.commit("refs/heads/main", "", base)
	return r
}

// pull makes pull request number with one commit on top of main.
func (r *repository) pull(number int, change files) *repository {
	r.t.Helper()
	r.commit(fmt.Sprintf("refs/pull/%d/head", number), r.sha("refs/heads/main"), change)
	return r
}

// commit puts a commit that changes files of parent on ref.
func (r *repository) commit(ref, parent string, change files) string {
	r.t.Helper()
	index := filepath.Join(r.t.TempDir(), "index")
	git := func(stdin string, args ...string) string {
		return r.run(stdin, []string{"GIT_INDEX_FILE=" + index}, args...)
	}
	if parent != "" {
		git("", "read-tree", parent)
	}
	for path, content := range change {
		if content == remove {
			git("0 0000000000000000000000000000000000000000\t"+path+"\n", "update-index", "--index-info")
			continue
		}
		if content == module {
			git("", "update-index", "--add", "--replace", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+","+path)
			continue
		}
		mode := "100644"
		if to, isLink := strings.CutPrefix(content, linkMark); isLink {
			mode, content = "120000", to
		}
		blob := git(content, "hash-object", "-w", "--stdin")
		git("", "update-index", "--add", "--replace", "--cacheinfo", mode+","+blob+","+path)
	}
	args := []string{"commit-tree", git("", "write-tree"), "-m", "change"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	commit := git("", args...)
	r.git("", "update-ref", ref, commit)
	return commit
}

func (r *repository) sha(ref string) string { return r.git("", "rev-parse", "--verify", ref) }

func (r *repository) git(stdin string, args ...string) string { return r.run(stdin, nil, args...) }

func (r *repository) run(stdin string, more []string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}, more...)
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %v: %s", args, out)
	return strings.TrimSuffix(string(out), "\n")
}
