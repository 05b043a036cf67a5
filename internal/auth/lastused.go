package auth

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// touchInterval is how often last-used times are stored. They are exact to
// this.
const touchInterval = time.Minute

// lastUsed gathers when keys were used and stores it in batches, so that using
// a key costs no write.
type lastUsed struct {
	store KeyStore
	log   *slog.Logger

	mu      sync.Mutex
	pending map[string]time.Time // by key id; bounded by the number of keys
	quit    chan struct{}        // nil unless running
	done    chan struct{}
}

func newLastUsed(store KeyStore, log *slog.Logger) *lastUsed {
	return &lastUsed{store: store, log: log, pending: make(map[string]time.Time)}
}

func (u *lastUsed) touch(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.After(u.pending[id]) {
		u.pending[id] = now
	}
}

func (u *lastUsed) start() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.quit != nil {
		return
	}
	u.quit, u.done = make(chan struct{}), make(chan struct{})
	go u.run(u.quit, u.done)
}

func (u *lastUsed) run(quit <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	ticker := time.NewTicker(touchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(context.Background(), touchInterval/2)
			if err := u.flush(ctx); err != nil {
				u.log.Warn("last-used times of keys could not be stored; they are kept for the next time", "error", err)
			}
			cancel()
		}
	}
}

func (u *lastUsed) stop(ctx context.Context) error {
	u.mu.Lock()
	quit, done := u.quit, u.done
	u.quit = nil
	u.mu.Unlock()
	if quit != nil {
		close(quit)
		<-done
	}
	return u.flush(ctx)
}

// flush stores what is pending. What can't be stored stays pending.
func (u *lastUsed) flush(ctx context.Context) error {
	u.mu.Lock()
	batch := u.pending
	u.pending = make(map[string]time.Time)
	u.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := u.store.TouchKeys(ctx, batch)
	if err != nil {
		for id, at := range batch {
			u.touch(id, at)
		}
	}
	return err
}
