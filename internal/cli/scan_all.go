package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/report/sarif"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// scanAll scans every file of a folder, without git.
func (in ScanInput) scanAll(ctx context.Context, st Streams, out *outputs) error {
	began := time.Now()
	if in.RulesFile == "" {
		noteUnapplied(st, in.place())
	}
	loaded, err := in.loadRules(ctx, st, folder.Sources{Root: in.place()})
	if err != nil {
		return err
	}
	rules, err := loaded.Compile(in.selection())
	if err != nil {
		return err
	}
	if in.lines() {
		return in.streamAll(ctx, out, rules, began)
	}

	progress := newProgress(st)
	all := gathered{notes: notes{st: st, verbose: in.Verbose, most: folder.MaxFindings, progress: progress}}
	sum, err := folder.Scan(ctx, in.place(), rules, folder.Options{
		Jobs: in.Jobs, Found: all.found, Notice: all.notice, Omit: out.below(in.place()),
		Progress: func(done int) { progress.local(terminal.Count(done, "file")) },
	})
	progress.end()
	if err := allError(ctx, err); err != nil {
		return err
	}

	st.noteEmpty(sum)
	err = out.show(report.Report{
		Review: all.review(sum),
		Of:     scanned(sum, time.Since(began)),
		Rules:  sarif.NewCatalog(slices.Concat(loaded.Defaults, loaded.File.Rules)),
	})
	return unread(sum.Skipped[folder.Unreadable].Count, err)
}

// streamAll writes findings as they are found.
func (in ScanInput) streamAll(ctx context.Context, out *outputs, rules *folder.Rules, began time.Time) error {
	st := out.st
	notes := notes{st: st, verbose: in.Verbose, most: folder.MaxPlaces, progress: newProgress(st)}
	o := folder.Options{Jobs: in.Jobs, Out: st.Out, Format: report.JSONLines, PlacesOnly: true, Notice: notes.add}
	flush := func() error { return nil }
	if !terminal.Is(st.Out) {
		buffer := bufio.NewWriterSize(st.Out, 64<<10)
		o.Out, flush = buffer, buffer.Flush
	}

	sum, err := folder.Scan(ctx, in.place(), rules, o)
	err = errors.Join(err, flush())
	if err != nil && ctx.Err() != nil {
		return errInterrupted
	}
	notes.end(sum, time.Since(began))
	if err := allError(ctx, err); err != nil {
		return err
	}

	for s, n := range sum.Findings {
		if n > 0 && out.failOn != 0 && s.AtLeast(out.failOn) {
			err = ErrFound
		}
	}
	return unread(sum.Skipped[folder.Unreadable].Count, err)
}

func allError(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return fmt.Errorf("the scan failed: %w", err)
	}
	return nil
}

// unread returns how a scan ended that could not read so many files: that goes
// before a threshold, as not everything was looked at.
func unread(files int, err error) error {
	if files > 0 && (err == nil || errors.Is(err, ErrFound)) {
		return ErrSilent
	}
	return err
}

// gathered is what is kept of a scan for a report: of more than maxFindings the
// most severe. Its memory doesn't grow with the folder.
type gathered struct {
	notes notes

	mu         sync.Mutex
	findings   []finding.Finding
	suppressed []finding.Finding
	skips      []finding.Skip
	skipped    int // in all
}

// found takes what is in one file, in any order.
func (g *gathered) found(r scan.FileResult) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.findings = keepWorst(append(g.findings, r.Findings...), 2*maxFindings)
	g.suppressed = keepWorst(append(g.suppressed, r.Suppressed...), 2*maxFindings)
}

// keepWorst cuts a list that has become longer than most to maxFindings.
func keepWorst(list []finding.Finding, most int) []finding.Finding {
	if len(list) <= most {
		return list
	}
	slices.SortFunc(list, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), inOrder(a, b))
	})
	return slices.Clone(list[:maxFindings])
}

// inOrder is the order of findings in a review.
func inOrder(a, b finding.Finding) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
}

// notice tells what was not looked at, and keeps what a review lists too.
func (g *gathered) notice(n folder.Notice) {
	g.notes.add(n)
	switch n.Reason {
	case folder.SkipTooManyHits, folder.Unreadable, folder.SkipGone:
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.skipped++; len(g.skips) < maxFindings {
		g.skips = append(g.skips, finding.Skip{File: n.Path, Line: n.Line, RuleID: n.RuleID, Reason: n.Reason})
	}
}

// review is all of it in the form of a review.
func (g *gathered) review(sum folder.Summary) review.Review {
	g.findings, g.suppressed = keepWorst(g.findings, maxFindings), keepWorst(g.suppressed, maxFindings)
	slices.SortFunc(g.findings, inOrder)
	slices.SortFunc(g.suppressed, inOrder)
	total := 0
	for _, n := range sum.Findings {
		total += n
	}

	summary := finding.Summary{}
	for _, s := range rule.Severities() {
		summary[s] = sum.Findings[s]
	}
	return localReview(finding.Result{
		Findings: g.findings, Suppressed: g.suppressed, Skips: g.skips, Summary: summary,
		Truncated: total > len(g.findings) || sum.Suppressed > len(g.suppressed) || g.skipped > len(g.skips),
	})
}
