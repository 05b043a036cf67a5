package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The marks of the section of the document that report writes.
const (
	sectionBegin = "<!-- made by `judge report -doc`: begin -->\n"
	sectionEnd   = "<!-- made by `judge report -doc`: end -->"
)

// report joins hits and verdicts, checks them, and tells what the hits are worth. Its arguments are files of verdicts;
// without any it is verdicts.jsonl in the folder of hits.
func report(flags *flag.FlagSet) func(context.Context, io.Writer, []string) error {
	dir := flags.String("hits", "internal/dev/judge/data", "the `folder` with "+scansFile+" and "+hitsFile)
	projects := flags.String("projects", "internal/dev/judge/data/projects.jsonl", "the `file` with the list of projects")
	ruleset := flags.String("ruleset", "", "the `digest` that all hits must be of; without it they must be of one")
	document := flags.String("doc", "", "a `file` to write the section into, between its marks")

	return func(_ context.Context, out io.Writer, verdicts []string) error {
		if len(verdicts) == 0 {
			verdicts = []string{filepath.Join(*dir, verdictsFile)}
		}
		in, err := readInput(*dir, *projects, verdicts)
		if err != nil {
			return err
		}
		in.ruleset = *ruleset
		r, err := in.join()
		if err != nil {
			return err
		}
		r.print(out, 1)
		if *document == "" {
			return nil
		}
		return writeSection(*document, r.section())
	}
}

// input is what a report is made of.
type input struct {
	scans    []scanned
	hits     []hit
	verdicts []judgement
	projects []project
	ruleset  string // "" for that of the first scan
}

func readInput(dir, projects string, verdicts []string) (in input, err error) {
	if in.scans, err = readLines[scanned](filepath.Join(dir, scansFile)); err != nil {
		return in, err
	}
	if in.hits, err = readLines[hit](filepath.Join(dir, hitsFile)); err != nil {
		return in, err
	}
	if in.projects, err = readLines[project](projects); err != nil {
		return in, err
	}
	for _, path := range verdicts {
		some, err := readLines[judgement](path)
		if err != nil {
			return in, err
		}
		in.verdicts = append(in.verdicts, some...)
	}
	return in, nil
}

// judged is a hit with what both readers say, in the order of their names.
type judged struct {
	hit
	said [2]bool // it is useful
}

func (j judged) useful() bool { return j.said[0] && j.said[1] }

// measured is a report.
type measured struct {
	ruleset string
	groups  map[string]*group
}

// group is what was measured on the projects of a group.
type group struct {
	scans []scanned
	hits  []judged
	low   []judged // hits that are hidden, which count only for their rules
}

// join checks that nothing is missing, doubtful, or from elsewhere, and puts the parts together.
func (in input) join() (*measured, error) {
	if len(in.scans) == 0 {
		return nil, errors.New("there are no scans")
	}
	r := &measured{ruleset: cmp.Or(in.ruleset, in.scans[0].Ruleset), groups: map[string]*group{tuned: {}, unseen: {}}}
	groupOf, err := in.checkProjects(r.ruleset)
	if err != nil {
		return nil, err
	}
	said, err := in.checkVerdicts()
	if err != nil {
		return nil, err
	}

	counts := map[string]int{}
	for _, h := range in.hits {
		switch {
		case h.ID != h.id():
			return nil, fmt.Errorf("hit %s is not what its id says: it was edited", h.ID)
		case h.Ruleset != r.ruleset:
			return nil, fmt.Errorf("hit %s is of ruleset %.12s, the report of %.12s", h.ID, h.Ruleset, r.ruleset)
		case groupOf[h.Project] == nil:
			return nil, fmt.Errorf("hit %s is of %s, which was not scanned", h.ID, h.Project)
		case len(said[h.ID]) != 2:
			return nil, fmt.Errorf("hit %s of %s has verdicts of %d readers, not of two", h.ID, h.Project, len(said[h.ID]))
		}
		both := said[h.ID]
		slices.SortFunc(both, func(a, b judgement) int { return cmp.Compare(a.Reader, b.Reader) })
		g := r.groups[groupOf[h.Project].Group]
		j := judged{h, [2]bool{both[0].Verdict == useful, both[1].Verdict == useful}}
		if h.Confidence == hidden {
			g.low = append(g.low, j)
			continue
		}
		g.hits = append(g.hits, j)
		counts[h.Project]++
	}
	for _, s := range in.scans {
		if s.Hits != counts[s.Project] {
			return nil, fmt.Errorf("%s has %d hits, the scan had %d", s.Project, counts[s.Project], s.Hits)
		}
		g := r.groups[groupOf[s.Project].Group]
		g.scans = append(g.scans, s)
	}
	return r, nil
}

// checkProjects returns the projects that were scanned, by their names. Of the unseen ones it makes sure that they are.
func (in input) checkProjects(ruleset string) (map[string]*project, error) {
	list, err := listed(in.projects)
	if err != nil {
		return nil, err
	}

	all := map[string]*project{}
	for _, s := range in.scans {
		p, ok := list[strings.ToLower(s.Project)]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s is not in the list of projects", s.Project)
		case all[s.Project] != nil:
			return nil, fmt.Errorf("%s was scanned twice", s.Project)
		case s.Ruleset != ruleset:
			return nil, fmt.Errorf("%s was scanned with ruleset %.12s, the report is of %.12s", s.Project, s.Ruleset, ruleset)
		}
		if err := p.checkUnseen(s.Time); err != nil {
			return nil, err
		}
		all[s.Project] = &p
	}
	for _, p := range list { // nobody leaves out what turned out badly
		missing := !slices.ContainsFunc(in.scans, func(s scanned) bool { return strings.EqualFold(s.Project, p.Project) })
		if p.Group == unseen && p.Read != "" && missing {
			return nil, fmt.Errorf("%s is in the list as unseen and was read, but its scans are missing", p.Project)
		}
	}
	return all, nil
}

// checkUnseen fails when a project of the group unseen is none.
func (p project) checkUnseen(scanned time.Time) error {
	if p.Group != unseen {
		return nil
	}
	if !mayBeUnseen(p.Project) {
		return fmt.Errorf("%s is kept for later: the SHA-256 of its name begins with c to f", p.Project)
	}
	read, err := p.readAt()
	if err != nil {
		return fmt.Errorf("%s is unseen and has no time of reading; sheet writes it", p.Project)
	}
	if read.Before(scanned) {
		return fmt.Errorf("%s was read at %s and scanned at %s: it is unseen no more", p.Project, p.Read,
			scanned.Format(time.RFC3339))
	}
	return nil
}

// checkVerdicts returns the verdicts on each hit.
func (in input) checkVerdicts() (map[string][]judgement, error) {
	known := map[string]bool{}
	for _, h := range in.hits {
		if known[h.ID] {
			return nil, fmt.Errorf("hit %s is there twice", h.ID)
		}
		known[h.ID] = true
	}

	said := map[string][]judgement{}
	for _, v := range in.verdicts {
		isTwice := slices.ContainsFunc(said[v.Hit], func(o judgement) bool { return o.Reader == v.Reader })
		switch {
		case !known[v.Hit]:
			return nil, fmt.Errorf("%s judges hit %s, which is not there", v.Reader, v.Hit)
		case v.Verdict != useful && v.Verdict != not:
			return nil, fmt.Errorf("%s on hit %s: verdict %q is neither %s nor %s", v.Reader, v.Hit, v.Verdict, useful, not)
		case v.Reader == "":
			return nil, fmt.Errorf("a verdict on hit %s has no reader", v.Hit)
		case isTwice:
			return nil, fmt.Errorf("%s judges hit %s twice", v.Reader, v.Hit)
		}
		said[v.Hit] = append(said[v.Hit], v)
	}
	return said, nil
}

// writeSection replaces the section of a document.
func writeSection(path, section string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(data), sectionBegin)
	_, after, ends := strings.Cut(rest, sectionEnd)
	if !begins || !ends {
		return fmt.Errorf("%s has no lines %q and %q", path, strings.TrimSpace(sectionBegin), sectionEnd)
	}
	return os.WriteFile(path, []byte(before+sectionBegin+section+sectionEnd+after), 0o644)
}
