package match_test

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// TestCorpus compares the engine with the reference for every rule and line of
// Go's own sources: the default ruleset and a thousand rules, each looking at
// each file, as the file is, and with matches of the rules planted in it. A
// sample of files of every kind is compared. PRWARDEN_CORPUS=all compares every
// file, PRWARDEN_CORPUS=DIR every file of another folder.
//
// The plain reference would take hours, so one that is faster and just as
// exact stands for it (quickRule), and is itself compared with the plain one on
// a part of the sample.
func TestCorpus(t *testing.T) {
	t.Parallel()
	// Bytes to compare: as they are, with planted matches, with the plain reference.
	most, planted, plain := int64(2<<20), int64(1<<19), int64(48<<10)
	dir := os.Getenv("PRWARDEN_CORPUS")
	switch dir {
	case "":
		dir = goSource(t)
	case "all":
		dir = goSource(t)
		fallthrough
	default:
		most, planted, plain = 1<<62, 32<<20, 1<<20
	}
	list := corpus(t, dir)
	for name, rules := range map[string][]match.Rule{"default": defaultRules(), "thousand": thousandRules()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newComparison(t, rules, dir)
			c.run(t, "as it is", take(list, most))
			c.planted = true
			c.run(t, "planted", take(list, planted))
			c = newComparison(t, rules, dir)
			c.planted, c.plain = true, true
			c.run(t, "plain reference, path globs", take(list, plain))
		})
	}
}

// goSource is the folder of Go's sources. A test binary may be built without
// knowing it.
func goSource(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "src"))
	require.NoError(t, err)
	return dir
}

// corpusFile is a regular file of the corpus.
type corpusFile struct {
	path string // in the corpus
	size int64  // bytes
}

// corpus lists the files of a folder that a scan could look at: first two of
// each kind, by their ending, then all others, each as a hash of its path
// chooses.
func corpus(t *testing.T, dir string) []corpusFile {
	t.Helper()
	var list []corpusFile
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() <= 1<<20 {
			list = append(list, corpusFile{strings.TrimPrefix(path[len(dir):], string(filepath.Separator)), info.Size()})
		}
		return err
	})
	require.NoError(t, err)
	slices.SortFunc(list, func(a, b corpusFile) int {
		return cmp.Or(cmp.Compare(hash(a.path), hash(b.path)), cmp.Compare(a.path, b.path))
	})
	kinds := map[string]int{}
	rank := map[corpusFile]int{}
	for _, f := range list {
		if f.size <= 64<<10 {
			kinds[filepath.Ext(f.path)]++
		}
		rank[f] = 1
		if n := kinds[filepath.Ext(f.path)]; 0 < n && n <= 2 {
			rank[f] = 0
		}
	}
	slices.SortStableFunc(list, func(a, b corpusFile) int { return cmp.Compare(rank[a], rank[b]) })
	return list
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(filepath.ToSlash(s)))
	return h.Sum64()
}

// take returns the first files of a list that are most bytes together.
func take(list []corpusFile, most int64) []corpusFile {
	var total int64
	var out []corpusFile
	for _, f := range list {
		if total+f.size <= most {
			total += f.size
			out = append(out, f)
		}
	}
	return out
}

// comparison compares the engine with a reference on files.
type comparison struct {
	rules   []match.Rule // as the quick reference has them: without globs
	globbed []match.Rule
	quick   []*quickRule
	session *match.Session // of the rules without globs
	strict  *match.Session // of the rules with globs
	dir     string
	planted bool // plant matches in each file
	plain   bool // compare with match.Reference, and with path globs
	bytes   atomic.Int64
	lines   atomic.Int64
	hits    atomic.Int64
}

func newComparison(t *testing.T, rules []match.Rule, dir string) *comparison {
	t.Helper()
	c := &comparison{globbed: rules, rules: slices.Clone(rules), dir: dir}
	for i := range c.rules {
		c.rules[i].Include, c.rules[i].Exclude = nil, nil
		c.quick = append(c.quick, newQuickRule(i, c.rules[i]))
	}
	for to, rules := range map[**match.Session][]match.Rule{&c.session: c.rules, &c.strict: c.globbed} {
		m, err := match.Compile(rules)
		require.NoError(t, err)
		*to = m.NewSession(forever, nil)
	}
	return c
}

// run compares files, two at a time, and says how much it compared. It gives
// up after the first few that differ.
func (c *comparison) run(t *testing.T, what string, files []corpusFile) {
	t.Helper()
	began := time.Now()
	for _, n := range []*atomic.Int64{&c.bytes, &c.lines, &c.hits} {
		n.Store(0)
	}
	var failures atomic.Int32
	work := make(chan corpusFile)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for f := range work {
				if failures.Load() > 3 {
					continue
				}
				if d := c.differs(t, f.path); d != "" {
					failures.Add(1)
					t.Errorf("%s: %s", f.path, d)
				}
			}
		})
	}
	for _, f := range files {
		work <- f
	}
	close(work)
	wg.Wait()
	t.Logf("%s: %d files, %d bytes, %d lines × %d rules = %d pairs, %d hits, %v", what,
		len(files), c.bytes.Load(), c.lines.Load(), len(c.rules), c.lines.Load()*int64(
			len(c.rules),
		), c.hits.Load(), time.Since(began).Round(time.Millisecond))
	assert.Greater(t, c.hits.Load(), int64(10), "too few hits to say anything")
}

func (c *comparison) differs(t *testing.T, path string) string {
	content, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		return err.Error()
	}
	path = filepath.ToSlash(path)
	if c.planted {
		content = plant(content, c.rules, hash(path))
	}
	session := c.session
	var want []match.Hit
	if c.plain {
		session = c.strict
		want = match.Reference(c.globbed, path, content, all)
	} else {
		text := newQuickText(content)
		for _, q := range c.quick {
			want = append(want, q.hits(text)...)
		}
		slices.SortFunc(want, func(a, b match.Hit) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
		})
	}
	got, err := session.File(path).Match(t.Context(), match.SplitLines(content), all, 1<<30)
	if err != nil {
		return err.Error()
	}
	c.bytes.Add(int64(len(content)))
	c.lines.Add(int64(len(splitLines(content))))
	c.hits.Add(int64(len(want)))
	if len(got.Stopped) > 0 {
		return fmt.Sprintf("rules were stopped: %v", got.Stopped)
	}
	return firstDifference(c.rules, content, got.Hits, want)
}

// plant puts texts that rules match, or nearly match, into one of eight lines.
func plant(content []byte, rules []match.Rule, seed uint64) []byte {
	rnd := rand.New(rand.NewPCG(seed, 0))
	var out []byte
	for line := range bytes.Lines(content) {
		if rnd.IntN(8) > 0 {
			out = append(out, line...)
			continue
		}
		random := make([]byte, 1<<10)
		for i := range random {
			random[i] = byte(rnd.Uint32())
		}
		r := rules[rnd.IntN(len(rules))]
		w := newWriter(&choices{random}, []match.Rule{r}, nil)
		at := rnd.IntN(len(line))
		out = append(out, line[:at]...)
		out = append(out, w.mutate(w.sample(w.trees[0], nil))...)
		out = append(out, line[at:]...)
	}
	return out
}

// firstDifference shows the first hit that one list has and the other has not.
func firstDifference(rules []match.Rule, content []byte, got, want []match.Hit) string {
	for i := range max(len(got), len(want)) {
		var g, w match.Hit
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g == w {
			continue
		}
		h, verdict := w, "missed"
		if w == (match.Hit{}) || g != (match.Hit{}) && (g.Line < w.Line || g.Line == w.Line && g.Rule <= w.Rule) {
			h, verdict = g, "wrong"
		}
		return fmt.Sprintf("%d hits, want %d; %s: got %v, want %v, pattern %q, line %q",
			len(got), len(want), verdict, g, w, rules[h.Rule].Pattern, splitLines(content)[h.Line-1])
	}
	return ""
}
