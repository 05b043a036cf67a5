package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/review"
)

// The elements of JUnit's reports that GitLab, Jenkins and CircleCI read
// (https://docs.gitlab.com/ci/testing/unit_test_reports/,
// https://github.com/jenkinsci/xunit-plugin, https://circleci.com/docs/collect-test-data/).
type testSuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Suites   []testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Name      string   `xml:"name,attr"`
	ClassName string   `xml:"classname,attr"`
	File      string   `xml:"file,attr,omitempty"`
	Failure   *outcome `xml:"failure"`
	Error     *outcome `xml:"error"`
	Skipped   *outcome `xml:"skipped"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes a suite for each file and a case for each finding. Those
// that reach the threshold failed; the others, and those that are suppressed,
// are skipped, since a case can't have failed a little.
func writeJUnit(w io.Writer, r Report, _ Style) error {
	all := testSuites{Name: "prwarden " + terminal.Safe(r.Of)}
	index := map[string]int{}
	add := func(file string, c testCase) {
		i, ok := index[file]
		if !ok {
			i = len(all.Suites)
			index[file] = i
			all.Suites = append(all.Suites, testSuite{Name: terminal.Safe(file)})
		}
		all.Suites[i].Cases = append(all.Suites[i].Cases, c)
	}
	for _, f := range r.Review.Findings {
		add(f.File, newCase(r, f))
	}
	for _, f := range r.Review.Suppressed {
		add(f.File, suppressedCase(f))
	}
	switch {
	case !r.complete():
		add("prwarden", testCase{Name: "review", ClassName: "prwarden", Error: &outcome{Message: r.Summary()}})
	case len(all.Suites) == 0:
		// Jenkins takes a report without a case for a broken one.
		add("prwarden", testCase{Name: "no findings", ClassName: "prwarden"})
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.count()
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+strings.ReplaceAll(string(text), "##[", "##&#91;")+"\n")
	return err
}

func (s *testSuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// newCase is a finding as a case. Its name has the place, as names must differ.
func newCase(r Report, f review.Finding) testCase {
	file, message := terminal.Safe(f.File), safeText(f.Message)
	c := testCase{Name: fmt.Sprintf("%s at %s", terminal.Safe(f.RuleID), place(f)), ClassName: file, File: file}
	if r.fails(f) {
		text := fmt.Sprintf("%s:%s: %s: %s (%s)", file, place(f), f.Severity, message, terminal.Safe(f.RuleID))
		if f.Snippet != "" {
			text += "\n" + terminal.Safe(strings.ReplaceAll(f.Snippet, "\t", "    "))
		}
		c.Failure = &outcome{Message: message, Type: f.Severity.String(), Text: text}
		return c
	}
	why := f.Severity.String() + ", which is less than the threshold"
	switch {
	case !r.considered(f):
		why = f.Severity.String() + ", which was there before"
	case r.FailOn == 0:
		why = f.Severity.String()
	}
	c.Skipped = &outcome{Message: why + ": " + message}
	return c
}

func suppressedCase(f review.Finding) testCase {
	file, why := terminal.Safe(f.File), "suppressed by a comment"
	if s := f.Suppression; s != nil && s.Reason != "" {
		why += ": " + safeText(s.Reason)
	}
	return testCase{
		Name: fmt.Sprintf("%s at %s", terminal.Safe(f.RuleID), place(f)), ClassName: file, File: file,
		Skipped: &outcome{Message: why},
	}
}
