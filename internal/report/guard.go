package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// guard makes text of several lines that goes through it safe to print, and holds
// no more of it than a line.
type guard struct {
	w       *bufio.Writer
	safe    func(line []byte) string
	pending []byte // of a line that has not ended
}

// newGuard returns the guard of JSON: no text in it can drive a terminal or be a
// command to a CI service, and it means the same.
func newGuard(w io.Writer) *guard { return guardWith(w, terminal.SafeJSON) }

func guardWith(w io.Writer, safe func(line []byte) string) *guard {
	return &guard{w: bufio.NewWriterSize(w, 64<<10), safe: safe}
}

// Write passes on the lines that have ended.
func (g *guard) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		g.pending = append(g.pending, line...)
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := g.pass(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// pass passes on the line that is pending.
func (g *guard) pass() error {
	_, err := g.w.WriteString(g.safe(g.pending))
	g.pending = g.pending[:0]
	return err
}

// Flush passes on what is left.
func (g *guard) Flush() error {
	return errors.Join(g.pass(), g.w.Flush())
}
