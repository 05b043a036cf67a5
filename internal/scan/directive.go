package scan

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/rule"
)

// marker is what a comment that suppresses is known by, in whichever kind of
// comment or text:
//
//	prwarden:ignore ID[, ID] -- reason [until YYYY-MM-DD]
//
// A comment is trusted only as far as a reader of the code sees what it does, so
// whatever is not plainly right suppresses nothing and is reported.
const marker = "prwarden:ignore"

// Bounds of one comment.
const (
	maxIDs       = 20   // rules that it names
	maxDirective = 1000 // bytes, from the marker on
)

// directive is what a comment says. Offsets are of bytes in its line.
type directive struct {
	ids                    []string // full ids of rules, each once
	reasonStart, reasonEnd int      // equal when there is no reason
	until                  string   // `YYYY-MM-DD`; empty for no end
	start, end             int      // from the marker to the end of what belongs to it
	alone                  bool     // there is no letter or digit beside it on the line

	// mistake is a phrase for what is wrong; empty for nothing. It repeats nothing
	// of the line, which may hold a secret.
	mistake string
}

// parseDirective reads the comment in a line, which is without its ending. ok is
// false when there is none.
func parseDirective(line []byte) (d directive, ok bool) {
	at := findMarker(line, 0)
	if at < 0 {
		return directive{}, false
	}

	begin := at + len(marker)
	p := parser{line: line, at: begin, end: endOf(line, at)}
	d = directive{start: at, end: p.end, alone: !hasWord(line[:at]) && !hasWord(line[p.end:])}
	if mistake := p.read(&d); mistake != "" {
		d = directive{start: d.start, end: d.end, alone: d.alone, mistake: mistake}
	}

	return d, true
}

// findMarker returns the offset of the first comment in a line at or behind from,
// or -1. The marker is a comment when no letter, digit, `-`, `_` or character that
// nobody sees is before it, and a blank, the end of the line or what is written in
// place of a blank by mistake behind it. So a text may speak of `prwarden:ignore`,
// in quotes.
func findMarker(line []byte, from int) int {
	for {
		at := indexMarker(line, from)
		if at < 0 {
			return -1
		}

		from = at + len(marker)
		before, _ := utf8.DecodeLastRune(line[:at])
		isPart := isWord(before) || before == '-' || before == '_' || isInvisible(before) && at > len("\ufeff")
		after, _ := utf8.DecodeRune(line[from:])
		isEnd := from == len(line) || unicode.IsSpace(after) || isInvisible(after) || strings.ContainsRune(":=-([{<|", after)
		if isEnd && !isPart {
			return at
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func hasWord(text []byte) bool { return bytes.ContainsFunc(text, isWord) }

// isInvisible tells characters that show nothing and take no room: those of
// Unicode's Default_Ignorable_Code_Point, of which Go has the parts, and the few
// others that format.
func isInvisible(r rune) bool {
	return r >= utf8.RuneSelf &&
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isDisruptive tells characters that may change how others on their line are
// shown: those that control terminals, end lines for some, or set the direction.
func isDisruptive(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// deceives says whether a text has characters that a reader does not see, or that
// change the order of others. Those that join letters or choose how one looks, as
// Persian words and emoji have them, are fine behind what is not ASCII.
func deceives(text []byte) bool {
	before := rune(0)
	for _, r := range string(text) {
		isJoiner := r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Variation_Selector, r)
		if isDisruptive(r) || isInvisible(r) && (!isJoiner || before < utf8.RuneSelf) {
			return true
		}
		before = r
	}

	return false
}

// parser reads a directive from left to right.
type parser struct {
	line    []byte
	at, end int
}

func (p *parser) rest() []byte { return p.line[p.at:p.end] }

// blanks passes blanks, and says whether there are any, or nothing more.
func (p *parser) blanks() bool {
	from := p.at
	for p.at < p.end && isBlank(p.line[p.at]) {
		p.at++
	}

	return p.at > from || p.at == p.end
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// read returns the mistake of the directive, or "".
func (p *parser) read(d *directive) string {
	switch {
	case p.end-d.start > maxDirective:
		return "it has more than 1000 bytes"
	case findMarker(p.line, p.at) >= 0:
		return "there is a second one on the line; a line has one, which may name several rules"
	case deceives(p.rest()):
		return "it has characters that are invisible or change the order of the text"
	case bytes.ContainsFunc(p.line, isDisruptive): // a terminal may erase, overwrite or conceal it
		return "on its line there are characters that change how the text is shown, which could hide it"
	case !p.blanks():
		return "only a space or a tab may follow the marker, and then the ids of rules"
	}

	if mistake := p.ids(d); mistake != "" {
		return mistake
	}

	rest := p.rest()
	if bytes.HasPrefix(rest, []byte("--")) && (len(rest) == 2 || isBlank(rest[2])) {
		p.at += 2
		if p.blanks(); p.at == p.end {
			return "there is no reason behind `--`; give one, or leave out `--`"
		}
	} else if m := untilAtEnd.FindIndex(rest); len(rest) > 0 && (m == nil || m[0] > 0) {
		return "behind the ids there may be only ` -- ` and a reason; ids are separated by commas"
	}

	return p.reason(d)
}

func (p *parser) ids(d *directive) string {
	for {
		from := p.at
		for p.at < p.end && !isBlank(p.line[p.at]) && p.line[p.at] != ',' {
			p.at++
		}
		id := string(p.line[from:p.at])
		switch {
		case id != "" && id != "--":
		case len(d.ids) == 0:
			return "it names no rule; write the id of each that is accepted behind the marker, as `security/no-eval`"
		default:
			return "there is a comma without an id"
		}

		if err := rule.CheckID(id); err != nil {
			return "an id " + err.Error()
		}
		if full := rule.FullID(id); !slices.Contains(d.ids, full) {
			d.ids = append(d.ids, full)
		}
		if len(d.ids) > maxIDs {
			return "it names more than 20 rules"
		}

		if p.blanks(); p.at == p.end || p.line[p.at] != ',' {
			return ""
		}
		p.at++
		p.blanks()
	}
}

var (
	// untilAtEnd is an end of a reason that looks like a day.
	untilAtEnd = regexp.MustCompile(`(?i)(?:^|[ \t]+)until[ \t]+([0-9][0-9./-]*)$`)
	// untilAnywhere is what a reader takes for a last day: a number at most two words
	// behind `until`, or a year.
	untilAnywhere = regexp.MustCompile(
		`(?i)until(?:[^\pL\pN]*(?:\pL+[^\pL\pN]+){0,2}\pN|.*[^\pN](?:19|20)[0-9]{2}(?:[^\pN]|$))`)
	// dayAtEnd is what a reader takes for the last day whatever is before it:
	// `untli`, `υntil` with a Greek letter, or `bis`.
	dayAtEnd = regexp.MustCompile(`(?:^|[^\pL\pN/._-])\pN{4}[\p{Pd}\x{2212}]\pN{1,2}[\p{Pd}\x{2212}]\pN{1,2}[.,;:!?]*$`)
)

// reason reads what is behind ` -- `.
func (p *parser) reason(d *directive) string {
	const notDay = "behind `until` there must be a day as YYYY-MM-DD, and nothing behind the day"
	reason := p.rest()
	// Behind the end of the directive, too: its reader may take what is there for a
	// part of it.
	behind := p.line[p.at:min(p.end+maxDirective, len(p.line))]
	if bytes.Contains(bytes.ToLower(behind), []byte("until")) { // the expressions take longer to find out
		if m := untilAtEnd.FindSubmatchIndex(reason); m != nil {
			d.until, behind, reason = string(reason[m[2]:m[3]]), behind[len(reason):], reason[:m[0]]
			if _, err := time.Parse(time.DateOnly, d.until); err != nil || untilAnywhere.Match(reason) {
				return notDay
			}
		}
		if untilAnywhere.Match(behind) {
			return notDay
		}
	}

	d.reasonStart, d.reasonEnd = p.at, p.at+len(reason)
	switch {
	case d.until == "" && dayAtEnd.Match(reason):
		return "a day at the end of a reason must have `until` before it; a day that is no end goes elsewhere in the reason"
	case len(reason) > 0 && !hasWord(reason):
		return "the reason has no word"
	}

	return ""
}

// pairs are how comments and texts begin and end that can end within a line.
var pairs = [...][2]string{
	{"{{!--", "--}}"}, {"<%--", "--%>"}, {"--[[", "--]]"}, {"/*", "*/"}, {"<!--", "-->"}, {"{#", "#}"}, {"<%", "%>"},
	{"{%", "%}"}, {"{{", "}}"}, {"(*", "*)"}, {"{-", "-}"}, {"[[", "]]"}, {"#|", "|#"}, {"<#", "#>"}, {"'''", "'''"},
	{`"`, `"`}, {"`", "`"},
}

// endOf returns the offset where the directive ends that starts at an offset of a
// line: where the comment or the quote ends that was opened before it, and else at
// the end of the line without what ends a comment or a text that began on a line
// before, as ` */` or `",`.
func endOf(line []byte, at int) int {
	before, rest := line[:at], line[at+len(marker):]
	for _, p := range pairs {
		isOpen := bytes.LastIndex(before, []byte(p[0])) > bytes.LastIndex(before, []byte(p[1]))
		if p[0] == p[1] {
			isOpen = bytes.Count(rest, []byte(p[1]))%2 == 1
		}
		if k := bytes.Index(rest, []byte(p[1])); isOpen && k >= 0 {
			rest = rest[:k]
		}
	}

	for range 8 { // more are no code
		rest = bytes.TrimRight(rest, " \t,;")
		for _, p := range pairs {
			if len(p[1]) > 1 {
				rest = bytes.TrimSuffix(rest, []byte(p[1]))
			}
		}
		for _, p := range []string{"''", "()", "[]", "{}"} { // in pairs they belong to the reason
			isSingle := bytes.Count(rest, []byte(p[1:])) > bytes.Count(rest, []byte(p[:1]))
			if p == "''" {
				isSingle = bytes.Count(rest, []byte("'"))%2 == 1
			}
			if isSingle {
				rest = bytes.TrimSuffix(rest, []byte(p[1:]))
			}
		}
	}

	return at + len(marker) + len(rest)
}

// withoutDirective returns a line without the comment that is beside something else
// on it, so that what the comment suppresses is recognised as what it was without.
// Space that was between them may stay. One with a mistake suppresses nothing and
// may be code, so it stays.
func withoutDirective(line []byte) []byte {
	d, ok := parseDirective(line)
	if !ok || d.alone || d.mistake != "" {
		return line
	}

	before, after := bytes.TrimRight(line[:d.start], " \t"), bytes.TrimLeft(line[d.end:], " \t")
	for _, p := range pairs {
		opened, isOpen := bytes.CutSuffix(before, []byte(p[0]))
		closed, isClosed := bytes.CutPrefix(after, []byte(p[1]))
		if isOpen && isClosed {
			return slices.Concat(opened, closed)
		}
	}
	for _, opener := range []string{"//", "--", "#", ";", "%", "!"} { // of comments that end with their line
		if bytes.HasSuffix(before, []byte(opener)) {
			before = bytes.TrimRight(before, opener) // all of `;;` and `///`
			break
		}
	}

	return slices.Concat(before, after)
}
