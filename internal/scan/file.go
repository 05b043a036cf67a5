package scan

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/kind"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/report/linehash"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/structure"
)

// MaxFileSize is the size, in bytes, over which sources leave a file out when they
// are not told another.
const MaxFileSize = 16 << 20

// File is a changed file as it is at head.
type File struct {
	Path      string      // bytes as git has them, not always UTF-8
	Submodule bool        // a commit of another repository; there is no content
	Size      int64       // of the content, in bytes
	TooLarge  bool        // for its source; there is no content
	Content   []byte      // nil when nothing was added or removed and Before is nil
	Added     []LineRange // the added lines, ascending, not touching each other
	Removed   []Removed   // ascending; what was not compared line by line has none
	Before    *Before     // nil when it was at the same path with the same first line, or is new
	LinkTo    string      // path that leads on when this is a link; "" for none
	Err       error       // why nothing of it can be looked at; nil for files of a Change

	late bool // see rule.LateWorkLimit
}

// LineRange is a run of lines, First to Last, counted from 1, both included.
type LineRange = match.LineRange

// FileResult is what was found in one file.
type FileResult struct {
	Findings   []finding.Finding // the first ones, by line and rule id
	Counts     finding.Summary   // of all
	Suppressed []finding.Finding // the first ones, likewise
	Observed   []finding.Finding // likewise, of finding.KindObserved
	Skips      []finding.Skip    // by line and rule id
	Lines      int               // added ones that were looked at
	kinds      kind.Set          // of the file, for which some rules did not look
	Excluded   bool              // by the rules file; rules that are locked look at it all the same

	suppressedCount int               // of all
	observedCount   int               // likewise
	reports         []finding.Finding // about comments that suppress, by line
	err             error             // only when the context ended, and of a panic
}

// stopped adds skips of rules that have used up their work in the file, each once.
func (r *FileResult) stopped(file string, rules []rule.Rule, stopped []int) {
	for _, i := range stopped {
		skip := finding.Skip{
			File: file, RuleID: rules[i].FullID(), Reason: finding.SkipRuleStopped, Severity: rules[i].Severity,
			Observed: rules[i].Observed(),
		}
		if !slices.Contains(r.Skips, skip) {
			r.Skips = append(r.Skips, skip)
		}
	}
}

// fileScan is the scan of one file that has content.
type fileScan struct {
	plan     *plan
	file     *File
	excluded bool // by the rules file: only locked rules look at it
	limit    int  // of findings of each list
	lines    match.Lines
	comments comments // that suppress
	views    []view
	masker   *masker
	prints   fingerprinter
	out      FileResult
	marks    map[int][]mark     // by line, ascending
	read     []*structure.File  // see tokensOf
	readers  []rule.PlaceReader // by group
	kinds    kinds

	isBytes     bool // see asBytes
	isDecoded   bool // see decoded
	isFixedOnly bool // see fixedOnly
}

// view is a file as one group of rules looks at it.
type view struct {
	group
	masking *match.File // of masks
}

// hit is a match of a rule of one of the groups.
type hit struct {
	match.Hit
	group int
	list  int
}

// The lists of hits, as match.Apart has them.
const (
	listReported = iota
	listSuppressed
	listObserved
)

func (s *fileScan) scan(ctx context.Context) error {
	hits, err := s.match(ctx)
	if err != nil {
		return err
	}

	defer Begin(ctx, PhaseMask)()
	s.find(ctx, hits)
	s.report(ctx)
	slices.SortStableFunc(s.out.Skips, func(a, b finding.Skip) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})

	return s.masker.err
}

// match returns the first hits of each list, by line and rule id.
func (s *fileScan) match(ctx context.Context) ([]hit, error) {
	defer Begin(ctx, PhaseMatch)()

	if !s.isBytes {
		s.comments = readComments(s.lines, s.tokens, s.plan)
	}
	languages, before := s.languages()
	var hits [1 + match.ApartLists][]hit
	for i, g := range s.plan.groups {
		reader := g.places.ReaderOf(s.tokensOf)
		s.readers = append(s.readers, reader)
		session := g.session(s.excluded)
		if session != g.masks {
			s.views[i] = view{g, s.of(g.masks, languages).ReadBy(reader)}
		}
		if session == nil {
			continue
		}
		file := s.of(session, languages).ReadBy(reader)
		if session == g.masks {
			s.views[i] = view{g, file}
		}

		found, err := s.matchGroup(ctx, g, file, before)
		if err != nil {
			return nil, err
		}
		for r, n := range found.Counts {
			s.out.Counts[g.rules[r].Severity] += n
		}
		s.out.suppressedCount += found.Apart[listSuppressed-1].Count
		s.out.observedCount += found.Apart[listObserved-1].Count
		for list, found := range [...][]match.Hit{
			found.Hits, found.Apart[listSuppressed-1].Hits, found.Apart[listObserved-1].Hits,
		} {
			for _, h := range found {
				hits[list] = append(hits[list], hit{Hit: h, group: i, list: list})
			}
		}

		s.out.stopped(s.file.Path, g.rules, found.Stopped)
	}

	var all []hit
	for _, list := range hits {
		all = append(all, s.first(list)...)
	}

	return s.sorted(all), nil
}

// of is the file as the rules of a session look at it.
func (s *fileScan) of(session *match.Session, languages []string) *match.File {
	f := session.File(s.file.Path, languages...)
	if s.file.late {
		f.Within(rule.LateWorkLimit())
	}

	return f
}

func (s *fileScan) rule(h hit) *rule.Rule { return &s.views[h.group].rules[h.Rule] }

// first sorts hits and keeps as many as may be found.
func (s *fileScan) first(hits []hit) []hit {
	return s.sorted(hits)[:min(len(hits), s.limit)]
}

func (s *fileScan) sorted(hits []hit) []hit {
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.Line == b.Line && a.group != b.group {
			return cmp.Compare(s.rule(a).FullID(), s.rule(b).FullID())
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule)) // a group's rules are by full id
	})

	return hits
}

// find makes findings of hits, which come by line.
func (s *fileScan) find(ctx context.Context, hits []hit) {
	hashes := s.hashes(ctx, hits)
	s.out.Findings = slices.Grow(s.out.Findings, len(hits)) // mostly all are reported
	for _, h := range hits {
		r := s.rule(h)
		f := finding.Finding{
			RuleID: r.FullID(), Severity: r.Severity, Confidence: r.Sureness(), File: s.file.Path, Message: r.Message,
			Line: h.Line, EndLine: h.EndLine, Column: h.Column, EndColumn: h.EndColumn,
		}
		s.describe(ctx, &f)
		if !r.Redact {
			f.LineHash = hashes[h.Line]
		}
		if r.Type == rule.TypeTaint {
			f.Steps = s.steps(ctx, h)
		}
		if r.HasFix() {
			f.Fix = s.fix(ctx, h)
		}

		switch h.list {
		case listSuppressed:
			f.Suppression = s.suppression(ctx, h.Line, f.RuleID)
			s.out.Suppressed = append(s.out.Suppressed, f)
		case listObserved:
			s.out.Observed = append(s.out.Observed, f)
		default:
			s.out.Findings = append(s.out.Findings, f)
		}
	}
}

// suppression returns the comment that suppresses the hit of a rule on a line.
func (s *fileScan) suppression(ctx context.Context, line int, fullID string) *finding.Suppression {
	by, _ := s.comments.on(line, fullID)
	if by == nil {
		by, _ = s.comments.on(line-1, fullID)
	}

	return s.suppressionBy(ctx, by)
}

func (s *fileScan) suppressionBy(ctx context.Context, by *comment) *finding.Suppression {
	reason := s.masker.line(ctx, by.line).show(by.reasonStart, by.reasonEnd)

	return &finding.Suppression{Reason: printable(reason, MaxSnippet), Until: by.until, Line: by.line}
}

// describe adds to a finding what is made of the text of its lines.
func (s *fileScan) describe(ctx context.Context, f *finding.Finding) {
	if s.plan.placesOnly {
		return
	}

	line := s.masker.line(ctx, f.Line)
	f.UTF16Column = s.utf16Column(f.Line, f.Column)
	f.UTF16EndColumn = s.utf16Column(f.EndLine, f.EndColumn)
	f.Snippet = line.snippet(f.Column - 1)
	f.Fingerprint = s.prints.next(identity{ruleID: f.RuleID, file: f.File, text: line.identity(f.Column - 1)})
}

// markEvery is how many bytes of a line are counted at most for a column in UTF-16,
// once others before it were.
const markEvery = 4 << 10

// mark says how many UTF-16 code units are before a byte of a line.
type mark struct{ at, units int }

// utf16Column is a column in UTF-16 code units, from 1. A byte that is not part
// of a character in UTF-8 counts as U+FFFD, so as one.
func (s *fileScan) utf16Column(line, column int) int {
	start, end := s.lines.Start(line), column-1
	text, marks := s.lines.Text()[start:start+end], s.marks[line]
	after := sort.Search(len(marks), func(i int) bool { return marks[i].at > end })
	m := mark{}
	if after > 0 {
		m = marks[after-1]
	}

	for next := m.at + markEvery; m.at < end; {
		r, size := utf8.DecodeRune(text[m.at:])
		m.at += size
		if m.units++; r > 0xFFFF {
			m.units++
		}
		if m.at >= next && after == len(marks) {
			s.marks[line] = append(s.marks[line], m)
			next += markEvery
		}
	}

	return m.units + 1
}

// hashes returns the line hashes for hits by line, without those that are made of
// text that must not be shown.
func (s *fileScan) hashes(ctx context.Context, hits []hit) map[int]string {
	if s.plan.placesOnly {
		return nil
	}

	var lines []int
	for _, h := range hits {
		if !s.rule(h).Redact && (len(lines) == 0 || lines[len(lines)-1] != h.Line) {
			lines = append(lines, h.Line)
		}
	}

	hashes := make(map[int]string, len(lines))
	for i, hash := range linehash.Of(s.lines.Text(), lines) {
		first, last := lines[i], lines[i]
		if hash.Start < hash.End { // where "\r" alone ends lines it may be of others
			from, _ := s.lines.At(hash.Start)
			to, _ := s.lines.At(hash.End - 1)
			first, last = min(first, from), max(last, to)
		}
		if !s.masker.hides(ctx, first, last) {
			hashes[lines[i]] = hash.Text
		}
	}

	return hashes
}

// report makes findings of what is wrong with the comments on added lines: others
// are not the change's fault. What a comment does not suppress is reported itself,
// so these are for the upkeep.
func (s *fileScan) report(ctx context.Context) {
	count := map[string]int{}
	for _, x := range s.comments {
		if !s.isAdded(x.line) {
			continue
		}

		f := finding.Finding{
			Severity: rule.Warning, File: s.file.Path,
			Line: x.line, EndLine: x.line, Column: x.start + 1, EndColumn: x.end + 1,
		}
		switch {
		case x.mistake != "":
			f.RuleID, f.Message = rule.MetaSuppressionMalformed, "This `prwarden:ignore` suppresses nothing: "+x.mistake+"."
		case x.expired:
			f.RuleID, f.Message = rule.MetaSuppressionExpired, "This `prwarden:ignore` suppresses nothing since "+x.until+
				" is over: repair what it is about, or decide again and set another day."
		case x.refusal != "":
			f.RuleID, f.Message = rule.MetaSuppressionRefused, "This `prwarden:ignore` is refused: "+x.refusal+"."
		default:
			f.RuleID, f.Severity, f.Message = rule.MetaSuppressionUnused, rule.Low, s.unused(ctx, x)
		}
		if f.Message == "" || !s.plan.metas.apply(&f) || s.isSuppressed(ctx, f) {
			continue
		}
		if count[f.RuleID]++; count[f.RuleID] > maxReports {
			s.out.Counts[f.Severity]++ // and isn't listed
			continue
		}

		s.describe(ctx, &f)
		s.out.reports = append(s.out.reports, f)
	}
}

// isSuppressed says whether the comment on the line before suppresses a finding about
// a comment, and then keeps it as such. None answers for itself.
func (s *fileScan) isSuppressed(ctx context.Context, f finding.Finding) bool {
	by, _ := s.comments.on(f.Line-1, f.RuleID)
	about := rule.Rule{ID: f.RuleID, Severity: f.Severity}
	if by == nil || !by.alone || s.plan.maySuppress(about, by.terms(), s.plan.today) != nil {
		return false
	}

	s.describe(ctx, &f)
	f.Suppression = s.suppressionBy(ctx, by)
	if s.out.suppressedCount++; len(s.out.Suppressed) < s.limit {
		s.out.Suppressed = append(s.out.Suppressed, f)
	}

	return true
}

func (s *fileScan) isAdded(line int) bool {
	added := s.file.Added
	i, _ := slices.BinarySearchFunc(added, line, func(r LineRange, n int) int { return cmp.Compare(r.Last, n) })

	return i < len(added) && added[i].First <= line
}

// isStopped says whether a rule was stopped in the file.
func (s *fileScan) isStopped(fullID string) bool {
	return slices.ContainsFunc(s.out.Skips, func(skip finding.Skip) bool { return skip.RuleID == fullID })
}
