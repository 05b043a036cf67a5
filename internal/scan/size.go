package scan

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxSize is how many bytes the findings, suppressed ones and skips of a scan
// take in all, see Finding.Size. So an answer that has all of them can be held
// in memory, whatever their paths are made of.
const MaxSize = 32 << 20

// What a finding and a skip take beside their texts: names, numbers, and words of
// which there are few.
const (
	bareFinding = 768
	bareSkip    = 320
)

// Size is how many bytes a finding takes at most in an answer of the API in JSON,
// and likewise in a SARIF log.
func (f Finding) Size() int {
	n := bareFinding + pathSize(f.Path)
	for _, text := range []string{f.RuleID, f.Message, f.Snippet, f.Fingerprint, f.LineHash} {
		n += textSize(text)
	}
	if s := f.Suppression; s != nil { // the log has the path of the comment, too
		n += textSize(s.Reason) + textSize(s.Until) + pathSize(f.Path)
	}
	return n
}

// Size is how many bytes a skip takes at most, like that of a finding.
func (s Skip) Size() int {
	return bareSkip + pathSize(s.Path) + 2*textSize(s.RuleID) + textSize(s.Reason)
}

// textSize is how long a text is at most as a string in JSON, whatever the encoder
// escapes. A byte that is not UTF-8 is written as U+FFFD.
func textSize(text string) int {
	n := len(text)
	for i := range len(text) {
		n += int(escape[text[i]])
	}
	if !utf8.ValidString(text) {
		n += (utf8.RuneLen(utf8.RuneError) - 1) * len(text)
	}
	return n
}

// pathSize is how long a path is at most: in JSON, where its bytes are told too
// when they are not UTF-8, or in a URI, whichever is longer.
func pathSize(path string) int {
	told := textSize(path)
	if !utf8.ValidString(path) {
		told += base64.StdEncoding.EncodedLen(len(path))
	}
	uri := len(path)
	for i := range len(path) {
		uri += int(percent[path[i]])
	}
	return max(told, uri)
}

// escape and percent are how many more bytes a byte takes in JSON and in the path
// of a URI. Tables, because this is done for each byte of what is found.
var escape, percent = func() (inJSON, inURI [256]uint8) {
	for i := range inJSON {
		c := byte(i)
		switch {
		case c == '"' || c == '\\':
			inJSON[i] = 1
		case c < ' ' || c == '<' || c == '>' || c == '&':
			inJSON[i] = uint8(len(`\u0000`) - 1)
		case c == "\u2028"[0]: // it and U+2029 may be escaped; others that begin so count, too
			inJSON[i] = uint8(len(`\u2028`) - len("\u2028"))
		}
		if plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'; !plain && !strings.ContainsRune("/-._~", rune(c)) {
			inURI[i] = uint8(len("%00") - 1)
		}
	}
	return inJSON, inURI
}()

// fit returns how many of the findings, the suppressed ones and the skips, from
// the first on, have size in all. Each list may leave the others too little, but
// findings have half of it and the others a quarter each, whatever there is of
// the others: who can make many of one kind must not be able to hide another.
func fit(findings, suppressed []Finding, skips []Skip, size int) (nFindings, nSuppressed, nSkips int) {
	allSuppressed, allSkips := sizeOf(suppressed), sizeOf(skips)
	nFindings, used := within(findings, max(size/2, size-allSuppressed-allSkips))
	left := size - used
	nSuppressed, used = within(suppressed, max(size/4, left-allSkips))
	nSkips, _ = within(skips, left-used)
	return nFindings, nSuppressed, nSkips
}

type sized interface{ Size() int }

func sizeOf[T sized](all []T) int {
	n := 0
	for _, one := range all {
		n += one.Size()
	}
	return n
}

// within returns how many of all, from the first on, fit into size, and what they
// take.
func within[T sized](all []T, size int) (n, used int) {
	for n < len(all) {
		more := all[n].Size()
		if used+more > size {
			break
		}
		used += more
		n++
	}
	return n, used
}

// inOrder sorts findings as results have them.
func inOrder(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.RuleID, b.RuleID))
	})
}
