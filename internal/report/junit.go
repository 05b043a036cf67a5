package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
)

// The elements of JUnit's reports that GitLab, Jenkins and CircleCI read
// (https://docs.gitlab.com/ci/testing/unit_test_reports/,
// https://github.com/jenkinsci/xunit-plugin, https://circleci.com/docs/collect-test-data/).
type testSuites struct {
	XMLName xml.Name  `xml:"testsuites"`
	Suite   testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name string `xml:"name,attr"`
	outcomes
	Properties *properties `xml:"properties"`
	Cases      []testCase  `xml:"testcase"`
	Out        string      `xml:"system-out,omitempty"`
}

// properties are facts about the whole suite.
type properties struct {
	List []property `xml:"property"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
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

// junit has a case for each finding. Those that reach the threshold failed; the
// others, and those that are suppressed or set aside, are skipped, since a case can't have
// failed a little. What was not looked at is an error, or skipped when it is
// tolerated. What is only observed is no case, or each would be a skipped test that
// somebody has to look after: it is the suite's output.
func (r Report) junit() (string, error) {
	suite := testSuite{Name: "prwarden " + terminal.Safe(r.Of)}
	for _, f := range r.Review.Findings {
		suite.Cases = append(suite.Cases, r.testCase(f))
	}
	for _, f := range r.Review.Suppressed {
		suite.Cases = append(suite.Cases, suppressedCase(f))
	}
	for _, s := range r.Review.Skips {
		suite.Cases = append(suite.Cases, r.skippedCase(s))
	}
	if n := r.unlistedSkips(); n > 0 {
		s := finding.Skip{File: "prwarden", Reason: fmt.Sprintf("%d more, too many to list", n)}
		suite.Cases = append(suite.Cases, r.skippedCase(s))
	}

	suite.Properties = r.properties()
	if list := r.onlyObserved(); len(list) > 0 {
		suite.Out = "Observed, which fails nothing:\n" + strings.Join(texts(list, observed), "\n")
	}

	switch {
	case !r.complete():
		suite.Cases = []testCase{{Name: "review", ClassName: "prwarden", Error: &outcome{Message: r.Summary()}}}
	case len(suite.Cases) == 0:
		// Jenkins takes a report without a case for a broken one.
		suite.Cases = []testCase{{Name: "no findings", ClassName: "prwarden"}}
	}
	for _, c := range suite.Cases {
		suite.count(c)
	}

	text, err := xml.MarshalIndent(testSuites{Suite: suite}, "", "  ")
	return xml.Header + terminal.EscapeMarks(string(text), "&#91;") + "\n", err
}

// properties are nil when nothing is known.
func (r Report) properties() *properties {
	var list []property
	for _, p := range []property{
		{"looked at", r.lookedAt()}, {"left out", strings.Join(r.SwitchedOff(), " ")},
		{"base", r.Base()}, {"verdict", r.Verdict()},
	} {
		if p.Value != "" {
			list = append(list, p)
		}
	}
	if list == nil {
		return nil
	}

	return &properties{list}
}

func (o *outcomes) count(c testCase) {
	o.Tests++
	switch {
	case c.Failure != nil:
		o.Failures++
	case c.Error != nil:
		o.Errors++
	case c.Skipped != nil:
		o.Skipped++
	}
}

func (r Report) testCase(f finding.Finding) testCase {
	c := namedCase(f)
	message := safeText(f.Message)
	if r.fails(f) {
		text := fmt.Sprintf("%s: %s: %s (%s)", location(f), f.Severity, message, terminal.Safe(f.RuleID))
		if f.Snippet != "" {
			text += "\n" + terminal.Safe(strings.ReplaceAll(f.Snippet, "\t", "    "))
		}
		c.Failure = &outcome{Message: message, Type: f.Severity.String(), Text: text}
		return c
	}

	why := f.Severity.String()
	switch {
	case f.Triage != nil:
		why += ", set aside, " + decided(*f.Triage)
	case !r.counts(f):
		why += ", which was there before"
	case r.FailOn != 0:
		why += ", which is less than the threshold"
	}
	c.Skipped = &outcome{Message: why + ": " + message}
	return c
}

func suppressedCase(f finding.Finding) testCase {
	c := namedCase(f)
	c.Skipped = &outcome{Message: "suppressed " + byComment(f)}
	return c
}

// skippedCase is what was not looked at.
func (r Report) skippedCase(s finding.Skip) testCase {
	file := terminal.Safe(s.File)
	c := testCase{Name: "not looked at: " + terminal.Safe(s.Reason), ClassName: file, File: file}
	if s.RuleID != "" {
		c.Name += " " + terminal.Safe(s.RuleID)
	}
	if s.Line > 0 {
		c.Name += fmt.Sprintf(" at %d", s.Line)
	}

	o := &outcome{Message: "not looked at: " + terminal.Safe(s.Text())}
	if !s.Tolerated && r.incomplete() {
		c.Error = o
	} else {
		c.Skipped = o
	}

	return c
}

// namedCase is a case whose name has the place of a finding, as the names in a
// class, which is the file, must differ.
func namedCase(f finding.Finding) testCase {
	file := terminal.Safe(f.File)
	return testCase{Name: fmt.Sprintf("%s at %s", terminal.Safe(f.RuleID), place(f)), ClassName: file, File: file}
}
