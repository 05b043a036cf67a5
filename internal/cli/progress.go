package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// plainEvery is the least time between two progress lines of the same state
// where there is no terminal.
const plainEvery = 5 * time.Second

// progress shows how far a review is: one line that changes on a terminal, a
// line now and then elsewhere.
type progress struct {
	w     io.Writer
	live  bool
	width int
	now   func() time.Time

	shown  string // what the live line shows
	status string // of the last plain line
	at     time.Time
}

func newProgress(st Streams) *progress {
	return &progress{
		w: st.Err, live: terminal.Is(st.Err), width: terminal.Width(st.Err, st.Lookup("COLUMNS")), now: time.Now,
	}
}

func (p *progress) update(u restclient.Update) {
	if u.KeepAlive || restclient.Final(u.Status) {
		return
	}
	text := progressText(u)
	switch {
	case p.live:
		p.line(text)
	case u.Status != p.status || p.now().Sub(p.at) >= plainEvery:
		p.status, p.at = u.Status, p.now()
		fmt.Fprintln(p.w, terminal.GuardLine(text))
	}
}

func progressText(u restclient.Update) string {
	switch {
	case u.Status == "queued":
		return "waiting for a worker"
	case u.Status == "in_progress" && u.FilesTotal > 0:
		return fmt.Sprintf("scanning: %d of %d files", u.FilesDone, u.FilesTotal)
	case u.Status == "in_progress":
		return "scanning: fetching the pull request"
	}
	return terminal.Safe(u.Status)
}

// line replaces the live line. It needs no escape sequences.
func (p *progress) line(text string) {
	if len(text) >= p.width {
		text = text[:p.width-1]
	}
	fmt.Fprint(p.w, "\r"+terminal.Pad(text, terminal.Columns(p.shown)))
	p.shown = text
}

// say writes a line that stays.
func (p *progress) say(format string, args ...any) {
	p.end()
	fmt.Fprint(p.w, terminal.GuardLines(fmt.Sprintf(format+"\n", args...)))
}

// end takes the live line away.
func (p *progress) end() {
	if p.live && p.shown != "" {
		fmt.Fprint(p.w, "\r"+strings.Repeat(" ", terminal.Columns(p.shown))+"\r")
		p.shown = ""
	}
}
