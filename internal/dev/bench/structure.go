package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// structureOptions are the flags of `bench structure`.
type structureOptions struct {
	*options
	corpus, rules string
	size          int
}

// structures measures whole scans with regular expressions, and with as many structure rules that are made of
// their words.
func structures(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := structureOptions{options: common}
	flags.StringVar(&o.corpus, "corpus", ".", "`folders` of the files, with commas between")
	flags.StringVar(&o.rules, "rules", "internal/match/testdata/rules-1000.tsv", "`file` of rules: id, tab, pattern")
	flags.IntVar(&o.size, "bytes", 33_000_000, "how much of the corpus is scanned")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

func (o structureOptions) run(ctx context.Context, dir string, out io.Writer) error {
	patterns, err := readTable(o.rules)
	if err != nil {
		return err
	}
	files, size, err := copyCorpus(filepath.Join(dir, "files"), strings.Split(o.corpus, ","), o.size)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rules on %d files, %.1f MB.\n\n", len(patterns), files, float64(size)/1e6)

	var regexes, structured strings.Builder
	regexes.WriteString("version: 1\nrules:\n")
	structured.WriteString("version: 1\nrules:\n")
	for n, id := range slices.Sorted(maps.Keys(patterns)) {
		fmt.Fprintf(&regexes, "  - {id: %s, type: regex, severity: info, message: Found., pattern: '%s'}\n",
			id, strings.ReplaceAll(patterns[id], "'", "''"))
		structured.WriteString(structuredRule(n, id, wordsOf(patterns[id])))
	}
	for name, text := range map[string]string{"regex.yml": regexes.String(), "structure.yml": structured.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}

	var all []peer
	for _, b := range o.builds() {
		for _, kind := range []string{"regex", "structure"} {
			all = append(all, peer{name: b.name + ", " + kind, path: b.path, marker: "\n", unit: "findings", args: []string{
				"scan", "--all", "{dir}/files", "--no-default-rules", "--rules", "{dir}/" + kind + ".yml",
				"--output", "jsonl", "--fail-on", "none", "--jobs", "1"}})
		}
	}
	for n := range all {
		if err := all[n].try(ctx, dir); err != nil {
			return err
		}
	}
	for range o.runs {
		for n := range all {
			if err := all[n].measure(ctx, dir, io.Discard); err != nil {
				return err
			}
		}
	}
	peerOptions{options: o.options}.print(out, all)

	return nil
}

var (
	wordPattern = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{2,}`)
	wordNoise   = regexp.MustCompile(`\(\?[a-z]*:?|\\[a-zA-Z]|\[[^\]]*\]|\{[^}]*\}`)
)

// wordsOf are the words of a regular expression that may be names.
func wordsOf(pattern string) []string {
	return wordPattern.FindAllString(wordNoise.ReplaceAllString(pattern, " "), -1)
}

// structuredRule is a rule of one of the usual shapes that looks for words.
func structuredRule(n int, id string, words []string) string {
	if len(words) == 0 {
		words = []string{"word" + id}
	}
	shapes := []string{
		"pattern: '%s($$$)'",
		"pattern: '$X.%s($$$ARGS)', where: {ARGS: {not: {has: 'timeout=$_', depth: direct}}}",
		"pattern: '$X.%s($Y)', where: {Y: {not: {is: constant}}}, focus: Y",
		"pattern: '%s($$$)', not_inside: 'if $C { $$$ }'",
		"pattern: '$X = $Y.%s($$$)', inside: '{ $$$ }'",
		"pattern: '%s', has: '$X + $Y'",
	}
	shape := shapes[n%len(shapes)]
	if strings.Contains(shape, ", has:") {
		shape = "pattern: '%s($$$)', has: '$X + $Y'"
	}
	body := fmt.Sprintf(shape, words[0])
	if len(words) > 1 && n%2 == 0 {
		var calls []string
		for _, word := range words {
			calls = append(calls, "'"+word+"($$$)'")
		}
		body = "any: [" + strings.Join(calls, ", ") + "], not_inside: 'if $C { $$$ }'"
	}

	return fmt.Sprintf("  - {id: %s, type: structure, severity: info, message: Found., languages: [go, python, "+
		"javascript, typescript, tsx, java, kotlin, c, c++, c#, ruby, php, rust], %s}\n", id, body)
}
