// Package suppress reads the comments in a file that accept findings:
//
//	prwarden:ignore ID[, ID] -- reason [until YYYY-MM-DD]
//
// It says which hits they accept, and what is wrong with those that accept none.
// A comment is trusted only as far as a reader of the code sees what it does, so
// whatever is not plainly right accepts nothing and is reported.
package suppress

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/rule"
)

// Marker is what a comment is known by, in whichever kind of comment or text.
const Marker = "prwarden:ignore"

// Bounds of one comment.
const (
	MaxIDs    = 20   // rules that it names
	MaxLength = 1000 // bytes, from the marker on
)

// Directive is what a comment says. Offsets are of bytes in its line.
type Directive struct {
	IDs                    []string // full ids of rules, each once
	ReasonStart, ReasonEnd int      // equal when there is no reason
	Until                  string   // `YYYY-MM-DD`; empty for no end
	Start, End             int      // from the marker to the end of what belongs to it
	Alone                  bool     // there is no letter or digit beside it on the line
	// Mistake is a phrase for what is wrong; empty for nothing. It repeats
	// nothing of the line, which may hold a secret.
	Mistake string
}

// Parse reads the comment in a line, which is without its ending. ok is false
// when there is none.
//
// The marker is a comment when no letter, digit, `-` or `_` is before it, and a
// blank, the end of the line or what is written in place of a blank by mistake
// behind it. So a text may speak of `prwarden:ignore`, in quotes.
func Parse(line []byte) (d Directive, ok bool) {
	at := find(line, 0)
	if at < 0 {
		return Directive{}, false
	}
	begin := at + len(Marker)
	p := parser{line: line, at: begin, end: endOf(line, at)}
	d = Directive{Start: at, End: p.end, Alone: !hasWord(line[:at]) && !hasWord(line[p.end:])}
	if mistake := p.read(&d); mistake != "" {
		d = Directive{Start: d.Start, End: d.End, Alone: d.Alone, Mistake: mistake}
	}
	return d, true
}

// find returns the offset of the first comment in a line at or behind from, or
// -1.
func find(line []byte, from int) int {
	for {
		at := indexMarker(line, from)
		if at < 0 {
			return -1
		}
		from = at + len(Marker)
		if before, _ := utf8.DecodeLastRune(line[:at]); at > 0 && isWord(before) {
			continue
		}
		after, _ := utf8.DecodeRune(line[from:])
		if from == len(line) || unicode.IsSpace(after) || unicode.Is(unicode.Cf, after) ||
			strings.ContainsRune(":=-([{<|", after) {
			return at
		}
	}
}

func isWord(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func hasWord(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

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

// read returns the mistake of the directive, or "".
func (p *parser) read(d *Directive) string {
	if p.end-d.Start > MaxLength {
		return "it has more than 1000 bytes"
	}
	if find(p.line, p.at) >= 0 {
		return "there is a second one on the line; a line has one, which may name several rules"
	}
	if hides(p.rest()) {
		return "it has characters that are invisible or change the order of the text"
	}
	if hidden(p.line[:d.Start], p.line[p.end:]) {
		return "beside it on the line there are characters that are invisible or change how the text is shown, " +
			"which could hide it"
	}
	if !p.blanks() {
		return "only a space or a tab may follow the marker, and then the ids of rules"
	}
	if mistake := p.ids(d); mistake != "" {
		return mistake
	}
	if rest := p.rest(); bytes.HasPrefix(rest, []byte("--")) && (len(rest) == 2 || isBlank(rest[2])) {
		p.at += 2
		if p.blanks(); p.at == p.end {
			return "there is no reason behind `--`; give one, or leave out `--`"
		}
	} else if len(rest) > 0 && !onlyUntil.Match(rest) {
		return "behind the ids there may be only ` -- ` and a reason; ids are separated by commas"
	}
	return p.reason(d)
}

func (p *parser) ids(d *Directive) string {
	for {
		from := p.at
		for p.at < p.end && !isBlank(p.line[p.at]) && p.line[p.at] != ',' {
			p.at++
		}
		id := string(p.line[from:p.at])
		if id == "" || id == "--" {
			if len(d.IDs) == 0 {
				return "it names no rule; write the id of each that is accepted behind the marker, as `security/no-eval`"
			}
			return "there is a comma without an id"
		}
		if err := rule.CheckID(id); err != nil {
			return "an id " + err.Error()
		}
		if full := rule.FullID(id); !slices.Contains(d.IDs, full) {
			d.IDs = append(d.IDs, full)
		}
		if len(d.IDs) > MaxIDs {
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
	// onlyUntil is one without a reason before it.
	onlyUntil = regexp.MustCompile(`(?i)^until[ \t]+[0-9][0-9./-]*$`)
	// dayAtEnd is what a reader takes for the last day whatever is before it:
	// `untli`, `υntil` with a Greek letter, or `bis`.
	dayAtEnd = regexp.MustCompile(`(?:^|[^\pL\pN/._-])\pN{4}[\p{Pd}\x{2212}]\pN{1,2}[\p{Pd}\x{2212}]\pN{1,2}[.,;:!?]*$`)
)

// notDay says what is wrong with a day.
const notDay = "behind `until` there must be a day as YYYY-MM-DD, and nothing behind the day"

// reason reads what is behind ` -- `.
func (p *parser) reason(d *Directive) string {
	reason, from := p.rest(), p.at // from where on nothing may seem to be a day
	if hasUntil(reason) {          // the expression would take longer to find out
		if m := untilAtEnd.FindSubmatchIndex(reason); m != nil {
			d.Until, reason, from = string(reason[m[2]:m[3]]), reason[:m[0]], p.end
			if _, err := time.Parse(time.DateOnly, d.Until); err != nil || seemsDated(reason) {
				return notDay
			}
		}
	}
	d.ReasonStart, d.ReasonEnd = p.at, p.at+len(reason)
	switch {
	// Behind the end of the directive, too: its reader may take what is there for a
	// part of it.
	case seemsDated(p.line[from:min(p.end+MaxLength, len(p.line))]):
		return notDay
	case d.Until == "" && dayAtEnd.Match(reason):
		return "a day at the end of a reason must have `until` before it; a day that is no end goes elsewhere in the reason"
	case len(reason) > 0 && !hasWord(reason):
		return "the reason has no word"
	}
	return ""
}

// seemsDated says whether there is a day behind `until` as a reader sees a text: a
// number at most two words behind it, or a year at most eight.
func seemsDated(text []byte) bool {
	seen := bytes.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, text)
	if !hasUntil(seen) {
		return false
	}
	seen = bytes.ReplaceAll(bytes.ToLower(seen), []byte("until"), []byte(" until "))
	number, year := 0, 0 // how many words may still be one
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for _, word := range bytes.FieldsFunc(seen, between) {
		first, _ := utf8.DecodeRune(word)
		n, _ := strconv.Atoi(string(word))
		switch {
		case string(word) == "until":
			number, year = 3, 9
		case number > 0 && unicode.IsNumber(first), year > 0 && n >= 1900 && n < 2100:
			return true
		case bytes.ContainsFunc(word, unicode.IsNumber): // `v2` is no day
			number = 0
			year--
		default:
			number--
			year--
		}
	}
	return false
}

func hasUntil(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte("until")) }
