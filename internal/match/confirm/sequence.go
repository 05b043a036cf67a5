package confirm

import "github.com/prwarden/prwarden/internal/match/byteset"

// Sequence is byte sets around a place that the filter found. All of them have
// to hold before anything that costs more is asked.
type Sequence struct {
	sets []*byteset.Set
	from int // where the sequence begins, from the place
}

// Sets keeps one of each set that sequences use.
type Sets map[byteset.Set]*byteset.Set

// NewSequence prepares a sequence of which the filter finds byte at.
func NewSequence(seq []byteset.Set, at int, sets Sets) Sequence {
	s := Sequence{sets: make([]*byteset.Set, len(seq)), from: -at}
	for i, set := range seq {
		kept, ok := sets[set]
		if !ok {
			one := set
			kept = &one
			sets[set] = kept
		}
		s.sets[i] = kept
	}
	return s
}

// Holds says whether the sequence is in text around the place at.
func (s *Sequence) Holds(text []byte, at int) bool {
	from := at + s.from
	if from < 0 || from+len(s.sets) > len(text) {
		return false
	}
	for i, c := range text[from : from+len(s.sets)] {
		if !s.sets[i].Has(c) {
			return false
		}
	}
	return true
}

// Memory is what the sequence holds beside itself, in bytes.
func (s *Sequence) Memory() int64 { return 8 * int64(len(s.sets)) }
