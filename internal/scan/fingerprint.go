package scan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"unicode"
)

// identity is what a finding is recognised by across scans.
type identity struct {
	ruleID, path string
	text         string // see normalise
}

// normalise stands for a line, as it may be shown, without its white space: a
// hash, as lines may be long and many findings may be on one.
func normalise(line []byte) string {
	sum := sha256.Sum256(bytes.Join(bytes.FieldsFunc(line, unicode.IsSpace), nil))
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
	f[id]++
	h := sha256.New()
	for _, s := range []string{"prwarden finding 1", id.ruleID, id.path, id.text} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	h.Write(binary.BigEndian.AppendUint64(nil, n))
	return hex.EncodeToString(h.Sum(nil)[:16])
}
