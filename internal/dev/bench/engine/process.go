// Package engine runs matching engines for a benchmark: prwarden's own, the
// standard library's regexp tried naively, and vectorscan. Each is a process of
// its own that loads the same packed corpus into memory, compiles the same rules
// and then scans whenever it is told to, so that the runs of several engines can
// take turns and noise hits them alike.
package engine

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Names of the engines.
const (
	Ours       = "ours"
	Naive      = "naive"
	Vectorscan = "vectorscan"
)

// Process is an engine at work.
type Process struct {
	Ready Ready

	name    string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	stderr  *strings.Builder
}

// Start runs an engine on rules (a file of ruleset.FormatTSV) and a corpus (of
// corpus.WritePack), and waits until it has compiled the rules.
func Start(ctx context.Context, name, rules, pack string, o Options) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{self, "worker", "-engine", name, "-rules", rules, "-corpus", pack,
		"-cores", strconv.Itoa(o.Cores), "-budget", o.Budget.String()}
	if o.CPUProfile != "" {
		args = append(args, "-cpuprofile", o.CPUProfile)
	}
	return start(ctx, name, o, args)
}

func start(ctx context.Context, name string, o Options, args []string) (*Process, error) {
	args = append(Pin(o.Cores), args...)
	p := &Process{name: name, stderr: &strings.Builder{}, command: exec.CommandContext(ctx, args[0], args[1:]...)}
	p.command.Stderr = p.stderr
	p.command.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(o.Cores))
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	if err := p.read(&p.Ready); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Pin is the command that keeps another one on the first cores processors; empty
// where the system has none.
func Pin(cores int) []string {
	path, err := exec.LookPath("taskset")
	if err != nil || cores >= runtime.NumCPU() {
		return nil
	}
	return []string{path, "-c", fmt.Sprintf("0-%d", cores-1)}
}

// Scan runs the engine over the corpus once.
func (p *Process) Scan() (Run, error) { return p.tell("scan") }

// ScanHeap is Scan, and measures the live heap after it; ours only.
func (p *Process) ScanHeap() (Run, error) { return p.tell("heap") }

// Dump runs the engine over the corpus and returns its pairs.
func (p *Process) Dump() ([]Pair, error) {
	dir, err := os.MkdirTemp("", "prwarden-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pairs")
	if _, err := p.tell("dump " + path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pairs := make([]Pair, 0, len(data)/12)
	for ; len(data) >= 12; data = data[12:] {
		pairs = append(pairs, Pair{
			File:  binary.LittleEndian.Uint32(data),
			Start: binary.LittleEndian.Uint32(data[4:]),
			Rule:  binary.LittleEndian.Uint32(data[8:]),
		})
	}
	return pairs, nil
}

func (p *Process) tell(command string) (Run, error) {
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return Run{}, p.failed(err)
	}
	var run Run
	return run, p.read(&run)
}

func (p *Process) read(value any) error {
	if !p.out.Scan() {
		return p.failed(errors.Join(p.out.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(p.out.Bytes(), value); err != nil {
		return p.failed(err)
	}
	return nil
}

func (p *Process) failed(err error) error {
	return fmt.Errorf("%s: %w %s", p.name, err, strings.TrimSpace(p.stderr.String()))
}

// Close ends the engine.
func (p *Process) Close() error {
	err := p.in.Close()
	if err := p.command.Wait(); err != nil {
		return p.failed(err)
	}
	return err
}
