package account

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/ccojocar/zxcvbn-go/data"
)

// commonPasswords returns the list of a library, the common passwords of at least
// minWord bytes. It is read when it is first needed, because few commands are.
var commonPasswords = sync.OnceValue(func() map[string]bool {
	var list struct{ List []string }
	encoded, err := data.Asset("data/Passwords.json")
	if err == nil {
		err = json.Unmarshal(encoded, &list)
	}
	if err != nil {
		panic("account: the list of common passwords can't be read: " + err.Error()) // it is in the program
	}

	words := make(map[string]bool, len(list.List))
	for _, word := range list.List {
		if len(word) >= minWord {
			words[word] = true
		}
	}

	return words
})

const (
	minWord = 4  // shorter entries of the list are in too many good passwords
	maxWord = 32 // no entry is longer

	// wordWorth is how many characters of its own a common word counts for, and worth
	// how many a password needs.
	wordWorth = 2
	worth     = 8
)

// leet are the digits and signs that people write for letters.
var leet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// isCommon reports whether a password is made of little more than common passwords,
// personal texts, runs such as `1234` or `aaaa`, and repeats of these. Common passwords
// themselves are mostly shorter than a password may be.
func isCommon(password string, personal ...string) bool {
	words := []string{"prwarden"}
	for _, text := range personal {
		text = strings.ToLower(text)
		local, domain, _ := strings.Cut(text, "@")
		words = append(append(words, text, local, domain), strings.Fields(text)...)
	}
	words = slices.DeleteFunc(words, func(word string) bool { return len(word) < minWord })

	lower := strings.ToLower(password)

	return worthOf(lower, words) < worth || worthOf(leet.Replace(lower), words) < worth
}

// worthOf counts the different characters that are in no word and no run, and words
// and runs as wordWorth.
func worthOf(text string, personal []string) (n int) {
	seen := map[string]bool{}
	for text != "" {
		word := longestWord(text, personal)
		if word == "" {
			word = text[:run(text)]
		}
		text = text[len(word):]
		switch {
		case seen[word]:
		case len(word) == 1:
			n++
		default:
			n += wordWorth
		}
		seen[word] = true
	}

	return n
}

// longestWord returns the longest word that a text begins with; "" for none.
func longestWord(text string, personal []string) (longest string) {
	for n := min(len(text), maxWord); n >= minWord; n-- {
		if commonPasswords()[text[:n]] {
			longest = text[:n]
			break
		}
	}
	for _, word := range personal {
		if strings.HasPrefix(text, word) && len(word) > len(longest) {
			longest = word
		}
	}

	return longest
}

// run returns how many bytes at the begin of a text are the same, or each one more or
// one less than the byte before; 1 for fewer than three.
func run(text string) int {
	if len(text) < 3 {
		return 1
	}
	step := int(text[1]) - int(text[0])
	if step < -1 || step > 1 {
		return 1
	}
	n := 2
	for n < len(text) && int(text[n])-int(text[n-1]) == step {
		n++
	}
	if n < 3 {
		return 1
	}

	return n
}
