package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// compareDocument compares the outputs with those in the document, or writes
// them there. Each stands between a line `<!-- output: NAME -->` and
// `<!-- end -->`.
func compareDocument(path string, outputs map[string]string, write bool) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(raw)
	var stale []string
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		begin, end, err := block(text, name)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fresh := "```text\n" + reviewID.ReplaceAllString(outputs[name], "rev_…") + "```\n"
		if normal(text[begin:end]) == normal(fresh) {
			continue // also when the watch saw other states
		}
		stale = append(stale, name)
		text = text[:begin] + fresh + text[end:]
	}
	if len(stale) == 0 {
		fmt.Printf("%s shows what the examples print.\n", document)
		return nil
	}
	if !write {
		return fmt.Errorf("%s does not show what these examples print now: %s; run 'make docs-sdks' and commit the result",
			document, strings.Join(stale, ", "))
	}
	fmt.Printf("%s: wrote the outputs of %s\n", document, strings.Join(stale, ", "))
	return os.WriteFile(path, []byte(text), 0o644)
}

// block finds the output of an example in the document.
func block(text, name string) (begin, end int, err error) {
	marker := "<!-- output: " + name + " -->\n"
	begin = strings.Index(text, marker)
	if begin < 0 {
		return 0, 0, fmt.Errorf("there is no line %q", strings.TrimSpace(marker))
	}
	begin += len(marker)
	length := strings.Index(text[begin:], "<!-- end -->")
	if length < 0 {
		return 0, 0, fmt.Errorf("the output of %s has no end", name)
	}
	return begin, begin + length, nil
}
