package background

import "golang.org/x/sys/unix"

// niceness is how much nicer a thread or a process becomes: it gets a tenth of the time that
// another one has beside it, so that nobody waits for long for a lock that it holds.
const niceness = 10

func threadID() int { return unix.Gettid() }

// lowerThread lowers the priority of a thread. If it can't, the thread is as others are.
func lowerThread(id int) { lower(unix.PRIO_PROCESS, id) }

// LowerGroup lowers the priority of all processes of a group, as that of a thread that
// computes for long.
func LowerGroup(id int) { lower(unix.PRIO_PGRP, id) }

func lower(kind, id int) {
	const nicest = 19
	if raw, err := unix.Getpriority(kind, id); err == nil { // 20 less the niceness
		_ = unix.Setpriority(kind, id, min(20-raw+niceness, nicest))
	}
}
