// Package pulls makes repositories with pull requests whose findings are known
// by construction: whoever plants a line knows what a scan must report. Nothing
// here matches a pattern, so that a scan is held to something other than
// itself.
package pulls

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OrgRule is a rule that organizations create over the API, as the body of
// POST /v1/rules. Pulls have lines that it must find.
const OrgRule = `{"id": "chaos/org-marker", "type": "regex", "pattern": "ORGMARK_[0-9]+", "message": "An organization's marker.", "severity": "low"}`

// rulesFile is the rules file of every second repository.
const rulesFile = `version: 1
rules:
  - id: chaos/repo-marker
    type: regex
    pattern: 'REPOMARK_[0-9]+'
    message: A repository's marker.
    severity: warning
`

// Finding is what a scan must report of one line.
type Finding struct {
	RuleID   string
	Severity string
	File     string
	Line     int // from 1
	Snippet  string
}

// Want is how a review of a pull request must end.
type Want struct {
	Findings []Finding // ordered by file, line, rule; of a complete review
	Failure  string    // the code of a review that must fail; "" when it must be complete
}

// Pull is a pull request.
type Pull struct {
	Organization string
	Repo         string // `owner/name`
	Number       int32
	Heavy        bool // takes a scanner about a second
	Want         Want
}

// Options say what Make makes.
type Options struct {
	Organizations []string // the owner of a repository is its organization
	Repos         int      // of each organization
	Pulls         int      // of each repository
	Seed          uint64   // the same seed makes the same contents
}

// Set is what Make made.
type Set struct {
	Dir    string // holds `<owner>/<name>.git`
	Pulls  []Pull
	byName map[name]*Pull
}

type name struct {
	repo   string
	number int32
}

// Make writes bare repositories to dir, which it creates.
func Make(ctx context.Context, dir string, o Options) (*Set, error) {
	s := &Set{Dir: dir, byName: make(map[name]*Pull)}
	r := rand.New(rand.NewPCG(o.Seed, 0x70756c6c))
	for _, org := range o.Organizations {
		for i := range o.Repos {
			w := &writer{r: r, org: org, repo: fmt.Sprintf("%s/repo%d", org, i), rulesFile: i%2 == 1}
			made := w.write(o.Pulls)
			if err := importRepo(ctx, filepath.Join(dir, w.repo+".git"), w.stream.String()); err != nil {
				return nil, fmt.Errorf("make repository %s: %w", w.repo, err)
			}
			s.Pulls = append(s.Pulls, made...)
		}
	}
	for i := range s.Pulls {
		p := &s.Pulls[i]
		s.byName[name{p.Repo, p.Number}] = p
	}
	return s, nil
}

// Find returns a pull request, which may be one that the repository does not
// have and a review of it must say so.
func (s *Set) Find(repo string, number int32) (Pull, bool) {
	p, ok := s.byName[name{repo, number}]
	if !ok {
		return Pull{}, false
	}
	return *p, true
}

// Repos are the names of the repositories.
func (s *Set) Repos() []string {
	var all []string
	for _, p := range s.Pulls {
		if !slices.Contains(all, p.Repo) {
			all = append(all, p.Repo)
		}
	}
	return all
}

// URL is where a scanner finds a repository: {repo} stands for its name.
func (s *Set) URL() string { return "file://" + s.Dir + "/{repo}.git" }

// Each so many pull requests there is a special one.
const (
	everyHeavy    = 40 // many files, a scan of about a second
	everyNoisy    = 30 // many hundreds of findings
	everyMissing  = 25 // the repository does not have it
	everyUnjoined = 35 // no common history
)

// writer makes one repository as a stream for git fast-import.
type writer struct {
	r         *rand.Rand
	org, repo string
	rulesFile bool
	stream    strings.Builder
	lines     int // written so far: each line differs from all others
	mark      int
}

// base are the files that every repository begins with.
var base = []string{"docs/notes.txt", "src/app.js", "src/lib.py", "src/view.ts"}

func (w *writer) write(n int) []Pull {
	files := map[string][]string{}
	for _, path := range base {
		for range 80 {
			line, _ := w.line(path, true)
			files[path] = append(files[path], line)
		}
	}
	w.commit("refs/heads/main", 0)
	root := w.mark
	for _, path := range base {
		w.file(path, files[path])
	}
	if w.rulesFile {
		w.file(".prwarden/rules.yml", strings.Split(strings.TrimSuffix(rulesFile, "\n"), "\n"))
	}
	var all []Pull
	for number := 1; number <= n; number++ {
		p := Pull{Organization: w.org, Repo: w.repo, Number: int32(number)}
		switch {
		case number%everyMissing == 0:
			p.Want.Failure = "pull_request_not_found"
		case number%everyUnjoined == 0:
			p.Want.Failure = "no_merge_base"
			w.commit(head(number), 0)
			w.file("README", []string{"nothing in common"})
		default:
			p.Heavy = number%everyHeavy == 0
			w.commit(head(number), root)
			p.Want.Findings = w.change(files, p.Heavy, number%everyNoisy == 0)
		}
		all = append(all, p)
	}
	return all
}

func head(number int) string { return fmt.Sprintf("refs/pull/%d/head", number) }

// change writes the files of a pull request's head and returns what it adds
// that rules must find.
func (w *writer) change(files map[string][]string, heavy, noisy bool) []Finding {
	var found []Finding
	for _, path := range base {
		if w.r.IntN(2) == 0 {
			continue
		}
		var after []string
		for _, line := range files[path] {
			if w.r.IntN(40) == 0 {
				for range 1 + w.r.IntN(6) {
					after = w.add(after, path, &found, w.r.IntN(3) == 0)
				}
			}
			if w.r.IntN(60) != 0 { // else the pull request removes it
				after = append(after, line)
			}
		}
		w.file(path, after)
	}
	news, length := w.r.IntN(3), 30
	if heavy {
		news, length = 12, 4_000
	}
	if noisy {
		news, length = 4, 200
	}
	for i := range news {
		path := fmt.Sprintf("new/%03d.%s", i, []string{"js", "py", "txt"}[i%3])
		var after []string
		for range length {
			after = w.add(after, path, &found, noisy || w.r.IntN(20) == 0 && !heavy)
		}
		w.file(path, after)
	}
	slices.SortFunc(found, Compare)
	return found
}

// Compare orders findings as reviews do: by file, line and rule.
func Compare(a, b Finding) int {
	if c := strings.Compare(a.File, b.File); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return strings.Compare(a.RuleID, b.RuleID)
}

// add appends a line to a file, and to found what a scan must say of it.
func (w *writer) add(lines []string, path string, found *[]Finding, hit bool) []string {
	line, findings := w.line(path, hit)
	for _, f := range findings {
		f.File, f.Line, f.Snippet = path, len(lines)+1, line
		*found = append(*found, f)
	}
	return append(lines, line)
}

// line returns a line that was in no file before, and, when it is to be a hit,
// which rules must find it if it is added.
func (w *writer) line(path string, hit bool) (string, []Finding) {
	w.lines++
	n := w.lines
	if !hit {
		return fmt.Sprintf("step %d of %s keeps the order of %d", n, w.repo, w.r.IntN(1e9)), nil
	}
	kinds := []func() (string, []Finding){
		func() (string, []Finding) {
			return fmt.Sprintf("mark %d ORGMARK_%d", n, n), []Finding{{RuleID: "chaos/org-marker", Severity: "low"}}
		},
		func() (string, []Finding) {
			line := fmt.Sprintf("mark %d REPOMARK_%d", n, n)
			if !w.rulesFile {
				return line, nil
			}
			return line, []Finding{{RuleID: "chaos/repo-marker", Severity: "warning"}}
		},
		func() (string, []Finding) {
			line := fmt.Sprintf("const v%d = eval(input%d);", n, n)
			if !strings.HasSuffix(path, ".js") && !strings.HasSuffix(path, ".ts") {
				return "mark " + line[len("const "):len("const ")+2] + fmt.Sprint(n), nil
			}
			return line, []Finding{{RuleID: "security/no-eval", Severity: "high"}}
		},
		func() (string, []Finding) {
			line := fmt.Sprintf("mark %d ORGMARK_%d REPOMARK_%d", n, n, n)
			found := []Finding{{RuleID: "chaos/org-marker", Severity: "low"}}
			if w.rulesFile {
				found = append(found, Finding{RuleID: "chaos/repo-marker", Severity: "warning"})
			}
			return line, found
		},
	}
	return kinds[w.r.IntN(len(kinds))]()
}

func (w *writer) commit(ref string, from int) {
	w.mark++
	fmt.Fprintf(&w.stream, "commit %s\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata 1\nm\n", ref, w.mark, 1_700_000_000+w.mark)
	if from > 0 {
		fmt.Fprintf(&w.stream, "from :%d\n", from)
	}
}

func (w *writer) file(path string, lines []string) {
	text := strings.Join(lines, "\n") + "\n"
	fmt.Fprintf(&w.stream, "M 644 inline %s\ndata %d\n%s\n", path, len(text), text)
}

// Remove deletes the repositories.
func (s *Set) Remove() error { return os.RemoveAll(s.Dir) }
