// Package byteset is sets of bytes.
package byteset

import "math/bits"

// Set is a set of bytes: byte b is in it when bit b%64 of word b/64 is set.
type Set [4]uint64

// Of returns the set of some bytes.
func Of(list ...byte) Set {
	var s Set
	for _, b := range list {
		s.Add(b)
	}

	return s
}

// Range returns the set of the bytes from lo to hi, both included.
func Range(lo, hi byte) Set {
	var s Set
	for b := int(lo); b <= int(hi); b++ {
		s.Add(byte(b))
	}

	return s
}

// Add puts b into the set.
func (s *Set) Add(b byte) { s[b>>6] |= 1 << (b & 63) }

// Has says whether b is in the set.
func (s *Set) Has(b byte) bool { return s[b>>6]>>(b&63)&1 != 0 }

// Union returns the bytes that are in either.
func (s Set) Union(t Set) Set {
	return Set{s[0] | t[0], s[1] | t[1], s[2] | t[2], s[3] | t[3]}
}

// Len is the number of bytes in the set.
func (s Set) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// Each calls f with every byte of the set, ascending.
func (s Set) Each(f func(b byte)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(byte(i<<6 | bits.TrailingZeros64(w)))
		}
	}
}

// upper is the bits of A to Z in word 1; a to z are 32 bits further.
const upper = (1<<26 - 1) << 1

// Fold returns the set with each ASCII upper-case letter replaced by its
// lower-case one.
func (s Set) Fold() Set {
	s[1] = s[1]&^upper | s[1]&upper<<32
	return s
}

// Unfold returns the set with both cases of each ASCII letter that it has.
func (s Set) Unfold() Set {
	s[1] |= s[1]&upper<<32 | s[1]>>32&upper
	return s
}
