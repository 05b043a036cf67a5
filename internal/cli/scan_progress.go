package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/scan"
)

// scanProgress shows on a terminal how far a local scan is, when it takes longer
// than an instant. A log needs none: the scan is over before a line would help.
type scanProgress struct {
	mu    *sync.Mutex
	p     *progress
	began time.Time
}

// progressAfter is when progress is first shown.
const progressAfter = time.Second

func newScanProgress(st Streams) scanProgress {
	return scanProgress{mu: &sync.Mutex{}, p: newProgress(st), began: time.Now()}
}

// update is for a scan that knows how many files there are.
func (s scanProgress) update(n scan.Progress) {
	s.show(fmt.Sprintf("scanning: %d of %s", n.Done, count(n.Total, "file")))
}

// files is for one that doesn't.
func (s scanProgress) files(done int) {
	s.show("scanning: " + count(done, "file"))
}

func (s scanProgress) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p.live && s.p.now().Sub(s.began) >= progressAfter {
		s.p.line(text)
	}
}

func (s scanProgress) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p.end()
}
