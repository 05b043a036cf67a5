package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/prwarden/prwarden/internal/rule"
)

// annotation says that a line of a sample must, or must not, be hit by a rule.
type annotation struct {
	id     string // full
	at     int    // the line of the annotation
	target int    // the line that it is about; 0 when none follows
	want   bool
}

// sample is an annotated file.
type sample struct {
	path        string
	lines       []string
	annotations []annotation
	on          map[int]int // lines that hold annotations, with how many bytes of code are before
	mistakes    []failure
}

// The words of annotations, in any comment:
//
//	prwarden: expect ID[, ID]
//	prwarden: ok ID[, ID]
const (
	wordExpect = "expect"
	wordOK     = "ok"
)

// parseSample finds the annotations in a file. Each is about the next line that
// holds none. ids are the full ids of all rules.
func parseSample(path string, content []byte, ids []string) *sample {
	s := &sample{path: path, lines: strings.Split(string(content), "\n"), on: map[int]int{}}
	if last := len(s.lines) - 1; s.lines[last] == "" {
		s.lines = s.lines[:last]
	}
	marker := regexp.MustCompile(`\bprwarden:[ \t]*([A-Za-z]+)\b(.*)`)
	list := regexp.MustCompile(`^[ \t]+([\w./-]+(?:[ \t]*,[ \t]*[\w./-]+)*)[ \t]*(,?)`)
	var waiting []int // annotations whose line is not known yet
	for i, line := range s.lines {
		n := i + 1
		m := marker.FindStringSubmatch(line)
		if m == nil || m[1] == "ignore" { // which suppresses findings
			s.settle(waiting, n)
			waiting = nil
			continue
		}
		code := codeBefore(line, marker)
		if m[1] != wordExpect && m[1] != wordOK {
			if meant := nearWord(m[1]); meant != "" {
				s.on[n] = code
				s.fail(n, fmt.Sprintf("%q is neither %q nor %q", m[1], wordExpect, wordOK), "did you mean `prwarden: "+meant+"`?")
			} else {
				s.settle(waiting, n)
				waiting = nil
			}
			continue
		}
		s.on[n] = code
		found := list.FindStringSubmatch(strings.TrimSuffix(strings.TrimRight(m[2], " \t\r"), "-->"))
		if found == nil || found[2] != "" {
			s.fail(n, "an id of a rule is missing", "write `prwarden: "+m[1]+" ID` or `prwarden: "+m[1]+" ID, ID`")
			continue
		}
		for id := range strings.SplitSeq(found[1], ",") {
			if s.add(annotation{id: strings.TrimSpace(id), at: n, want: m[1] == wordExpect}, ids) {
				waiting = append(waiting, len(s.annotations)-1)
			}
		}
	}

	for _, i := range waiting {
		s.fail(s.annotations[i].at, "no line follows that the annotation could be about", "")
	}
	return s
}

// codeBefore is the length of what a line has before an annotation, where that is
// more than the beginning of a comment. Rules look at the comments of a sample,
// too, but its annotations are there for another reason.
func codeBefore(line string, marker *regexp.Regexp) int {
	at := marker.FindStringIndex(line)[0]
	if !strings.ContainsFunc(line[:at], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return 0
	}
	return at
}

// nearWord is the word that a mistyped one was meant to be, or "".
func nearWord(word string) string {
	switch word = strings.ToLower(word); {
	case word == "ok", word == "okay", word == "pass", word == "negative":
		return wordOK
	case strings.HasPrefix(word, "exp"), word == "match", word == "hit", word == "ruleid":
		return wordExpect
	}
	return ""
}

// empty reports whether the sample has no annotation, not even a wrong one.
func (s *sample) empty() bool { return len(s.annotations)+len(s.mistakes) == 0 }

// add adds an annotation, if there is a rule with its id.
func (s *sample) add(a annotation, ids []string) bool {
	given := a.id
	a.id = rule.FullID(given)
	if !slices.Contains(ids, a.id) {
		hint := "`prwarden rules list` shows the rules"
		if near := rule.NearestID(given, ids); near != "" {
			hint = "did you mean `" + near + "`?"
		}
		s.fail(a.at, "there is no rule "+given, hint)
		return false
	}
	s.annotations = append(s.annotations, a)
	return true
}

// settle says which line annotations are about.
func (s *sample) settle(annotations []int, line int) {
	for _, i := range annotations {
		s.annotations[i].target = line
	}
}

func (s *sample) fail(line int, message, hint string) {
	s.mistakes = append(s.mistakes, failure{Line: line, Message: message, Hint: hint})
}

// rules are the full ids of the rules that the sample names, in order.
func (s *sample) rules() []string {
	var ids []string
	for _, a := range s.annotations {
		ids = append(ids, a.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// expects says what annotations say of a rule on a line.
func (s *sample) expects(id string, line int) (want, known bool) {
	for _, a := range s.annotations {
		if a.id == id && a.target == line {
			return a.want, true
		}
	}
	return false, false
}
