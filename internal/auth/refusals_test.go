package auth_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/auth"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := auth.NewRefusals(slog.New(slog.NewJSONHandler(&log, nil)))
		told := func(n int) (told int) {
			for range n {
				if r.Tell() {
					told++
				}
			}
			return told
		}
		assert.Equal(t, 100, told(3_000))
		assert.Empty(t, log.String())
		<-time.After(10 * time.Second)
		assert.Equal(t, 50, told(50))
		assert.Contains(t, log.String(), `"refused":2900`)
		log.Reset()
		<-time.After(10 * time.Second)
		assert.Equal(t, 1, told(1))
		assert.Empty(t, log.String(), "all were told")
	})
}
