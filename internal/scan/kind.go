package scan

import (
	"sync"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/kind"
	"github.com/prwarden/prwarden/internal/language"
	"github.com/prwarden/prwarden/internal/match"
)

// kinds are what a file is, as far as a rule has asked.
type kinds struct{ asked, is kind.Set }

// CountKinds counts the file where rules did not look because of what it is.
func (r FileResult) CountKinds(l *finding.LookedAt) {
	if r.kinds&kind.Generated != 0 {
		l.Generated++
	}
	if r.kinds&kind.Minified != 0 {
		l.Minified++
	}
	if r.kinds&kind.Vendored != 0 {
		l.Vendored++
	}
}

// skipped are the kinds of files that some of the rules of a group skip.
func (g group) skipped(looks func(rule int) bool) (all kind.Set) {
	for i, s := range g.skips {
		if s&^all != 0 && looks(i) {
			all |= s
		}
	}

	return all
}

// unskipped is the file as those rules of a group look at it that don't skip what it is.
// What it is gets found out when the first rule needs it. nil for no rule.
func (s *fileScan) unskipped(g group, file *match.File) *match.File {
	wanted := g.skipped(file.Looks)
	if missing := wanted &^ s.kinds.asked; missing != 0 {
		s.kinds.is |= kind.Of(s.file.Path, s.lines.Text(), missing)
		s.kinds.asked |= missing
	}
	is := s.kinds.is & wanted
	if s.out.kinds |= is; is == 0 {
		return file
	}

	return file.Subset(func(rule int) bool { return g.skips[rule]&is == 0 })
}

// headLines is how many lines at the beginning of a file decide whether rules skip it.
// Of a long file that becomes minified, or is no longer, no line stays as it was.
const headLines = 40

// oldTexts are buffers for texts as they were: of many files the first lines change.
var oldTexts = sync.Pool{New: func() any { return new([]byte) }}

// lookedBefore returns what says which of the rules that look at the file did so before
// the change; nil when all did.
func (s *fileScan) lookedBefore(g group, file *match.File, languages []string) func(rule int) bool {
	b, path := s.file.Before, s.file.Path
	looked := file.Looks
	if b != nil {
		path, looked = b.Path, func(int) bool { return false }
		if session := g.session(s.plan.exclude.Match(path)); session != nil {
			looked = session.File(path, languages...).Looks
		}
	}
	skipped := g.skipped(file.Looks)
	isOther := b != nil && path != s.file.Path || s.isHeadChanged()
	if skipped == 0 || !isOther {
		if b == nil {
			return nil
		}
		return looked
	}

	text := s.lines.Text()
	if s.isHeadChanged() {
		buffer := oldTexts.Get().(*[]byte) //nolint:forcetypeassert // it has no others
		defer oldTexts.Put(buffer)
		*buffer = s.file.appendOld((*buffer)[:0], s.lines)
		text = *buffer
	}
	was := kind.Of(path, text, skipped)
	if b == nil && was == 0 {
		return nil
	}

	return func(rule int) bool { return looked(rule) && g.skips[rule]&was == 0 }
}

// isHeadChanged says whether one of the first lines of a file that was there before is
// another one now.
func (s *fileScan) isHeadChanged() bool {
	added, removed := s.file.Added, s.file.Removed
	isNew := len(added) == 1 && added[0].First == 1 && added[0].Last >= s.lines.Count() // or all are looked at anyway

	return !isNew && (len(added) > 0 && added[0].First <= headLines || len(removed) > 0 && removed[0].Line <= headLines)
}

// looks returns what says which rules of a group look at a file by its path alone, whatever
// kinds they skip.
func (p *plan) looks(g group, path string) func(rule int) bool {
	session := g.session(p.exclude.Match(path))
	if session == nil {
		return func(int) bool { return false }
	}

	return session.File(path, language.Of(path, nil)...).Looks
}
