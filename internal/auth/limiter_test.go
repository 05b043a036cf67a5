package auth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/dev/limitertest"
)

func TestMemoryLimiter(t *testing.T) {
	t.Parallel()
	limitertest.Run(t, func(*testing.T) limitertest.Harness {
		c := newClock()
		return limitertest.Harness{
			Servers: []auth.Limiter{auth.NewMemoryLimiter(c.Now)}, Now: c.Now, Advance: c.Advance,
		}
	})
}

func BenchmarkMemoryLimiter(b *testing.B) {
	l := auth.NewMemoryLimiter(time.Now)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint("key:", i)
	}
	i := 0
	for b.Loop() {
		_, _ = l.Take(b.Context(), keys[i%len(keys)], 60)
		i++
	}
}
