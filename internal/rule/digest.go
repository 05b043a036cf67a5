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
	type place struct {
		id string
		at int
	}
	sorted := make([]place, len(rules)) // rules are large to move
	for i := range rules {
		sorted[i] = place{rules[i].FullID(), i}
	}
	slices.SortStableFunc(sorted, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(rules[a.at].Origin, rules[b.at].Origin))
	})
	d := &digester{hash: sha256.New()}
	d.text("prwarden rules 1")
	d.number(len(sorted))
	for _, p := range sorted {
		r := &rules[p.at]
		d.text(p.id)
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
	d.flush()
	return hex.EncodeToString(d.hash.Sum(nil))
}

// digester writes values so that different values never write the same bytes.
// It gathers them first: each scan takes the digest of thousands of rules, and
// a hash is slow with many small pieces.
type digester struct {
	hash     hash.Hash
	gathered []byte
}

// gather is how many bytes are hashed at once, about.
const gather = 16 << 10

func (d *digester) flush() {
	d.hash.Write(d.gathered)
	d.gathered = d.gathered[:0]
}

func (d *digester) number(n int) {
	if len(d.gathered) >= gather {
		d.flush()
	}
	d.gathered = binary.BigEndian.AppendUint64(d.gathered, uint64(n))
}

func (d *digester) text(s string) {
	d.number(len(s))
	d.gathered = append(d.gathered, s...)
}

// list writes a set of globs: their order decides nothing.
func (d *digester) list(l []string) {
	if len(l) > 1 {
		l = slices.Sorted(slices.Values(l))
	}
	d.number(len(l))
	for _, s := range l {
		d.text(s)
	}
}

func (d *digester) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	d.number(n)
}
