package codehost_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	. "github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// refused opens r and reads its files, and checks that it fails with one of
// codes. Without bounds it would not end before the time of all tests does.
func refused(t *testing.T, r *Repo, limits func(*git.Limits), codes ...string) {
	t.Helper()
	err := readAll(t.Context(), source(t, fileHost(r), limits))
	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.Contains(t, codes, f.Code, "%v", f)
	assert.True(t, f.Lasting, "%v", f)
}

func defaults(*git.Limits) {}

func entry(mode, name, oid string) Entry { return Entry{Mode: mode, Name: name, OID: oid} }

// pullTree makes pull request 1 from an ordinary commit to one of tree.
func pullTree(r *Repo, tree string) {
	base := r.Commit(Text("a", "1\n"))
	r.Ref("refs/heads/main", base)
	r.Pull(1, r.CommitTree(tree, base))
}

// bomb has ten entries for tree, each of them ten, and so on: 10¹⁰ of tree.
func bomb(r *Repo, tree string) string {
	for range 10 {
		var entries []Entry
		for i := range 10 {
			entries = append(entries, entry("40000", fmt.Sprint(i), tree))
		}
		tree = r.Object("tree", TreeData(entries...))
	}
	return tree
}

// TestTreeBomb has 10¹⁰ files, or empty directories, in 12 objects. git gives
// up within the limits of the comparison, and nothing is fetched again for it.
func TestTreeBomb(t *testing.T) {
	t.Parallel()
	for name, leaf := range map[string]func(*Repo) Entry{
		"of files":       func(r *Repo) Entry { return entry("100644", "f", r.Object("blob", []byte("x\n"))) },
		"of empty trees": func(r *Repo) Entry { return entry("40000", "f", r.Object("tree", nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(t)
			r.Change(Text("a", "1\n"), Text("a", "1\n2\n"))
			limits := func(l *git.Limits) { l.TreeMemory, l.TreeCPU = 64<<20, time.Second }
			s := source(t, fileHost(r), limits)
			require.NoError(t, readAll(t.Context(), s))

			pullTree(r, bomb(r, r.Object("tree", TreeData(leaf(r)))))
			f := failure(t, t.Context(), s)
			assert.Equal(t, scan.CodePullRequestTooLarge, f.Code, "%v", f)
			assert.True(t, f.Lasting)

			r.Change(Text("a", "1\n"), Text("a", "1\n3\n"))
			require.NoError(t, readAll(t.Context(), s), "the next review of the repository")
		})
	}
}

func TestTreeBombThatDoesNotChange(t *testing.T) {
	t.Parallel()
	r := New(t)
	tree := bomb(r, r.Tree(Text("f", "x\n")))
	file := func(text string) Entry { return entry("100644", "a", r.Object("blob", []byte(text))) }
	base := r.CommitTree(r.Object("tree", TreeData(file("1\n"), entry("40000", "bomb", tree))))
	r.Ref("refs/heads/main", base)
	r.Pull(1, r.CommitTree(r.Object("tree", TreeData(file("1\n2\n"), entry("40000", "bomb", tree))), base))
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "2"}}}, files(t, open(t, r)))
}

func TestDeepTrees(t *testing.T) {
	t.Parallel()
	const depth = 1_000
	r := New(t)
	pack := NewPack(t)
	tree := pack.Tree(TreeData(entry("100644", "f", pack.Blob([]byte("deep\n")))))

	for range depth - 1 {
		tree = pack.Tree(TreeData(entry("40000", "d", tree)))
	}

	pack.Store(r)
	pullTree(r, tree)
	path := strings.Repeat("d/", depth-1) + "f"
	assert.Equal(t, []seen{{path: path, lines: map[int]string{1: "deep"}}}, files(t, open(t, r)))
}

func TestManyChangedFiles(t *testing.T) {
	t.Parallel()
	r := New(t)
	blob := r.Object("blob", []byte("x\n"))
	var entries []Entry

	for i := range 101 {
		entries = append(entries, entry("100644", fmt.Sprintf("%04d", i), blob))
	}

	pullTree(r, r.Object("tree", TreeData(entries[:99]...))) // and `a` is gone
	limit := func(l *git.Limits) { l.ChangedFiles = 100 }
	require.NoError(t, readAll(t.Context(), source(t, fileHost(r), limit)))
	pullTree(r, r.Object("tree", TreeData(entries[:100]...)))
	refused(t, r, limit, scan.CodePullRequestTooLarge)
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	r := New(t)
	blob := r.Object("blob", []byte("x\n"))
	pullTree(r, r.Object("tree", TreeData(entry("100644", strings.Repeat("n", 5000), blob))))
	refused(t, r, defaults, scan.CodePullRequestTooLarge)
}

// TestWideTrees has few objects with many entries, all of them empty
// directories beside one file.
func TestWideTrees(t *testing.T) {
	t.Parallel()
	r := New(t)
	empty := r.Object("tree", nil)
	tree := r.Tree(Text("f", "deep\n"))
	const wide, depth = 100, 5

	for range depth {
		var entries []Entry
		for i := range wide {
			entries = append(entries, entry("40000", fmt.Sprintf("%03d", i), empty))
		}
		tree = r.Object("tree", TreeData(append(entries, entry("40000", "z", tree))...))
	}

	pullTree(r, tree)
	assert.Equal(t, []seen{{path: "z/z/z/z/z/f", lines: map[int]string{1: "deep"}}}, files(t, open(t, r)))
}

// TestInvalidTrees has trees that git would never write. Either git dies of one
// or what it lists is refused; what is left hides nothing and hurts nobody.
func TestInvalidTrees(t *testing.T) {
	t.Parallel()
	objects := func(r *Repo) (blob, nothing, config string) {
		return r.Object("blob", []byte("x\n")), r.Object("tree", nil), r.Tree(Text("config", "x\n"))
	}
	blob, nothing, config := objects(New(t))
	missing := strings.Repeat("1", 40)

	tests := map[string]struct {
		tree   []byte
		passes bool
	}{
		"no name":             {tree: TreeData(entry("100644", "", blob))},
		"dot":                 {tree: TreeData(entry("100644", ".", blob))},
		"dot dot":             {tree: TreeData(entry("40000", "..", config))},
		"git":                 {tree: TreeData(entry("40000", ".GIT", config))},
		"slashes":             {tree: TreeData(entry("100644", "../../etc/passwd", blob))},
		"twice":               {tree: TreeData(entry("100644", "a", blob), entry("100644", "a", blob))},
		"missing file":        {tree: TreeData(entry("100644", "a", missing))},
		"missing directory":   {tree: TreeData(entry("40000", "a", missing))},
		"a file as directory": {tree: TreeData(entry("40000", "a", blob))},
		"a directory as file": {tree: TreeData(entry("100644", "a", nothing))},
		"cut off":             {tree: TreeData(entry("100644", "a", blob))[:20]},
		"garbage":             {tree: []byte("garbage")},

		"file and directory": {
			TreeData(entry("100644", "a", blob), entry("100644", "a.b", blob), entry("40000", "a", nothing)), true,
		},
		"out of order":        {TreeData(entry("100644", "b", blob), entry("100644", "a", blob)), true},
		"mode":                {TreeData(entry("010644", "a", blob)), true},
		"symlink .gitmodules": {TreeData(entry("120000", ".gitmodules", blob)), true},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(t)
			objects(r)
			pullTree(r, r.Object("tree", test.tree))
			if test.passes {
				assert.NoError(t, readAll(t.Context(), source(t, fileHost(r))))
				return
			}
			refused(t, r, defaults, scan.CodeRepositoryInvalid)
		})
	}
}

func TestOldFaultsAreHarmless(t *testing.T) {
	t.Parallel()
	r := New(t)
	tree := r.Object("tree", TreeData(entry("0100644", "a", r.Object("blob", []byte("x\n")))))
	commit := func(person string, parents string) string {
		return r.Object("commit", []byte("tree "+tree+"\n"+parents+"author "+person+"\ncommitter "+person+"\n\nx\n"))
	}

	base := commit("A <a@example.com>1300000000 -65900", "")
	r.Ref("refs/heads/main", base)
	r.Pull(1, r.Commit(Text("a", "x\ny\n"), commit("<> 1300000000 +0000", "parent "+base+"\n")))
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "y"}}}, files(t, open(t, r)))
}

// servePull serves a pack and the change in it, from a commit of base to one of head.
func servePull(t *testing.T, pack *Pack, base, head string) organization.Host {
	t.Helper()
	from := pack.Commit(base)
	to := pack.Commit(head, from)
	return serve(t, &PackServer{
		Pack: pack.Bytes(), Refs: []string{from + " HEAD", from + " refs/heads/main", to + " refs/pull/1/head"},
	})
}

// TestVeryDeepTrees has so many nested trees that git's recursion overflows
// its stack. (A server that compares them does so too, which is why a pack is
// served as it is.)
func TestVeryDeepTrees(t *testing.T) {
	t.Parallel()
	pack := NewPack(t)
	base := pack.Tree(TreeData(entry("100644", "f", pack.Blob([]byte("deep\n")))))
	tree := base

	for range 200_000 {
		tree = pack.Tree(TreeData(entry("40000", "d", tree)))
	}

	f := failure(t, t.Context(), source(t, servePull(t, pack, base, tree)))
	assert.Equal(t, scan.CodeRepositoryInvalid, f.Code, "%v", f)
}

// TestDeltaBomb has a few hundred bytes that unpack to more than git may use.
func TestDeltaBomb(t *testing.T) {
	t.Parallel()
	pack := NewPack(t)
	small := pack.Blob(make([]byte, 1<<20))
	base := pack.Tree(TreeData(entry("100644", "a", small)))
	middle := pack.Zeros(small, 1<<20, 48<<20)
	large := pack.Zeros(middle, 48<<20, 400<<20)
	head := pack.Tree(TreeData(entry("100644", "a", small), entry("100644", "b", middle), entry("100644", "c", large)))
	s := source(t, servePull(t, pack, base, head), func(l *git.Limits) { l.Memory = 400 << 20 })
	f := failure(t, t.Context(), s)
	assert.Equal(t, scan.CodeRepositoryTooLarge, f.Code, "%v", f)
	assert.True(t, f.Lasting)
}

// TestFileBomb has a file that is small only when compressed. It is too large
// to be scanned, and hides nothing beside it.
func TestFileBomb(t *testing.T) {
	t.Parallel()
	r := New(t)
	pullTree(r, r.Object("tree", TreeData(
		entry("100644", "a", r.Object("blob", []byte("1\n2\n"))),
		entry("100644", "bomb", r.Object("blob", make([]byte, 64<<20))))))
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "2"}}, {path: "bomb"}}, files(t, open(t, r)))
}

func TestPackOverFileSize(t *testing.T) {
	t.Parallel()
	r := New(t)
	noise := make([]byte, 1<<20)
	state := uint32(1)

	for i := range noise { // does not compress
		state = state*1664525 + 1013904223
		noise[i] = byte(state >> 24)
	}

	pullTree(r, r.Object("tree", TreeData(entry("100644", "a", r.Object("blob", noise)))))
	refused(t, r, func(l *git.Limits) { l.FileSize = 512 << 10 }, scan.CodeRepositoryTooLarge)
}

func TestManyRefs(t *testing.T) {
	t.Parallel()
	r := New(t)
	base, head := r.Change(Text("a", "0\n"), Text("a", "1\n"))
	var packed bytes.Buffer
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")

	for i := range 200_000 {
		fmt.Fprintf(&packed, "%s refs/x/%06d\n", base, i)
	}

	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "packed-refs"), packed.Bytes(), 0o644))
	c := open(t, r)
	assert.Equal(t, head, c.HeadSHA())
	files(t, c)
}

func TestReplaceRefsAndGraftsChangeNothing(t *testing.T) {
	t.Parallel()
	r := New(t)
	base, head := r.Change(Text("a", "0\n"), Text("a", "0\nsecret\n"))
	clean := r.Commit(Text("a", "0\n"), base)
	r.Ref("refs/replace/"+head, clean)
	r.Ref("refs/replace/"+r.Object("blob", []byte("0\nsecret\n")), r.Object("blob", []byte("0\n")))
	r.Write("info/grafts", head+"\n")
	c, err := source(t, fileHost(r)).Open(t.Context(), target)
	require.NoError(t, err)
	assert.Equal(t, head, c.HeadSHA())
	assert.Equal(t, []seen{{path: "a", lines: map[int]string{2: "secret"}}}, files(t, c))
}

func TestHooksAndConfigurationOfASourceDoNotRun(t *testing.T) {
	t.Parallel()
	r := New(t)
	r.Change(Text("a", "0\n"), Text("a", "1\n"))
	mark := filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\ntouch " + mark + "\nexec \"$@\"\n"
	r.Write("hooks/post-checkout", script)
	r.Write("evil", script)
	require.NoError(t, os.Chmod(filepath.Join(r.Dir, "evil"), 0o755))

	for _, key := range []string{
		"uploadpack.packObjectsHook", "core.fsmonitor", "core.sshCommand", "diff.external", "core.pager",
	} {
		r.Git("config", key, filepath.Join(r.Dir, "evil"))
	}

	files(t, open(t, r))
	assert.NoFileExists(t, mark)
}

// TestLongMinimalDiff has git compare what its algorithm likes least.
func TestLongMinimalDiff(t *testing.T) {
	t.Parallel()
	r := New(t)
	var old, now strings.Builder

	for i := range 100_000 {
		fmt.Fprintf(&old, "%d\n", i*7919%101)
		fmt.Fprintf(&now, "%d\n", i*104729%103)
	}

	r.Change(Text("a", old.String()), Text("a", now.String()))
	agrees(t, r)
}

// Links can be made so that following them has no end in sight.
func TestLinksThatLeadAround(t *testing.T) {
	t.Parallel()
	r := New(t)
	head := Text("d/x", "1\n", "x", "1\n")
	for i := range 200 {
		head[fmt.Sprintf("l%d", i)] = File{Mode: "120000", Text: strings.Repeat("d/../", 800) + fmt.Sprintf("l%d", i+1)}
	}
	r.Change(Text("x", "1\n"), head)
	f := failure(t, t.Context(), source(t, fileHost(r)))
	assert.Equal(t, scan.CodePullRequestTooLarge, f.Code)
}
