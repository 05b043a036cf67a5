package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/prwarden/prwarden/internal/cli/restclient"
)

// writeJSON writes the review as the API answers it.
func writeJSON(w io.Writer, r Report, _ Style) error {
	text := r.JSON
	if text == nil {
		answer := restclient.Encode(r.Review)
		if r.FailOn != 0 && r.complete() {
			answer.Verdict = &restclient.Verdict{Outcome: "pass", Threshold: r.FailOn.String()}
			if r.Fails() {
				answer.Verdict.Outcome = "fail"
			}
		}
		var err error
		if text, err = json.Marshal(answer); err != nil {
			return err
		}
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(text), "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	g := newGuard(w)
	_, err := g.Write(indented.Bytes())
	return errors.Join(err, g.Flush())
}
