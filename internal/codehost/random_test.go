package codehost_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/prwarden/prwarden/internal/dev/gittest"
)

// randomFiles are files whose names sort in surprising ways, of every mode
// that is in real repositories.
func randomFiles(r *rand.Rand) Files {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	files := Files{}

	for range 3 + r.IntN(12) {
		path := pick(
			"a", "a.b", "a-b", "a0", "b", "a/x", "a/x/y", "a.b/x", "b/a", "b/a.x", "b/a/x", "c/d/e/f", "c/d/e.f", "z",
		)
		clash := false
		for other := range files {
			clash = clash || strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/")
		}
		if clash {
			continue
		}
		files[path] = File{
			Mode: pick("100644", "100644", "100664", "100755", "100775", "100600", "120000", "160000"),
			Text: pick("", "x", "x\n", "x\ny\n", "x\r\ny", numbered(20), numbered(21)),
		}
		if files[path].Mode == "160000" {
			files[path] = File{Mode: "160000", Text: strings.Repeat(pick("1", "2"), 40)}
		}
	}

	return files
}

// Random changes are seen as plain git sees them: some only add files, some
// only remove files, and some do both, in which git may find renames.
func TestRandomChanges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(45) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			base, head := randomFiles(random), randomFiles(random)
			switch seed % 3 {
			case 0: // nothing is removed
				for path := range base {
					if _, there := head[path]; !there {
						delete(base, path)
					}
				}
			case 1: // nothing is added
				for path := range head {
					if _, there := base[path]; !there {
						delete(head, path)
					}
				}
			}
			r := New(t)
			r.Change(base, head)
			agrees(t, r)
		})
	}
}
