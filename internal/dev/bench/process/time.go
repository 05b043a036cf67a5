package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Spent is the processor time that the process took so far.
func (p *Process) Spent() (time.Duration, error) { return processorTime(p.PID()) }

// processorTime is the processor time of a process with all its threads, also
// those that ended. The kernel keeps it to the nanosecond; /proc/PID/stat has
// hundredths of seconds.
func processorTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: user and system time
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("processor time of %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// FamilyTime is the processor time of a process and its children. Children that
// ended since the last look are missing; the database's stay while their
// connections do.
func FamilyTime(parent int) (time.Duration, error) {
	sum, err := processorTime(parent)
	if err != nil {
		return 0, err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		// The name, in parentheses, may have spaces.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return 0, err
		}
		if d, err := processorTime(pid); err == nil {
			sum += d
		}
	}
	return sum, nil
}
