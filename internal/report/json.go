package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/prwarden/prwarden/internal/cli/restclient"
)

// writeJSON writes the review as the API answers it.
func writeJSON(w io.Writer, r Report, _ Style) error {
	out := newJSONWriter(w)
	if r.JSON == nil {
		if err := writeAnswer(out, r); err != nil {
			return err
		}
		return out.end()
	}
	if !json.Valid(r.JSON) { // before the first byte is written
		return errors.New("what the server answered is not JSON")
	}
	for piece := range slices.Chunk(r.JSON, 32<<10) {
		if _, err := out.Write(piece); err != nil {
			return err
		}
	}
	return out.end()
}

// writeAnswer writes the answer that a review would be. Its lists, which are
// nearly all of it, are written an item at a time in the places of empty ones: a
// name that is escaped six times as long as it was would be in each finding.
func writeAnswer(w io.Writer, r Report) error {
	head := r.Review
	head.Findings, head.Skips, head.Suppressed, head.Fixed = nil, nil, nil, nil
	answer := restclient.Encode(head)
	if r.FailOn != 0 && r.complete() {
		answer.Verdict = &restclient.Verdict{Outcome: "pass", Threshold: r.FailOn.String()}
		if r.Fails() {
			answer.Verdict.Outcome = "fail"
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	for _, list := range []struct {
		name  string
		write func() error
	}{
		{"findings", func() error { return writeArray(w, r.Review.Findings, restclient.EncodeFinding) }},
		{"skipped", func() error { return writeArray(w, r.Review.Skips, restclient.EncodeSkip) }},
		{"suppressed", func() error { return writeArray(w, r.Review.Suppressed, restclient.EncodeFinding) }},
		{"fixed", func() error { return writeArray(w, r.Review.Fixed, restclient.EncodeFinding) }},
	} {
		key := []byte(`"` + list.name + `":[]`) // in no text, where quotes are escaped
		i := bytes.Index(text, key) + len(key) - len("[]")
		if _, err := w.Write(text[:i]); err != nil {
			return err
		}
		if err := list.write(); err != nil {
			return err
		}
		text = text[i+len("[]"):]
	}
	_, err = w.Write(text)
	return err
}
