package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/match"
)

// JSONLines writes findings as JSON, an object a line, with the keys rule_id,
// file, line, column, message and severity in this order. A path that is not
// UTF-8 has U+FFFD for what is not, and then there is the key file_bytes with
// the path in base64, as in the API. It is safe for concurrent use.
type JSONLines struct {
	before, after []string // what a rule's findings have around their place
}

// NewJSONLines prepares for hits that refer to rules by their indexes.
func NewJSONLines(rules []rule.Rule) *JSONLines {
	j := &JSONLines{before: make([]string, len(rules)), after: make([]string, len(rules))}
	for i, r := range rules {
		j.before[i] = `{"rule_id":` + jsonText(r.FullID()) + `,"file":`
		j.after[i] = `,"message":` + jsonText(r.Message) + `,"severity":` + jsonText(r.Severity.String())
	}
	return j
}

// Append appends the findings in one file.
func (j *JSONLines) Append(dst []byte, file string, hits []match.Hit) []byte {
	name, end := jsonText(file), "}\n"
	if !utf8.ValidString(file) {
		name = jsonText(strings.ToValidUTF8(file, "\uFFFD"))
		end = `,"file_bytes":"` + base64.StdEncoding.EncodeToString([]byte(file)) + `"}` + "\n"
	}
	for _, h := range hits {
		dst = append(dst, j.before[h.Rule]...)
		dst = append(dst, name...)
		dst = append(dst, `,"line":`...)
		dst = strconv.AppendInt(dst, int64(h.Line), 10)
		dst = append(dst, `,"column":`...)
		dst = strconv.AppendInt(dst, int64(h.Column), 10)
		dst = append(dst, j.after[h.Rule]...)
		dst = append(dst, end...)
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
