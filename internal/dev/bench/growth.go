package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/prwarden/prwarden/internal/dev/bench/engine"
	"github.com/prwarden/prwarden/internal/dev/bench/report"
)

// coresBytes is the text that several processors share.
const coresBytes = 200e6

// growth shows how cost grows with rules, with bytes, and falls with processors.
func (s *suite) growth(ctx context.Context) error {
	return errors.Join(s.byRules(), s.byBytes(ctx), s.byCores(ctx))
}

// byRules takes what engines has measured.
func (s *suite) byRules() error {
	table := report.Table{Header: []string{"Rules", "prwarden, ns a byte", "growth", "vectorscan, ns a byte", "growth"}}
	lines := [2]report.Series{{Name: "prwarden"}, {Name: "vectorscan"}}
	before := [2]float64{}
	for _, name := range []string{"100", "200", "1,000", "5,000"} {
		set := s.set(name)
		if set.compared == nil {
			return nil // engines didn't run
		}
		cells := []string{name}
		for i := range min(2, len(set.compared)) {
			cost := 1e3 / set.compared[i].speed()
			lines[i].Points = append(lines[i].Points, report.Point{X: float64(len(set.rules)), Y: cost})
			grown := ""
			if before[i] > 0 {
				grown = report.Ratio(cost / before[i])
			}
			if name != "200" { // growth is from 100 to 1,000 and to 5,000
				before[i] = cost
			}
			cells = append(cells, fmt.Sprintf("%.2f", cost), grown)
		}
		table.Add(cells...)
	}
	s.section("Cost by rules", table.String()+"\nGrowth is over 100 rules, and for 5,000 over 1,000.\n")
	s.charts["rules"] = report.Chart{Title: "Cost of a byte by number of rules", XLabel: "rules", YLabel: "processor time, ns a byte", Series: lines[:]}.SVG()
	return nil
}

// byBytes scans less and more text with 1,000 rules.
func (s *suite) byBytes(ctx context.Context) error {
	sizes := []float64{1e6, 1e7, 1e8}
	if s.long {
		sizes = []float64{1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9}
	}
	set := s.set("1,000")
	contenders := []contender{{name: engine.Ours}}
	if s.hasVectorscan {
		contenders = append(contenders, contender{name: engine.Vectorscan, mode: "block"})
	}
	table := report.Table{Header: []string{"Text", "prwarden, s", "MB/s", "alive in its heap", "vectorscan, s", "MB/s"}}
	lines := []report.Series{{Name: "prwarden"}, {Name: "vectorscan"}}
	for _, size := range sizes {
		s.note("growth: %.0f MB", size/1e6)
		results, err := s.race(ctx, set.rules, s.corpus.Resize(int64(size)), s.runs, false, contenders...)
		if err != nil {
			return err
		}
		cells := []string{fmt.Sprintf("%.0f MB", size/1e6)}
		for i, r := range results {
			seconds := median(r.runs, func(r engine.Run) float64 { return float64(r.CPUNS) / 1e9 })
			lines[i].Points = append(lines[i].Points, report.Point{X: float64(r.last().Bytes) / 1e6, Y: seconds})
			cells = append(cells, fmt.Sprintf("%.3g", seconds), report.Speed(r.speed()))
			if i == 0 {
				cells = append(cells, megabytes(r.heap))
			}
		}
		table.Add(cells...)
	}
	s.section("Time and memory by bytes", table.String()+"\n1,000 rules, one processor. The corpus is cut or repeated to the size. The heap is what rules and automata take after the last run, without the list of the text's files.\n")
	s.charts["bytes"] = report.Chart{Title: "Time by text, 1,000 rules", XLabel: "text, MB", YLabel: "processor time, s", Series: lines}.SVG()
	return nil
}

// byCores scans on one processor and on two.
func (s *suite) byCores(ctx context.Context) error {
	if runtime.NumCPU() < 2 {
		s.section("Two processors", "The machine has one.")
		return nil
	}
	s.note("growth: processors")
	results, err := s.race(ctx, s.set("1,000").rules, s.corpus.Resize(coresBytes), s.runs, false,
		contender{name: engine.Ours, cores: 1}, contender{name: engine.Ours, cores: 2})
	if err != nil {
		return err
	}
	table := report.Table{Header: []string{"Processors", "MB/s", "ratio", "memory beside the text"}}
	for i, r := range results {
		table.Add(fmt.Sprint(i+1), report.Speed(r.clockSpeed()), report.Ratio(r.clockSpeed()/results[0].clockSpeed()), megabytes(r.last().System))
	}
	s.section("Two processors", table.String()+fmt.Sprintf("\n1,000 rules, %.0f MB; by the clock, so other work on the machine shows.\n", coresBytes/1e6))
	return nil
}
