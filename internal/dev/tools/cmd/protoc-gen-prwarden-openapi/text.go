package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
)

// reflow joins the lines of each paragraph of a comment.
func reflow(comment protogen.Comments) string {
	paragraphs := strings.Split(strings.TrimSpace(string(comment)), "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(paragraph), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

// sentence takes the name that a Go-style comment starts with from its front:
// `CreateKey makes a key.` becomes `Makes a key.`
func sentence(name, text string) string {
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok {
		return text
	}
	return upper(rest)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// printed returns JSON on one line, or on several when it is long.
func printed(value any) (string, error) {
	const wide = 60
	text, err := encoded(value, "")
	if err == nil && len(text) >= wide {
		text, err = encoded(value, "  ")
	}
	return text, err
}

func encoded(value any, indent string) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return strings.TrimSpace(text.String()), err
}
