package match_test

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prwarden/prwarden/internal/dev/matchtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match"
)

// TestCorpus compares the engine with the reference on some of Go's own sources,
// with matches of the rules planted in them, by the default ruleset and by a
// thousand rules. PRWARDEN_CORPUS=DIR compares every file of another folder.
func TestCorpus(t *testing.T) {
	t.Parallel()
	most, dir := int64(96<<10), os.Getenv("PRWARDEN_CORPUS")
	if dir == "" {
		dir = goSource(t)
	} else {
		most = 1 << 62
	}
	files := corpus(t, dir, most)

	for name, rules := range map[string][]match.Rule{"default": defaultRules(), "thousand": thousandRules()} {
		m, err := match.Compile(rules)
		require.NoError(t, err)

		for half := range 2 {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				session, hits := m.NewSession(forever, nil), 0
				for i := half; i < len(files); i += 2 {
					content, err := os.ReadFile(filepath.Join(dir, files[i]))
					require.NoError(t, err)
					path := filepath.ToSlash(files[i])
					content = plant(content, rules, hash(path))

					got, err := session.File(path).Match(t.Context(), match.SplitLines(content), all, 1<<30)
					require.NoError(t, err)
					want := matchtest.Reference(rules, path, content, all)
					require.Equal(t, want, got.Hits, path)
					require.Empty(t, got.Stopped)
					hits += len(want)
				}
				assert.Greater(t, hits, 10, "too few hits to say anything")
			})
		}
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

// corpus lists files of a folder that a scan could look at, most bytes together,
// as a hash of their paths chooses.
func corpus(t *testing.T, dir string, most int64) []string {
	t.Helper()
	var list []string
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() <= 64<<10 {
			path = strings.TrimPrefix(path[len(dir):], string(filepath.Separator))
			list, sizes[path] = append(list, path), info.Size()
		}

		return err
	})
	require.NoError(t, err)
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })

	var chosen []string
	for _, path := range list {
		if most -= sizes[path]; most < 0 {
			break
		}
		chosen = append(chosen, path)
	}

	return chosen
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(filepath.ToSlash(s)))

	return h.Sum64()
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
