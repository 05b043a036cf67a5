package scan

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
)

// Limits of a diff.
const (
	MaxDiffPaths   = 64
	MaxDiffContext = 50
	MaxDiffUnfold  = 200

	// maxDiffFile is the size of a file, in bytes, over which it is not shown.
	maxDiffFile = 4 << 20
	maxDiffLine = 20_000
	// maxDiffSize is what an answer takes in bytes, with all that its messages have
	// beside the text: 4 MiB, which is all that clients of gRPC take, less what there is
	// beside the files.
	maxDiffSize = 4<<20 - 64<<10

	// diffTime is for how long lines are read and masked, and diffFetch for how long
	// the commits may be fetched.
	diffTime  = 2 * time.Second
	diffFetch = 20 * time.Second

	maxSection = 100 // bytes
)

// DiffRequest says which lines to read of the commits that were scanned.
type DiffRequest struct {
	Request

	Paths   []string  // in the order of the answer
	Context int       // lines around changed ones
	Lines   LineRange // of the new side, in place of the changed ones; zero for these
}

// Diff reads lines of a pull request, whose Commits have a head and a base, and hides
// what rules with redact match on them, on both sides. It fails as Scan does.
func (s *Scanner) Diff(ctx context.Context, r DiffRequest) (finding.Diff, error) {
	limited, cancel := context.WithTimeout(ctx, diffFetch)
	defer cancel()

	out, err := s.diff(limited, r)
	failure, isFailure := errors.AsType[*Failure](err)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return finding.Diff{}, ctx.Err()
	case limited.Err() != nil:
		return finding.Diff{}, &Failure{
			Code: CodeScanTimeout, Message: "Reading the commits took more than " + diffFetch.String() + ".", Err: err,
		}
	case isFailure:
		return finding.Diff{}, failure
	}

	return finding.Diff{}, &Failure{
		Code: CodeScanFailed, Message: "The diff could not be made; the scanner's log has the details.", Err: err,
	}
}

func (s *Scanner) diff(ctx context.Context, r DiffRequest) (_ finding.Diff, err error) {
	r.ForDiff = true
	change, err := s.source.Open(ctx, r.Target)
	if err != nil {
		return finding.Diff{}, err
	}
	defer func() { err = errors.Join(err, change.Close()) }()
	_, plan, err := s.prepare(ctx, change, r.Request)
	if err != nil {
		return finding.Diff{}, err
	}

	// A deadline of its own, so that what is done by then is still answered.
	masking, cancel := context.WithTimeout(ctx, s.options.DiffTime)
	defer cancel()
	d := &differ{plan: plan, request: r, bytes: maxDiffSize, lines: maxDiffLine}
	worker := s.options.Background.Worker()
	for pair, err := range change.Pairs(ctx, r.Paths, maxDiffFile) {
		if err != nil {
			return finding.Diff{}, err
		}
		var isDone bool
		worker.Do(ctx, func() { isDone = d.add(masking, pair) })
		if !isDone {
			return finding.Diff{Files: d.show(), Done: pair.Place}, ctx.Err()
		}
	}

	return finding.Diff{Files: d.show(), Done: len(r.Paths)}, nil
}

// differ makes a diff.
type differ struct {
	plan    *plan
	request DiffRequest
	bytes   int // that are left
	lines   int // likewise
	files   []shownFile
}

// shownFile is a file of which the lines are not hidden everywhere yet.
type shownFile struct {
	finding.FileDiff

	heads []*shownLine // by hunk; nil for none
	lines [][]*shownLine
}

// add adds a file. It returns false when there is no room or no time left for it, and
// others are there already: then the next answer begins with it.
func (d *differ) add(ctx context.Context, p *Pair) bool {
	f := shownFile{FileDiff: finding.FileDiff{Path: p.Path, Change: p.Change, NotShown: p.NotShown}}
	if p.OldPath != p.Path {
		f.OldPath = p.OldPath
	}
	size := fileOverhead + len(f.Path) + len(f.OldPath)
	if len(d.files) > 0 && (size > d.bytes || ctx.Err() != nil) {
		return false
	}
	if f.NotShown == "" && (!isPlain(p.Old) || !isPlain(p.New)) {
		f.NotShown = finding.SkipBinary
	}

	var s *pairScan
	if f.NotShown == "" {
		edits := p.edits()
		f.Added, f.Removed = counts(edits)
		s = d.read(ctx, p, &f, edits)
		size += s.bytes
		isFull := s.lines > d.lines || size > d.bytes || s.isLate
		if isFull && len(d.files) > 0 {
			return false
		}
		f.Truncated = isFull
		d.lines -= s.lines
	}
	d.bytes -= size
	d.files = append(d.files, f)

	return true
}

// What a file and a line take beside their texts in a message, at most.
const (
	fileOverhead = 64
	hunkOverhead = 32
	lineOverhead = 24
	spanOverhead = 16
)

// isPlain says whether a content is text as it is: rules can't mask what they can't
// read, and git compares bytes.
func isPlain(content []byte) bool {
	_, how := formOf(content)
	return how == isText
}

// pairScan reads the lines of one file.
type pairScan struct {
	old, now             *masker
	bytes, lines         int // taken
	mostBytes, mostLines int
	isLate               bool // masking took too long, so lines are missing
}

// read reads the lines of a file that are to be shown, as long as there is room.
func (d *differ) read(ctx context.Context, p *Pair, f *shownFile, edits []edit) *pairScan {
	s := &pairScan{
		old: d.plan.masker(cmp.Or(p.OldPath, p.Path), p.Old), now: d.plan.masker(p.Path, p.New),
		mostBytes: d.bytes, mostLines: d.lines,
	}
	lines := s.now.lines
	parts := stretches(edits, d.request.Context, lines.Count())
	if r := d.request.Lines; r.First > 0 {
		parts = unfolded(edits, r.First, r.Last, lines.Count())
	}

	var head *shownLine
	before := 1
	for _, part := range parts {
		if n := headOf(lines, before, part.from-1); n > 0 {
			head = s.line(ctx, finding.LineContext, 0, n)
		}
		before = part.from
		s.bytes += hunkOverhead + maxSection
		if shown := s.stretch(ctx, part); len(shown) > 0 {
			f.Hunks = append(f.Hunks, finding.Hunk{OldStart: part.from - part.behind, NewStart: part.from})
			f.heads, f.lines = append(f.heads, head), append(f.lines, shown)
		}
		if s.isFull() {
			break
		}
	}

	return s
}

func (s *pairScan) isFull() bool { return s.isLate || s.bytes > s.mostBytes || s.lines > s.mostLines }

// stretch reads the lines of a part.
func (s *pairScan) stretch(ctx context.Context, part stretch) (lines []*shownLine) {
	add := func(kind finding.LineKind, old, now int) bool {
		l := s.line(ctx, kind, old, now)
		if ctx.Err() != nil { // it is hidden as a whole only because there was no time
			s.isLate = true
			return false
		}
		s.lines++
		s.bytes += lineOverhead + min(len(l.raw), longLine) + len(l.hidden)*spanOverhead + l.secretSize()
		if s.isFull() {
			return false
		}
		lines = append(lines, l)

		return true
	}

	n, behind := part.from, part.behind
	for _, e := range append(part.edits, edit{now: part.to + 1}) {
		for ; n < e.now; n++ {
			if !add(finding.LineContext, n-behind, n) {
				return lines
			}
		}
		for k := range e.oldCount {
			if !add(finding.LineRemoved, e.old+k, 0) {
				return lines
			}
		}
		for range e.nowCount {
			if !add(finding.LineAdded, 0, n) {
				return lines
			}
			n++
		}
		behind += e.nowCount - e.oldCount
	}

	return lines
}

// line reads a line of one side or of both, 0 for none. What rules hide of it on either
// side is hidden.
func (s *pairScan) line(ctx context.Context, kind finding.LineKind, old, now int) *shownLine {
	l := &shownLine{kind: kind}
	var text []byte
	var hidden []match.Span
	for _, side := range []struct {
		masker *masker
		n      int
	}{{s.old, old}, {s.now, now}} {
		if side.n == 0 {
			continue
		}
		masked, lines := side.masker.line(ctx, side.n), side.masker.lines
		text, hidden = masked.text, append(hidden, masked.hidden...)
		l.noNewline = side.n == lines.Count() && endsOpen(lines.Text())
	}
	l.take(text, join(hidden))

	return l
}

// masker returns what hides secrets in a file at a path.
func (p *plan) masker(path string, content []byte) *masker {
	languages := languagesOf(path, content)

	m := &masker{lines: match.SplitLines(content), file: path, out: &FileResult{}}
	for _, g := range p.groups {
		m.views = append(m.views, view{g, g.masks.File(path, languages...)})
	}

	return m
}
