package spelling

import (
	_ "embed"
	"iter"
	"strings"
)

// commonWords are common words of texts about software, and behind them, each with a hyphen
// before it, the words among their variants: English ones, names, and frequent words of other
// languages, which English lines may quote.
//
//go:embed common.txt
var commonWords string

// addVariants adds the variants of the common words to misspelt words that have none of them
// yet: no list has all that typing makes of a word.
//
// A variant of two words is left out, because only who wrote it knows which one is meant.
func addVariants(right map[string]string) {
	of := map[string]string{}
	var words, kept []string
	for word := range strings.FieldsSeq(commonWords) {
		if except, ok := strings.CutPrefix(word, "-"); ok {
			kept = append(kept, except)

			continue
		}
		words = append(words, word)
		for variant := range variantsOf(word) {
			if other, ok := of[variant]; ok && other != word {
				kept = append(kept, variant)
			}
			of[variant] = word
		}
	}
	for _, word := range append(kept, words...) {
		delete(of, word)
	}
	for variant, word := range of {
		if _, ok := right[variant]; !ok {
			right[variant] = word
		}
	}
}

// variantsOf are the word with a letter left out that is neither the first nor the last, with
// one twice that isn't the first, and with two adjacent ones swapped; some come more than once.
// A last e isn't doubled: that makes words, such as licensee and delegatee.
func variantsOf(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 1; i < len(word); i++ {
			before, this, rest := word[:i], word[i:i+1], word[i+1:]
			if rest != "" && !yield(before+rest) {
				return
			}
			if word[i:] != "e" && !yield(word[:i+1]+word[i:]) {
				return
			}
			if word[i-1] != word[i] && !yield(word[:i-1]+this+word[i-1:i]+rest) {
				return
			}
		}
	}
}
