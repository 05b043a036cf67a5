package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// compareDocument compares the outputs with those in the document, or writes
// them there. The document has them once, between the lines `<!-- output -->`
// and `<!-- end -->`.
func compareDocument(path string, outputs map[string]string, write bool) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(raw)
	var stale []string
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		begin, end, err := block(text)
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

// block finds the output of the examples in the document. There is one, because
// all of them print the same.
func block(text string) (begin, end int, err error) {
	const marker = "<!-- output -->\n"
	begin = strings.Index(text, marker)
	if begin < 0 {
		return 0, 0, fmt.Errorf("there is no line %q", strings.TrimSpace(marker))
	}
	begin += len(marker)
	length := strings.Index(text[begin:], "<!-- end -->")
	if length < 0 {
		return 0, 0, errors.New("the output has no end")
	}
	return begin, begin + length, nil
}
