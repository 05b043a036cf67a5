package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// orgRule is a rule that every organization creates, as the body of POST /v1/rules.
const orgRule = `{"id": "chaos/org-marker", "type": "regex", "pattern": "ORGMARK_[0-9]+",
	"message": "An organization's marker.", "severity": "low"}`

// rulesFile is the rules file of every second repository.
const rulesFile = `version: 1
rules:
  - {id: chaos/repo-marker, type: regex, pattern: 'REPOMARK_[0-9]+', message: Found., severity: warning}
`

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

// pullName tells pull requests apart.
type pullName struct {
	repo   string
	number int
}

// So many pull requests apart there is one of a special kind.
const (
	everyMissing  = 25 // the repository does not have it
	everyUnjoined = 35 // its commits have no common history with the base
	everyHeavy    = 40 // takes a scanner about a second
	everyNoisy    = 30 // many hundreds of findings
)

// makePulls writes bare repositories below dir. Whoever plants a line knows what a scan must report: nothing here
// matches a pattern, so that a scan is held to something other than itself.
func makePulls(ctx context.Context, dir string, s settings) (map[pullName]pull, error) {
	all := map[pullName]pull{}
	r := rand.New(rand.NewPCG(s.faults.seed, 0))
	for _, org := range organizations() {
		for i := range s.repos {
			w := &repositoryWriter{r: r, repo: fmt.Sprintf("%s/repo%d", org, i), hasRules: i%2 == 1}
			for _, p := range w.write(s.pulls) {
				p.organization, p.repo = org, w.repo
				all[pullName{p.repo, p.number}] = p
			}
			if err := importRepository(ctx, filepath.Join(dir, w.repo+".git"), w.stream.String()); err != nil {
				return nil, fmt.Errorf("make repository %s: %w", w.repo, err)
			}
		}
	}
	return all, nil
}

// repositoryWriter makes one repository as a stream for git fast-import.
type repositoryWriter struct {
	r        *rand.Rand
	repo     string
	hasRules bool
	stream   strings.Builder
	lines    int // written so far: each line differs from all others
}

func (w *repositoryWriter) write(n int) []pull {
	var base []string
	for range 80 {
		line, _ := w.line(false)
		base = append(base, line)
	}
	w.commit("refs/heads/main", "")
	w.file("src/app.js", base)
	if w.hasRules {
		w.file(".prwarden/rules.yml", strings.Split(strings.TrimSpace(rulesFile), "\n"))
	}

	var all []pull
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

// change writes the files of a pull request and returns what scans must find in them: in lines in the middle of an old
// file, and in new files.
func (w *repositoryWriter) change(base []string, number int) []finding {
	var all []finding
	at := w.r.IntN(len(base))
	file := slices.Clone(base[:at])
	for range 1 + w.r.IntN(10) {
		file = w.add(file, "src/app.js", &all, w.r.IntN(3) == 0)
	}
	w.file("src/app.js", append(file, base[at:]...))

	files, length := w.r.IntN(3), 30
	if number%everyHeavy == 0 {
		files, length = 12, 4_000
	}
	if number%everyNoisy == 0 {
		files, length = 4, 200
	}
	for i := range files {
		path := fmt.Sprintf("new/%03d.js", i)
		var file []string
		for range length {
			file = w.add(file, path, &all, number%everyNoisy == 0 || w.r.IntN(20) == 0)
		}
		w.file(path, file)
	}

	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.RuleID, b.RuleID))
	})
	return all
}

// add appends a line to a file, and to all what a scan must say of it.
func (w *repositoryWriter) add(file []string, path string, all *[]finding, hit bool) []string {
	line, found := w.line(hit)
	for _, f := range found {
		f.File, f.Line, f.Snippet = path, len(file)+1, line
		*all = append(*all, f)
	}
	return append(file, line)
}

// line is one that was in no file before and, when it is to be a hit, what must be found in it.
func (w *repositoryWriter) line(hit bool) (string, []finding) {
	w.lines++
	if !hit {
		return fmt.Sprintf("step %d of %s keeps the order of %d", w.lines, w.repo, w.r.IntN(1e9)), nil
	}

	org := finding{RuleID: "chaos/org-marker", Severity: "low"}
	repo := finding{RuleID: "chaos/repo-marker", Severity: "warning"}
	switch w.r.IntN(3) {
	case 0:
		return fmt.Sprintf("mark %d ORGMARK_%d", w.lines, w.lines), []finding{org}
	case 1:
		line := fmt.Sprintf("mark %d ORGMARK_%d REPOMARK_%d", w.lines, w.lines, w.lines)
		if w.hasRules {
			return line, []finding{org, repo}
		}
		return line, []finding{org}
	default:
		line := fmt.Sprintf("const v%d = eval(input%d);", w.lines, w.lines)
		return line, []finding{{RuleID: "security/no-eval", Severity: "high"}}
	}
}

func (w *repositoryWriter) commit(ref, from string) {
	fmt.Fprintf(&w.stream, "commit %s\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nm\n%s", ref, from)
}

func (w *repositoryWriter) file(path string, lines []string) {
	text := strings.Join(lines, "\n") + "\n"
	fmt.Fprintf(&w.stream, "M 644 inline %s\ndata %d\n%s\n", path, len(text), text)
}

// importRepository makes a bare repository that gives out partial histories and single objects, as code hosts do.
func importRepository(ctx context.Context, dir, stream string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", "."},
		{"config", "uploadpack.allowFilter", "true"},
		{"config", "uploadpack.allowAnySHA1InWant", "true"},
		{"fast-import", "--quiet"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stream)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
