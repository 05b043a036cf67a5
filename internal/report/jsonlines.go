package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
)

// JSONLines appends findings in one file to dst as JSON, an object a line, with
// the keys rule_id, file, line, column, message and severity in this order. A
// path that is not UTF-8 has U+FFFD for what is not, and then there is the key
// file_bytes with the path in base64, as in the API.
func JSONLines(dst []byte, file string, findings []finding.Finding) []byte {
	name, end := jsonText(file), "}\n"
	if !utf8.ValidString(file) {
		name = jsonText(strings.ToValidUTF8(file, "\uFFFD"))
		end = `,"file_bytes":"` + base64.StdEncoding.EncodeToString([]byte(file)) + `"}` + "\n"
	}

	type text struct{ before, after string } // what a finding has around its place
	known := map[[2]string]text{}
	for _, f := range findings {
		key := [2]string{f.RuleID, f.Message}
		t, ok := known[key]
		if !ok {
			t = text{
				before: `{"rule_id":` + jsonText(f.RuleID) + `,"file":` + name + `,"line":`,
				after:  `,"message":` + jsonText(f.Message) + `,"severity":` + jsonText(f.Severity.String()) + end,
			}
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

// jsonText is a JSON string of a text, in which all that is not plainly visible
// is escaped.
func jsonText(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string always has a JSON form
	}
	return terminal.SafeJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
