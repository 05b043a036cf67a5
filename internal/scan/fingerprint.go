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

// fingerprinter gives out the fingerprints of one file's findings.
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
