package rule

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/structure"
)

// Edit is whole lines that take the place of others in a file.
type Edit struct {
	StartLine int    // the first line that is replaced, from 1
	EndLine   int    // the last one
	Text      string // the new lines, joined by "\n", without the last ending; "" removes the lines
}

// fixPlace is what a fix replaces, and what stands for its references.
type fixPlace struct {
	match.Span
	text func(name string) []byte
}

// keptPlace is where a structure rule found something: in which text, and where what is
// meant begins.
type keptPlace struct {
	rule int
	file *structure.File
	at   int32
}

// keep remembers a match of a rule with a fix.
func (r PlaceReader) keep(rule int, file *structure.File, m structure.Match) {
	if r.fixers[rule] == nil || len(r.kept) >= maxKept {
		return
	}
	if r.kept == nil {
		r.kept = map[keptPlace]structure.Match{}
	}
	place := keptPlace{rule, file, file.Tokens[m.Focus.From].Start}
	if _, ok := r.kept[place]; !ok {
		r.kept[place] = m
	}
}

// Edit is what the fix of a rule makes of the lines of a hit. ok is false when the rule has
// none, and when the edit is not one to offer: it changes nothing, it is long, it has
// characters that people don't see, the rule matches it, too, or code around it would be read
// in another way.
func (r PlaceReader) Edit(lines match.Lines, rule int, hit match.Hit) (e Edit, ok bool) {
	f := r.fixers[rule]
	if f == nil || r.fixWork > maxFixWork {
		return e, false
	}
	place, ok := r.fixPlace(f, lines, rule, hit)
	if !ok {
		return e, false
	}

	text := lines.Text()
	e.StartLine, _ = lines.At(place.Start)
	e.EndLine, _ = lines.At(max(place.End-1, place.Start))
	start, end := lines.Start(e.StartLine), lines.Start(e.EndLine)+len(lines.Line(e.EndLine))
	if end-start > MaxEdit || e.EndLine-e.StartLine >= MaxEditLine || place.End > end {
		return e, false
	}

	indent := text[start : end-len(bytes.TrimLeft(text[start:end], " \t"))]
	put := f.expand(place, indent)
	now := slices.Concat(text[start:place.Start], put, text[place.End:end])
	if len(bytes.TrimSpace(now)) == 0 {
		now = nil
	}
	e.Text = strings.ReplaceAll(string(now), "\r\n", "\n")
	isShown := utf8.ValidString(e.Text) && !strings.ContainsFunc(e.Text, disrupts)
	if !isShown || bytes.Equal(now, text[start:end]) || len(now) > MaxEdit ||
		strings.Count(e.Text, "\n") >= MaxEditLine {
		return e, false
	}

	at := place.Start - start
	if f.pattern != "" && r.stillMatches(f, rule, now, match.Span{Start: at, End: at + len(put)}) {
		return e, false
	}

	return e, r.fits(lines, e, place.Span, rule)
}

// stillMatches reports whether a regex rule matches something of a part of new lines. A fix
// of that would be made again and again.
func (r PlaceReader) stillMatches(f *fixer, rule int, lines []byte, part match.Span) bool {
	r.fixWork += regexpWork * len(lines)
	at := 0
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		for _, m := range r.regexp(f, rule).FindAllIndex(line, maxLeftOut) {
			if at+m[0] < part.End && at+m[1] > part.Start {
				return true
			}
		}
		at += len(line) + 1
	}

	return false
}

// fixPlace finds again what a rule matched at a hit.
func (r PlaceReader) fixPlace(f *fixer, lines match.Lines, rule int, hit match.Hit) (p fixPlace, ok bool) {
	switch {
	case f.list != nil:
		return f.wordFixPlace(lines, hit)
	case f.pattern != "":
		return r.regexPlace(f, lines, rule, hit)
	}

	file := r.read(lines.Text())
	m, ok := r.kept[keptPlace{rule, file, int32(lines.Start(hit.Line) + hit.Column - 1)}]
	if !ok {
		return p, false
	}
	tokens := file.Tokens
	p.Span = match.Span{Start: int(tokens[m.From].Start), End: int(tokens[m.To-1].End)}
	p.text = func(name string) []byte {
		b, ok := m.Bound(name)
		if !ok || b.From == b.To {
			return nil
		}
		return file.Bytes[tokens[b.From].Start:tokens[b.To-1].End]
	}

	return p, true
}

func (r PlaceReader) regexPlace(f *fixer, lines match.Lines, rule int, hit match.Hit) (p fixPlace, ok bool) {
	line := lines.Line(hit.Line)
	if len(line) > MaxEdit {
		return p, false
	}
	r.fixWork += regexpWork * len(line)
	re := r.regexp(f, rule)
	start := lines.Start(hit.Line)
	found := re.FindAllSubmatchIndex(line, 1)
	if len(found) > 0 && found[0][0] != hit.Column-1 { // conditions left out the first ones
		found = re.FindAllSubmatchIndex(line, maxLeftOut)
	}
	for _, m := range found {
		if m[0] != hit.Column-1 {
			continue
		}
		p.Span = match.Span{Start: start + m[0], End: start + m[1]}
		p.text = func(name string) []byte {
			if group := 2 * groupOf(re, name); m[group] >= 0 {
				return line[m[group]:m[group+1]]
			}
			return nil
		}
		return p, true
	}

	return p, false
}

// maxLeftOut bounds the matches on a line before the one that is a hit.
const maxLeftOut = 16

// regexp is the pattern of a rule.
func (r PlaceReader) regexp(f *fixer, rule int) *regexp.Regexp {
	re := r.regexps[rule]
	if re == nil {
		if r.regexps == nil {
			r.regexps = map[int]*regexp.Regexp{}
		}
		re = regexp.MustCompile(f.pattern)
		r.regexps[rule] = re
	}

	return re
}

// expand writes the fix of a place. Its lines behind the first begin as the line of the
// place does. A comma goes with a `$$$X` that stands for nothing, and with one that ends in a
// comma of its own.
func (f *fixer) expand(p fixPlace, indent []byte) (out []byte) {
	isLost := false // what comes next begins with a comma that goes
	for i, part := range f.parts {
		if part.name == "" {
			text := part.text
			if isLost {
				text = strings.TrimLeft(strings.TrimPrefix(text, ","), " ")
			}
			out = append(out, strings.ReplaceAll(text, "\n", "\n"+string(indent))...)
			isLost = false
			continue
		}

		text := p.text(part.name)
		if !part.run {
			out = append(out, text...)
			continue
		}
		isBeforeComma := i+1 < len(f.parts) && strings.HasPrefix(f.parts[i+1].text, ",")
		switch {
		case len(text) > 0:
			if isBeforeComma {
				text = bytes.TrimSuffix(text, []byte(","))
			}
		case isBeforeComma:
			isLost = true
		default:
			out = bytes.TrimSuffix(bytes.TrimRight(out, " "), []byte(","))
		}
		out = append(out, text...)
	}

	return out
}

// Apply makes edits, ascending by their first lines, in a text that has their lines, and
// returns how many it made: one that replaces a line of another before it is left out. The
// new lines end as the last line that is replaced did.
func Apply(lines match.Lines, edits []Edit) (text []byte, made int) {
	at, last := 0, 0
	for _, e := range edits {
		if e.StartLine <= last {
			continue
		}
		of, with := e.replaces(lines)
		text = append(append(text, lines.Text()[at:of.Start]...), with...)
		at, last = of.End, e.EndLine
		made++
	}

	return append(text, lines.Text()[at:]...), made
}

// replaces is the bytes that others take the place of. Lines that are removed go with their
// endings.
func (e Edit) replaces(lines match.Lines) (of match.Span, with []byte) {
	text := lines.Text()
	of = match.Span{Start: lines.Start(e.StartLine), End: lines.Start(e.EndLine) + len(lines.Line(e.EndLine))}
	behind := len(text)
	if e.EndLine < lines.Count() {
		behind = lines.Start(e.EndLine + 1)
	}
	if e.Text == "" {
		of.End = behind
		return of, nil
	}
	with = []byte(e.Text)
	if ending := text[of.End:behind]; len(ending) > 1 {
		with = bytes.ReplaceAll(with, []byte("\n"), ending)
	}

	return of, with
}
