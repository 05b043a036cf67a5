package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-enry/go-enry/v2"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// hits scans merged pull requests of repositories.
func hits(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	var s scans
	flags.IntVar(&s.most, "most", 150, "most pull requests of a repository, the newest")
	flags.IntVar(&s.jobs, "jobs", runtime.NumCPU(), "scans at the same time")
	flags.BoolVar(&s.low, "low", false, "with findings of low confidence, which prwarden hides; to tune their rules")
	dir := flags.String("out", "", "the `folder` for "+scansFile+", "+hitsFile+" and "+contextsFile)

	return func(ctx context.Context, out io.Writer, repositories []string) error {
		if *dir == "" || len(repositories) == 0 {
			return errors.New("hits needs -out, and repositories in folders named owner+name")
		}
		if err := s.load(ctx); err != nil {
			return err
		}

		for _, repository := range repositories {
			if err := s.project(ctx, repository); err != nil {
				return err
			}
			if err := s.write(*dir); err != nil { // so that those before are there when one fails
				return err
			}
		}
		summarize(s.done).print(out)
		return nil
	}
}

// scans are what was asked for, and what has been found.
type scans struct {
	most, jobs int
	low        bool

	scanner *scan.Scanner
	rules   *scan.Ruleset

	done     []scanned
	hits     []hit
	contexts []string // of hits, see contextOf
}

// load makes a scanner with the default ruleset. It is the product's own, in this process, because compiling the rules
// for each pull request again would take longer than the scans.
func (s *scans) load(ctx context.Context) error {
	rules, err := defaults.Load()
	if err != nil {
		return err
	}
	s.scanner = scan.NewScanner(localSource{}, scan.Options{Workers: 1})
	s.rules, err = s.scanner.AddRules(ctx, "", rule.Digest(rules), rules)
	return err
}

func (s *scans) write(dir string) error {
	return errors.Join(
		writeLines(filepath.Join(dir, scansFile), s.done), writeLines(filepath.Join(dir, hitsFile), s.hits),
		os.WriteFile(filepath.Join(dir, contextsFile), []byte(strings.Join(s.contexts, "")), 0o600),
	)
}

// localSource opens commits of the repository whose folder is the target's.
type localSource struct{}

// Open implements scan.Source.
func (localSource) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	local, err := git.FindLocal(ctx, git.LocalOptions{Path: t.Repo, Env: plainEnv()})
	if err != nil {
		return nil, err
	}
	return local.Commits(t.Commits.Base, t.Commits.Head).Open(ctx, t)
}

// found is what a scan found, or why there is nothing.
type found struct {
	finding.Result
	failed string
}

// scan scans a pull request as prwarden does, with its default settings.
func (s *scans) scan(ctx context.Context, dir string, p pull) (found, error) {
	result, err := s.scanner.Scan(ctx, scan.Request{
		Target:  scan.Target{Repo: dir, Commits: finding.Commits{Base: p.base, Head: p.commit}},
		Ruleset: rule.RulesetDefault, Rules: s.rules, MaxFindings: 10_000,
	}, func(scan.Progress) {})
	failure, isFailure := errors.AsType[*scan.Failure](err)
	switch {
	case isFailure:
		return found{failed: failure.Code}, nil
	case err != nil:
		return found{}, err
	}
	return found{Result: result.Result}, nil
}

// project scans the pull requests of a repository.
func (s *scans) project(ctx context.Context, dir string) error {
	name, err := projectOf(dir)
	if err != nil {
		return err
	}
	head, err := gitOutput(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	pulls, style, err := pullsOf(ctx, dir, s.most)
	if err != nil {
		return err
	}
	done := scanned{
		Project: name, Time: time.Now().UTC().Truncate(time.Second), Head: string(bytes.TrimSpace(head)),
		Style: style, Pulls: len(pulls), Incomplete: map[string]int{},
	}

	results := make([]found, len(pulls))
	group, scanning := errgroup.WithContext(ctx)
	group.SetLimit(s.jobs)
	for i, p := range pulls {
		group.Go(func() (err error) {
			results[i], err = s.scan(scanning, dir, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}

	for i, r := range results {
		done.Ruleset = cmp.Or(done.Ruleset, r.RulesDigest)
		for _, why := range r.incomplete() {
			done.Incomplete[why]++
		}
		s.add(ctx, dir, &done, pulls[i], r)
	}
	if done.Ruleset == "" {
		return fmt.Errorf("%s: no pull request could be scanned: %v", name, done.Incomplete)
	}
	s.done = append(s.done, done)
	fmt.Fprintf(os.Stderr, "%s: %d %s in %.0f s\n", name, len(pulls), style, time.Since(done.Time).Seconds())
	return nil
}

// incomplete says why not everything was looked at that counts, each reason once.
func (r found) incomplete() (why []string) {
	if r.failed != "" {
		return []string{r.failed}
	}
	if r.Truncated {
		why = append(why, "truncated")
	}
	for _, skip := range r.Skips {
		if !policy.Default().Tolerates(skip.Reason) && !slices.Contains(why, skip.Reason) {
			why = append(why, skip.Reason)
		}
	}
	return why
}

// add counts the findings of a pull request and keeps them as hits, one for a rule on a line.
func (s *scans) add(ctx context.Context, dir string, done *scanned, p pull, r found) {
	low := slices.DeleteFunc(r.Observed, func(f finding.Finding) bool { return f.Confidence != hidden })
	done.Low, done.Added = done.Low+len(low), done.Added+r.LookedAt.AddedLines
	if len(r.Findings) > 0 {
		done.Found++
	}
	if s.low {
		r.Findings = append(r.Findings, low...)
	}

	seen := map[string]bool{}
	for _, f := range r.Findings {
		content, err := gitOutput(ctx, dir, "cat-file", "blob", p.commit+":"+f.File)
		if err != nil { // of a finding about a file that is gone
			content = []byte(err.Error())
		}
		h := hit{
			Project: done.Project, Pull: p.number, Commit: p.commit, Rule: f.RuleID, Severity: f.Severity.String(),
			Confidence: string(f.Confidence), Dated: isDated(f.RuleID),
			Path: strings.ToValidUTF8(f.File, "\uFFFD"), Line: f.Line, Ruleset: r.RulesDigest,
			Language: languageOf(f.File, content),
		}
		if h.ID = h.id(); seen[h.ID] {
			continue
		}
		seen[h.ID] = true
		s.hits = append(s.hits, h)
		s.contexts = append(s.contexts, contextOf(h, f.Message, f.Column, content))
		if h.Confidence != hidden {
			done.Hits++
		}
	}
}

// languageOf is the one language of a file: rules go by all that it may be in.
func languageOf(file string, content []byte) string {
	name := enry.GetLanguage(path.Base(file), content)
	return cmp.Or(enry.GetLanguageGroup(name), name, "other")
}

const (
	around  = 12  // lines before and after that of a hit
	longest = 300 // bytes of a line that are shown
)

// blockMark begins the text about a hit. The lines of the file have numbers before them.
const blockMark = "=== "

// contextOf is the text about a hit that its readers get.
func contextOf(h hit, message string, column int, content []byte) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s%s %s #%d %s\n%s (%s): %s\n%s:%d\n\n", blockMark, h.ID, h.Project, h.Pull, h.Commit,
		h.Rule, h.Severity, terminal.Safe(message), terminal.Safe(h.Path), h.Line)
	lines := strings.Split(strings.ReplaceAll(string(content), "\t", "    "), "\n")
	for n := max(1, h.Line-around); n <= min(len(lines), h.Line+around); n++ {
		line, mark := lines[n-1], " "
		if n == h.Line {
			mark = ">"
			if len(line) > longest { // what was found is somewhere in it
				line = line[min(max(0, column-longest/2), len(line)-longest):]
			}
		}
		fmt.Fprintf(&out, "%s%6d | %s\n", mark, n, terminal.Safe(line[:min(len(line), longest)]))
	}
	return out.String() + "\n"
}
