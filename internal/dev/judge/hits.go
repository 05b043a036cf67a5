package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-enry/go-enry/v2"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/cli/terminal"
)

// hits scans merged pull requests of repositories.
func hits(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	var s scans
	flags.StringVar(&s.prwarden, "prwarden", "bin/prwarden", "the `program` that scans")
	flags.IntVar(&s.most, "most", 150, "most pull requests of a repository, the newest")
	flags.IntVar(&s.jobs, "jobs", runtime.NumCPU(), "scans at the same time")
	flags.BoolVar(&s.low, "low", false, "with findings of low confidence, which prwarden hides; to tune their rules")
	dir := flags.String("out", "", "the `folder` for "+scansFile+", "+hitsFile+" and "+contextsFile)

	return func(ctx context.Context, out io.Writer, repositories []string) (err error) {
		if *dir == "" || len(repositories) == 0 {
			return errors.New("hits needs -out, and repositories in folders named owner+name")
		}
		if s.prwarden, err = filepath.Abs(s.prwarden); err != nil {
			return err
		}

		for _, repository := range repositories {
			began := time.Now()
			if err := s.project(ctx, repository); err != nil {
				return err
			}
			if err := s.write(*dir); err != nil { // so that those before are there when one fails
				return err
			}
			last := s.done[len(s.done)-1]
			fmt.Fprintf(os.Stderr, "%s: %d %s in %.0f s\n", last.Project, last.Pulls, last.Style, time.Since(began).Seconds())
		}
		summarize(s.done).print(out)
		return nil
	}
}

// scans are what was asked for, and what has been found.
type scans struct {
	prwarden   string
	most, jobs int
	low        bool

	done     []scanned
	hits     []hit
	contexts []string // of hits, see contextOf
}

func (s *scans) write(dir string) error {
	return errors.Join(
		writeLines(filepath.Join(dir, scansFile), s.done), writeLines(filepath.Join(dir, hitsFile), s.hits),
		os.WriteFile(filepath.Join(dir, contextsFile), []byte(strings.Join(s.contexts, "")), 0o600),
	)
}

// found is what prwarden prints of a scan, as far as it counts here.
type found struct {
	Findings []struct {
		Rule       string `json:"rule_id"`
		Severity   string `json:"severity"`
		Confidence string `json:"confidence"`
		Path       string `json:"file"`
		Line       int    `json:"line"`
		Column     int    `json:"column"`
		Message    string `json:"message"`
	} `json:"findings"`
	Skipped []struct {
		Reason    string `json:"reason"`
		Tolerated bool   `json:"tolerated"`
	} `json:"skipped"`
	Truncated bool   `json:"truncated"`
	Ruleset   string `json:"rules_digest"`
	LookedAt  struct {
		AddedLines int `json:"added_lines"`
	} `json:"looked_at"`

	failed string // why there is nothing
}

// project scans the pull requests of a repository.
func (s *scans) project(ctx context.Context, dir string) error {
	name, err := projectOf(dir)
	if err != nil {
		return err
	}
	head, err := git(ctx, dir, "rev-parse", "HEAD")
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
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.jobs)
	for i, p := range pulls {
		group.Go(func() (err error) {
			results[i], err = s.scan(ctx, dir, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}

	for i, r := range results {
		if r.failed == "" && done.Ruleset == "" {
			done.Ruleset = r.Ruleset
		}
		if r.failed == "" && r.Ruleset != done.Ruleset {
			return fmt.Errorf("%s: %s was scanned with other rules than the one before", name, pulls[i].commit)
		}
		for _, why := range r.incomplete() {
			done.Incomplete[why]++
		}
		if err := s.add(dir, &done, pulls[i], r); err != nil {
			return err
		}
	}
	if done.Ruleset == "" {
		return fmt.Errorf("%s: no pull request could be scanned: %v", name, done.Incomplete)
	}
	s.done = append(s.done, done)
	return nil
}

// scan runs prwarden as a user does, with its default settings.
func (s *scans) scan(ctx context.Context, dir string, p pull) (r found, err error) {
	cmd := exec.CommandContext(ctx, s.prwarden, "scan", "--base", p.base, "--head", p.commit, "--ruleset", "default",
		"--no-server", "--fail-on", "none", "--allow-incomplete", "--output", "json")
	cmd.Dir, cmd.Env = dir, plainEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case errors.As(err, &exit):
		said := strings.TrimPrefix(strings.TrimPrefix(stderr.String(), "prwarden: "), "the scan failed: ")
		said, _, _ = strings.Cut(exact.ReplaceAllString(strings.TrimSpace(said), "N"), "\n")
		return found{failed: said[:min(len(said), 60)]}, nil
	case err != nil:
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// exact are the parts of messages that are different each time.
var exact = regexp.MustCompile(`\b[0-9a-f]*[0-9][0-9a-f]*\b`)

// incomplete says why not everything was looked at, each reason once.
func (r found) incomplete() (why []string) {
	if r.failed != "" {
		return []string{r.failed}
	}
	if r.Truncated {
		why = append(why, "truncated")
	}
	for _, skip := range r.Skipped {
		if !skip.Tolerated && !slices.Contains(why, skip.Reason) {
			why = append(why, skip.Reason)
		}
	}
	return why
}

// add counts the findings of a pull request and keeps them as hits.
func (s *scans) add(dir string, done *scanned, p pull, r found) error {
	before := done.Hits
	for _, f := range r.Findings {
		if f.Confidence == "low" {
			if done.Low++; !s.low {
				continue
			}
		}
		// The file may have a name that is no UTF-8, which JSON has no way to say.
		content, err := git(context.Background(), dir, "cat-file", "blob", p.commit+":"+f.Path)
		if err != nil {
			content = []byte("the file can't be shown\n")
		}
		h := hit{
			Project: done.Project, Pull: p.number, Commit: p.commit, Rule: f.Rule, Severity: f.Severity,
			Confidence: f.Confidence, Dated: isDated(f.Rule), Path: f.Path, Line: f.Line, Ruleset: r.Ruleset,
			Language: cmp.Or(enry.GetLanguage(path.Base(f.Path), content), "other"),
		}
		h.ID = h.id()
		s.hits = append(s.hits, h)
		s.contexts = append(s.contexts, contextOf(h, f.Message, f.Column, content))
		done.Hits++
	}

	if done.Added += r.LookedAt.AddedLines; done.Hits > before {
		done.Found++
	}
	return nil
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
	lines := bytes.Split(content, []byte("\n"))
	for n := max(1, h.Line-around); n <= min(len(lines), h.Line+around); n++ {
		line, mark := lines[n-1], " "
		if n == h.Line {
			mark = ">"
			if from := column - longest/2; from > 0 && len(line) > longest {
				line = line[min(from, len(line)):]
			}
		}
		fmt.Fprintf(&out, "%s%6d | %s\n", mark, n, terminal.Safe(string(line[:min(len(line), longest)])))
	}
	return out.String() + "\n"
}

// summarize is a table of what was scanned.
func summarize(done []scanned) (t table) {
	t.add("project", "pull requests", "with a hit", "added lines", "hits", "for 500 lines", "low", "incomplete")
	all := scanned{Project: "all", Incomplete: map[string]int{}}
	for _, d := range done {
		all.Pulls, all.Found, all.Added = all.Pulls+d.Pulls, all.Found+d.Found, all.Added+d.Added
		all.Hits, all.Low = all.Hits+d.Hits, all.Low+d.Low
		for why, n := range d.Incomplete {
			all.Incomplete[why] += n
		}
		t.add(d.row()...)
	}
	t.add(all.row()...)
	return t
}

func (d scanned) row() []string {
	name := d.Project
	if d.Style == styleCommits {
		name += " (commits)"
	}
	return []string{
		name, fmt.Sprint(d.Pulls), share(d.Found, d.Pulls), fmt.Sprint(d.Added), fmt.Sprint(d.Hits),
		fmt.Sprintf("%.2f", 500*float64(d.Hits)/float64(max(1, d.Added))), fmt.Sprint(d.Low), reasons(d.Incomplete),
	}
}

func reasons(incomplete map[string]int) string {
	var list []string
	for why, n := range incomplete {
		list = append(list, fmt.Sprintf("%d × %s", n, why))
	}
	slices.Sort(list)
	return cmp.Or(strings.Join(list, ", "), "none")
}

// share is how many of all, and the percentage.
func share(n, all int) string {
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(1, all)))
}
