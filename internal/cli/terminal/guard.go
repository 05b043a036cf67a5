package terminal

import "strings"

// GuardLine returns a line of text, made of Safe parts, as one that no CI service
// takes for a command. GitHub's runner takes lines that begin with `::` after white
// space, and those with `##[` anywhere; others have `##vso[` and
// `##teamcity[`.
func GuardLine(line string) string {
	if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + `\x3a` + rest[1:]
	}
	for _, mark := range []string{"##[", "##vso[", "##teamcity["} {
		line = strings.ReplaceAll(line, mark, mark[:len(mark)-1]+`\x5b`)
	}
	return line
}

// GuardLines does so with each line of a text.
func GuardLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(GuardLine(line))
	}
	return b.String()
}
