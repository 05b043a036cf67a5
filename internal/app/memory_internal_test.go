package app

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing": {nil, math.MaxInt64},
		"container, version 2": {map[string]string{
			"sys/fs/cgroup/memory.max": "1000\n", "proc/self/cgroup": "0::/\n",
		}, 1000},
		"unit of systemd": {map[string]string{
			"sys/fs/cgroup/system.slice/prwarden.service/memory.max": "2000\n",
			"proc/self/cgroup": "0::/system.slice/prwarden.service\n",
		}, 2000},
		"no limit, version 2": {map[string]string{
			"sys/fs/cgroup/memory.max": "max\n", "proc/self/cgroup": "0::/\n",
		}, math.MaxInt64},
		"version 1": {map[string]string{
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "3000\n",
			"proc/self/cgroup":                             "4:memory:/a\n3:cpu,cpuacct:/b\n",
		}, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for path, text := range test.files {
				path = filepath.Join(root, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			assert.Equal(t, test.want, groupLimit(root))
		})
	}
	assert.EqualValues(t, 77, memoryLimit(77, "/"))
	assert.EqualValues(t, 256<<20, rulesCache(4<<30))
	assert.EqualValues(t, 128<<20, rulesCache(512<<20))
	assert.EqualValues(t, 32<<20, rulesCache(64<<20))
}

// Where more is alive than half of the limit, rules are dropped, and not again
// before the memory was collected.
func TestLimitMemoryDrops(t *testing.T) { //nolint:paralleltest // it sets the limit of the process
	s := &services{}
	dropped := make(chan struct{}, 100)
	s.limitMemory(1, func() { dropped <- struct{}{} }, slog.New(slog.DiscardHandler))
	<-dropped
	require.NoError(t, s.free())
	s.running.Wait()
	s = &services{}
	s.limitMemory(math.MaxInt64, func() { t.Error("dropped") }, slog.New(slog.DiscardHandler))
	require.NoError(t, s.free())
	s.running.Wait()
	s.limitMemory(math.MaxInt64, nil, nil) // nothing is to be dropped
	s.running.Wait()
}
