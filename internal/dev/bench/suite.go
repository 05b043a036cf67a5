package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/corpus"
	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/program"
	"github.com/prwarden/prwarden/internal/dev/bench/report"
	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

// suite is the whole benchmark: what it compares, and the report that grows.
type suite struct {
	options
	dir    string    // for files that don't outlive it
	log    io.Writer // what is going on
	start  time.Time
	report strings.Builder
	charts map[string]string // SVG by name

	corpus  corpus.Corpus
	sets    []set
	refused []string // why rules are left out

	hasVectorscan bool
	vectorscan    engine.VectorscanProgram
	programs      []program.Program
	absent        []program.Missing
}

// set is a set of rules.
type set struct {
	name  string
	rules []ruleset.Rule
	// compared are the contenders on the corpus, ours first, once that was measured.
	compared []outcome
}

// runSuite measures everything and writes the report to out; with write, also
// into the documents.
func runSuite(ctx context.Context, o options, out, log io.Writer) error {
	dir, err := os.MkdirTemp("", "prwarden-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &suite{options: o, dir: dir, log: log, start: time.Now(), charts: map[string]string{}}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if o.cases != "" {
		return s.writeCases(o.cases)
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"engines", s.engines}, {"growth", s.growth}, {"worst", s.worst}, {"programs", s.wholePrograms},
	} {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	text := s.conditions(ctx, time.Since(s.start)) + s.report.String()
	fmt.Fprint(out, text)
	if !o.write {
		return nil
	}
	return s.writeDocument(text)
}

// prepare loads the corpus and the rules and looks for peers.
func (s *suite) prepare(ctx context.Context) (err error) {
	if s.options.corpus == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("go env GOROOT: %w", err)
		}
		s.options.corpus = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	s.note("loading the corpus and making rules")
	if s.corpus, err = corpus.Load(strings.Split(s.options.corpus, ",")...); err != nil {
		return err
	}
	s.corpus = s.corpus.Spread()
	if s.corpus.Bytes() > s.size {
		s.corpus = s.corpus.Resize(s.size)
	}
	if s.vectorscan, err = engine.BuildVectorscan(ctx, s.dir); err == nil {
		s.hasVectorscan = true
	} else if errors.Is(err, engine.ErrNoVectorscan) {
		s.absent = append(s.absent, program.Missing{Name: "vectorscan", How: "apt-get install gcc libvectorscan-dev, or libhyperscan-dev"})
	} else {
		return err
	}
	if s.sets, err = s.loadSets(ctx); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bin := filepath.Dir(self)
	found, missing, err := program.Find(ctx, bin, filepath.Join(bin, "peers"))
	s.programs, s.absent = found, append(s.absent, missing...)
	return err
}

// loadSets has the sets from the smallest to the largest, without the rules that
// not every engine takes.
func (s *suite) loadSets(ctx context.Context) ([]set, error) {
	file, err := os.Open(s.model)
	if err != nil {
		return nil, fmt.Errorf("%w; run it at the root of the repository", err)
	}
	defer file.Close()
	model, err := ruleset.ParseTSV(file)
	if err != nil {
		return nil, err
	}
	texts := make([][]byte, len(s.corpus.Files))
	for i, f := range s.corpus.Files {
		texts[i] = f.Text
	}
	generated, err := ruleset.Generate(model, 5000, ruleset.NewVocabulary(texts...))
	if err != nil {
		return nil, err
	}
	sets := []set{
		{name: "100", rules: ruleset.Sample(model, 100)},
		{name: "200", rules: ruleset.Sample(model, 200)},
		{name: "1,000", rules: model},
		{name: "5,000", rules: generated},
	}
	secrets, refused, err := ruleset.Gitleaks(ctx)
	if err != nil {
		s.absent = append(s.absent, program.Missing{Name: "the 221 secret patterns", How: "they are in the Go module of gitleaks; " + err.Error()})
	} else {
		sets = append([]set{{name: "secrets", rules: secrets}}, sets...)
		for id, why := range refused {
			s.refused = append(s.refused, fmt.Sprintf("`%s` of the secret patterns: %s", id, why))
		}
	}
	if !s.hasVectorscan {
		return sets, nil
	}
	for i := range sets {
		if sets[i].rules, err = s.without(ctx, sets[i].rules, sets[i].name); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// without leaves out the rules that vectorscan refuses, and notes why.
func (s *suite) without(ctx context.Context, rules []ruleset.Rule, set string) ([]ruleset.Rule, error) {
	refused, err := s.vectorscan.Check(ctx, rules, s.dir)
	if err != nil {
		return nil, err
	}
	for id, why := range refused {
		s.refused = append(s.refused, fmt.Sprintf("`%s` of %s: vectorscan: %s", id, set, why))
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r ruleset.Rule) bool { return refused[r.ID] != "" }), nil
}

// set is one of the sets by name; nil when there is none.
func (s *suite) set(name string) *set {
	for i := range s.sets {
		if s.sets[i].name == name {
			return &s.sets[i]
		}
	}
	return nil
}

// conditions says what was measured on what.
func (s *suite) conditions(ctx context.Context, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s in %s: %s, %d processors, %s, %s. Load of the machine at the end, this benchmark included: %s.\n\n",
		time.Now().UTC().Format(time.DateOnly), took.Round(time.Second), processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, load())
	fmt.Fprintf(&b, "Corpus: %s files, %.1f MB (%s).", report.Thousands(int64(len(s.corpus.Files))), float64(s.corpus.Bytes())/1e6, s.label)
	for _, p := range s.programs[1:] {
		fmt.Fprintf(&b, " %s: %s.", p.Name, strings.TrimPrefix(p.Version, p.Name+" "))
	}
	if commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		fmt.Fprintf(&b, " Commit %s.", strings.TrimSpace(string(commit)))
	}
	b.WriteString("\n\n")
	for _, m := range s.absent {
		fmt.Fprintf(&b, "Not measured, because it is not here: %s (%s).\n\n", m.Name, m.How)
	}
	if len(s.refused) > 0 {
		slices.Sort(s.refused)
		fmt.Fprintf(&b, "Left out for all: %s.\n\n", strings.Join(s.refused, "; "))
	}
	return b.String()
}

// note says what is going on, with the seconds since the start.
func (s *suite) note(format string, args ...any) {
	fmt.Fprintf(s.log, "%4.0f s  "+format+"\n", append([]any{time.Since(s.start).Seconds()}, args...)...)
}

func (s *suite) section(title, text string) {
	fmt.Fprintf(&s.report, "### %s\n\n%s\n", title, strings.TrimSpace(text)+"\n")
}

// processor is the model of the first processor.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(data)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown processor"
}

// load is the average number of running threads in the last minute.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
