package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// orgRule is a rule that every organization creates, as the body of POST /v1/rules.
const orgRule = `{"id": "chaos/org-marker", "type": "regex", "pattern": "ORGMARK_[0-9]+",
	"message": "An organization's marker.", "severity": "low"}`

// finding is what a scan must report of one line.
type finding struct {
	RuleID   string `json:"rule_id"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Snippet  string `json:"snippet"`
}

// pull is a pull request, and how its review must end.
type pull struct {
	organization, repo string
	number             int
	findings           []finding // in their order
	failure            string    // the code of a review that must fail
}

func (p pull) name() string { return fmt.Sprintf("%s#%d", p.repo, p.number) }

// So many pull requests apart there is one of a special kind.
const (
	everyMissing  = 25 // the repository does not have it
	everyUnjoined = 35 // its commits have no common history with the base
	everyHeavy    = 40 // takes a scanner about a second
	everyNoisy    = 30 // many hundreds of findings
)

// makePulls writes bare repositories below dir. Whoever plants a line knows what a scan must report: nothing here
// matches a pattern, so that a scan is held to something other than itself.
func makePulls(ctx context.Context, dir string, s settings) (all []pull, err error) {
	r := rand.New(rand.NewPCG(s.seed, 0))
	for _, org := range organizations() {
		for i := range s.repos {
			w := &repositoryWriter{r: r}
			repo := fmt.Sprintf("%s/repo%d", org, i)
			for _, p := range w.write(s.pulls) {
				p.organization, p.repo = org, repo
				all = append(all, p)
			}
			if err := program.MakeRepository(ctx, filepath.Join(dir, repo+".git"), w.stream.String()); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// repositoryWriter makes one repository as a stream for git fast-import.
type repositoryWriter struct {
	r      *rand.Rand
	stream strings.Builder
	lines  int // written so far: each line differs from all others
}

func (w *repositoryWriter) write(n int) (all []pull) {
	var base []string
	for range 80 {
		line, _ := w.line(false)
		base = append(base, line)
	}
	w.commit("refs/heads/main", "")
	w.file("src/app.js", base)

	for number := 1; number <= n; number++ {
		p := pull{number: number}
		head := fmt.Sprintf("refs/pull/%d/head", number)
		switch {
		case number%everyMissing == 0:
			p.failure = "pull_request_not_found"
		case number%everyUnjoined == 0:
			p.failure = "no_merge_base"
			w.commit(head, "")
			w.file("README", []string{"nothing in common"})
		default:
			w.commit(head, "from refs/heads/main\n")
			p.findings = w.change(base, number)
		}
		all = append(all, p)
	}
	return all
}

// change writes the files of a pull request and returns what a scan must find in them: in new files, and in the middle
// of an old one.
func (w *repositoryWriter) change(base []string, number int) []finding {
	files, length, hits := w.r.IntN(3), 30, 0.05 // as a share of all lines
	switch {
	case number%everyHeavy == 0:
		files, length = 12, 4_000
	case number%everyNoisy == 0:
		files, length, hits = 4, 200, 1
	}

	var all []finding
	for i := range files {
		all = append(all, w.add(fmt.Sprintf("new/%03d.js", i), nil, 0, length, hits)...)
	}
	return append(all, w.add("src/app.js", base, w.r.IntN(len(base)), 1+w.r.IntN(10), 0.3)...)
}

// add writes a file with lines that are added at a place of an old one, and returns what a scan must say of them.
func (w *repositoryWriter) add(path string, old []string, at, count int, hits float64) (all []finding) {
	text := slices.Clone(old[:at])
	for range count {
		line, f := w.line(w.r.Float64() < hits)
		text = append(text, line)
		if f.RuleID != "" {
			f.File, f.Line, f.Snippet = path, len(text), line
			all = append(all, f)
		}
	}
	w.file(path, append(text, old[at:]...))
	return all
}

// line is one that was in no file before and, when it is to be a hit, what must be found in it.
func (w *repositoryWriter) line(hit bool) (string, finding) {
	w.lines++
	switch {
	case !hit:
		return fmt.Sprintf("step %d keeps the order of %d", w.lines, w.r.IntN(1e9)), finding{}
	case w.r.IntN(2) == 0:
		return fmt.Sprintf("mark %d ORGMARK_%d", w.lines, w.lines), finding{RuleID: "chaos/org-marker", Severity: "low"}
	}
	line := fmt.Sprintf("const v%d = eval(input%d);", w.lines, w.lines)
	return line, finding{RuleID: "security/no-eval", Severity: "high"}
}

func (w *repositoryWriter) commit(ref, from string) {
	fmt.Fprintf(&w.stream, "commit %s\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nm\n%s", ref, from)
}

func (w *repositoryWriter) file(path string, lines []string) {
	text := strings.Join(lines, "\n") + "\n"
	fmt.Fprintf(&w.stream, "M 644 inline %s\ndata %d\n%s\n", path, len(text), text)
}
