// Package command does what people ask for in comments of pull requests: scan again, set
// a finding aside, explain a rule.
package command

import (
	"regexp"
	"strings"
)

// Kind is what somebody asks for.
type Kind string

// The kinds.
const (
	Rescan  Kind = "rescan"
	Ignore  Kind = "ignore"
	Explain Kind = "explain"
	Unknown Kind = "" // nothing that there is
)

// Command is a line of a comment that asks for something.
type Command struct {
	Kind        Kind
	Fingerprint string // of Ignore
	Reason      string // likewise
	Until       string // likewise: `YYYY-MM-DD`, "" for no end
	RuleID      string // of Explain
}

// MaxCommands is how many commands of a comment are done.
const MaxCommands = 5

// word begins the line of a command.
const word = "/prwarden"

var (
	ignoreLine  = regexp.MustCompile(`^ignore ([0-9a-f]{1,64}) -- (.*\S)$`)
	untilDay    = regexp.MustCompile(`^(.*\S) until ([0-9]{4}-[0-9]{2}-[0-9]{2})$`)
	explainLine = regexp.MustCompile(`^explain ([a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)?)$`)
	fence       = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")
)

// Parse returns the first commands of a comment: lines that begin with the word, outside
// of quotes, of code, and of HTML that isn't shown.
func Parse(body string) (commands []Command) {
	var skip skipper
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		line = strings.TrimRight(line, " \t\r\n")
		if skip.line(line) {
			continue
		}
		if rest, ok := strings.CutPrefix(line, word); ok && (rest == "" || rest[0] == ' ') {
			if commands = append(commands, parse(strings.TrimPrefix(rest, " "))); len(commands) == MaxCommands {
				break
			}
		}
	}

	return commands
}

func parse(text string) Command {
	if text == string(Rescan) {
		return Command{Kind: Rescan}
	}
	if m := explainLine.FindStringSubmatch(text); m != nil {
		return Command{Kind: Explain, RuleID: m[1]}
	}
	if m := ignoreLine.FindStringSubmatch(text); m != nil {
		c := Command{Kind: Ignore, Fingerprint: m[1], Reason: m[2]}
		if end := untilDay.FindStringSubmatch(c.Reason); end != nil {
			c.Reason, c.Until = end[1], end[2]
		}

		return c
	}

	return Command{Kind: Unknown}
}

// skipper knows which lines nobody means: where it is in doubt, such as in a paragraph
// that goes on after a quote, a line is one of them.
type skipper struct {
	fence  string // that opened a block of code; "" outside
	until  string // that ends the HTML; "" outside
	quoted bool   // the line before was quoted, and its paragraph may go on
}

// line reports whether a line is to be passed over.
func (s *skipper) line(line string) bool {
	switch {
	case s.until != "":
		if strings.Contains(strings.ToLower(line), s.until) {
			s.until = ""
		}
		return true
	case s.fence != "":
		m := fence.FindStringSubmatch(line)
		if m != nil && strings.HasPrefix(m[1], s.fence) && strings.TrimSpace(m[2]) == "" {
			s.fence = ""
		}
		return true
	}

	if m := fence.FindStringSubmatch(line); m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")) {
		s.fence, s.quoted = m[1], false
		return true
	}
	if s.until = opened(line); s.until != "" {
		return true
	}
	trimmed := strings.TrimSpace(line)
	s.quoted = strings.HasPrefix(trimmed, ">") || s.quoted && trimmed != ""

	return s.quoted
}

// opened returns what ends the HTML that a line opens and leaves open; "" for none.
func opened(line string) string {
	line = strings.ToLower(line)
	for _, tag := range [][2]string{
		{"<!--", "-->"}, {"<pre", "</pre>"}, {"<code", "</code>"}, {"<script", "</script>"}, {"<style", "</style>"},
		{"<textarea", "</textarea>"}, {"<blockquote", "</blockquote>"}, {"<details", "</details>"},
	} {
		if at := strings.LastIndex(line, tag[0]); at >= 0 && !strings.Contains(line[at:], tag[1]) {
			return tag[1]
		}
	}

	return ""
}
