// Package hostile makes texts and rules that are the worst for a matching
// engine, each in one way.
package hostile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// maxLine is the longest line that prwarden looks at, in bytes.
const maxLine = 16 << 10

// Case is rules and a text that is hard for them, and what to compare with: as
// many rules, or the same ones, on usual code.
type Case struct {
	Name  string
	Rules []ruleset.Rule
	Text  corpus.Corpus
	Usual []ruleset.Rule
}

// Cases makes every case of about size bytes. model is rules, as many as an
// organization has; usual is a sample of code of at least size bytes. The result
// depends on the arguments alone.
func Cases(model []ruleset.Rule, usual corpus.Corpus, size int) ([]Case, error) {
	usual = usual.Resize(int64(size))
	words, err := ruleset.Words(model)
	if err != nil {
		return nil, err
	}
	folded := ruleset.Matching(model, "(?i")
	random := rand.New(rand.NewPCG(16, 3))
	everywhere, line := wordsOfEveryLine(len(model))
	return []Case{
		{"100 rules of classes only, no literal", noLiterals(100), usual, ruleset.Sample(model, 100)},
		{"every rule hits on every line, a word for each", everywhere, repeat(line, size), model},
		{"every rule hits on every line, the same word for all", sameWord(len(model)), repeat("needle(1)\n", size/32), model},
		{"lines of 16 KiB", model, longLines(usual), model},
		{"nothing but the rules' own words", model, sample(random, words, " ", 100, size), model},
		{"the same in lines of 16 KiB", model, sample(random, words, " ", maxLine-100, size), model},
		{"four letters of the rules' words at a time", model, sample(random, grams(words), "", 100, size), model},
		{fmt.Sprintf("%d rules in any case, U+212A for k, U+017F for s", len(folded)), folded, kelvin(usual), folded},
		{"5 rules whose automata grow, on lines of theirs", growing(), repeat(growingLine(), size/4), ruleset.Sample(model, 5)},
	}, nil
}

// noLiterals are rules of classes and counts.
func noLiterals(n int) []ruleset.Rule {
	forms := []string{
		`[A-Z]{2}[0-9]{%d,}`, `\b[A-Z][a-z]+[0-9]{%d}\b`, `[0-9a-f]{%d}[A-Z]`, `[A-Za-z0-9+/]{%d}[=-]{2}`, `\b[a-z]{1,2}[0-9]{%d,}\b`,
		`[0-9]{%d}[^0-9a-z \n][0-9]{3}`, `[A-Z]{%d}[^\w\s][a-z]`, `\b[0-9][a-z]{%d}\b`, `[^\w\s]{%d}[A-Z]`, `[aeiou]{2}[b-df-hj-np-tv-z]{%d}[0-9]`,
	}
	rules := make([]ruleset.Rule, n)
	for i := range rules {
		rules[i] = ruleset.Rule{ID: fmt.Sprintf("class%d", i), Pattern: fmt.Sprintf(forms[i%len(forms)], 4+i/len(forms))}
	}
	return rules
}

// wordsOfEveryLine are n rules, and a line with a word for each.
func wordsOfEveryLine(n int) ([]ruleset.Rule, string) {
	rules := make([]ruleset.Rule, n)
	var line strings.Builder
	for i := range rules {
		word := fmt.Sprintf("word%04d", i)
		rules[i] = ruleset.Rule{ID: word, Pattern: `\b` + word + `\b`}
		line.WriteString(word + " ")
	}
	return rules, line.String() + "\n"
}

// sameWord are n rules that differ, and all match needle(.
func sameWord(n int) []ruleset.Rule {
	rules := make([]ruleset.Rule, n)
	for i := range rules {
		rules[i] = ruleset.Rule{ID: fmt.Sprintf("needle%d", i), Pattern: fmt.Sprintf(`\b(?:needle|other%04d)\(`, i)}
	}
	return rules
}

// growing are rules that take an automaton many states, or a backtracker many
// steps.
func growing() []ruleset.Rule {
	var rules []ruleset.Rule
	for i, pattern := range []string{
		`token.{0,500}secret`, `(?:x.?.?.?.?.?.?.?){100}END`, `(?:(?:x|y|xy|yx)+z?){60}END`, `(?i)(?:[x-z]{1,10}\w?){70}END`, `[a-z]{900}!`,
	} {
		rules = append(rules, ruleset.Rule{ID: fmt.Sprintf("growing%d", i), Pattern: pattern})
	}
	return rules
}

func growingLine() string {
	return strings.Repeat("xy", 500) + "END\n" + strings.Repeat("token=", 150) + "\n" + strings.Repeat("abcdefgh", 120) + "\n"
}

// repeat is files of at most 512 KiB that repeat a line.
func repeat(line string, size int) corpus.Corpus {
	var c corpus.Corpus
	for size > 0 {
		n := max(1, min(size, 512<<10)/len(line))
		c.Files = append(c.Files, corpus.File{Path: fmt.Sprintf("repeat%d.txt", len(c.Files)), Text: bytes.Repeat([]byte(line), n)})
		size -= n * len(line)
	}
	return c
}

// sample is files of lines of about width bytes, made of pieces by chance.
func sample(random *rand.Rand, pieces []string, between string, width, size int) corpus.Corpus {
	var c corpus.Corpus
	for size > 0 {
		var text strings.Builder
		for text.Len() < min(size, 512<<10) {
			line := 0
			for line < width {
				piece := pieces[random.IntN(len(pieces))] + between
				text.WriteString(piece)
				line += len(piece)
			}
			text.WriteByte('\n')
		}
		c.Files = append(c.Files, corpus.File{Path: fmt.Sprintf("sample%d.txt", len(c.Files)), Text: []byte(text.String())})
		size -= text.Len()
	}
	return c
}

// grams are the four letters from each place of each word.
func grams(words []string) []string {
	var list []string
	for _, w := range words {
		for i := 0; i+4 <= len(w); i++ {
			list = append(list, w[i:i+4])
		}
	}
	return list
}

// longLines is a text whose lines are all as long as they may be.
func longLines(c corpus.Corpus) corpus.Corpus {
	return change(c, func(text []byte) []byte {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte(" "))
		text = bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
		var out []byte
		for len(text) > 0 {
			n := min(len(text), maxLine)
			out = append(append(out, text[:n]...), '\n')
			text = text[n:]
		}
		return out
	})
}

// kelvin is a text with the two runes beyond ASCII that fold to ASCII letters in
// place of these.
func kelvin(c corpus.Corpus) corpus.Corpus {
	replace := strings.NewReplacer("k", "\u212a", "K", "\u212a", "s", "\u017f", "S", "\u017f")
	return change(c, func(text []byte) []byte { return []byte(replace.Replace(string(text))) })
}

// change is a copy of c with changed texts, in one piece so that short files
// don't count, and at most 512 KiB each.
func change(c corpus.Corpus, f func([]byte) []byte) corpus.Corpus {
	var all []byte
	for _, file := range c.Files {
		all = append(append(all, file.Text...), '\n')
	}
	var out corpus.Corpus
	for len(all) > 0 {
		n := min(len(all), 512<<10)
		out.Files = append(out.Files, corpus.File{Path: fmt.Sprintf("changed%d.txt", len(out.Files)), Text: f(all[:n])})
		all = all[n:]
	}
	return out
}
