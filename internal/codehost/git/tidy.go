package git

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// The commit-graph is a chain of files, each named by its checksum, and a list
// of their names. git also knows a single file.
const (
	graphsName      = "objects/info/commit-graphs"
	graphChainName  = graphsName + "/commit-graph-chain"
	singleGraphName = "objects/info/commit-graph"
)

// checkGraph tells whether a generation has a commit-graph, and removes one that
// is not whole. git believes what is in it and checks next to nothing, so a
// flipped bit could choose another merge base, which nobody would notice.
func checkGraph(dir string) (present bool, err error) {
	chain, _ := os.ReadFile(filepath.Join(dir, graphChainName)) // without it there is no graph
	sums := strings.Fields(string(chain))
	damaged := func(sum string) bool { return !wholeGraph(filepath.Join(dir, graphsName, "graph-"+sum+".graph"), sum) }
	if len(sums) > 0 && !slices.ContainsFunc(sums, damaged) && !has(dir, singleGraphName) {
		return true, nil
	}

	for _, name := range []string{graphsName, singleGraphName} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return false, fmt.Errorf("git: cache: %w", err)
		}
	}
	return false, nil
}

// wholeGraph tells whether a file has a checksum, which is also its end.
func wholeGraph(path, sum string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer closeFile(f)

	hash := sha1.New()
	size := fileSize(path) - sha1.Size
	if _, err := io.CopyN(hash, f, size); err != nil || size < 0 {
		return false
	}
	end, err := io.ReadAll(f)
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == sum && hex.EncodeToString(end) == sum
}

// updateGraph writes the commit-graph when there is none or the fetch brought
// commits. With it the merge base of a large repository is found an order of
// magnitude quicker.
func (r *Repo) updateGraph(ctx context.Context) error {
	packs, err := r.gen.packFiles()
	if err != nil || len(packs) == 0 || len(packs) == r.gen.packs && r.gen.graph {
		return err
	}
	write := newCommand("commit-graph", "write", "--reachable", "--split", "--no-progress")
	_, err = r.store.git.run(ctx, r.gen.dir, write)
	return err
}

// tidy keeps a repository quick after a fetch: few packs.
func (r *Repo) tidy(ctx context.Context) error {
	defer scan.Begin(ctx, scan.PhaseCache)()
	packs, err := r.gen.packFiles()
	if err != nil {
		return err
	}
	if len(packs) == r.gen.packs || len(packs) <= r.store.git.limits.Packs { // the fetches brought nothing, or little
		return nil
	}
	return r.combine(ctx, packs)
}

// combine puts all packs but the largest into one.
func (r *Repo) combine(ctx context.Context, packs []string) error {
	slices.SortFunc(packs, func(a, b string) int { return cmp.Compare(fileSize(a), fileSize(b)) })
	packs = packs[:len(packs)-1]
	var names bytes.Buffer
	for _, pack := range packs {
		names.WriteString(filepath.Base(pack) + "\n")
	}

	write := newCommand("pack-objects", "--quiet", "--window=0", "--stdin-packs", "objects/pack/pack")
	write.stdin = &names
	out, err := r.store.git.run(ctx, r.gen.dir, write)
	if err != nil {
		return err
	}
	name := "pack-" + strings.TrimSpace(string(out))
	dir := filepath.Join(r.gen.dir, "objects", "pack")
	if err := os.WriteFile(filepath.Join(dir, name+".promisor"), nil, 0o600); err != nil {
		return fmt.Errorf("git: cache: %w", err)
	}

	for _, pack := range packs {
		stem := strings.TrimSuffix(pack, ".pack")
		if filepath.Base(stem) == name {
			continue
		}
		for _, suffix := range []string{".idx", ".pack", ".promisor", ".rev"} { // the index first: git goes by it
			if err := os.Remove(stem + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("git: cache: %w", err)
			}
		}
	}
	r.gen.removeOldTrees()
	return nil
}
