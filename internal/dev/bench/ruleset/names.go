package ruleset

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// namer makes names that resemble other names.
type namer struct {
	random     *rand.Rand
	vocabulary *Vocabulary
	invented   []string          // words that made-up names consist of
	made       *regexp.Regexp    // a made-up name, in any case
	words      *regexp.Regexp    // its words and its number
	parts      map[kind][]string // words of the model's real names
}

// kind is how a word is written.
type kind int

const (
	lower kind = iota
	title
	upper
	digits
	other
)

func newNamer(random *rand.Rand, v *Vocabulary, model []string) *namer {
	invented := strings.Fields("acme audit billing consent falcon flag fraud invoice kyc ledger legacy nimbus orbit payout quartz quota shard tenant vault zephyr")
	word := "(?:" + strings.Join(invented, "|") + ")"
	n := &namer{
		random:     random,
		vocabulary: v,
		invented:   invented,
		made:       regexp.MustCompile("(?i)^" + word + "(?:_?" + word + ")*[0-9]*$"),
		words:      regexp.MustCompile("(?i)" + word + "|[0-9]+"),
		parts:      map[kind][]string{},
	}
	for _, name := range model {
		if n.made.MatchString(name) || hexadecimal(name) {
			continue
		}
		for _, p := range pieces(name) {
			if len(p) > 2 {
				n.parts[kindOf(p)] = append(n.parts[kindOf(p)], p)
			}
		}
	}
	return n
}

// like makes a name of the same character: of made-up words if name is; one that
// is used as often in the text; or, for a name that the text doesn't have, one
// that it doesn't have either.
func (n *namer) like(name string, folded bool) string {
	if n.made.MatchString(name) {
		return n.invent(name)
	}
	if n.vocabulary.use(name, folded).all > 0 {
		candidates := n.vocabulary.like(name, folded)
		found := candidates[n.random.IntN(len(candidates))]
		if folded {
			found = strings.ToUpper(found)
		}
		return found
	}
	// Neither harder nor easier to find by some of its letters than name is.
	rarity := n.vocabulary.rarity(name)
	made, nearest := "", 100
	for range 200 {
		other := n.recombine(name)
		if n.vocabulary.use(other, folded).all > 0 {
			continue
		}
		if far := abs(n.vocabulary.rarity(other)-rarity) + abs(len(other)-len(name))/3; far < nearest {
			made, nearest = other, far
		}
		if nearest == 0 {
			break
		}
	}
	if made == "" {
		return n.recombine(name)
	}
	return made
}

// invent replaces the words and the number of a made-up name.
func (n *namer) invent(name string) string {
	return n.words.ReplaceAllStringFunc(name, func(old string) string {
		if kindOf(old) == digits {
			return strconv.Itoa(n.random.IntN(30))
		}
		return recase(n.invented[n.random.IntN(len(n.invented))], kindOf(old))
	})
}

// recombine makes a name of as many words as name has, that are written alike:
// each a word of the text or of the model, or the beginning of one and the end
// of another.
func (n *namer) recombine(name string) string {
	if hexadecimal(name) {
		b := []byte(name)
		for i := range b[1:] {
			b[i+1] = "0123456789abcdef"[n.random.IntN(16)]
		}
		return matchCase(string(b), name)
	}
	var b strings.Builder
	for _, old := range pieces(name) {
		switch k := kindOf(old); {
		case k == digits:
			b.WriteString(strconv.Itoa(n.random.IntN(pow10(len(old)))))
		case len(old) < 3:
			b.WriteString(old)
		case n.random.IntN(2) == 0:
			b.WriteString(n.word(k))
		default:
			a, z := n.word(k), n.word(k)
			head := a[:min((len(old)+1)/2, len(a))]
			tail := z[max(0, len(z)-max(0, len(old)-len(head))):]
			b.WriteString(recase(head+tail, k))
		}
	}
	return b.String()
}

// word is a word of the text or of the model, which are as likely.
func (n *namer) word(k kind) string {
	list := n.parts[k]
	if len(list) == 0 || n.random.IntN(2) == 0 {
		list = n.vocabulary.words[k]
	}
	if len(list) == 0 {
		return recase("word", k)
	}
	return list[n.random.IntN(len(list))]
}

// prefix replaces the beginning of a token: some letters of a made-up word, then
// two at random.
func (n *namer) prefix(old string) string {
	b := []byte(n.invented[n.random.IntN(len(n.invented))])
	b = b[:max(1, min(len(b), len(old)-2))]
	for len(b) < len(old) {
		b = append(b, byte('a'+n.random.IntN(26)))
	}
	return string(b)
}

// pieces are the words, numbers and other runs that a name consists of.
func pieces(name string) []string {
	var list []string
	start := 0
	for i := 1; i <= len(name); i++ {
		if i < len(name) && sameWord(name[i-1], name[i]) && !(i+1 < len(name) && isUpper(name[i-1]) && isUpper(name[i]) && isLower(name[i+1])) {
			continue
		}
		list = append(list, name[start:i])
		start = i
	}
	return list
}

// sameWord says whether a word goes on from a to b: letters of one case, a
// capital and what follows it, digits, or anything else.
func sameWord(a, b byte) bool {
	if isLower(b) {
		return isLower(a) || isUpper(a)
	}
	return class(a) == class(b)
}

func class(b byte) kind {
	switch {
	case isUpper(b):
		return upper
	case isLower(b):
		return lower
	case '0' <= b && b <= '9':
		return digits
	}
	return other
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

func abs(n int) int { return max(n, -n) }

func kindOf(word string) kind {
	switch {
	case word == "":
		return other
	case unicode.IsDigit(rune(word[0])):
		return digits
	case word == strings.ToUpper(word) && word != strings.ToLower(word):
		return upper
	case word == strings.ToLower(word) && word != strings.ToUpper(word):
		return lower
	case word != strings.ToUpper(word):
		return title
	}
	return other
}

func recase(word string, k kind) string {
	switch k {
	case upper:
		return strings.ToUpper(word)
	case title:
		return strings.ToUpper(word[:1]) + strings.ToLower(word[1:])
	case lower:
		return strings.ToLower(word)
	}
	return word
}

// matchCase writes word in upper case if model is.
func matchCase(word, model string) string {
	if model == strings.ToUpper(model) {
		return strings.ToUpper(word)
	}
	return word
}

// hexadecimal says whether name is an x and a number, as x24a9.
func hexadecimal(name string) bool {
	return len(name) > 3 && (name[0] == 'x' || name[0] == 'X') &&
		strings.Trim(name[1:], "0123456789abcdefABCDEF") == ""
}

func pow10(n int) int {
	p := 1
	for range min(n, 9) {
		p *= 10
	}
	return p
}
