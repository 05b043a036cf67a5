package finding

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// What a finding and a skip take beside their texts: field names, numbers, and
// words of which there are few.
const (
	findingOverhead = 768
	skipOverhead    = 320
)

// Size is how many bytes a finding takes at most in an answer of the API in JSON,
// and in a SARIF log.
func (f Finding) Size() int {
	n := findingOverhead + pathSize(f.File)
	for _, text := range []string{f.RuleID, f.Message, f.Snippet, f.Fingerprint, f.LineHash} {
		n += textSize(text)
	}

	if s := f.Suppression; s != nil { // the log has the path of the comment, too
		n += textSize(s.Reason) + textSize(s.Until) + pathSize(f.File)
	}

	return n
}

// Size is how many bytes a skip takes at most, like that of a finding.
func (s Skip) Size() int {
	return skipOverhead + pathSize(s.File) + 2*textSize(s.RuleID) + textSize(s.Reason)
}

// textSize is how long a text is at most as a string in JSON, whatever the encoder
// escapes. A byte that is not UTF-8 is written as U+FFFD.
func textSize(text string) int {
	n := len(text)
	for i := range len(text) {
		n += int(jsonExtra[text[i]])
	}
	if !utf8.ValidString(text) {
		n += (utf8.RuneLen(utf8.RuneError) - 1) * len(text)
	}

	return n
}

// pathSize is how long a path is at most in JSON or in a URI, whichever is longer.
// JSON has its bytes in base64 too when they are not UTF-8.
func pathSize(path string) int {
	inJSON := textSize(path)
	if !utf8.ValidString(path) {
		inJSON += base64.StdEncoding.EncodedLen(len(path))
	}

	inURI := len(path)
	for i := range len(path) {
		inURI += int(uriExtra[path[i]])
	}

	return max(inJSON, inURI)
}

// jsonExtra and uriExtra are how many more bytes a byte takes in JSON and in the
// path of a URI. They are tables because every byte of every finding is measured.
var jsonExtra, uriExtra = extraBytes()

func extraBytes() (inJSON, inURI [256]uint8) {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~"
	for i := range inJSON {
		c := byte(i)
		switch {
		case c == '"' || c == '\\':
			inJSON[i] = 1
		case c < ' ' || c == '<' || c == '>' || c == '&':
			inJSON[i] = uint8(len(`\u0000`) - 1)
		case c == "\u2028"[0]: // U+2028 and U+2029 may be escaped; others with this first byte count too
			inJSON[i] = uint8(len(`\u2028`) - len("\u2028"))
		}
		if strings.IndexByte(plain, c) < 0 {
			inURI[i] = uint8(len("%00") - 1)
		}
	}

	return inJSON, inURI
}
