package main

import (
	"runtime"
	"syscall"
	"time"
)

// What a run costs besides time.
const (
	costCPU       = "processor ms"
	costOwn       = "of it in prwarden"
	costGit       = "of it in git"
	costAllocated = "MB allocated"
	costGC        = "garbage collections"
)

// withCost adds to a sample what it cost.
func withCost(run func() (sample, error)) (sample, error) {
	before, err := costs()
	if err != nil {
		return nil, err
	}
	s, err := run()
	if err != nil {
		return nil, err
	}
	after, err := costs()
	for name, n := range after {
		s[name] = n - before[name]
	}
	return s, err
}

// costs are of this process, and of those that it started, until now.
func costs() (sample, error) {
	c := sample{}
	for who, name := range map[int]string{syscall.RUSAGE_SELF: costOwn, syscall.RUSAGE_CHILDREN: costGit} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return nil, err
		}
		d := time.Duration(u.Utime.Nano() + u.Stime.Nano())
		c.add(name, d)
		c.add(costCPU, d)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c[costAllocated], c[costGC] = float64(m.TotalAlloc)/1e6, float64(m.NumGC)
	return c, nil
}
