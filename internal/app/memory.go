package app

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"
	"time"
)

const (
	// defaultMemory is the memory limit where nothing else sets one.
	defaultMemory = 1 << 30
	// maxRulesCache and minRulesCache bound what compiled rules may take, which is
	// a quarter of the memory limit.
	maxRulesCache = 256 << 20
	minRulesCache = 32 << 20
	// memoryPause is the time between looks at the memory.
	memoryPause = 200 * time.Millisecond
)

// memoryLimit is how much memory the process should have at most, in bytes: as
// configured, else as GOMEMLIMIT says, else nine tenths of what its control group
// allows, else defaultMemory. The rest is for git. root is that of the file system.
func memoryLimit(configured int64, root string) int64 {
	if configured > 0 {
		return configured
	}
	if set := debug.SetMemoryLimit(-1); set < math.MaxInt64 {
		return set
	}
	if allowed := groupLimit(root); allowed < math.MaxInt64 {
		return allowed / 10 * 9
	}

	return defaultMemory
}

// groupLimit is what the control groups of the process allow; math.MaxInt64 when
// they don't say.
func groupLimit(root string) int64 {
	least := int64(math.MaxInt64)
	read := func(path string) {
		text, _ := os.ReadFile(filepath.Join(root, path))
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && n > 0 && n < 1<<60 { // version 1 writes a huge number for none
			least = min(least, n)
		}
	}
	read("sys/fs/cgroup/memory.max")
	read("sys/fs/cgroup/memory/memory.limit_in_bytes")

	groups, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(groups)) {
		switch parts := strings.SplitN(strings.TrimSpace(line), ":", 3); {
		case len(parts) == 3 && parts[1] == "":
			read(filepath.Join("sys/fs/cgroup", parts[2], "memory.max"))
		case len(parts) == 3 && parts[1] == "memory":
			read(filepath.Join("sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}

	return least
}

// rulesCache is how much of the memory compiled rules may take, as estimated.
func rulesCache(limit int64) int64 { return min(max(limit/4, minRulesCache), maxRulesCache) }

// limitMemory has the collector keep the process within a limit, and drops compiled
// rules, where there are any, when what is alive takes half of it: what they take is
// only estimated. It ends when the services are freed.
func (s *services) limitMemory(limit int64, drop func(), log *slog.Logger) {
	debug.SetMemoryLimit(limit)
	if drop == nil {
		return
	}

	done := make(chan struct{})
	s.running.Go(func() {
		ticker := time.NewTicker(memoryPause)
		defer ticker.Stop()
		for seen := uint64(0); ; {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			live, cycle := liveMemory()
			if live > uint64(limit)/2 && cycle > seen {
				log.Warn("half of the memory is used; compiled rules are dropped", "live_bytes", live, "limit_bytes", limit)
				drop()
				seen = cycle + 1 // the next collection may be under way
			}
		}
	})
	s.own(func() error {
		close(done)
		return nil
	})
}

// liveMemory is what was alive at the end of the last collection, in bytes, and
// the number of that collection.
func liveMemory() (bytes, cycle uint64) {
	samples := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	runtimemetrics.Read(samples)

	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}
