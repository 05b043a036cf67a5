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
	"cmp"
	"math/bits"
	"slices"

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
	Tables []*Table // of the grams and pairs, each for a pass over the text
	runs   []runs
}

// Table finds the places of windows by a hash.
type Table struct {
	pairs   bool
	mask    uint32   // of a hash, to a slot
	marks   []uint8  // by slot: 0, or a bit for each hash of the byte behind
	buckets []bucket // by hash of the window, or one of the next that are free
	shift   uint32   // of a hash, to a bucket
	ids     []uint32
	first   []byte // with which pairs begin, when they are few
}

// bucket is who is to be asked where one window stands.
type bucket struct {
	value       uint32 // the window, folded
	first, last uint32 // of ids, last not included; none in a free bucket
}

const (
	mul       = 0x9E3779B1 // 2^32 divided by the golden ratio: spreads neighbours
	hashShift = 32 - maxBits
	foldMask  = 0x2020202020202020
	minBits   = 12
	maxBits   = 19
)

// New makes a filter that finds needles.
func New(needles []Needle) *Filter {
	var grams, pairs, rows []Needle
	for _, n := range needles {
		switch n.Kind {
		case Grams:
			grams = append(grams, n)
		case Pair:
			pairs = append(pairs, n)
		case Run:
			rows = append(rows, n)
		}
	}
	f := &Filter{runs: groupRuns(rows)}
	if len(grams) > 0 {
		f.Tables = append(f.Tables, newTable(grams, false))
	}
	if len(pairs) > 0 {
		f.Tables = append(f.Tables, newTable(pairs, true))
	}
	return f
}

// maxFirst is up to how many bytes are looked for one by one.
const maxFirst = 3

// firstBytes returns the bytes that pairs begin with when they are few and not
// those that text consists of, else nil.
func firstBytes(pairs []Needle) (first []byte) {
	var set byteset.Set
	for _, n := range pairs {
		set = set.Union(n.Sets[0])
	}
	frequent := false
	set.Each(func(b byte) {
		first = append(first, b)
		frequent = frequent || b <= ' ' || b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
	})
	if frequent || len(first) > maxFirst {
		return nil
	}
	return first
}

// newTable makes a table of grams or pairs.
func newTable(needles []Needle, pairs bool) *Table {
	var es entries
	if !pairs {
		for _, n := range needles {
			es.add(n, 4)
		}
		// Up to 2^18 slots: 256 KiB, which stay in the second-level cache.
		return es.table(min(max(bits.Len(uint(len(es)))+7, minBits), maxBits), gramSlot)
	}
	for _, n := range needles {
		es.add(n, 2)
	}
	t := es.table(16, pairSlot)
	t.pairs, t.first = true, firstBytes(needles)
	return t
}

func gramSlot(v uint32) uint32 { return v * mul >> hashShift }

func pairSlot(v uint32) uint32 { return v & 0xFFFF }

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
	values := make([]uint32, 1, 16)
	for i := range size {
		var folded byteset.Set
		if i < len(n.Sets) {
			n.Sets[i].Each(func(b byte) { folded.Add(b | 0x20) })
		} else {
			folded = allFolded
		}
		if folded.Len() == 1 { // nearly always
			folded.Each(func(b byte) {
				for k := range values {
					values[k] |= uint32(b) << (8 * i)
				}
			})
			continue
		}
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

// allFolded is all bytes, folded.
var allFolded = byteset.Range(0x20, 0x3F).Union(byteset.Range(0x60, 0x7F)).Union(byteset.Range(0xA0, 0xBF)).Union(byteset.Range(0xE0, 0xFF))

// markOf is the bit of a byte behind a window, the same for both cases of a
// letter.
func markOf(b byte) uint8 { return 1 << ((b^b>>3)&3 | b>>2&4) }

// table puts the entries into a table of 1<<size slots.
func (es entries) table(size int, slot func(v uint32) uint32) *Table {
	t := &Table{mask: 1<<size - 1, marks: make([]uint8, 1<<size), ids: make([]uint32, len(es))}
	slices.SortFunc(es, func(a, b entry) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.id, b.id)) })
	room := bits.Len(uint(len(es))) + 1
	t.buckets, t.shift = make([]bucket, 1<<room), uint32(32-room)
	for i, e := range es {
		t.marks[slot(e.value)&t.mask] |= e.marks
		t.ids[i] = e.id
		b := t.bucket(e.value)
		if b.last == 0 {
			*b = bucket{value: e.value, first: uint32(i)}
		}
		b.last = uint32(i + 1)
	}
	return t
}

// bucket returns the bucket of a window, or the free one where it belongs. At
// least half of all are free.
func (t *Table) bucket(value uint32) *bucket {
	for i := value * mul >> t.shift; ; i = (i + 1) & uint32(len(t.buckets)-1) {
		if b := &t.buckets[i]; b.last == 0 || b.value == value {
			return b
		}
	}
}

// Place is a place of a text, and the window that stands there, folded.
type Place struct {
	At     uint32
	Window uint32
}

// At returns who is to be asked at a place that Scan found. An id may be there
// more than once.
func (t *Table) At(p Place) []uint32 {
	b := t.bucket(p.Window)
	return t.ids[b.first:b.last]
}

// HasRuns says whether there are runs.
func (f *Filter) HasRuns() bool { return len(f.runs) > 0 }

// Size is the memory that the filter holds, in bytes.
func (f *Filter) Size() int64 {
	n := 320 * int64(len(f.runs))
	for _, t := range f.Tables {
		n += int64(len(t.marks)) + 4*int64(3*len(t.buckets)+len(t.ids))
	}
	return n
}
