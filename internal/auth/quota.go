package auth

import "sync"

// Quota counts what each owner has at once, and lets none have more than most.
// It remembers those who have something.
type Quota[Owner comparable] struct {
	most int

	mu  sync.Mutex
	has map[Owner]int
}

// NewQuota makes one of which nobody has anything.
func NewQuota[Owner comparable](most int) *Quota[Owner] {
	return &Quota[Owner]{most: most, has: make(map[Owner]int)}
}

// Take counts one more for an owner; false when he has the most already.
func (q *Quota[Owner]) Take(o Owner) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.has[o] >= q.most {
		return false
	}
	q.has[o]++
	return true
}

// GiveBack counts one less for an owner who took one.
func (q *Quota[Owner]) GiveBack(o Owner) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.has[o]--; q.has[o] == 0 {
		delete(q.has, o)
	}
}
