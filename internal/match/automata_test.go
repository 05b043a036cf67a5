package match_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/match/confirm"
	"github.com/prwarden/prwarden/internal/match/parse"
)

// FuzzAutomata finds lines of which an automaton says something else than
// regexp: whether the line matches, or whether a match begins at one of its
// characters. The engine asks automata where the filter
// lets it; this asks them about every line.
func FuzzAutomata(f *testing.F) { fuzzScenes(f, scene.automataDiffer) }

func (s scene) automataDiffer(context.Context) string {
	room := confirm.NewRoom(1 << 22)
	cost := 0 // of asking about places
	for i, r := range s.rules {
		parsed, err := parse.Parse(r.Pattern, false)
		if err != nil {
			return "Parse: " + err.Error()
		}
		re := regexp.MustCompile(r.Pattern)
		if parsed.Never {
			for line := range s.texts(false) {
				if re.Match(line) {
					return fmt.Sprintf("rule %d matches %q, though it never does", i, line)
				}
			}

			continue
		}
		size := programSize(r.Pattern)
		p := confirm.NewProgram(parsed, size, room)
		for line := range s.texts(false) {
			if d := lineDiffers(p, re, line); d != "" {
				return fmt.Sprintf("rule %d on %q: %s", i, line, d)
			}
			if cost += size * len(line) * len(line); cost > maxCost {
				continue
			}
			if d := placesDiffer(p, re, line); d != "" {
				return fmt.Sprintf("rule %d on %q: %s", i, line, d)
			}
		}
	}

	return ""
}

func lineDiffers(p *confirm.Program, re *regexp.Regexp, line []byte) string {
	if got, _, ok := p.Line(line, nil); ok && got != re.Match(line) {
		return fmt.Sprintf("Line: %v", got)
	}

	return ""
}

// placesDiffer asks about each character of a line, within a text whose other
// lines must make no difference.
func placesDiffer(p *confirm.Program, re *regexp.Regexp, line []byte) string {
	before := "aK1 \n"
	text := []byte(before + string(line) + "\r\n" + string(line) + "\nk1")
	found := false
	for at := 0; at <= len(line); {
		got, _, ok := p.At(text, len(before)+at, nil)
		if !ok {
			return ""
		}
		found = found || got
		_, width := utf8.DecodeRune(line[at:])
		at += max(width, 1)
	}
	if found != re.Match(line) {
		return fmt.Sprintf("At, of all places: %v", found)
	}

	return ""
}
