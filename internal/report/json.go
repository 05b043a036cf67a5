package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/sarif"
)

// json is what the server answered, or the review as it would answer it.
func (r Report) json() (string, error) {
	if r.JSON != nil {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSpace(r.JSON), "", "  "); err != nil {
			return "", errors.New("what the server answered is not JSON")
		}
		return terminal.SafeJSON(b.Bytes()) + "\n", nil
	}

	answer := r.Review
	for _, list := range []*[]finding.Finding{&answer.Findings, &answer.Suppressed, &answer.Fixed, &answer.Observed} {
		*list = append([]finding.Finding{}, *list...) // never null
	}
	answer.Skips = append([]finding.Skip{}, answer.Skips...)
	answer.SwitchedOff = append([]finding.SwitchedOff{}, answer.SwitchedOff...)
	answer.Summary = finding.NewSummary() // all severities
	maps.Copy(answer.Summary, r.Review.Summary)

	return indented(answer)
}

// indented is a value as JSON in which no text can drive a terminal or be a
// command to a CI service.
func indented(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return terminal.SafeJSON(text) + "\n", err
}

func (r Report) sarif() (string, error) {
	var b bytes.Buffer
	err := sarif.Write(&b, sarif.Input{
		Review: r.Review, Rules: r.Rules, Version: r.Version, OmitSuppressed: r.OmitSuppressed,
	})
	return terminal.SafeJSON(b.Bytes()), err
}

// JSONLines appends findings in one file to dst as JSON, an object a line, with
// the keys rule_id, file, line, column, message and severity in this order. A
// path that is not UTF-8 has U+FFFD for what is not, and then there is the key
// file_bytes with the path in base64, as in the API.
func JSONLines(dst []byte, file string, findings []finding.Finding) []byte {
	name, end := quoted(finding.Shown(file)), "}\n"
	if !utf8.ValidString(file) {
		end = `,"file_bytes":"` + base64.StdEncoding.EncodeToString([]byte(file)) + `"}` + "\n"
	}

	type text struct{ before, after string } // what a finding has around its place
	known := map[[2]string]text{}
	for _, f := range findings {
		key := [2]string{f.RuleID, f.Message}
		t, ok := known[key]
		if !ok {
			t.before = `{"rule_id":` + quoted(f.RuleID) + `,"file":` + name + `,"line":`
			t.after = `,"message":` + quoted(f.Message) + `,"severity":` + quoted(f.Severity.String()) + end
			known[key] = t
		}

		dst = append(dst, t.before...)
		dst = strconv.AppendInt(dst, int64(f.Line), 10)
		dst = append(dst, `,"column":`...)
		dst = strconv.AppendInt(dst, int64(f.Column), 10)
		dst = append(dst, t.after...)
	}
	return dst
}

// JSONObserved is findings of rules that are only observed, a line of JSON each, with
// the key observed, which has them as JSONLines does.
func JSONObserved(dst []byte, file string, findings []finding.Finding) []byte {
	for line := range bytes.Lines(JSONLines(nil, file, findings)) {
		dst = append(dst, `{"observed":`...)
		dst = append(dst, bytes.TrimSuffix(line, []byte("\n"))...)
		dst = append(dst, "}\n"...)
	}

	return dst
}

// JSONSkip is something that was not looked at as a line of JSON, with the key
// not_looked_at, which has it as in the API.
func JSONSkip(s finding.Skip) []byte {
	line, err := json.Marshal(struct {
		NotLookedAt finding.Skip `json:"not_looked_at"`
	}{s})
	if err != nil {
		panic(err) // texts and numbers always have a JSON form
	}

	return []byte(terminal.SafeJSON(line) + "\n")
}

// quoted is a text as a JSON string.
func quoted(text string) string {
	if !strings.ContainsFunc(text, mayNeedEscape) {
		return `"` + text + `"`
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string always has a JSON form
	}
	return strings.TrimSuffix(terminal.SafeJSON(b.Bytes()), "\n")
}

// mayNeedEscape tells the characters that JSON or a terminal may not take as they are.
func mayNeedEscape(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' || c == '#' }
