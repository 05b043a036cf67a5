package scan

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/match"
)

// show makes the files of the answer, with each secret that was found in one of them
// hidden in all.
func (d *differ) show() []finding.FileDiff {
	known := texts{byStart: map[uint64][][]byte{}, seen: map[string]bool{}}
	d.each(func(l *shownLine) {
		for _, secret := range l.secrets {
			known.add(secret)
		}
	})
	d.each(known.hideIn)

	left := maxDiffSize
	out := make([]finding.FileDiff, len(d.files))
	for i := range d.files {
		out[i] = d.files[i].show(&left)
	}

	return out
}

// show makes the file, which may take so many bytes.
func (f *shownFile) show(left *int) finding.FileDiff {
	out := f.FileDiff
	*left -= fileOverhead + len(f.Path) + len(f.OldPath)
	for k := range out.Hunks {
		hunk := &out.Hunks[k]
		if f.heads[k] != nil {
			hunk.Section = f.heads[k].show(maxSection).Text
		}
		*left -= hunkOverhead + len(hunk.Section)
		for _, l := range f.lines[k] {
			line := l.show(longLine)
			*left -= lineOverhead + len(line.Text) + spanOverhead*len(line.Masked)
			if *left < 0 { // masks can be longer than what they are for
				out.Hunks, out.Truncated = out.Hunks[:k], true
				return out
			}
			hunk.Lines = append(hunk.Lines, line)
		}
	}

	return out
}

// each calls use for each line of the answer.
func (d *differ) each(use func(*shownLine)) {
	for _, f := range d.files {
		for k, lines := range f.lines {
			if head := f.heads[k]; head != nil && (k == 0 || head != f.heads[k-1]) {
				use(head)
			}
			for _, l := range lines {
				use(l)
			}
		}
	}
}

// shownLine is a line, or the beginning of a long one.
type shownLine struct {
	kind      finding.LineKind
	raw       []byte
	hidden    []match.Span // of raw, as join has them
	secrets   [][]byte     // what rules hide of the whole line
	noNewline bool
	isCut     bool
}

// keptLine is how many bytes are kept of a line: more than is shown, since a secret may
// begin in what is shown and go on.
const keptLine = 2 * longLine

// take takes over a text of which spans are hidden, which join made.
func (l *shownLine) take(text []byte, hidden []match.Span) {
	for _, s := range hidden {
		l.secrets = append(l.secrets, bytes.Clone(text[s.Start:min(s.End, s.Start+keptLine)]))
		if s.Start < keptLine {
			l.hidden = append(l.hidden, match.Span{Start: s.Start, End: min(s.End, keptLine)})
		}
	}
	l.raw, l.isCut = bytes.Clone(text[:min(len(text), keptLine)]), len(text) > keptLine
}

func (l *shownLine) secretSize() (size int) {
	for _, s := range l.secrets {
		size += len(s)
	}

	return size
}

// show is the line as people see it, at most so many bytes of it.
func (l *shownLine) show(most int) finding.DiffLine {
	var text []byte
	var masked []finding.TextSpan
	isFull := false
	add := func(part []byte) {
		shown := printable(part, 3*len(part)) // a byte may become U+FFFD
		if isFull = len(text)+len(shown) > most; isFull {
			shown = printable(part, most-len(text))
		}
		text = append(text, shown...)
	}

	at := 0
	for _, s := range l.hidden {
		add(l.raw[at:s.Start])
		if isFull = isFull || len(text)+len(mask) > most; isFull {
			break
		}
		masked = append(masked, finding.TextSpan{Start: len(text), End: len(text) + len(mask)})
		text, at = append(text, mask...), s.End
	}
	if !isFull {
		add(l.raw[at:])
	}

	return finding.DiffLine{
		Kind: l.kind, Text: string(text), Masked: masked, NoNewline: l.noNewline, Cut: isFull || l.isCut,
	}
}

// texts are secrets that are hidden wherever they are. The work to find them is bounded.
type texts struct {
	byStart map[uint64][][]byte
	seen    map[string]bool
	work    int // bytes that were compared
}

// leastText is the length, in bytes, from which on a text is hidden in other lines, too:
// shorter ones are there by chance.
const leastText = 8

func (t *texts) add(secret []byte) {
	if len(bytes.TrimSpace(secret)) < leastText || t.seen[string(secret)] {
		return
	}
	t.seen[string(secret)] = true
	start := binary.LittleEndian.Uint64(secret)
	t.byStart[start] = append(t.byStart[start], secret)
}

// hideIn hides the texts in a line, and all of it where finding them takes too long.
func (t *texts) hideIn(l *shownLine) {
	if len(t.byStart) == 0 {
		return
	}

	all := slices.Clone(l.hidden)
	for at := 0; at+leastText <= len(l.raw); at++ {
		for _, secret := range t.byStart[binary.LittleEndian.Uint64(l.raw[at:])] {
			if l.isCut { // it may go on behind what is kept
				secret = secret[:min(len(secret), len(l.raw)-at)]
			}
			if t.work += len(secret); t.work > maxSearch {
				l.hidden = join([]match.Span{{Start: 0, End: len(l.raw)}})
				return
			}
			if bytes.HasPrefix(l.raw[at:], secret) {
				all = append(all, match.Span{Start: at, End: at + len(secret)})
			}
		}
	}
	l.hidden = join(all)
}
