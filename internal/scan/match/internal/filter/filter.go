// Package filter is the fourth stage of the engine, the one that looks at every
// byte: it finds the places of a text at which one of thousands of windows may
// stand, at a speed that hardly depends on how many they are.
//
// # Grams
//
// The four bytes at a place are one number. Letters are made lower case in it
// (one OR for eight places: it turns on the bit 0x20 of every byte, which
// merges a few other characters too). One multiplication hashes the number to a
// slot of a table that is small enough to stay in the processor's cache, and an
// empty slot says that no window begins here:
//
//	text      … r e t u r n   k u b e c t l . N e w …
//	gram                          └ b e c t ┘
//	hash      bect × 0x9E3779B1, its upper 18 bits = 0x1F07A
//	table     [0x1F07A] = 0: go on       ≠ 0: a place to look at
//
// Eight places are looked up together, and there is one branch for all of them:
// in a megabyte of code it is taken some ten thousand times with a thousand
// rules. A slot holds a second opinion as well: eight bits, of which those are
// set that the fifth bytes of its windows hash to.
//
// # Pairs and runs
//
// Windows of two bytes have a table of their own, indexed by the two bytes. A
// run of n bytes out of one set is found by looking at every n-th byte only.
// Neither costs anything in a filter that has no such windows.
package filter

import (
	"math/bits"

	"github.com/prwarden/prwarden/internal/scan/match/internal/byteset"
)

// Needle is a window to look for.
type Needle struct {
	Kind Kind
	// Sets are the bytes of the window. Grams have three or four; a further one
	// is that of the byte behind the window, all bytes when it is not known.
	Sets []byteset.Set
	ID   uint32 // of whom to ask at its places
}

// Kind is how a needle is looked for.
type Kind int

// The kinds of needles.
const (
	Grams Kind = iota // three or four bytes
	Pair              // two bytes
	Run               // a run of bytes out of Sets[0], as long as Sets
)

// Filter finds needles. It is immutable.
type Filter struct {
	grams table
	pairs table
	runs  []runs
}

// table finds the places of windows by a hash.
type table struct {
	mask   uint32   // of a hash, to a slot
	marks  []uint8  // by slot: 0, or a bit for each hash of the byte behind
	first  []uint32 // by slot: where its ids begin; one more at the end
	ids    []uint32
	filled bool
}

const (
	mul       = 0x9E3779B1 // 2^32 divided by the golden ratio: spreads neighbours
	hashShift = 32 - maxBits
	foldMask  = 0x2020202020202020
	minBits   = 12
	maxBits   = 18
)

// New makes a filter that finds needles.
func New(needles []Needle) *Filter {
	f := &Filter{}
	var grams, pairs entries
	var rows []Needle
	for _, n := range needles {
		switch n.Kind {
		case Grams:
			grams.add(n, 4)
		case Pair:
			pairs.add(n, 2)
		case Run:
			rows = append(rows, n)
		}
	}
	f.runs = groupRuns(rows)
	if len(grams) > 0 {
		// Up to 2^18 slots: 256 KiB, which stay in the second-level cache.
		f.grams = grams.table(min(max(bits.Len(uint(len(grams)))+7, minBits), maxBits), func(v uint32) uint32 { return v * mul >> hashShift })
	}
	if len(pairs) > 0 {
		f.pairs = pairs.table(16, func(v uint32) uint32 { return v })
	}
	return f
}

// entry is one value of a window, folded, and who is to be asked.
type entry struct {
	value uint32
	marks uint8
	id    uint32
}

type entries []entry

// add appends all values that the window of n may have.
func (es *entries) add(n Needle, size int) {
	marks := uint8(0xFF)
	if len(n.Sets) > size {
		marks = 0
		n.Sets[size].Each(func(b byte) { marks |= markOf(b) })
	}
	values := []uint32{0}
	for i := range size {
		set := byteset.Range(0, 0xFF)
		if i < len(n.Sets) {
			set = n.Sets[i]
		}
		var folded byteset.Set
		set.Each(func(b byte) { folded.Add(b | 0x20) })
		next := make([]uint32, 0, len(values)*folded.Len())
		folded.Each(func(b byte) {
			for _, v := range values {
				next = append(next, v|uint32(b)<<(8*i))
			}
		})
		values = next
	}
	for _, v := range values {
		*es = append(*es, entry{value: v, marks: marks, id: n.ID})
	}
}

// markOf is the bit of a byte behind a window, the same for both cases of a
// letter.
func markOf(b byte) uint8 { return 1 << ((b^b>>3)&3 | b>>2&4) }

// table sorts the entries into slots, by counting.
func (es entries) table(size int, hash func(v uint32) uint32) table {
	t := table{
		mask:   1<<size - 1,
		marks:  make([]uint8, 1<<size),
		first:  make([]uint32, 1<<size+1),
		ids:    make([]uint32, len(es)),
		filled: true,
	}
	for _, e := range es {
		slot := hash(e.value) & t.mask
		t.marks[slot] |= e.marks
		t.first[slot+1]++
	}
	for i := range 1 << size {
		t.first[i+1] += t.first[i]
	}
	next := make([]uint32, 1<<size)
	copy(next, t.first)
	for _, e := range es {
		slot := hash(e.value) & t.mask
		t.ids[next[slot]] = e.id
		next[slot]++
	}
	return t
}

// Place is a place of a text, and the slot of the table that it fell into.
type Place struct {
	At   uint32
	Slot uint32
}

// Grams returns who is to be asked at a place that ScanGrams found. An id may
// be there more than once.
func (f *Filter) Grams(p Place) []uint32 { return f.grams.at(p.Slot) }

// Pairs is the same for ScanPairs.
func (f *Filter) Pairs(p Place) []uint32 { return f.pairs.at(p.Slot) }

func (t *table) at(slot uint32) []uint32 { return t.ids[t.first[slot]:t.first[slot+1]] }

// HasGrams, HasPairs and HasRuns say what there is to scan for.
func (f *Filter) HasGrams() bool { return f.grams.filled }

// HasPairs says whether there are pairs.
func (f *Filter) HasPairs() bool { return f.pairs.filled }

// HasRuns says whether there are runs.
func (f *Filter) HasRuns() bool { return len(f.runs) > 0 }

// Size is the memory that the filter holds, in bytes.
func (f *Filter) Size() int64 {
	size := func(t table) int64 { return int64(len(t.marks)) + 4*int64(len(t.first)+len(t.ids)) }
	return size(f.grams) + size(f.pairs) + 320*int64(len(f.runs))
}
