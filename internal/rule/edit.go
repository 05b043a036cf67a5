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

// kept is a match of a structure rule, and the text in which it is.
type kept struct {
	file *structure.File
	structure.Match
}

// keep remembers a match of a rule with a fix.
func (r PlaceReader) keep(rule int, file *structure.File, m structure.Match) {
	if r.fixers[rule] == nil {
		return
	}
	if r.kept == nil {
		r.kept = map[int][]kept{}
	}
	r.kept[rule] = append(r.kept[rule], kept{file, m})
}

// Edit is what the fix of a rule makes of the lines of a hit. ok is false when the rule has
// none, and when the edit is not one to offer: it changes nothing, it is long, it has
// characters that people don't see, or code around it would be read in another way.
func (r PlaceReader) Edit(lines match.Lines, rule int, hit match.Hit) (e Edit, ok bool) {
	f := r.fixers[rule]
	if f == nil {
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
	now := slices.Concat(text[start:place.Start], f.expand(place, indent), text[place.End:end])
	if len(bytes.TrimSpace(now)) == 0 {
		now = nil
	}
	e.Text = strings.ReplaceAll(string(now), "\r\n", "\n")
	isShown := utf8.ValidString(e.Text) && !strings.ContainsFunc(e.Text, isDisruptive)
	if !isShown || bytes.Equal(now, text[start:end]) || len(now) > MaxEdit ||
		strings.Count(e.Text, "\n") >= MaxEditLine {
		return e, false
	}

	return e, r.fits(lines, e, place.Span)
}

// fixPlace finds again what a rule matched at a hit.
func (r PlaceReader) fixPlace(f *fixer, lines match.Lines, rule int, hit match.Hit) (p fixPlace, ok bool) {
	if f.pattern != "" {
		return r.regexPlace(f, lines, rule, hit)
	}

	at := int32(lines.Start(hit.Line) + hit.Column - 1)
	for _, k := range r.kept[rule] {
		tokens := k.file.Tokens
		if !k.file.IsOf(lines.Text()) || tokens[k.Focus.From].Start != at {
			continue
		}
		p.Span = match.Span{Start: int(tokens[k.From].Start), End: int(tokens[k.To-1].End)}
		p.text = func(name string) []byte {
			b, ok := k.Bound(name)
			if !ok || b.From == b.To {
				return nil
			}
			return k.file.Bytes[tokens[b.From].Start:tokens[b.To-1].End]
		}
		return p, true
	}

	return p, false
}

func (r PlaceReader) regexPlace(f *fixer, lines match.Lines, rule int, hit match.Hit) (p fixPlace, ok bool) {
	line := lines.Line(hit.Line)
	if len(line) > MaxEdit {
		return p, false
	}
	re := r.regexps[rule]
	if re == nil {
		if r.regexps == nil {
			r.regexps = map[int]*regexp.Regexp{}
		}
		re = regexp.MustCompile(f.pattern)
		r.regexps[rule] = re
	}

	start := lines.Start(hit.Line)
	for _, m := range re.FindAllSubmatchIndex(line, -1) {
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

// expand writes the fix of a place. Its lines behind the first begin as the line of the
// place does. A comma goes with a reference that stands for nothing, and with one that ends
// in a comma of its own.
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
