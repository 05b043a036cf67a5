package scan

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
)

// Before is what a changed file was before, as far as it decides which rules looked
// at it then.
type Before struct {
	Path      string
	FirstLine []byte // nil when it is that of the file
	Binary    bool   // a line that is gone has a NUL, so perhaps no rule took it for text
}

// scanFile scans one file, and returns at most limit findings of each list. A panic
// is a failed scan: content that nobody has looked at yet must not end the process
// with all its other scans.
func scanFile(ctx context.Context, p *plan, f *File, limit int) (r FileResult) {
	defer func() {
		if p := recover(); p != nil {
			r = FileResult{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()

	r = look(ctx, p, f, limit)
	if about := p.linkToOther(f); about != nil {
		if r.Counts == nil { // the content was not looked at
			r.Counts = finding.Summary{}
		}
		r.reports = append(r.reports, *about)
	}

	return r
}

func look(ctx context.Context, p *plan, f *File, limit int) (r FileResult) {
	excluded := p.exclude.Match(f.Path)
	skip := func(reason string) FileResult {
		return FileResult{Skips: []finding.Skip{{File: f.Path, Reason: reason}}, Excluded: excluded}
	}
	switch {
	case f.Err != nil || excluded && (p.lockedIn == nil || !p.lockedIn(f.Path)):
		return FileResult{Excluded: excluded}
	case f.Submodule:
		return skip(finding.SkipSubmodule)
	case f.TooLarge:
		return skip(finding.SkipFileTooLarge)
	case len(f.Added) == 0 && len(f.Removed) == 0 && f.Before == nil:
		return FileResult{Excluded: excluded}
	}

	text, how := formOf(f.Content)
	switch how {
	case isUTF16:
		// What is only said to be in UTF-16 is found as the bytes that it is.
		r = newFileScan(p, f, text, limit).whole().decoded().run(ctx)
		r.unite(newFileScan(p, f, f.Content, limit).whole().asBytes().run(ctx), limit)
	case noText:
		r = newFileScan(p, f, f.Content, limit).asBytes().fixedOnly().run(ctx)
		r.Lines = 0
		reason := notRead(f.Path, f.Content)
		wasRead := f.Before == nil || notRead(f.Before.Path, f.Content) == reason
		if len(f.Added) > 0 || !wasRead {
			r.Skips = append(r.Skips, finding.Skip{File: f.Path, Reason: reason})
		}
	default:
		x := newFileScan(p, f, text, limit)
		if bytes.IndexByte(text, 0) >= 0 { // perhaps it was no text before
			x = x.whole()
		}
		r = x.run(ctx)
		if reason := elsewhere(f.Path, text); reason != "" {
			r.Skips = append(r.Skips, finding.Skip{File: f.Path, Reason: reason})
		}
	}

	return r
}

func newFileScan(p *plan, f *File, text []byte, limit int) *fileScan {
	file, excluded := *f, p.exclude.Match(f.Path)
	s := &fileScan{
		plan: p, file: &file, excluded: excluded, limit: limit, lines: match.SplitLines(text),
		views:  make([]view, len(p.groups)),
		prints: fingerprinter{}, out: FileResult{Counts: finding.Summary{}, Excluded: excluded},
		marks: map[int][]mark{},
	}
	s.masker = &masker{views: s.views, lines: s.lines, file: f.Path, out: &s.out}
	if b := f.Before; b != nil && b.Binary {
		file.Added = s.allLines() // perhaps no rule has looked at any
	}

	return s
}

// run scans the file.
func (s *fileScan) run(ctx context.Context) FileResult {
	for _, r := range s.file.Added {
		s.out.Lines += r.Last - r.First + 1
	}
	s.out.err = s.scan(ctx)

	return s.out
}

// whole has all lines count as added when any is changed: of a text in UTF-16, since
// git compares bytes, whose lines are not those of the text, and of one with NULs.
func (s *fileScan) whole() *fileScan {
	if len(s.file.Added)+len(s.file.Removed) > 0 {
		s.file.Added, s.file.Removed = s.allLines(), nil
	}

	return s
}

// asBytes takes the content for what is perhaps no text. Nothing of it is shown,
// since rules can't mask what they can't read, and it has no comments.
func (s *fileScan) asBytes() *fileScan {
	s.isBytes = true
	s.masker.read, s.masker.blind = true, true

	return s
}

// decoded says that the text is not the bytes of the file, so that no fix is of these.
func (s *fileScan) decoded() *fileScan {
	s.isDecoded = true
	return s
}

// fixedOnly leaves only rules for secrets that have a fixed prefix. Others would
// match in pictures and fonts by chance.
func (s *fileScan) fixedOnly() *fileScan {
	s.isFixedOnly = true
	return s
}

func (s *fileScan) allLines() []LineRange {
	if s.lines.Count() == 0 {
		return nil
	}

	return []LineRange{{First: 1, Last: s.lines.Count()}}
}

// unite adds what was found in the same file read in another way. Behind the limit
// what was found both ways counts twice: its places are not kept. No verdict depends
// on that.
func (r *FileResult) unite(other FileResult, limit int) {
	for severity, n := range other.Counts {
		r.Counts[severity] += n
	}
	var known []finding.Finding
	r.Findings, known = united(r.Findings, other.Findings, limit)
	for _, f := range known {
		r.Counts[f.Severity]--
	}
	r.Observed, known = united(r.Observed, other.Observed, limit)
	r.observedCount += other.observedCount - len(known)
	r.Skips = append(r.Skips, other.Skips...)
	r.kinds |= other.kinds
	if r.err == nil {
		r.err = other.err
	}
}

// united is findings in order with those of more that are at no place of theirs. It
// returns the others apart.
func united(findings, more []finding.Finding, limit int) (all, known []finding.Finding) {
	places := map[string]bool{}
	place := func(f finding.Finding) string { return fmt.Sprint(f.Line, f.RuleID) }
	for _, f := range findings {
		places[place(f)] = true
	}

	for _, f := range more {
		if places[place(f)] {
			known = append(known, f)
			continue
		}
		findings = append(findings, f)
	}
	slices.SortStableFunc(findings, finding.InOrder)

	return findings[:min(len(findings), limit)], known
}

// languages are those of the file, and beforehand those that it had, when they
// decide anything.
func (s *fileScan) languages() (now, before []string) {
	isNeeded := func(g group) bool { return g.hits.NeedsLanguages() }
	if !slices.ContainsFunc(s.plan.groups, isNeeded) {
		return nil, nil
	}

	first := s.lines.Text()
	now = language.Of(s.file.Path, first)
	inside := language.Inside(now, s.lines.Text())
	if len(inside) > 0 && s.file.Before == nil {
		s.file.Before = &Before{Path: s.file.Path}
	}
	if b := s.file.Before; b != nil {
		if b.FirstLine != nil {
			first = b.FirstLine
		}
		before = language.Of(b.Path, first)
		if len(inside) > 0 {
			before = append(before, language.Inside(before, s.file.appendOld(nil, s.lines))...)
		}
	}

	return append(now, inside...), before
}

// matchGroup matches the rules of a group, as they look at the file, on the added
// lines. Those that did not look at what the file was before are matched on all
// lines, since nothing of them is known.
func (s *fileScan) matchGroup(ctx context.Context, g group, file *match.File, before []string) (match.Result, error) {
	if s.isFixedOnly {
		file = file.Subset(func(rule int) bool { return g.rules[rule].Redact && g.hits.FixedPrefix(rule) })
	}
	if file != nil && g.skips != nil {
		file = s.unskipped(g, file)
	}
	var came *match.File
	if file != nil {
		if looked := s.lookedBefore(g, file, before); looked != nil {
			if came = file.Subset(func(rule int) bool { return !looked(rule) }); came != nil {
				file = file.Subset(looked)
			}
		}
	}

	if len(s.file.Removed) > 0 && file != nil {
		file.Joined(s.file.seams(), s.isNew(ctx, file))
	}

	var found match.Result
	apart := s.apart(g)
	for _, part := range []struct {
		file  *match.File
		added []LineRange
	}{{file, s.file.Added}, {came, s.allLines()}} {
		if part.file == nil || len(part.added) == 0 && len(s.file.Removed) == 0 {
			continue
		}
		more, err := part.file.MatchApart(ctx, s.lines, part.added, s.limit, apart)
		if err != nil {
			return found, err
		}
		found.Add(more)
	}

	return found, nil
}

// apart returns what says in which list a hit of a group is.
func (s *fileScan) apart(g group) match.Apart {
	if len(s.comments) == 0 && !g.observes {
		return nil
	}

	accepts := s.comments.accept(g, s.plan)

	return func(i, line int, before func() bool) int {
		switch {
		case accepts(i, line, before):
			return listSuppressed
		case g.rules[i].Observed():
			return listObserved
		}

		return listReported
	}
}

// session is that of the rules that look at a file, which the rules file excludes or
// not; nil when none does.
func (g group) session(excluded bool) *match.Session {
	if excluded {
		return g.locked
	}

	return g.hits
}
