package auth

import (
	"context"
	"slices"
	"sync"
)

// How many of the places for large bodies, for large answers and for watches
// one caller may have: a part of all, at least one. What he keeps to himself,
// by not reading for example, others have left. A request without a key counts
// for its address.
const (
	organizationPart = 4
	addressPart      = 4
	keyPart          = 8
)

// owner is one of those whose part a request takes from: at most one in part of
// all places.
type owner struct {
	name string
	part int
}

// shares are places of which each owner has a part. He has a line of his own
// before the common one, with the same bounds, so that those who wait for his
// places don't fill it.
type shares struct {
	all *places

	mu     sync.Mutex
	owners map[string]*share
}

// share is one owner's part, kept while anybody has or wants a place in it.
type share struct {
	*places
	users int
}

func newShares(all *places) *shares { return &shares{all: all, owners: make(map[string]*share)} }

// take takes a place for all owners and returns what gives it back, once. Its
// errors are those of places.take.
func (s *shares) take(ctx context.Context, owners []owner) (giveBack func(), err error) {
	var taken []func()
	giveBack = func() {
		for _, give := range slices.Backward(taken) {
			give()
		}
	}
	for _, o := range owners {
		mine := s.enter(o)
		if err := mine.take(ctx); err != nil {
			s.leave(o)
			giveBack()
			return nil, err
		}
		taken = append(taken, func() { mine.giveBack(); s.leave(o) })
	}
	if err := s.all.take(ctx); err != nil {
		giveBack()
		return nil, err
	}
	taken = append(taken, s.all.giveBack)
	return giveBack, nil
}

func (s *shares) enter(o owner) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, ok := s.owners[o.name]
	if !ok {
		mine = &share{places: newPlaces(max(1, s.all.most/o.part), s.all.mostWaiting, s.all.wait)}
		s.owners[o.name] = mine
	}
	mine.users++
	return mine
}

func (s *shares) leave(o owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.owners[o.name]
	if mine.users--; mine.users == 0 {
		delete(s.owners, o.name)
	}
}
