package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
)

// What a scan leaves out, wholly or in part. Other programs do not, so these files are no part of a comparison.
const (
	maxFile = 1 << 20
	maxLine = 16 << 10
	sniffed = 8000 // bytes in which a NUL makes a file binary
)

// copyCorpus copies about size bytes of the files below folders into dir: always the same random ones.
func copyCorpus(dir string, folders []string, size int) (files, copied int, err error) {
	var all []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && entry.Type().IsRegular() {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
	slices.Sort(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	for _, path := range all {
		if copied >= size {
			break
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, 0, err
		}
		if !scannedWhole(text) {
			continue
		}

		// The name keeps its ending, by which rules choose files.
		to := filepath.Join(dir, fmt.Sprint(files/1000), fmt.Sprintf("%d-%s", files, filepath.Base(path)))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return 0, 0, err
		}
		files++
		copied += len(text)
	}
	if files == 0 {
		return 0, 0, errors.New("the corpus has no text")
	}
	return files, copied, nil
}

// scannedWhole says whether a scan looks at every byte of a file.
func scannedWhole(text []byte) bool {
	if len(text) == 0 || len(text) > maxFile || bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return false
		}
	}
	return true
}

// rulePattern is a rule of the comparison.
type rulePattern struct{ id, pattern string }

// readRules reads a line for each rule: its id, a tab and its pattern.
func readRules(path string) ([]rulePattern, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	var rules []rulePattern
	for line := range strings.Lines(string(text)) {
		id, pattern, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: %q has no tab", path, line)
		}
		rules = append(rules, rulePattern{id, pattern})
	}
	return rules, nil
}

// writeRules writes the rules below dir in the form that each program wants them.
func writeRules(dir string, rules []rulePattern) error {
	var ours, patterns, config bytes.Buffer
	ours.WriteString("version: 1\nrules:\n")
	for _, r := range rules {
		fmt.Fprintf(&ours, "  - {id: %s, type: regex, severity: info, message: Found., pattern: '%s'}\n",
			r.id, strings.ReplaceAll(r.pattern, "'", "''"))

		// Without Unicode \b, \w and \d mean in ripgrep what they mean in Go, and it is many times faster. Then it does
		// not take the two other characters that are an s or a k in any case.
		fmt.Fprintf(&patterns, "(?-u:%s)\n", strings.NewReplacer("\u017f", "", "\u212a", "").Replace(r.pattern))

		words, err := keywords(r.pattern)
		if err != nil {
			return fmt.Errorf("rule %s: %w", r.id, err)
		}
		fmt.Fprintf(&config, "[[rules]]\nid = %q\nregex = '''%s'''\nkeywords = [%s]\n\n", r.id, r.pattern, words)
	}

	for name, text := range map[string][]byte{
		"rules.yml": ours.Bytes(), "patterns": patterns.Bytes(), "gitleaks.toml": config.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// minKeyword is the length of a word that is worth looking for.
const minKeyword = 3

// keywords are words of which every match of a pattern has one, as a list of TOML. They make gitleaks and betterleaks
// fast. There are none when a match need not have a word.
func keywords(pattern string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}

	words := required(re.Simplify())
	if shortest(words) < minKeyword {
		return "", nil
	}
	slices.Sort(words)
	return `"` + strings.Join(slices.Compact(words), `", "`) + `"`, nil
}

// required are words in lower case of which every match has one: among several such sets the one whose shortest word is
// longest.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return longestWord(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words := required(sub); shortest(words) > shortest(best) {
				best = words
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := required(sub)
			if len(words) == 0 {
				return nil
			}
			all = append(all, words...)
		}
		return all
	}
	return nil
}

// longestWord is the longest run of letters, digits and the like in a literal. In a literal of any case, k and s are no
// part of it: they also match characters outside of ASCII.
func longestWord(re *syntax.Regexp) []string {
	folded := re.Flags&syntax.FoldCase != 0
	words := strings.FieldsFunc(string(re.Rune), func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"\`, r) || folded && strings.ContainsRune("kKsS", r)
	})
	if len(words) == 0 {
		return nil
	}
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	return []string{strings.ToLower(longest)}
}

// shortest is the length of the shortest of words; 0 for none.
func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}
