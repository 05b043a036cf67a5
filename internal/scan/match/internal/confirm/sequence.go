package confirm

import (
	"encoding/binary"

	"github.com/prwarden/prwarden/internal/scan/match/internal/byteset"
)

// Sequence is byte sets around a place that the filter found. All of them have
// to hold before anything that costs more is asked.
//
// Eight of the bytes are compared at once: mask selects the bits that all bytes
// of a set have in common, want says what they are. This alone turns away
// nearly all that the filter lets through.
type Sequence struct {
	want, mask uint64
	rest       *[]*byteset.Set // the sequence, nil when the eight bytes are all of it
	load       int16           // where the eight bytes are, from the place
	from       int16           // where the sequence begins, from the place
	length     int16
}

// Sets keeps one of each set that sequences use.
type Sets map[byteset.Set]*byteset.Set

// NewSequence prepares a sequence of which the filter finds byte at.
func NewSequence(seq []byteset.Set, at int, sets Sets) Sequence {
	s := Sequence{from: int16(-at), length: int16(len(seq))}
	// The eight bytes that say most are those with most bits in common.
	first, most := 0, -1
	for i := 0; i == 0 || i+8 <= len(seq); i++ {
		sum := 0
		for _, set := range seq[i:min(i+8, len(seq))] {
			sum += 9 - bitsOf(set.Len())
		}
		if sum > most {
			first, most = i, sum
		}
	}
	s.load = int16(first - at)
	exact := len(seq) <= 8
	for i, set := range seq[first:min(first+8, len(seq))] {
		want, mask := common(set)
		s.want |= uint64(want) << (8 * i)
		s.mask |= uint64(mask) << (8 * i)
		exact = exact && set.Len() == 1<<(8-onesOf(mask))
	}
	if !exact {
		rest := make([]*byteset.Set, len(seq))
		for i, set := range seq {
			kept, ok := sets[set]
			if !ok {
				kept = &set
				sets[set] = kept
			}
			rest[i] = kept
		}
		s.rest = &rest
	}
	return s
}

// bitsOf is the number of bits that are needed to tell n things apart.
func bitsOf(n int) int {
	bits := 0
	for 1<<bits < n {
		bits++
	}
	return bits
}

func onesOf(b byte) int {
	n := 0
	for ; b != 0; b &= b - 1 {
		n++
	}
	return n
}

// common returns the bits that all bytes of a set have the same, and which they
// are.
func common(set byteset.Set) (want, mask byte) {
	and, or := byte(0xFF), byte(0)
	set.Each(func(b byte) { and, or = and&b, or|b })
	mask = ^(and ^ or)
	return and & mask, mask
}

// Holds says whether the sequence is in text around the place at.
func (s *Sequence) Holds(text []byte, at int) bool {
	i := at + int(s.load)
	if i >= 0 && i+8 <= len(text) {
		if binary.LittleEndian.Uint64(text[i:])&s.mask != s.want {
			return false
		}
	} else if !s.near(text, i) {
		return false
	}
	from := at + int(s.from)
	if from < 0 || from+int(s.length) > len(text) {
		return false
	}
	if s.rest != nil {
		for k, set := range *s.rest {
			if !set.Has(text[from+k]) {
				return false
			}
		}
	}
	return true
}

// near compares the eight bytes where the text has fewer of them.
func (s *Sequence) near(text []byte, i int) bool {
	if i < 0 || i > len(text) {
		return false
	}
	var b [8]byte
	copy(b[:], text[i:])
	return binary.LittleEndian.Uint64(b[:])&s.mask == s.want
}

// Memory is what the sequence holds beside itself, in bytes.
func (s *Sequence) Memory() int64 {
	if s.rest == nil {
		return 0
	}
	return 24 + 8*int64(len(*s.rest))
}
