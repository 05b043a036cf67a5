package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// scanAll scans every file of a folder, without git.
func (in ScanInput) scanAll(ctx context.Context, st Streams, out *outputs) (all scanned, err error) {
	began := time.Now()
	loaded, err := in.loadRules(ctx, st, folder.Sources{Root: in.place()})
	if err != nil {
		return all, err
	}

	rules, err := loaded.Compile(in.Ruleset, in.organization.policy)
	if err != nil {
		return all, err
	}

	progress := newProgress(st)
	gather := gathered{progress: progress, skipCounts: finding.SkipCounts{}}
	o := folder.Options{
		Jobs: in.Jobs, MaxFileSize: in.MaxFileSize, Found: gather.found, Notice: gather.notice, Omit: out.below(in.place()),
		Progress: func(done int) { progress.local(terminal.Count(done, "file")) },
	}

	text := bufio.NewWriterSize(st.Out, 64<<10)
	if in.lines() {
		o.Found, o.Notice, o.PlacesOnly = linesTo(text), gather.noticeTo(text, out.failOn, in.tolerated), true
	}

	sum, err := folder.Scan(ctx, in.place(), rules, o)
	progress.end()
	err = errors.Join(err, text.Flush())
	switch {
	case err != nil && ctx.Err() != nil:
		return all, errInterrupted
	case err != nil:
		return all, fmt.Errorf("the scan failed: %w", err)
	case sum.Scanned == 0 && len(sum.Skipped) == 0:
		st.note("There was no file to look at: the folder has none, or `exclude` of the rules file leaves out all.")
	}

	found := gather.result(sum)
	if sum.Excluded > 0 {
		found.Exclusions = finding.Exclusions{Files: sum.Excluded, By: cmp.Or(in.RulesFile, rule.FilePath)}
	}
	found.Truncated = found.Truncated && !in.lines()
	root := in.place()
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		root = filepath.Dir(root)
	}

	return scanned{
		report: report.Report{
			Review: in.localReview(found, out.failOn),
			Of:     looked(sum.Scanned, "file", began),
			Rules:  rule.ByID(slices.Concat(loaded.Defaults, loaded.Organization, loaded.File.Rules)),
		},
		unread: sum.Skipped[folder.Unreadable], root: root, rules: in.RulesFile, began: began,
	}, nil
}

// linesTo returns what writes the findings of each file to out, some at a time.
func linesTo(out io.Writer) func(scan.FileResult) error {
	var text []byte
	return func(r scan.FileResult) error {
		for part := range slices.Chunk(r.Findings, 64) {
			text = report.JSONLines(text[:0], part[0].File, part)
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		for part := range slices.Chunk(finding.WithoutLow(r.Observed), 64) {
			text = report.JSONObserved(text[:0], part[0].File, part)
			if _, err := out.Write(text); err != nil {
				return err
			}
		}

		return nil
	}
}

// gathered is what is kept of a scan for a report: of more than maxFindings the
// most severe. Its memory doesn't grow with the folder.
type gathered struct {
	progress *progress

	mu         sync.Mutex
	findings   []finding.Finding
	suppressed []finding.Finding
	observed   []finding.Finding
	skips      []finding.Skip
	skipCounts finding.SkipCounts // of all
	skipped    int                // in all
}

// found takes what is in one file, in any order.
func (g *gathered) found(r scan.FileResult) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.findings = keepWorst(append(g.findings, r.Findings...), 2*maxFindings)
	g.suppressed = keepWorst(append(g.suppressed, r.Suppressed...), 2*maxFindings)
	g.observed = keepWorst(append(g.observed, r.Observed...), 2*maxFindings)

	return nil
}

// keepWorst cuts a list that has become longer than most to maxFindings.
func keepWorst(list []finding.Finding, most int) []finding.Finding {
	if len(list) <= most {
		return list
	}

	slices.SortFunc(list, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), finding.InOrder(a, b))
	})

	return slices.Clone(list[:maxFindings])
}

// noticeTo returns what does as notice does, and writes to out what is not tolerated
// and so counts for the verdict.
func (g *gathered) noticeTo(out io.Writer, failOn rule.Severity, tolerated func(string) bool) func(folder.Notice) {
	return func(n folder.Notice) {
		g.notice(n)
		listed := n.Reason != folder.Unreadable && n.Reason != folder.SkipTooManyHits
		if listed && !n.Kind().Tolerated(failOn, tolerated) {
			_, _ = out.Write(report.JSONSkip(n.Skip)) // the scan ends with the error that the next finding or Flush gets
		}
	}
}

// notice tells what can't be read, and keeps what a review lists too.
func (g *gathered) notice(n folder.Notice) {
	switch n.Reason {
	case folder.Unreadable:
		g.progress.say("%s: can't be read: %s", terminal.Safe(n.File), terminal.Safe(n.Err.Error()))
		return
	case folder.SkipTooManyHits:
		return
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	g.skipCounts[n.Kind()]++
	if g.skipped++; len(g.skips) < maxFindings {
		g.skips = append(g.skips, n.Skip)
	}
}

// result is all of it.
func (g *gathered) result(sum folder.Summary) finding.Result {
	g.findings, g.suppressed = keepWorst(g.findings, maxFindings), keepWorst(g.suppressed, maxFindings)
	slices.SortFunc(g.findings, finding.InOrder)
	slices.SortFunc(g.suppressed, finding.InOrder)
	g.observed = keepWorst(g.observed, maxFindings)
	slices.SortFunc(g.observed, finding.InOrder)
	total := 0
	for _, n := range sum.Findings {
		total += n
	}

	lookedAt := sum.Kinds
	lookedAt.Files, lookedAt.AddedLines = sum.Scanned, sum.Lines

	return finding.Result{
		Findings: g.findings, Suppressed: g.suppressed, Observed: g.observed, Skips: g.skips, Summary: sum.Findings,
		SkipCounts: g.skipCounts, SwitchedOff: sum.SwitchedOff,
		LookedAt: lookedAt,
		Truncated: total > len(g.findings) || sum.Suppressed > len(g.suppressed) ||
			sum.Observed > len(g.observed) || g.skipped > len(g.skips),
	}
}
