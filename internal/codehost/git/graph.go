package git

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/scan"
)

// A commit-graph makes the merge base of a large repository, and the question
// what a fetch already has, an order of magnitude quicker. git believes what is
// in it and checks next to nothing, so a flipped bit in one could choose another
// merge base, which nobody would notice. Objects can't do that: their names are
// their checksums. Therefore the checksums of the graph files are checked
// before each scan, and graphs that don't agree are removed, as are those of
// another form than this package writes.

// graphsName is where the files are: a chain of graphs, each named by its
// checksum, and a list of their names.
const (
	graphsName = "objects/info/commit-graphs"
	chainName  = "commit-graph-chain"
	singleName = "objects/info/commit-graph" // git's other form
)

// checkGraphs tells whether a generation has a commit-graph. It removes one
// that is not whole.
func checkGraphs(dir string) (present bool, err error) {
	graphs := filepath.Join(dir, graphsName)
	chain, err := os.ReadFile(filepath.Join(graphs, chainName))
	single := has(dir, singleName)
	if errors.Is(err, os.ErrNotExist) && !single {
		return false, nil // files without a list are not used
	}
	if whole := err == nil && !single; whole {
		for name := range strings.Lines(string(chain)) {
			whole = whole && wholeGraph(graphs, strings.TrimSuffix(name, "\n"))
		}
		if whole {
			return len(chain) > 0, nil
		}
	}
	for _, path := range []string{filepath.Join(dir, singleName), graphs} {
		if err := os.RemoveAll(path); err != nil {
			return false, fmt.Errorf("gitrepo: cache: %w", err)
		}
	}
	return false, nil
}

// wholeGraph tells whether a graph file has the checksum that it ends in and
// is named by.
func wholeGraph(dir, sum string) bool {
	if _, err := parseOID(sum); err != nil {
		return false
	}
	f, err := os.Open(filepath.Join(dir, "graph-"+sum+".graph"))
	if err != nil {
		return false
	}
	defer closeFile(f)
	info, err := f.Stat()
	if err != nil || info.Size() < sha1.Size {
		return false
	}
	h := sha1.New()
	r := bufio.NewReaderSize(f, 64<<10)
	if _, err := io.CopyN(h, r, info.Size()-sha1.Size); err != nil {
		return false
	}
	end, err := io.ReadAll(io.LimitReader(r, sha1.Size))
	want := hex.EncodeToString(h.Sum(nil))
	return err == nil && want == sum && want == hex.EncodeToString(end)
}

// graphing is a commit-graph being written.
type graphing struct {
	done   chan struct{}
	cancel context.CancelFunc
	err    error
}

// startGraph begins to bring the commit-graph up to date when the fetch brought
// commits, or when there is none. In a new generation it waits for it: choosing
// the ends then gains what that takes.
func (r *Repo) startGraph(ctx context.Context) (*graphing, error) {
	g := &graphing{done: make(chan struct{}), cancel: func() {}}
	packs, err := r.gen.countPacks()
	if err != nil {
		return nil, err
	}
	if packs == 0 || packs == r.gen.packs && r.gen.graph {
		close(g.done)
		return g, nil
	}
	ctx, g.cancel = context.WithCancel(ctx)
	go func() {
		defer close(g.done)
		_, g.err = r.store.git.run(ctx, r.gen.dir, newCommand("commit-graph", "write", "--reachable", "--split", "--no-progress"))
	}()
	if r.gen.fresh {
		return g, g.wait(ctx)
	}
	return g, nil
}

// wait waits for the graph. Waiting again gives the same.
func (g *graphing) wait(ctx context.Context) error {
	defer scan.Begin(ctx, scan.PhaseCache)()
	<-g.done
	return g.err
}

// stop ends the writing.
func (g *graphing) stop() {
	g.cancel()
	<-g.done
}
