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
// comment; a text may speak of it:
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
	maxColumn    = 200  // of the marker, with tabs as wide as eight characters
	maxBlanks    = 40   // side by side, between what is before a comment on its line and the marker
)

// directive is what a comment says. Offsets are of bytes in its line.
type directive struct {
	ids                    []string // full ids of rules, each once
	reasonStart, reasonEnd int      // equal when there is no reason
	until                  string   // `YYYY-MM-DD`; empty for no end
	start, end             int      // from the marker to the end of what belongs to it
	alone                  bool     // there is no letter or digit beside it on the line

	// mistake is a phrase for what is wrong; empty for nothing. With one the rest may
	// be read in part. It repeats nothing of the line, which may hold a secret.
	mistake string
}

// parseDirective reads the first comment in a line, which is without its ending. ok
// is false when there is none.
func parseDirective(line []byte) (d directive, ok bool) {
	at := findMarker(line)
	if at < 0 {
		return directive{}, false
	}

	return directiveAt(line, at), true
}

// directiveAt reads the comment whose marker is at an offset of a line.
func directiveAt(line []byte, at int) directive {
	d := directive{start: at, end: endOf(line, at)}
	d.alone = !hasWord(line[:at]) && !hasWord(line[d.end:])
	d.mistake = d.read(line)

	return d
}

// isFar says whether a marker is where a reader may not see it: far to the right, or
// behind many blanks.
func isFar(before []byte) bool {
	column, blanks, begun := 0, 0, false
	for _, r := range string(before[:min(len(before), 8*maxColumn)]) {
		isBlank := unicode.IsSpace(r) || isInvisible(r) || r == '\u2800' // BRAILLE PATTERN BLANK
		switch {
		case !isBlank:
			begun, blanks = true, 0
		case begun:
			blanks++
		}
		if column++; r == '\t' {
			column += 7
		}
		if blanks > maxBlanks || column > maxColumn {
			return true
		}
	}

	return false
}

// findMarker returns the offset of the first comment in a line, or -1. The marker
// is a comment when no letter, digit, `-`, `_` or character that nobody sees is
// before it, and a blank, the end of the line or what is written in place of a blank
// by mistake behind it. So a text may speak of `prwarden:ignore`, in quotes.
func findMarker(line []byte) int { return findMarkerFrom(line, 0) }

// findMarkerFrom is findMarker for a line from an offset on.
func findMarkerFrom(line []byte, from int) int {
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

// hides says whether a text has characters that a reader does not see. Those that
// join letters or choose how one looks, as Persian words and emoji have them, are
// fine behind what is not ASCII.
func hides(text string) bool {
	before := rune(0)
	for _, r := range text {
		isJoiner := r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Variation_Selector, r)
		if isInvisible(r) && (!isJoiner || before < utf8.RuneSelf) {
			return true
		}
		before = r
	}

	return false
}

var (
	// untilAtEnd is an end of a comment that looks like a day.
	untilAtEnd = regexp.MustCompile(`(?i) +until +([0-9][0-9./-]*)$`)
	// untilAnywhere is what a reader takes for a last day: a number at most two words
	// behind `until`, or a year.
	untilAnywhere = regexp.MustCompile(
		`(?i)until(?:[^\pL\pN]*(?:\pL+[^\pL\pN]+){0,2}\pN|.*[^\pN](?:19|20)[0-9]{2}(?:[^\pN]|$))`)
	// dayAtEnd is what a reader takes for the last day whatever is before it:
	// `untli`, `υntil` with a Greek letter, or `bis`.
	dayAtEnd = regexp.MustCompile(`(?:^|[^\pL\pN/._-])\pN{4}[\p{Pd}\x{2212}]\pN{1,2}[\p{Pd}\x{2212}]\pN{1,2}[.,;:!?]*$`)
)

// read returns the mistake of the directive, or "".
func (d *directive) read(line []byte) string {
	text := strings.ReplaceAll(string(line[d.start+len(marker):d.end]), "\t", " ")
	switch {
	case isFar(line[:d.start]):
		return "it is more than 200 columns to the right or behind more than 40 blanks, where a reader may not see it; " +
			"put it on a line of its own before"
	case d.end-d.start > maxDirective:
		return "it has more than 1000 bytes"
	case findMarker(line[d.start+len(marker):]) >= 0:
		return "there is a second one on the line; a line has one, which may name several rules"
	case bytes.ContainsFunc(line, rule.IsDisruptive): // a terminal may erase, overwrite or conceal it
		return "on its line there are characters that change how the text is shown, which could hide it"
	case hides(text):
		return "it has characters that are invisible"
	case text != "" && text[0] != ' ':
		return "only a space or a tab may follow the marker, and then the ids of rules"
	}

	// A reader may take what is behind the end for a part of the reason.
	behind := string(line[d.end:min(d.end+maxDirective, len(line))])
	hasUntil := strings.Contains(strings.ToLower(text+behind), "until") // the expressions take longer to find out
	said, dayErr := text, error(nil)
	if hasUntil {
		if m := untilAtEnd.FindStringSubmatchIndex(text); m != nil {
			said, d.until = text[:m[0]], text[m[2]:m[3]]
			_, dayErr = time.Parse(time.DateOnly, d.until)
		}
	}

	ids, reason, hasReason := strings.Cut(said+" ", " -- ")
	if mistake := d.readIDs(ids); mistake != "" {
		return mistake
	}

	reason = strings.Trim(reason, " ")
	d.reasonEnd = d.start + len(marker) + len(said)
	d.reasonStart = d.reasonEnd - len(reason)
	switch {
	case dayErr != nil || hasUntil && untilAnywhere.MatchString(reason+" "+behind):
		return "behind `until` there must be a day as YYYY-MM-DD, and nothing behind the day"
	case hasReason && reason == "" && d.until == "":
		return "there is no reason behind `--`; give one, or leave out `--`"
	case d.until == "" && dayAtEnd.MatchString(reason):
		return "a day at the end of a reason must have `until` before it; a day that is no end goes elsewhere in the reason"
	case reason != "" && !hasWord([]byte(reason)):
		return "the reason has no word"
	}

	return ""
}

func (d *directive) readIDs(list string) (mistake string) {
	for id := range strings.SplitSeq(list, ",") {
		id = strings.Trim(id, " ")
		switch {
		case id == "" && len(d.ids) == 0:
			return "it names no rule; write the id of each that is accepted behind the marker, as `security/no-eval`"
		case id == "":
			return "there is a comma without an id"
		case strings.Contains(id, " "):
			return "behind the ids there may be only ` -- ` and a reason; ids are separated by commas"
		}

		if err := rule.CheckAnyID(id); err != nil {
			return "an id " + err.Error()
		}
		if full := rule.FullID(id); !slices.Contains(d.ids, full) {
			d.ids = append(d.ids, full)
		}
		if len(d.ids) > maxIDs {
			return "it names more than 20 rules"
		}
	}

	return ""
}

// pairs are how comments and texts begin and end that can end within a line.
var pairs = [...][2]string{
	{"{{!--", "--}}"}, {"<%--", "--%>"}, {"--[[", "--]]"}, {"/*", "*/"}, {"<!--", "-->"}, {"{#", "#}"}, {"<%", "%>"},
	{"{%", "%}"}, {"{{", "}}"}, {"(*", "*)"}, {"{-", "-}"}, {"[[", "]]"}, {"#|", "|#"}, {"<#", "#>"}, {"'''", "'''"},
	{`"`, `"`}, {"`", "`"},
}

// closing are pairs of which a part may stand behind a directive, because they began
// on a line before or around a text.
var closing = slices.Concat(pairs[:], [][2]string{{"'", "'"}, {"(", ")"}, {"[", "]"}, {"{", "}"}})

// endOf returns the offset where the directive ends that starts at an offset of a
// line: where the comment or the quote ends that was opened before it, and else at
// the end of the line without what ends a comment or a text that began on a line
// before, as ` */` or `",`.
func endOf(line []byte, at int) int {
	before, rest := line[:at], line[at+len(marker):]
	for _, p := range pairs {
		isOpen := bytes.LastIndex(before, []byte(p[0])) > bytes.LastIndex(before, []byte(p[1]))
		if p[0] == p[1] {
			isOpen = endsMore(rest, p)
		}
		if k := bytes.Index(rest, []byte(p[1])); isOpen && k >= 0 {
			rest = rest[:k]
		}
	}

	for range 8 { // more are no code
		rest = bytes.TrimRight(rest, " \t,;")
		for _, p := range closing {
			if bytes.HasSuffix(rest, []byte(p[1])) && endsMore(rest, p) { // in pairs they belong to the reason
				rest = rest[:len(rest)-len(p[1])]
			}
		}
	}

	return at + len(marker) + len(rest)
}

// endsMore says whether a text has more ends than beginnings of a pair.
func endsMore(text []byte, pair [2]string) bool {
	n := bytes.Count(text, []byte(pair[1]))
	if pair[0] == pair[1] {
		return n%2 == 1
	}

	return n > bytes.Count(text, []byte(pair[0]))
}
