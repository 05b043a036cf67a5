package terminal

import (
	"regexp"
	"strings"
)

// mark is what CI services take for the begin of a command wherever it is in a
// line: `##[` GitHub's runner, Gitea's and Forgejo's, `##vso[` Azure Pipelines,
// `##teamcity[` TeamCity, `##octopus[` Octopus Deploy. Any other word between is
// taken for one of a service that isn't known here.
var mark = regexp.MustCompile(`(##\w*)\[`)

// EscapeMarks returns a text in which bracket, which is what its format has for a
// `[`, stands in each mark of a command to a CI service.
func EscapeMarks(text, bracket string) string {
	if !strings.Contains(text, "##") {
		return text
	}
	return mark.ReplaceAllString(text, "${1}"+bracket)
}

// GuardLine returns a line of text, made of Safe parts, as one that no CI service
// takes for a command: it has no mark of one, nor does it begin with `::` after
// white space, for which GitHub's runner and those made like it look.
func GuardLine(line string) string {
	if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, "::") {
		line = line[:len(line)-len(rest)] + `\x3a` + rest[1:]
	}
	return EscapeMarks(line, `\x5b`)
}

// GuardLines does so with each line of a text.
func GuardLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(GuardLine(line))
	}
	return b.String()
}
