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
	began time.Time

	mu     sync.Mutex
	shown  string // what the live line shows
	status string // of the last plain line
	at     time.Time
}

func newProgress(st Streams) *progress {
	return &progress{w: st.Err, live: terminal.Is(st.Err), began: time.Now()}
}

// update shows what a server tells of a review.
func (p *progress) update(u restclient.Update) {
	var text string
	switch {
	case u.KeepAlive:
		return
	case u.Status == "queued":
		text = "waiting for a worker"
	case u.Status == "in_progress" && u.FilesTotal > 0:
		text = fmt.Sprintf("scanning: %d of %d files", u.FilesDone, u.FilesTotal)
	case u.Status == "in_progress":
		text = "scanning: fetching the pull request"
	default:
		return
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.line(text)
	} else if u.Status != p.status || time.Since(p.at) >= plainEvery {
		p.status, p.at = u.Status, time.Now()
		fmt.Fprintln(p.w, text)
	}
}

// local shows how far a local scan is. A log needs none: the scan is over before
// a line would help.
func (p *progress) local(files string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && time.Since(p.began) >= localAfter {
		p.line("scanning: " + files)
	}
}

// line replaces the live line. It needs no escape sequences.
func (p *progress) line(text string) {
	fmt.Fprint(p.w, "\r"+terminal.Pad(text, len(p.shown)))
	p.shown = text
}

// say writes a line of Safe parts that stays.
func (p *progress) say(format string, args ...any) {
	p.end()
	fmt.Fprint(p.w, terminal.GuardLines(fmt.Sprintf(format+"\n", args...)))
}

// end takes the live line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown != "" {
		fmt.Fprint(p.w, "\r"+strings.Repeat(" ", len(p.shown))+"\r")
		p.shown = ""
	}
}
