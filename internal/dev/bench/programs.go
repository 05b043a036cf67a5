package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/program"
	"github.com/prwarden/prwarden/internal/dev/bench/report"
)

// attempt is one program in a comparison of programs.
type attempt struct {
	program.Program
	cores int
	runs  []program.Run
	found string // what it found, compared with ours
	gone  string // why it has no runs
}

// wholePrograms times prwarden and its peers as they are started from a shell.
func (s *suite) wholePrograms(ctx context.Context) error {
	names := []string{"1,000"}
	switch {
	case s.on != "":
		names = strings.Split(s.on, ";")
	case s.long:
		names = []string{"secrets", "1,000", "5,000"}
	}
	for _, name := range names {
		set := s.set(name)
		if set == nil {
			continue
		}
		if err := s.programsOn(ctx, set); err != nil {
			return fmt.Errorf("%s rules: %w", name, err)
		}
	}
	return nil
}

func (s *suite) programsOn(ctx context.Context, set *set) error {
	job, err := program.NewJob(filepath.Join(s.dir, "job-"+strings.ReplaceAll(set.name, ",", "")), set.rules, s.corpus)
	if err != nil {
		return err
	}
	ours, err := s.programs[0].Hits(ctx, job)
	if err != nil {
		return err
	}
	attempts := []*attempt{{Program: s.programs[0], cores: 1, found: report.Thousands(int64(len(ours))) + " pairs"}}
	for _, p := range s.programs[1:] {
		s.note("programs: %s, %s rules", p.Name, set.name)
		a := &attempt{Program: p, cores: 1}
		limited, cancel := context.WithTimeout(ctx, s.limit)
		hits, err := p.Hits(limited, job)
		late := errors.Is(limited.Err(), context.DeadlineExceeded)
		cancel()
		switch {
		case late:
			a.gone = fmt.Sprintf("over %s", s.limit)
		case err != nil:
			a.gone = err.Error()
		default:
			a.found = compareHits(ours, hits)
		}
		attempts = append(attempts, a)
	}
	attempts = append(attempts, &attempt{Program: s.programs[0], cores: 2})
	runs := s.runs
	if !s.long {
		runs = min(runs, 3)
	}
	for range runs {
		for _, a := range attempts {
			if a.gone != "" {
				continue
			}
			run, err := a.Run(ctx, job, a.cores)
			if err != nil {
				return err
			}
			a.runs = append(a.runs, run)
		}
	}
	s.section(fmt.Sprintf("Whole programs, %s rules", set.title()), s.programTable(attempts)+
		fmt.Sprintf("\nMedians of %d runs in turn, of the same files; output goes nowhere. Ratios are of processor time.\n", runs))
	return nil
}

func (s *suite) programTable(attempts []*attempt) string {
	table := report.Table{Header: []string{"Program", "processors", "processor time, s", "ratio", "clock, s", "peak memory, MB", "finds"}}
	ours := attempts[0].processorTime()
	for _, a := range attempts {
		if a.gone != "" {
			table.Add(a.Name, "1", "", "", "", "", a.gone)
			continue
		}
		clock := a.median(func(r program.Run) float64 { return r.Wall.Seconds() })
		peak := a.median(func(r program.Run) float64 { return float64(r.PeakKiB) * 1024 / 1e6 })
		table.Add(a.Name, fmt.Sprint(a.cores), fmt.Sprintf("%.2f", a.processorTime()), report.Ratio(a.processorTime()/ours),
			fmt.Sprintf("%.2f", clock), fmt.Sprintf("%.0f", peak), a.found)
	}
	return table.String()
}

func (a *attempt) processorTime() float64 {
	return a.median(func(r program.Run) float64 { return r.CPU.Seconds() })
}

func (a *attempt) median(of func(program.Run) float64) float64 {
	list := make([]float64, len(a.runs))
	for i, r := range a.runs {
		list[i] = of(r)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// compareHits says how what a peer finds differs from ours. A peer that doesn't
// name rules is compared by lines.
func compareHits(ours, theirs map[program.Hit]bool) string {
	what := "pairs"
	for h := range theirs {
		if h.Rule == "" {
			what = "lines"
		}
		break
	}
	if what == "lines" {
		lines := map[program.Hit]bool{}
		for h := range ours {
			h.Rule = ""
			lines[h] = true
		}
		ours = lines
	}
	both := 0
	for h := range theirs {
		if ours[h] {
			both++
		}
	}
	if both == len(ours) && both == len(theirs) {
		return fmt.Sprintf("the same %s %s", report.Thousands(int64(both)), what)
	}
	return fmt.Sprintf("%s of our %s %s, and %s others", report.Thousands(int64(both)), report.Thousands(int64(len(ours))), what, report.Thousands(int64(len(theirs)-both)))
}

// defaultLimit is how long the first run of a peer may take.
const defaultLimit = 2 * time.Minute
