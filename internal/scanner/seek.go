package scanner

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prwarden/prwarden/internal/review"
)

// maxLines is how many lines one scan stands in at the same time.
const maxLines = 16

// search is one scan's search for a place.
type search struct {
	client  *Client
	ctx     context.Context
	job     review.Job
	refused map[*peer]error // that would not or could not; not asked again

	answers chan answer
	over    chan struct{}
	open    map[*peer]*call
	full    map[*peer]bool // that have no room to wait now
}

// seek returns a call that was offered a place. It asks the scanner with the
// most room, and the others as well when that one is busy or slow to answer:
// the first place that is offered is taken, and the other calls are ended.
// Scanners that fail are added to refused. It waits for as long as any scanner
// may have a place later, and fails when none will.
func (c *Client) seek(ctx context.Context, j review.Job, refused map[*peer]error) (*call, error) {
	s := &search{
		client: c, ctx: ctx, job: j, refused: refused,
		answers: make(chan answer), over: make(chan struct{}), open: map[*peer]*call{}, full: map[*peer]bool{},
	}
	defer func() {
		close(s.over)
		for _, other := range s.open {
			other.end()
		}
	}()
	return s.run()
}

func (s *search) run() (*call, error) {
	o := s.client.pool.o
	slow := time.NewTimer(o.Hedge)
	defer slow.Stop()
	again := time.NewTimer(0)
	again.Stop()
	defer again.Stop()
	lines := 1 // how many scanners are asked at the same time
	for {
		changed := s.widen(lines)
		if len(s.open) == 0 && len(s.full) == 0 {
			return nil, s.failure()
		}
		select {
		case a := <-s.answers:
			switch a.kind {
			case place:
				delete(s.open, a.call.peer)
				return a.call, nil
			case waits:
				lines = maxLines
			case failed:
				full, err := s.drop(a)
				if err != nil {
					return nil, err
				}
				if full {
					again.Reset(o.Again + rand.N(o.Again)) //nolint:gosec // spread, not secret
				}
			}
		case <-slow.C:
			lines = maxLines
		case <-again.C:
			clear(s.full)
		case <-changed:
			clear(s.refused) // whoever came back is asked again
		case <-s.ctx.Done():
			return nil, s.ctx.Err()
		}
	}
}

// widen asks the best scanners that were not asked yet, up to lines at the same
// time. changed is closed when other scanners can be reached than now.
func (s *search) widen(lines int) (changed <-chan struct{}) {
	peers, changed := s.client.pool.ready(s.job.Organization, s.job.Repo)
	for _, p := range peers {
		if len(s.open) >= lines {
			break
		}
		if s.open[p] != nil || s.refused[p] != nil || s.full[p] {
			continue
		}
		c := s.client.pool.newCall(s.ctx, p)
		s.open[p] = c
		go c.ask(s.job, s.answers, s.over)
	}
	return changed
}

// drop forgets a call that ended. full tells that its scanner had no room to
// wait. An error of the scan, and not of the scanner, ends the search.
func (s *search) drop(a answer) (full bool, err error) {
	a.call.end()
	delete(s.open, a.call.peer)
	switch reason, _ := reasonOf(a.err); {
	case s.ctx.Err() != nil:
		return false, s.ctx.Err()
	case !elsewhere(a.err):
		return false, a.err
	case reason == reasonBusy:
		s.full[a.call.peer] = true
		return true, nil
	}
	s.refused[a.call.peer] = a.err
	s.client.pool.refusedBy(a.call.peer, a.err)
	return false, nil
}

var errNobody = errors.New("scannergrpc: no scanner can be reached")

// failure says why no scanner has a place. Of several reasons one that an
// operator has to mend goes first.
func (s *search) failure() error {
	worst := notBegun(errNobody)
	for _, err := range s.refused {
		if e := notBegun(err); worst.Err == errNobody || e.Code == reasonProtocol { //nolint:errorlint // it is set as it is
			worst = e
		}
	}
	return worst
}
