package scan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/report/linehash"
	"github.com/prwarden/prwarden/internal/rule"
)

// find makes findings of hits, which come by line.
func (s *fileScan) find(ctx context.Context, hits []hit) error {
	hashes, err := s.hashes(ctx, hits)
	if err != nil {
		return err
	}

	for _, h := range hits {
		r := s.rule(h)
		f, err := s.finding(ctx, r, h)
		if err != nil {
			return err
		}
		if !r.Redact {
			f.LineHash = hashes[h.Line]
		}

		if !h.suppressed {
			s.out.findings = append(s.out.findings, f)
			continue
		}
		if f.Suppression, err = s.suppression(ctx, h.Line, r.FullID()); err != nil {
			return err
		}
		s.out.suppressed = append(s.out.suppressed, f)
	}

	return nil
}

func (s *fileScan) finding(ctx context.Context, r rule.Rule, h hit) (finding.Finding, error) {
	f := finding.Finding{
		RuleID: r.FullID(), Severity: r.Severity, File: s.file.Path, Message: r.Message,
		Line: h.Line, EndLine: h.EndLine, Column: h.Column, EndColumn: h.EndColumn,
	}
	if s.plan.placesOnly {
		return f, nil
	}

	err := s.describe(ctx, &f)
	return f, err
}

// describe adds to a finding what is made of the text of its lines.
func (s *fileScan) describe(ctx context.Context, f *finding.Finding) error {
	line, err := s.masker.line(ctx, f.Line)
	if err != nil {
		return err
	}

	f.UTF16Column = s.utf16Column(f.Line, f.Column)
	f.UTF16EndColumn = s.utf16Column(f.EndLine, f.EndColumn)
	f.Snippet = line.snippet(f.Column - 1)
	f.Fingerprint = s.prints.next(identity{ruleID: f.RuleID, file: f.File, text: line.identity()})

	return nil
}

// utf16Column is a column in UTF-16 code units, from 1. A byte that is not part
// of a character in UTF-8 counts as U+FFFD, so as one.
func (s *fileScan) utf16Column(line, column int) int {
	start := s.lines.Start(line)
	units := 1
	for text := s.lines.Text()[start : start+column-1]; len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if units++; r > 0xFFFF {
			units++
		}
	}

	return units
}

// hashes returns the line hashes for hits by line, without those that are made of
// text that must not be shown.
func (s *fileScan) hashes(ctx context.Context, hits []hit) (map[int]string, error) {
	if s.plan.placesOnly {
		return nil, nil
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

		hidden, err := s.masker.hides(ctx, first, last)
		if err != nil {
			return nil, err
		}
		if !hidden {
			hashes[lines[i]] = hash.Text
		}
	}

	return hashes, nil
}

// suppression returns the comment that suppresses the hit of a rule on a line.
func (s *fileScan) suppression(ctx context.Context, line int, fullID string) (*finding.Suppression, error) {
	d, at := s.comments.Of(line, fullID)
	text, err := s.masker.line(ctx, at)
	if err != nil {
		return nil, err
	}

	return &finding.Suppression{
		Reason: printable(text.show(d.ReasonStart, d.ReasonEnd), MaxSnippet),
		Until:  d.Until,
		Line:   at,
	}, nil
}

// maxReports is how many findings there are about comments that suppress, of each
// rule: a pull request must not be able to bury its other findings. One more says
// how many there are beside them.
const maxReports = 20

// report makes findings of what there is to say about the comments that
// suppress, and counts them.
func (s *fileScan) report(ctx context.Context) error {
	shown := func(n int) bool {
		line, err := s.masker.line(ctx, n)
		return err == nil && len(line.hidden) == 0
	}

	for r := range s.comments.Reports(s.plan.use, shown) {
		id := string(r.Kind)
		if s.out.reportCounts == nil {
			s.out.reportCounts = map[string]int{}
		}
		if s.out.reportCounts[id]++; s.out.reportCounts[id] > maxReports+1 {
			continue
		}

		f := finding.Finding{
			RuleID: id, Severity: r.Kind.Severity(), File: s.file.Path, Message: r.Message,
			Line: r.Line, EndLine: r.Line, Column: r.Start + 1, EndColumn: r.End + 1,
		}
		if err := s.describe(ctx, &f); err != nil {
			return err
		}
		s.out.reports = append(s.out.reports, f)
	}

	return nil
}

// identity is what a finding is recognised by across scans.
type identity struct {
	ruleID, file string
	text         string // see normalise
}

// normalise stands for a line, as it may be shown, without its white space. It is
// a hash, because lines may be long and many findings may be on one.
func normalise(line []byte) string {
	bare := make([]byte, 0, len(line))
	for part := range bytes.FieldsFuncSeq(line, unicode.IsSpace) {
		bare = append(bare, part...)
	}
	sum := sha256.Sum256(bare)

	return string(sum[:])
}

// fingerprinter gives out the fingerprints of one file's findings, or of more.
type fingerprinter map[identity]uint64

// next returns the fingerprint of the next finding with an identity: 128 bits
// of the SHA-256 of the identity and of the number of findings before it that
// have the same, in hexadecimal. It does not depend on the line number, so it
// stays when lines move.
//
// The text is the masked one. With the secret in it, anyone with the
// fingerprint could try out secrets of which they know the form until the hash
// is the same. So a line in which only the secret was replaced by another one
// keeps its fingerprint.
func (f fingerprinter) next(id identity) string {
	n := f[id]
	f[id] = n + 1

	hashed := make([]byte, 0, 256) // mostly enough
	for _, s := range []string{"prwarden finding 1", id.ruleID, id.file, id.text} {
		hashed = binary.BigEndian.AppendUint64(hashed, uint64(len(s)))
		hashed = append(hashed, s...)
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(hashed, n))

	return hex.EncodeToString(sum[:16])
}
