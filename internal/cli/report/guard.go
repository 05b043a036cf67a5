package report

import (
	"bytes"
	"io"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// guard makes JSON that goes through it safe to print: no text in it can drive
// a terminal or be a command to a CI service, and it means the same.
type guard struct {
	w       io.Writer
	pending []byte // of a line that has not ended
}

func newGuard(w io.Writer) *guard { return &guard{w: w} }

// Write passes on the lines that have ended.
func (g *guard) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end > 0 {
		g.pending = append(g.pending, p[:end]...)
		if err := g.Flush(); err != nil {
			return 0, err
		}
	}
	g.pending = append(g.pending, p[end:]...)
	return len(p), nil
}

// Flush passes on what is left.
func (g *guard) Flush() error {
	text := g.pending
	g.pending = nil
	if len(text) == 0 {
		return nil
	}
	_, err := io.WriteString(g.w, terminal.SafeJSON(text))
	return err
}
