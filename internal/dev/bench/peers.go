package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// peerOptions are the flags of `bench peers`.
type peerOptions struct {
	*options
	peers, corpus, rules string
	size                 int
}

// peers measures whole scans of files by prwarden and by programs that do the same, with the same rules.
func peers(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := peerOptions{options: common}
	flags.StringVar(&o.peers, "peers", "bin/peers", "`folder` with gitleaks and betterleaks, see make bench-peers")
	flags.StringVar(&o.corpus, "corpus", ".", "`folders` of the files, with commas between")
	flags.StringVar(&o.rules, "rules", "internal/match/testdata/rules-1000.tsv", "`file` of rules: id, tab, pattern")
	flags.IntVar(&o.size, "bytes", 32_000_000, "how much of the corpus is scanned")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

func (o peerOptions) run(ctx context.Context, dir string, out io.Writer) error {
	rules, err := readRules(o.rules)
	if err != nil {
		return err
	}
	if err := writeRules(dir, rules); err != nil {
		return err
	}
	files, size, err := copyCorpus(filepath.Join(dir, "files"), strings.Split(o.corpus, ","), o.size)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rules on %d files, %.1f MB.\n\n", len(rules), files, float64(size)/1e6)

	all := o.programs()
	for n := range all {
		if err := all[n].try(ctx, dir); err != nil {
			return err
		}
	}
	for range o.runs {
		for n := range all {
			if all[n].leftOut != "" {
				continue
			}
			if err := all[n].measure(ctx, dir, io.Discard); err != nil {
				return err
			}
		}
	}
	o.print(out, all)
	return nil
}

func (o peerOptions) print(out io.Writer, all []peer) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
	t := table{{"Program", "processor time, s", "ratio", "fastest, s", "memory, MiB", "finds"}}
	first := quantile(all[0].spent, 0.5)
	for _, p := range all {
		if p.leftOut != "" {
			t.add(p.name, "", "", "", "", p.leftOut)
			continue
		}
		spent := quantile(p.spent, 0.5)
		t.add(p.name, seconds(spent), ratio(spent, first), seconds(quantile(p.spent, 0)),
			fmt.Sprint(p.memory>>10), fmt.Sprint(p.found)+" "+p.unit)
	}
	t.print(out)
	fmt.Fprintf(out, "One processor, medians of %d runs by turns. Ratios are of processor time.\n", o.runs)
}

// peer is a program that scans files, and what was measured of it.
type peer struct {
	name, path string
	args       []string // {dir} stands for the folder of the rules and files
	marker     string   // what the output has once for each thing that was found
	unit       string   // what such a thing is

	leftOut string // why it is not measured
	found   int
	spent   []time.Duration // processor time
	memory  int64           // the most resident memory, in KiB
}

// programs are prwarden and its peers, with the options that suit each best.
func (o peerOptions) programs() (all []peer) {
	for _, b := range o.builds() {
		all = append(all, peer{name: b.name, path: b.path, marker: "\n", unit: "findings", args: []string{
			"scan", "--all", "{dir}/files", "--no-default-rules", "--rules", "{dir}/rules.yml",
			"--output", "jsonl", "--fail-on", "none", "--jobs", "1"}})
	}

	leaks := []string{"dir", "--config", "{dir}/gitleaks.toml", "--no-banner", "--no-color", "--log-level=error",
		"--exit-code=0", "--max-decode-depth=0", "--ignore-gitleaks-allow",
		"--report-format=json", "--report-path=-", "{dir}/files"}
	lines := []string{"--no-config", "--no-ignore", "--hidden", "--with-filename", "--line-number", "--no-heading",
		"--color=never", "--dfa-size-limit=2G", "--regex-size-limit=2G", "-j", "1", "-f", "{dir}/patterns", "{dir}/files"}

	const leak = `"RuleID":`
	return append(all,
		peer{name: "gitleaks", path: filepath.Join(o.peers, "gitleaks"), marker: leak, unit: "findings", args: leaks},
		peer{name: "betterleaks", path: filepath.Join(o.peers, "betterleaks"), marker: leak, unit: "findings",
			args: append([]string{"--validation=false"}, leaks...)},
		peer{name: "ripgrep", path: "rg", marker: "\n", unit: "lines", args: lines})
}

// try runs a program once and counts what it finds. A program that is missing is left out of what follows.
func (p *peer) try(ctx context.Context, dir string) error {
	path, err := exec.LookPath(p.path)
	if err != nil {
		p.leftOut = "not installed"
		return nil
	}
	if p.path, err = filepath.Abs(path); err != nil {
		return err
	}

	var out bytes.Buffer
	err = p.measure(ctx, dir, &out)
	p.found, p.spent = strings.Count(out.String(), p.marker), nil
	return err
}

// measure runs a program once, on one processor.
func (p *peer) measure(ctx context.Context, dir string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, p.path)
	for _, arg := range p.args {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(arg, "{dir}", dir))
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = out, &said

	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", p.name, err, said.String())
	}
	p.spent = append(p.spent, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		p.memory = max(p.memory, usage.Maxrss)
	}
	return nil
}
