package rule

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// Digest returns the SHA-256, in hexadecimal, of what decides the results of a
// scan with rules: for each rule its full id, type, pattern, message, severity,
// paths, multiline, redact and origin, whatever the order of the rules; and the
// globs of paths that no rule looks at. Scope, repository, cases, references
// and creation time are not part of it.
func Digest(rules []Rule, exclude ...string) string {
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.FullID(), b.FullID()), cmp.Compare(a.Origin, b.Origin))
	})
	d := digester{sha256.New()}
	d.text("prwarden rules 1")
	d.number(len(sorted))
	for _, r := range sorted {
		d.text(r.FullID())
		d.text(r.Type)
		d.text(r.Pattern)
		d.text(r.Message)
		d.number(int(r.Severity))
		d.list(r.Paths.Include)
		d.list(r.Paths.Exclude)
		d.flag(r.Multiline)
		d.flag(r.Redact)
		d.number(int(r.Origin))
	}
	d.list(exclude)
	return hex.EncodeToString(d.hash.Sum(nil))
}

// digester writes values so that different values never write the same bytes.
type digester struct{ hash hash.Hash }

func (d digester) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.hash.Write(b[:])
}

func (d digester) text(s string) {
	d.number(len(s))
	d.hash.Write([]byte(s))
}

// list writes a set of globs: their order decides nothing.
func (d digester) list(l []string) {
	sorted := slices.Sorted(slices.Values(l))
	d.number(len(sorted))
	for _, s := range sorted {
		d.text(s)
	}
}

func (d digester) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	d.number(n)
}
