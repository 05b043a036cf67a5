package overload

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrFull says that there was no room within the time that a Semaphore waits.
var ErrFull = errors.New("no room")

// Bounds are the size of a Semaphore.
type Bounds struct {
	// Total is how much is used at once, and PerOwner how much of it by one
	// owner; 0 for no bound of its own.
	Total, PerOwner int64

	// Wait is how long Acquire waits for room; 0 for not at all.
	Wait time.Duration
}

// Semaphore bounds what is used at once, in all and by each owner, so that no
// owner can shut out another. Those who wait are served in their order.
type Semaphore struct {
	bounds        Bounds
	all           *semaphore.Weighted
	used, waiting atomic.Int64

	mu     sync.Mutex
	owners map[string]*share
}

// share is the part of one owner. It is kept while somebody uses it.
type share struct {
	*semaphore.Weighted
	users int
}

// NewSemaphore makes an empty one.
func NewSemaphore(b Bounds) *Semaphore {
	return &Semaphore{bounds: b, all: semaphore.NewWeighted(b.Total), owners: make(map[string]*share)}
}

// Acquire takes n for an owner, at most all that the owner may have. The owner
// "" has no bound of its own. It fails with ErrFull, or with the error of ctx.
// release gives everything back, once.
func (s *Semaphore) Acquire(ctx context.Context, owner string, n int64) (release func(), err error) {
	n = min(n, s.bounds.Total)
	releaseShare := func() {}

	if owner != "" && s.bounds.PerOwner > 0 {
		n = min(n, s.bounds.PerOwner)
		mine := s.enter(owner)
		if err := s.take(ctx, mine.Weighted, n); err != nil {
			s.leave(owner)
			return nil, err
		}

		releaseShare = func() { mine.Release(n); s.leave(owner) }
	}

	if err := s.take(ctx, s.all, n); err != nil {
		releaseShare()
		return nil, err
	}

	s.used.Add(n)
	return sync.OnceFunc(func() {
		s.used.Add(-n)
		s.all.Release(n)
		releaseShare()
	}), nil
}

func (s *Semaphore) take(ctx context.Context, from *semaphore.Weighted, n int64) error {
	if from.TryAcquire(n) {
		return nil
	}
	if s.bounds.Wait == 0 {
		return ErrFull
	}

	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	limited, cancel := context.WithTimeout(ctx, s.bounds.Wait)
	defer cancel()
	if from.Acquire(limited, n) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrFull
}

func (s *Semaphore) enter(owner string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, ok := s.owners[owner]
	if !ok {
		mine = &share{Weighted: semaphore.NewWeighted(s.bounds.PerOwner)}
		s.owners[owner] = mine
	}

	mine.users++
	return mine
}

func (s *Semaphore) leave(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.owners[owner]
	if mine.users--; mine.users == 0 {
		delete(s.owners, owner)
	}
}
