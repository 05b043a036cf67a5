package engine

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
	"github.com/prwarden/prwarden/internal/match"
)

// Options are how an engine is run.
type Options struct {
	Cores  int           // processors that it may use
	Budget time.Duration // that a rule may use in a run; ours only
	// CPUProfile is where to write a profile of all scans; ours only.
	CPUProfile string
}

// Ready is what an engine says once it has compiled the rules.
type Ready struct {
	CompileNS int64  `json:"compile_ns"`
	Size      int64  `json:"size"`       // of the compiled rules, by the engine's own account, in bytes
	Heap      int64  `json:"heap"`       // that they were measured to take, with what a scan needs beside them, in bytes
	BeforeKiB int64  `json:"before_kib"` // resident memory before they were compiled, with the corpus
	Info      string `json:"info"`       // version and features
	// HeldBefore is what the Go runtime held before the rules were compiled, in
	// bytes: the list of files, for the most part.
	HeldBefore int64 `json:"-"`
}

// Run is one pass over the corpus.
type Run struct {
	NS        int64 `json:"ns"`     // of the clock
	CPUNS     int64 `json:"cpu_ns"` // of processors
	Bytes     int64 `json:"bytes"`
	Pairs     int64 `json:"pairs"`      // rules and lines where they match
	LongLines int64 `json:"long_lines"` // lines that weren't looked at
	Stopped   int64 `json:"stopped"`    // rules that used up their budget
	Heap      int64 `json:"heap"`       // live after the run, over what it was before compiling, in bytes; 0 when not measured
	System    int64 `json:"system"`     // held by the Go runtime over what it was before compiling; of vectorscan database and scratch space; bytes
	PeakKiB   int64 `json:"peak_kib"`   // most resident memory so far, with the corpus
}

// Speed is in MB (10⁶ bytes) a second of the clock.
func (r Run) Speed() float64 { return float64(r.Bytes) * 1e3 / float64(r.NS) }

// CPUSpeed is in MB a second of processor time. On a machine with nothing else
// to do, and on one processor, it is Speed; on a busy one it is the truer figure.
func (r Run) CPUSpeed() float64 { return float64(r.Bytes) * 1e3 / float64(r.CPUNS) }

// Pair is a rule and a line that it matches on.
type Pair struct {
	File  uint32 // index of the file
	Start uint32 // offset of the line in it
	Rule  uint32 // index of the rule
}

// write writes a pair as Dump reads it. The writer is buffered and keeps an error
// until it is flushed.
func (p Pair) write(w io.Writer) {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 12), p.File)
	b = binary.LittleEndian.AppendUint32(b, p.Start)
	_, _ = w.Write(binary.LittleEndian.AppendUint32(b, p.Rule))
}

// Work runs an engine written in Go, "ours" or "naive", as a process of its own
// that obeys the lines of in: "scan", "heap" (a scan, then a measurement of the
// heap) and "dump FILE" (a scan that writes its pairs). It answers each with a
// line of JSON on out, and begins with one of Ready.
func Work(name, rulesFile, pack string, o Options, in io.Reader, out io.Writer) (err error) {
	data, err := os.Open(rulesFile)
	if err != nil {
		return err
	}
	defer data.Close()
	rules, err := ruleset.ParseTSV(data)
	if err != nil {
		return fmt.Errorf("%s: %w", rulesFile, err)
	}
	c, err := corpus.MapPack(pack)
	if err != nil {
		return fmt.Errorf("%s: %w", pack, err)
	}

	ready := Ready{BeforeKiB: resident("VmRSS:"), Info: runtime.Version()}
	before := heap()
	debug.FreeOSMemory()
	ready.HeldBefore = held()
	start := processorTime()
	var scan func(dump io.Writer) (Run, error)
	switch name {
	case Ours:
		engine, err := newOurs(rules, c, o)
		if err != nil {
			return err
		}
		ready.CompileNS = processorTime() - start
		ready.Size = engine.matcher.Size()
		scan = engine.dump
	case Naive:
		engine, err := newNaive(rules, c)
		if err != nil {
			return err
		}
		ready.CompileNS = processorTime() - start
		scan = func(dump io.Writer) (Run, error) {
			if dump == nil {
				return engine.scan(nil), nil
			}
			return engine.scan(func(p Pair) { p.write(dump) }), nil
		}
	default:
		return fmt.Errorf("no engine is called %q", name)
	}
	ready.Heap = heap() - before

	if o.CPUProfile != "" {
		profile, err := os.Create(o.CPUProfile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, profile.Close()) }()
		if err := pprof.StartCPUProfile(profile); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	return obey(in, json.NewEncoder(out), ready, func(command, file string) (Run, error) {
		switch command {
		case "dump":
			return dumpTo(file, scan)
		case "heap":
			run, err := scan(nil)
			run.Heap = heap() - before
			return run, err
		default:
			return scan(nil)
		}
	})
}

func obey(in io.Reader, out *json.Encoder, ready Ready, do func(command, file string) (Run, error)) error {
	if err := out.Encode(ready); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		command, file, _ := strings.Cut(lines.Text(), " ")
		run, err := do(command, file)
		if err != nil {
			return err
		}
		run.PeakKiB = resident("VmHWM:")
		run.System = held() - ready.HeldBefore
		if err := out.Encode(run); err != nil {
			return err
		}
	}
	return lines.Err()
}

func dumpTo(path string, scan func(io.Writer) (Run, error)) (Run, error) {
	file, err := os.Create(path)
	if err != nil {
		return Run{}, err
	}
	w := bufio.NewWriter(file)
	run, err := scan(w)
	return run, errors.Join(err, w.Flush(), file.Close())
}

// dump is scan; with a writer, every pair is written to it.
func (o *ours) dump(w io.Writer) (Run, error) {
	if w == nil {
		return o.scan(kept, nil)
	}
	var lock sync.Mutex
	return o.scan(1<<30, func(file int, lines match.Lines, r match.Result) {
		lock.Lock()
		defer lock.Unlock()
		for _, h := range r.Hits {
			Pair{File: uint32(file), Start: uint32(lines.Start(h.Line)), Rule: uint32(h.Rule)}.write(w)
		}
	})
}

// held is the memory that the Go runtime has from the system, in bytes.
func held() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// resident reads a value like VmHWM from /proc/self/status, in KiB; 0 where
// there is none.
func resident(key string) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			var n int64
			_, _ = fmt.Sscan(rest, &n)
			return n
		}
	}
	return 0
}
