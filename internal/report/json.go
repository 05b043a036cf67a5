package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/prwarden/prwarden/internal/cli/restclient"
)

// writeJSON writes the review as the API answers it.
func writeJSON(w io.Writer, r Report, _ Style) error {
	out := newGuard(w)
	write := writeAnswer
	if r.JSON != nil {
		write = writeServerAnswer
	}
	if err := write(out, r); err != nil {
		return err
	}
	return out.Flush()
}

// writeServerAnswer writes what the server answered, indented.
func writeServerAnswer(w io.Writer, r Report) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.Trim(r.JSON, " \t\r\n"), "", "  "); err != nil {
		return errors.New("what the server answered is not JSON")
	}
	b.WriteByte('\n')
	_, err := b.WriteTo(w)
	return err
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
	text, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		return err
	}

	const indent = "  "
	for _, list := range []struct {
		name  string
		write func() error
	}{
		{"findings", func() error { return writeArray(w, indent, r.Review.Findings, restclient.EncodeFinding) }},
		{"skipped", func() error { return writeArray(w, indent, r.Review.Skips, restclient.EncodeSkip) }},
		{"suppressed", func() error { return writeArray(w, indent, r.Review.Suppressed, restclient.EncodeFinding) }},
		{"fixed", func() error { return writeArray(w, indent, r.Review.Fixed, restclient.EncodeFinding) }},
	} {
		key := []byte(`"` + list.name + `": `) // in no text, where quotes are escaped
		before, after, _ := bytes.Cut(text, append(key, "[]"...))
		if _, err := fmt.Fprintf(w, "%s%s", before, key); err != nil {
			return err
		}
		if err := list.write(); err != nil {
			return err
		}
		text = after
	}

	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// writeArray writes a list as an indented array, an item at a time.
func writeArray[T, U any](w io.Writer, indent string, list []T, encode func(T) U) error {
	if len(list) == 0 {
		_, err := io.WriteString(w, "[]")
		return err
	}

	before := "["
	for _, item := range list {
		text, err := json.MarshalIndent(encode(item), indent+"  ", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n%s  %s", before, indent, text); err != nil {
			return err
		}
		before = ","
	}

	_, err := fmt.Fprintf(w, "\n%s]", indent)
	return err
}
