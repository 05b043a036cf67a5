package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
)

// The elements of JUnit's reports that GitLab, Jenkins and CircleCI read
// (https://docs.gitlab.com/ci/testing/unit_test_reports/,
// https://github.com/jenkinsci/xunit-plugin, https://circleci.com/docs/collect-test-data/).
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

// testSuite is the cases of a file. They are made when they are written, as
// each has the file's name three times.
type testSuite struct {
	file       string
	findings   []finding.Finding
	suppressed []finding.Finding
	own        *testCase // about no finding
}

// writeJUnit writes a suite for each file and a case for each finding. Those
// that reach the threshold failed; the others, and those that are suppressed,
// are skipped, since a case can't have failed a little.
func writeJUnit(w io.Writer, r Report, _ Style) error {
	suites := testSuites(r)
	var all outcomes
	for _, s := range suites {
		all.add(s.outcomes(r))
	}
	out := guardWith(w, safeXML)
	e := xml.NewEncoder(out)
	e.Indent("", "  ")
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	start := all.element("testsuites", "prwarden "+terminal.Safe(r.Of))
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	for _, s := range suites {
		if err := s.encode(e, r); err != nil {
			return err
		}
	}
	if err := e.EncodeToken(start.End()); err != nil {
		return err
	}
	if err := e.Close(); err != nil {
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

// testSuites are the suites in the order in which their files come up.
func testSuites(r Report) []*testSuite {
	var list []*testSuite
	byFile := map[string]*testSuite{}
	of := func(file string) *testSuite {
		s := byFile[file]
		if s == nil {
			s = &testSuite{file: file}
			byFile[file] = s
			list = append(list, s)
		}
		return s
	}
	for _, f := range r.Review.Findings {
		s := of(f.File)
		s.findings = append(s.findings, f)
	}
	for _, f := range r.Review.Suppressed {
		s := of(f.File)
		s.suppressed = append(s.suppressed, f)
	}
	switch {
	case !r.complete():
		of("prwarden").own = &testCase{Name: "review", ClassName: "prwarden", Error: &outcome{Message: r.Summary()}}
	case len(list) == 0:
		// Jenkins takes a report without a case for a broken one.
		of("prwarden").own = &testCase{Name: "no findings", ClassName: "prwarden"}
	}
	return list
}

func (s *testSuite) encode(e *xml.Encoder, r Report) error {
	file := terminal.Safe(s.file)
	start := s.outcomes(r).element("testsuite", file)
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	name := xml.StartElement{Name: xml.Name{Local: "testcase"}}
	for _, f := range s.findings {
		if err := e.EncodeElement(newCase(r, f, file), name); err != nil {
			return err
		}
	}
	for _, f := range s.suppressed {
		if err := e.EncodeElement(suppressedCase(f, file), name); err != nil {
			return err
		}
	}
	if s.own != nil {
		if err := e.EncodeElement(s.own, name); err != nil {
			return err
		}
	}
	return e.EncodeToken(start.End())
}

// outcomes counts cases.
type outcomes struct{ tests, failures, errors, skipped int }

func (s *testSuite) outcomes(r Report) outcomes {
	o := outcomes{tests: len(s.findings) + len(s.suppressed), skipped: len(s.suppressed)}
	for _, f := range s.findings {
		if r.fails(f) {
			o.failures++
		} else {
			o.skipped++
		}
	}
	if s.own != nil {
		o.tests++
		if s.own.Error != nil {
			o.errors++
		}
	}
	return o
}

func (o *outcomes) add(more outcomes) {
	o.tests += more.tests
	o.failures += more.failures
	o.errors += more.errors
	o.skipped += more.skipped
}

// element begins what has so many cases.
func (o outcomes) element(element, name string) xml.StartElement {
	start := xml.StartElement{Name: xml.Name{Local: element}, Attr: []xml.Attr{{Name: xml.Name{Local: "name"}, Value: name}}}
	for _, c := range []struct {
		name string
		n    int
	}{{"tests", o.tests}, {"failures", o.failures}, {"errors", o.errors}, {"skipped", o.skipped}} {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: c.name}, Value: strconv.Itoa(c.n)})
	}
	return start
}

// newCase is a finding as a case. Its name has the place, as names must differ;
// file is what it is in, as it is shown.
func newCase(r Report, f finding.Finding, file string) testCase {
	message := safeText(f.Message)
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

func suppressedCase(f finding.Finding, file string) testCase {
	why := "suppressed by a comment"
	if s := f.Suppression; s != nil && s.Reason != "" {
		why += ": " + safeText(s.Reason)
	}
	return testCase{
		Name: fmt.Sprintf("%s at %s", terminal.Safe(f.RuleID), place(f)), ClassName: file, File: file,
		Skipped: &outcome{Message: why},
	}
}
