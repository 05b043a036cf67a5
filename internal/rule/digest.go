package rule

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// Digest returns the SHA-256, in hexadecimal, of what decides the results of a scan with
// rules, whatever their order, and of the globs of paths that no rule looks at. Cases,
// references and who made a rule decide nothing.
func Digest(rules []Rule, exclude ...string) string {
	type named struct {
		id string // full
		*Rule
	}
	sorted := make([]named, len(rules))
	for i := range rules {
		sorted[i] = named{rules[i].FullID(), &rules[i]}
	}
	slices.SortStableFunc(sorted, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.Origin, b.Origin))
	})

	hash := sha256.New()
	d := digester{bufio.NewWriter(hash)}
	d.number(len(sorted))
	for _, r := range sorted {
		d.text(r.id)
		d.text(r.Type)
		d.text(r.Pattern)
		d.text(r.Message)
		d.number(int(r.Severity))
		d.set(r.Paths.Include)
		d.set(r.Paths.Exclude)
		d.set(r.Languages)
		d.number(len(r.In))
		for _, place := range r.In {
			d.text(string(place))
		}
		d.set(r.Skip)
		d.flags(r.Multiline)
		d.flags(r.Redact, r.Observed(), r.Disabled)
		d.number(int(r.Origin))
		d.conditions(*r.Rule)
		d.text(string(CompactJSON(r.Structure)))
		d.text(string(CompactJSON(r.Taint)))
		d.text(string(r.Sureness()))
		if r.Fix != nil {
			d.text("fix") // which is no full id, so no other rule begins so
			d.text(*r.Fix)
		}
		if len(r.Words) > 0 {
			d.text("words") // likewise
			d.text(string(CompactJSON(r.Words)))
		}
	}

	d.set(exclude)

	_ = d.Flush() // a hash never fails
	return hex.EncodeToString(hash.Sum(nil))
}

// digester writes values so that different values never write the same bytes.
type digester struct{ *bufio.Writer }

func (d digester) number(n int) {
	_, _ = d.Write(binary.BigEndian.AppendUint64(d.AvailableBuffer(), uint64(n)))
}

func (d digester) text(s string) {
	d.number(len(s))
	_, _ = d.WriteString(s)
}

func (d digester) flags(flags ...bool) {
	n := 0
	for i, set := range flags {
		if set {
			n |= 1 << i
		}
	}
	d.number(n)
}

// set writes texts whose order decides nothing.
func (d digester) set(list []string) {
	d.number(len(list))
	for _, text := range slices.Sorted(slices.Values(list)) {
		d.text(text)
	}
}
