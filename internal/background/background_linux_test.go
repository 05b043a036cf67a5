package background

import (
	"context"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// nice is the niceness of this thread.
func nice(t *testing.T) int {
	t.Helper()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	require.NoError(t, err)

	return 20 - raw
}

func TestAThreadIsLoweredWhileItComputes(t *testing.T) {
	t.Parallel()

	before, w := nice(t), NewWorker()
	w.left = time.Hour
	w.Do(t.Context(), func() { assert.Equal(t, before, nice(t), "what takes a moment") })
	w.left = moment
	w.Do(t.Context(), func() { waitUntilLow(t, before) })
	w.Do(t.Context(), func() { waitUntilLow(t, before) })
	assert.Equal(t, before, nice(t), "who waited")
}

func TestAPanicKeepsItsStack(t *testing.T) {
	t.Parallel()

	defer func() {
		err, _ := recover().(error)
		require.ErrorContains(t, err, "gone")
		assert.ErrorContains(t, err, "TestAPanicKeepsItsStack")
	}()
	NewWorker().Do(t.Context(), func() { panic("gone") })
}

// What runs at a low priority already gets a lower one, not a higher.
func TestLowerIsRelative(t *testing.T) {
	t.Parallel()

	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine
		assert.NoError(t, unix.Setpriority(unix.PRIO_PROCESS, threadID(), 15))
		lowerThread(threadID())
		assert.Equal(t, 19, nice(t))
	}()
	<-done
}

func TestAPoolBoundsItsWorkers(t *testing.T) {
	t.Parallel()

	before, pool := nice(t), NewPool()
	w := pool.Worker()
	w.Do(t.Context(), func() { waitUntilLow(t, before) })
	w.Do(t.Context(), func() {
		waitUntilLow(t, before)
		assert.True(t, pool.places.TryAcquire(int64(processors-1)))
		assert.False(t, pool.places.TryAcquire(1), "it has a place")
	})
	assert.True(t, pool.places.TryAcquire(1), "it gave it back")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	called := false
	w.Do(ended, func() { called = true })
	assert.True(t, called, "without a place when nobody waits for it")
}

// Reserve is for the whole process, so this is its only test.
func TestGoRunsOthersOnlyBesideTheBackground(t *testing.T) { //nolint:paralleltest // it looks at the whole process
	Reserve()
	w := NewWorker()
	w.left = 0
	w.Do(t.Context(), func() {
		for end := time.Now().Add(time.Minute); runtime.GOMAXPROCS(0) != 2*processors+1; {
			if time.Now().After(end) {
				t.Error("there is no place for others")
				return
			}
		}
	})
	assert.Eventually(t, func() bool { return runtime.GOMAXPROCS(0) == processors }, time.Minute, time.Millisecond)
}

// A server may have as many workers as processors squared, and Go ends a process of
// 10,000 threads.
func TestWorkersThatWaitKeepNoThread(t *testing.T) { //nolint:paralleltest // it counts threads
	const workers = 200
	before, stop := nice(t), make(chan struct{})
	var computed, ended sync.WaitGroup
	computed.Add(workers)
	for range workers {
		ended.Go(func() {
			w := NewWorker()
			w.left = 0
			w.Do(t.Context(), func() { waitUntilLow(t, before) })
			computed.Done()
			<-stop
		})
	}
	computed.Wait()
	assert.Eventually(t, func() bool {
		threads, err := os.ReadDir("/proc/self/task")
		return assert.NoError(t, err) && len(threads) < workers/2
	}, time.Minute, time.Millisecond)
	close(stop)
	ended.Wait()
}

func TestWithoutAPoolThereIsNoBackground(t *testing.T) {
	t.Parallel()

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	called := 0
	(*Pool)(nil).Worker().Do(t.Context(), func() { called = threadID() })
	assert.Equal(t, threadID(), called, "it is the caller's goroutine")
}

// waitUntilLow computes until the thread has a lower priority than before.
func waitUntilLow(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); nice(t) != min(before+niceness, 19); {
		if time.Now().After(end) {
			t.Error("the priority stays")
			return
		}
	}
}
