package match_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// decisions returns a random number of random bytes, the same for a seed.
func decisions(seed, stream uint64, most int) []byte {
	rnd := rand.New(rand.NewPCG(seed, stream))
	data := make([]byte, rnd.IntN(most))
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}

	return data
}

// randomScene is the same for a seed.
func randomScene(seed uint64) scene {
	return newScene(decisions(seed, 1, 1<<11), decisions(seed, 2, 1<<12), decisions(seed, 3, 1<<9))
}

// TestSameAsReference compares the engine with what defines it on random
// scenes, the same ones each time. The fuzz targets find others, and so does
// PRWARDEN_SCENES=FROM:TO, which chooses the seeds.
func TestSameAsReference(t *testing.T) {
	t.Parallel()
	from, to := uint64(0), uint64(1200)
	if seeds := os.Getenv("PRWARDEN_SCENES"); seeds != "" {
		_, err := fmt.Sscanf(seeds, "%d:%d", &from, &to)
		require.NoError(t, err)
	}
	const shards = 4
	for shard := range uint64(shards) {
		t.Run(fmt.Sprint("shard ", shard), func(t *testing.T) {
			t.Parallel()
			for seed := from + shard; seed < to; seed += shards {
				same(t, randomScene(seed), scene.engineDiffers, "seed %d", seed)
			}
		})
	}
}

// same fails where the engine differs.
func same(t *testing.T, s scene, differs func(scene, context.Context) string, format string, args ...any) {
	t.Helper()
	if d := differs(s, t.Context()); d != "" {
		t.Fatalf(format+":\n%s\n%#v", append(args, d, s)...)
	}
}

// fuzzScenes runs a target on scenes. Its seeds run in every test, too.
func fuzzScenes(f *testing.F, differs func(scene, context.Context) string) {
	for seed := range uint64(300) {
		seed += 1 << 32 // others than TestSameAsReference has
		f.Add(decisions(seed, 1, 1<<11), decisions(seed, 2, 1<<12), decisions(seed, 3, 1<<9))
	}
	f.Fuzz(func(t *testing.T, patterns, texts, shape []byte) {
		same(t, newScene(patterns, texts, shape), differs, "differs")
	})
}

// FuzzEngine finds rules and files whose hits, counts or long lines are not
// what the reference says.
func FuzzEngine(f *testing.F) { fuzzScenes(f, scene.engineDiffers) }

// FuzzSpans finds texts in which Spans finds something else than regexp.
func FuzzSpans(f *testing.F) { fuzzScenes(f, scene.spansDiffer) }

// FuzzCandidates finds texts that a rule matches without being a candidate.
func FuzzCandidates(f *testing.F) { fuzzScenes(f, scene.candidatesDiffer) }
