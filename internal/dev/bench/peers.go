package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// peerOptions are the flags of `bench peers`.
type peerOptions struct {
	*options
	peers, corpus, rules, keywords string
	size                           int
}

// peers measures whole scans of files by prwarden and by programs that do the same, with the same rules.
func peers(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := peerOptions{options: common}
	flags.StringVar(&o.peers, "peers", "bin/peers", "`folder` with gitleaks and betterleaks, see make bench-peers")
	flags.StringVar(&o.corpus, "corpus", ".", "`folders` of the files, with commas between")
	flags.StringVar(&o.rules, "rules", "internal/match/testdata/rules-1000.tsv", "`file` of rules: id, tab, pattern")
	flags.StringVar(&o.keywords, "keywords", "internal/dev/bench/testdata/keywords-1000.tsv",
		"`file` with words of which every match of a rule has one: id, tab, list")
	flags.IntVar(&o.size, "bytes", 32_000_000, "how much of the corpus is scanned")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

func (o peerOptions) run(ctx context.Context, dir string, out io.Writer) error {
	rules, err := writeRules(dir, o.rules, o.keywords)
	if err != nil {
		return err
	}
	files, size, err := copyCorpus(filepath.Join(dir, "files"), strings.Split(o.corpus, ","), o.size)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rules on %d files, %.1f MB.\n\n", rules, files, float64(size)/1e6)

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

// What a scan leaves out, or another program may. These files are no part of a comparison.
const (
	maxFile = 1 << 20
	maxLine = 16 << 10
	sniffed = 8000 // bytes in which a NUL makes a file binary
)

// copyCorpus copies about size bytes of the files below folders into dir: always the same random ones.
func copyCorpus(dir string, folders []string, size int) (files, copied int, err error) {
	var all []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && entry.Type().IsRegular() {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}

	slices.Sort(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })

	for _, path := range all {
		if copied >= size {
			break
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, 0, err
		}
		if !scannedWhole(text) {
			continue
		}

		// The name keeps its ending, by which rules choose files.
		to := filepath.Join(dir, fmt.Sprint(files/1000), fmt.Sprintf("%d-%s", files, filepath.Base(path)))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return 0, 0, err
		}
		files++
		copied += len(text)
	}

	if files == 0 {
		return 0, 0, errors.New("the corpus has no text")
	}
	return files, copied, nil
}

// scannedWhole says whether a scan looks at every byte of a file.
func scannedWhole(text []byte) bool {
	if len(text) == 0 || len(text) > maxFile || bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			return false
		}
	}

	return true
}

// writeRules writes the rules below dir in the form that each program wants them, and returns how many there are.
func writeRules(dir, rules, keywords string) (count int, err error) {
	patterns, err1 := readTable(rules)
	words, err2 := readTable(keywords)
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}

	var ours, lines, config strings.Builder
	ours.WriteString("version: 1\nrules:\n")
	for id, pattern := range patterns {
		fmt.Fprintf(&ours, "  - {id: %s, type: regex, severity: info, message: Found., pattern: '%s'}\n",
			id, strings.ReplaceAll(pattern, "'", "''"))

		// Without Unicode \b, \w and \d mean in ripgrep what they mean in Go, and it is many times faster. Then it does
		// not take the two other characters that are an s or a k in any case.
		fmt.Fprintf(&lines, "(?-u:%s)\n", strings.NewReplacer("\u017f", "", "\u212a", "").Replace(pattern))

		// With words of which every match has one, gitleaks and betterleaks are many times faster.
		fmt.Fprintf(&config, "[[rules]]\nid = %q\nregex = '''%s'''\nkeywords = [%s]\n\n", id, pattern, words[id])
	}
	for name, text := range map[string]string{
		"rules.yml": ours.String(), "patterns": lines.String(), "gitleaks.toml": config.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return 0, err
		}
	}

	return len(patterns), nil
}

// readTable reads lines of a name, a tab and a text.
func readTable(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all[name] = value
	}
	return all, err
}
