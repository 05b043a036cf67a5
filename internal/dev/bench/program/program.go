// Package program runs whole programs that match rules on the files of a folder:
// prwarden and its peers. What a program needs is prepared before it is timed;
// its output goes nowhere, and another run reads it to compare what was found.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// Job is a folder and rules to match on its files, in the form that each program
// wants them.
type Job struct {
	dir      string // of the files
	rules    string // for prwarden
	patterns string // for ripgrep
	config   string // for gitleaks and betterleaks
}

// NewJob writes a corpus and rules below dir.
func NewJob(dir string, rules []ruleset.Rule, c corpus.Corpus) (Job, error) {
	j := Job{
		dir:      filepath.Join(dir, "files"),
		rules:    filepath.Join(dir, "rules.yml"),
		patterns: filepath.Join(dir, "patterns"),
		config:   filepath.Join(dir, "gitleaks.toml"),
	}
	for _, f := range c.Files {
		path := filepath.Join(j.dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return Job{}, err
		}
		if err := os.WriteFile(path, f.Text, 0o600); err != nil {
			return Job{}, err
		}
	}
	config, err := ruleset.GitleaksConfig(rules)
	if err != nil {
		return Job{}, err
	}
	patterns, err := ruleset.PatternList(rules)
	return j, errors.Join(err,
		os.WriteFile(j.config, config, 0o600),
		os.WriteFile(j.patterns, patterns, 0o600),
		os.WriteFile(j.rules, ruleset.RulesFile(rules), 0o600))
}

// Hit is a line that a rule matches on. Rule is empty where a program doesn't
// say which rule it was.
type Hit struct {
	Rule string
	File string // path below the folder
	Line int
}

// Program is one that can be run here.
type Program struct {
	Name    string
	Version string

	path string
	// args are for a job with so many processors; with a report, the program
	// writes it to stdout.
	args  func(j Job, cores int) []string
	parse func(output []byte, dir string) ([]Hit, error)
	// noneFound is an exit status that isn't a failure.
	noneFound int
}

// Run is what it took a program to do a job.
type Run struct {
	Wall    time.Duration
	CPU     time.Duration // of all processors
	PeakKiB int64         // resident memory
}

// Run does a job on so many processors and drops the output. The program is
// started by another process, which runs Launch: Linux counts the memory of the
// process that starts a program as the program's own peak, and this one's is large.
func (p Program) Run(ctx context.Context, j Job, cores int) (Run, error) {
	cmd := p.command(ctx, j, cores)
	self, err := os.Executable()
	if err != nil {
		return Run{}, err
	}
	var out bytes.Buffer
	launch := exec.CommandContext(ctx, self, append([]string{"launch"}, cmd.Args...)...)
	launch.Dir, launch.Env, launch.Stdout = cmd.Dir, cmd.Env, &out
	if err := p.finish(launch); err != nil {
		return Run{}, err
	}
	var run Run
	return run, json.Unmarshal(out.Bytes(), &run)
}

// Launch runs a program, drops its output, and writes a Run as JSON to out. An
// *exec.ExitError is the program's own failure.
func Launch(ctx context.Context, args []string, out, errOut io.Writer) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = errOut
	start := time.Now()
	failed := cmd.Run()
	if cmd.ProcessState == nil {
		return failed
	}
	run := Run{Wall: time.Since(start), CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		run.PeakKiB = usage.Maxrss
	}
	return errors.Join(failed, json.NewEncoder(out).Encode(run))
}

// Hits does a job and says what was found, each line once for each rule.
func (p Program) Hits(ctx context.Context, j Job) (map[Hit]bool, error) {
	cmd := p.command(ctx, j, 1)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := p.finish(cmd); err != nil {
		return nil, err
	}
	list, err := p.parse(out.Bytes(), j.dir)
	if err != nil {
		return nil, fmt.Errorf("%s: its output: %w", p.Name, err)
	}
	hits := map[Hit]bool{}
	for _, h := range list {
		hits[h] = true
	}
	return hits, nil
}

func (p Program) command(ctx context.Context, j Job, cores int) *exec.Cmd {
	args := append(engine.Pin(cores), p.path)
	args = append(args, p.args(j, cores)...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = filepath.Dir(j.dir)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(cores))
	return cmd
}

func (p Program) finish(cmd *exec.Cmd) error {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == p.noneFound && p.noneFound != 0 {
		return nil
	}
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return fmt.Errorf("%s: %w: %s", p.Name, err, text[:min(len(text), 500)])
	}
	return nil
}
