package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/program"
)

type options struct {
	// of the whole benchmark
	corpus string // folders, with commas; GOROOT/src when empty
	cases  string // folder for the worst cases, which are then written and not run
	label  string // what the report calls the corpus
	model  string // file of the 1,000 rules
	only   string // parts to run, with commas; all when empty
	on     string // sets for whole programs, with semicolons
	size   int64  // of the corpus at most, in bytes
	runs   int
	limit  time.Duration // of a peer's first run
	long   bool
	write  bool

	// of a quick comparison of engines
	contenders string
	rules      string
	mode       string
	hits       string
	cpuProfile string
	cores      int
	budget     time.Duration
	compare    bool
}

const usage = `bench measures prwarden's matching engine, and its peers where they are here.

  bench [-long] [-write] [-corpus DIRS]    the whole benchmark, a report on stdout
  bench -engine ours[,vectorscan] -rules FILE -corpus DIRS    one comparison
  bench -install-peers DIR                 build gitleaks and betterleaks

`

func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) error {
	if len(args) > 1 && args[0] == "launch" {
		return program.Launch(ctx, args[1:], out, errOut)
	}
	worker := len(args) > 0 && args[0] == "worker"
	if worker {
		args = args[1:]
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.corpus, "corpus", "", "folders to scan, with commas (default GOROOT/src)")
	flags.StringVar(&o.label, "label", "", "what the report calls the corpus (default the folders' names)")
	flags.StringVar(&o.model, "model", "internal/match/testdata/rules-1000.tsv", "file of the 1,000 rules")
	flags.StringVar(&o.only, "only", "", "parts to run, with commas: engines, growth, worst, programs")
	flags.StringVar(&o.on, "programs-on", "", "rule sets for whole programs, with semicolons (default 1,000; with -long secrets;1,000;5,000)")
	flags.Int64Var(&o.size, "bytes", 32_000_000, "scan at most about so many bytes, a sample of the corpus; with -engine the corpus is also repeated to it")
	flags.IntVar(&o.runs, "runs", 5, "runs of each contender; the median counts")
	flags.DurationVar(&o.limit, "limit", defaultLimit, "how long a program's first run may take before it is left out")
	flags.BoolVar(&o.long, "long", false, "more sizes, up to 1 GB, and more rule sets for whole programs")
	flags.BoolVar(&o.write, "write", false, "write the report and its charts into docs/")
	flags.StringVar(&o.contenders, "engine", "", "compare only these engines, with commas: ours, vectorscan, naive")
	flags.StringVar(&o.rules, "rules", "", "with -engine: file of rules: a line each, id, tab, pattern")
	flags.StringVar(&o.mode, "mode", "block", "with -engine: how vectorscan is called: block (a call for each file) or concat (one for all)")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "with -engine: file for a CPU profile of our engine")
	flags.StringVar(&o.hits, "hits", "", "with -engine: file for the number of pairs of each rule")
	flags.IntVar(&o.cores, "cores", 1, "with -engine: processors for our engine")
	flags.DurationVar(&o.budget, "budget", time.Hour, "with -engine: time that a rule may take in a run of our engine")
	flags.BoolVar(&o.compare, "compare", false, "with -engine: compare the pairs of rule and line that the first two engines find")
	flags.StringVar(&o.cases, "worst-files", "", "write the rules and the texts of the worst cases into this folder, for -engine, and do nothing else")
	peers := flags.String("install-peers", "", "build gitleaks and betterleaks into this folder and do nothing else")
	if err := flags.Parse(args); err != nil {
		return err
	}
	bytesGiven := false
	flags.Visit(func(f *flag.Flag) { bytesGiven = bytesGiven || f.Name == "bytes" })
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.runs < 1 && o.contenders == "":
		return errors.New("-runs must be at least 1")
	case worker:
		return engine.Work(o.contenders, o.rules, o.corpus, engine.Options{Cores: o.cores, Budget: o.budget, CPUProfile: o.cpuProfile}, in, out)
	case *peers != "":
		return program.InstallPeers(ctx, *peers)
	case o.contenders != "":
		if !bytesGiven {
			o.size = 0
		}
		return quick(ctx, o, out)
	}
	if o.label == "" {
		o.label = label(o.corpus)
	}
	return runSuite(ctx, o, out, errOut)
}

// label names folders by their last two elements, so that reports name no
// machine.
func label(dirs string) string {
	if dirs == "" {
		return "GOROOT/src"
	}
	var names []string
	for _, dir := range strings.Split(dirs, ",") {
		dir = filepath.Clean(dir)
		names = append(names, filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)))
	}
	return strings.Join(names, ", ")
}
