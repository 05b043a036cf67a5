package spelling

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRightOfVariants(t *testing.T) {
	t.Parallel()
	own := NewList(map[string]string{"beause": "since"})
	for word, want := range map[string]string{
		"confiugration": "configuration", "prcoess": "process", "rebulid": "rebuild", "hwoever": "however", // swapped
		"uknown": "unknown", "modifed": "modified", "explcitly": "explicitly", "miliseconds": "milliseconds", // left out
		"suppport": "support", "contextt": "context", "overridding": "overriding", // doubled
		"Prcoess": "Process", "PRCOESS": "PROCESS", "prCoess": "process", "beause": "since",

		"nknown": "", "explicitl": "", "pprocess": "", // the first and the last letter
		"licensee": "", "delegatee": "", "observee": "", // no last e twice
		"crates": "", "complies": "", "competes": "", "director": "", "striped": "", "reminder": "", // English
		"varint": "", "iteratee": "", "signin": "", "checkin": "", "execed": "", "mmapping": "", // of software
		"projet": "", "langage": "", "standaard": "", // of other languages
		"requets": "", "producs": "", "interation": "", // of two words
		"though": "", "through": "", "update": "", "updated": "", "changed": "", "changes": "",
	} {
		right, ok := own.Right([]byte(word))
		assert.Equal(t, want, right, word)
		assert.Equal(t, want != "", ok, word)
	}
}

// TestVariants holds that no variant is a word that is known to be right, and that the file has
// nothing twice or without effect.
func TestVariants(t *testing.T) {
	t.Parallel()
	var zero List
	listed, variants, is := map[string]string{}, map[string]string{}, map[string]bool{}
	addListed(listed)
	addVariants(variants)
	for _, right := range listed {
		is[right] = true
	}
	all := map[string]int{}
	var words, kept []string
	for word := range strings.FieldsSeq(commonWords) {
		if except, ok := strings.CutPrefix(word, "-"); ok {
			kept = append(kept, except)
			assert.Positive(t, all[except], "%s is no variant", except)
		} else {
			words = append(words, word)
			assert.GreaterOrEqual(t, len(word), 7, word)
			for variant := range variantsOf(word) {
				all[variant]++
				assert.NotEqual(t, word, variant)
			}
		}
	}
	for _, list := range [][]string{words, kept} {
		assert.True(t, slices.IsSorted(list))
		assert.Len(t, slices.Compact(slices.Clone(list)), len(list))
		for _, word := range list {
			assert.True(t, IsWord(word), word)
			is[word] = true
			_, ok := zero.Right([]byte(word))
			assert.False(t, ok, word)
		}
	}
	assert.Greater(t, len(variants), 15_000)
	for variant, word := range variants {
		assert.True(t, IsWord(variant), variant)
		assert.False(t, is[variant], variant)
		assert.Contains(t, words, word)
	}
}
