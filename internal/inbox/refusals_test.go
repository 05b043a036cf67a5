package inbox_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/inbox"
)

// What the host goes on to refuse is given up after a day.
func TestRefusalsEnd(t *testing.T) {
	t.Parallel()
	for _, f := range []codehost.Fault{codehost.Forbidden, codehost.Moved} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.err = &codehost.Error{Fault: f, Err: errors.New("of the host")}
				require.Equal(t, inbox.Waiting, w.tell(t, "d", hint(7)))
				<-time.After(20 * time.Hour)
				synctest.Wait()
				assert.NotContains(t, w.ended, inbox.Failed)
				<-time.After(10 * time.Hour)
				synctest.Wait()
				assert.Equal(t, inbox.Failed, w.ended[len(w.ended)-1])
			})
		})
	}
}

// What is gone of several things that a delivery is about keeps nothing from the others.
func TestOneOfSeveralIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(8, func(*codehost.PullRequest) {})
		assert.Equal(t, inbox.Done, w.tell(t, "d", hint(7), hint(8)))
		assert.Len(t, w.made(t, 8), 1)
		assert.Equal(t, inbox.Ignored, w.tell(t, "e", hint(7)))
	})
}
