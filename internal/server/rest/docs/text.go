package docs

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strings"
)

// inline finds what stands out in a paragraph: code, and addresses.
var inline = regexp.MustCompile("`[^`]+`|https?://[^\\s<>\"'`)]+[^\\s<>\"'`).,;:]")

// prose makes HTML of the part of Markdown that descriptions use: paragraphs,
// lists, code and bare addresses. Everything else is text.
func prose(text string) template.HTML {
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var items []string
		var words []string
		for line := range strings.SplitSeq(block, "\n") {
			if item, ok := strings.CutPrefix(line, "- "); ok {
				items = append(items, item)
			} else {
				words = append(words, line)
			}
		}
		if joined := strings.TrimSpace(strings.Join(words, " ")); joined != "" {
			out.WriteString("<p>" + phrase(joined) + "</p>")
		}
		if len(items) == 0 {
			continue
		}
		out.WriteString("<ul>")
		for _, item := range items {
			out.WriteString("<li>" + listed(item) + "</li>")
		}
		out.WriteString("</ul>")
	}
	return template.HTML(out.String())
}

// listed makes code of the word that a list of values explains.
func listed(item string) string {
	word, rest, found := strings.Cut(item, ": ")
	if found && !strings.ContainsAny(word, " `") {
		return "<code>" + html.EscapeString(word) + "</code>: " + phrase(rest)
	}
	return phrase(item)
}

func phrase(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range inline.FindAllStringIndex(text, -1) {
		out.WriteString(html.EscapeString(text[end:at[0]]))
		found := text[at[0]:at[1]]
		if code, ok := strings.CutPrefix(found, "`"); ok {
			out.WriteString("<code>" + html.EscapeString(strings.TrimSuffix(code, "`")) + "</code>")
		} else {
			address := html.EscapeString(found)
			out.WriteString(`<a href="` + address + `">` + address + `</a>`)
		}

		end = at[1]
	}

	out.WriteString(html.EscapeString(text[end:]))
	return out.String()
}

// token finds the words of JSON: a key with its colon, a string, and anything
// else that is no punctuation.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?|[-+.\w]+`)

// highlighted makes HTML of JSON, indented, with a class on each word.
func highlighted(raw json.RawMessage) (template.HTML, error) {
	var text bytes.Buffer
	if err := json.Indent(&text, raw, "", "  "); err != nil {
		return "", err
	}
	s := text.String()
	var out strings.Builder
	end := 0
	for _, at := range token.FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(html.EscapeString(s[end:at[0]]))
		word := s[at[0]:at[1]]
		class := "n"
		switch {
		case at[2] >= 0:
			word, class = s[at[0]:at[2]], "k"
		case word[0] == '"':
			class = "s"
		}

		out.WriteString(`<span class="` + class + `">` + html.EscapeString(word) + `</span>`)
		end = at[0] + len(word)
	}

	out.WriteString(html.EscapeString(s[end:]))
	return template.HTML(out.String()), nil
}
