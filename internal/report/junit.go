package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
)

// The elements of JUnit's reports that GitLab, Jenkins and CircleCI read
// (https://docs.gitlab.com/ci/testing/unit_test_reports/,
// https://github.com/jenkinsci/xunit-plugin, https://circleci.com/docs/collect-test-data/).
type testSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	outcomes
	Suites []*testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name string `xml:"name,attr"`
	outcomes
	Cases []lazyCase `xml:"testcase"`
}

// outcomes counts cases.
type outcomes struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
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

// lazyCase makes a case when it is written, as each has the file's name three
// times.
type lazyCase func() testCase

// MarshalXML implements xml.Marshaler.
func (c lazyCase) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	return e.EncodeElement(c(), start)
}

// writeJUnit writes a suite for each file and a case for each finding. Those
// that reach the threshold failed; the others, and those that are suppressed,
// are skipped, since a case can't have failed a little.
func writeJUnit(w io.Writer, r Report, _ Style) error {
	out := guardWith(w, safeXML)
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(out)
	e.Indent("", "  ")
	if err := e.Encode(newTestSuites(r)); err != nil {
		return err
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		return err
	}
	return out.Flush()
}

// safeXML keeps what can't drive a terminal from being a command to a CI
// service.
func safeXML(lines []byte) string {
	return terminal.EscapeMarks(string(lines), "&#91;")
}

// newTestSuites makes the suites in the order in which their files come up.
func newTestSuites(r Report) *testSuites {
	all := &testSuites{Name: "prwarden " + terminal.Safe(r.Of)}
	byFile := map[string]*testSuite{}
	add := func(file string, one outcomes, c lazyCase) {
		s := byFile[file]
		if s == nil {
			s = &testSuite{Name: terminal.Safe(file)}
			byFile[file] = s
			all.Suites = append(all.Suites, s)
		}
		s.Cases = append(s.Cases, c)
		s.add(one)
		all.add(one)
	}

	for _, f := range r.Review.Findings {
		one := outcomes{Skipped: 1}
		if r.fails(f) {
			one = outcomes{Failures: 1}
		}
		add(f.File, one, func() testCase { return newCase(r, f) })
	}
	for _, f := range r.Review.Suppressed {
		add(f.File, outcomes{Skipped: 1}, func() testCase { return suppressedCase(f) })
	}

	switch {
	case !r.complete():
		add("prwarden", outcomes{Errors: 1}, func() testCase {
			return testCase{Name: "review", ClassName: "prwarden", Error: &outcome{Message: r.Summary()}}
		})
	case len(all.Suites) == 0:
		// Jenkins takes a report without a case for a broken one.
		add("prwarden", outcomes{}, func() testCase { return testCase{Name: "no findings", ClassName: "prwarden"} })
	}
	return all
}

// add counts one more case.
func (o *outcomes) add(one outcomes) {
	o.Tests++
	o.Failures += one.Failures
	o.Errors += one.Errors
	o.Skipped += one.Skipped
}

// newCase is a finding as a case.
func newCase(r Report, f finding.Finding) testCase {
	c := namedCase(f)
	message := safeText(f.Message)
	if r.fails(f) {
		text := fmt.Sprintf("%s:%s: %s: %s (%s)", c.File, place(f), f.Severity, message, terminal.Safe(f.RuleID))
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

func suppressedCase(f finding.Finding) testCase {
	why := "suppressed by a comment"
	if s := f.Suppression; s != nil && s.Reason != "" {
		why += ": " + safeText(s.Reason)
	}
	c := namedCase(f)
	c.Skipped = &outcome{Message: why}
	return c
}

// namedCase is a case whose name has the place of a finding, as names must
// differ.
func namedCase(f finding.Finding) testCase {
	file := terminal.Safe(f.File)
	return testCase{Name: fmt.Sprintf("%s at %s", terminal.Safe(f.RuleID), place(f)), ClassName: file, File: file}
}
