package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
)

const (
	// plainEvery is the least time between two progress lines of the same state
	// where there is no terminal.
	plainEvery = 5 * time.Second
	// localAfter is when the progress of a local scan is first shown. Most are
	// over by then.
	localAfter = time.Second
)

// progress shows how far a review or a local scan is: one line that changes on a
// terminal, a line now and then elsewhere. It is safe for concurrent use.
type progress struct {
	w     io.Writer
	live  bool
	width int
	now   func() time.Time
	began time.Time

	mu     sync.Mutex
	shown  string // what the live line shows
	status string // of the last plain line
	at     time.Time
}

func newProgress(st Streams) *progress {
	return &progress{
		w: st.Err, live: terminal.Is(st.Err), width: terminal.Width(st.Err, st.Lookup("COLUMNS")),
		now: time.Now, began: time.Now(),
	}
}

// update shows what a server tells of a review.
func (p *progress) update(u restclient.Update) {
	if u.KeepAlive || restclient.Final(u.Status) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()

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

// local shows how far a local scan is. A log needs none: the scan is over before
// a line would help.
func (p *progress) local(files string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && p.now().Sub(p.began) >= localAfter {
		p.line("scanning: " + files)
	}
}

// line replaces the live line. It needs no escape sequences.
func (p *progress) line(text string) {
	text = text[:min(len(text), p.width-1)]
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && p.shown != "" {
		fmt.Fprint(p.w, "\r"+strings.Repeat(" ", terminal.Columns(p.shown))+"\r")
		p.shown = ""
	}
}
