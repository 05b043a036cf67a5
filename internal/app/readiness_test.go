package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Anybody may ask as often as he likes; the database is asked twice a second.
func TestReadinessAsksRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		var away error
		r := newReadiness(func(context.Context) error {
			looks.Add(1)
			return away
		}, slog.New(slog.DiscardHandler))
		flood := func() {
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() { assert.Equal(t, away, r.Check(t.Context())) })
			}
			all.Wait()
		}

		flood()
		flood()
		assert.EqualValues(t, 1, looks.Load())
		<-time.After(readinessMemory)
		away = errors.New("away")
		flood()
		assert.EqualValues(t, 2, looks.Load())
		r.stop()
		assert.ErrorIs(t, r.Check(t.Context()), errStopping)
	})
}
