// Package filter is the fourth stage of the engine, the one that looks at every
// byte: it finds the places of a text at which one of thousands of windows may
// stand, at a speed that hardly depends on how many they are.
//
// # Grams
//
// The four bytes at a place are one number. Letters are made lower case in it
// (one OR for two or three places: it turns on the bit 0x20 of every byte, which
// merges a few other characters too). One multiplication hashes the number to a
// slot of a table that is small enough to stay in the processor's cache, and an
// empty slot says that no window begins here:
//
//	text      … r e t u r n   k u b e c t l . N e w …
//	gram                          └ b e c t ┘
//	hash      bect × 0x9E3779B1, its upper 19 bits = 0x5BD93
//	table     [0x5BD93] = 0: go on       ≠ 0: a place to look at
//
// Only every other place is looked at: each sequence has two windows, one at an
// even offset of it and one at an odd, and wherever it stands, one of them is at
// an even place. Eight places, which is sixteen bytes, are looked up together,
// and there is one branch for all of them.
//
// What is not empty gets three more opinions before anybody else is asked. The
// slot itself holds eight bits, of which those are set that the fifth bytes of
// its windows hash to. And each window comes with a probe, eight bytes around it
// of which the bits that are known are compared in one instruction. At last all
// bytes that are known around the window are compared one by one. With a
// thousand rules a slot is marked every 64 bytes of code, the fifth byte agrees
// every 87, and a probe every 390; with five thousand every 19, 28 and 170.
//
// # Pairs and runs
//
// Windows of two bytes have a table of their own, indexed by the two bytes; when
// they begin with up to three rare bytes, these are looked for instead. A run of
// n bytes out of one set is found by looking at every n-th byte only. Neither
// costs anything in a filter that has no such windows.
package filter

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/prwarden/prwarden/internal/match/extract"
)

// Needle is a window to look for.
type Needle struct {
	Kind Kind
	// Sets are the bytes of the window. Grams have three or four, a pair two; a
	// further one is that of the byte behind the window, when it is known. A run
	// has as many as it is long, all the same.
	Sets extract.Seq
	// Around is the bytes around the window, which begins at Around[At].
	Around extract.Seq
	At     int
	ID     uint32 // of whom to ask at its places
}

// Kind is how a needle is looked for.
type Kind int

// The kinds of needles.
const (
	Grams Kind = iota // three or four bytes
	Pair              // two bytes
	Run               // a run of bytes
)

// Filter finds needles. It is immutable.
type Filter struct {
	Tables []*Table // of the grams and of the pairs, each for a pass over the text
	runs   []runs
}

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

// Place is a place of a text, and who is to be asked about it.
type Place struct {
	At uint32
	ID uint32
}

// HasRuns says whether there are runs.
func (f *Filter) HasRuns() bool { return len(f.runs) > 0 }

// Size is the memory that the filter holds, in bytes.
func (f *Filter) Size() int64 {
	n := 320 * int64(len(f.runs))
	for _, t := range f.Tables {
		n += int64(len(t.marks)) + 16*int64(len(t.used)) + 4*int64(len(t.first)) + 24*int64(len(t.probes))
		n += 32*int64(len(t.sequences)) + 72*int64(t.sets)
		for _, s := range t.sequences {
			n += 8 * int64(len(s.sets))
		}
	}

	return n
}

// Vain counts by id the places at which the bytes around a window were compared
// and no sequence stands. They may be many. The zero Vain is empty.
type Vain struct {
	Counts []uint32
	IDs    []uint32 // whose count is not 0
}

func (v *Vain) add(id uint32) {
	if int(id) >= len(v.Counts) {
		v.Counts = append(v.Counts, make([]uint32, int(id)+1-len(v.Counts))...)
	}
	if v.Counts[id]++; v.Counts[id] == 1 {
		v.IDs = append(v.IDs, id)
	}
}

// Reset makes it empty.
func (v *Vain) Reset() {
	for _, id := range v.IDs {
		v.Counts[id] = 0
	}
	v.IDs = v.IDs[:0]
}

// Scan appends the places where the table's windows may stand that begin in
// text[from:to], ascending, until there are enough or to is reached. It returns
// where to go on, and at how many places it compared the bytes around a window, and
// adds those of them where no sequence stands to vain. text may go on behind to, and
// what is there counts for the windows that begin before it.
//
// Grams are looked for at even offsets. Where from is odd that begins one byte
// before, for the windows that begin with any byte.
func (t *Table) Scan(text []byte, from, to int, places []Place, vain *Vain) (_ []Place, next, compared int) {
	kept := len(places)
	switch {
	case !t.pairs:
		places, next = t.scanGrams(text, from&^1, to, places)
	case t.firsts != nil:
		places, next = t.scanFirsts(text, from, to, places)
	default:
		places, next = t.scanPairs(text, from, to, places)
	}
	compared = len(places) - kept
	right := slices.DeleteFunc(places[kept:], func(p Place) bool {
		if t.sequences[p.ID].isAt(text, int(p.At)) {
			return false
		}
		vain.add(p.ID)

		return true
	})

	return places[:kept+len(right)], next, compared
}

// enough is how many places are compared at a time, about.
const enough = 256

func (t *Table) scanGrams(text []byte, from, to int, places []Place) (_ []Place, next int) {
	end := min(to-15, len(text)-22) // 22 bytes are read at a time
	for from <= end {
		var marks uint64
		if from, marks = skipGrams(text, from, end, t.marks); from > end {
			break
		}
		if len(places) >= enough {
			return places, from
		}
		for marks != 0 {
			k := bits.TrailingZeros64(marks) / 8
			x := load64(text, from+2*k)
			if uint8(marks>>(8*k))&markOf(byte(x>>32)) != 0 {
				places = t.ask(text, from+2*k, gramSlot(uint32(x|foldMask))&t.mask, places)
			}
			marks &^= 0xFF << (8 * k)
		}
		from += 16
	}

	for ; from < to && len(places) < enough; from += 2 {
		x := eight(text, from)
		slot := gramSlot(uint32(x|foldMask)) & t.mask
		if t.marks[slot]&markOf(byte(x>>32)) != 0 {
			places = t.ask(text, from, slot, places)
		}
	}

	return places, from
}

// skipGrams is the loop that all bytes go through: it returns the first i, out
// of from, from+16, from+32 and so on, at which the slots of some of the eight
// grams at even offsets from i on are marked, and their marks, a byte each. i is
// more than end when there is none.
func skipGrams(text []byte, i, end int, table []uint8) (int, uint64) {
	slots, mask := base(table), uint32(len(table)-1)
	for ; i <= end; i += 16 {
		x := load64(text, i) | foldMask
		marks := byteAt(slots, uint32(x)*mul>>hashShift&mask)
		marks |= byteAt(slots, uint32(x>>16)*mul>>hashShift&mask) << 8
		marks |= byteAt(slots, uint32(x>>32)*mul>>hashShift&mask) << 16
		x = load64(text, i+6) | foldMask
		marks |= byteAt(slots, uint32(x)*mul>>hashShift&mask) << 24
		marks |= byteAt(slots, uint32(x>>16)*mul>>hashShift&mask) << 32
		marks |= byteAt(slots, uint32(x>>32)*mul>>hashShift&mask) << 40
		x = load64(text, i+12) | foldMask
		marks |= byteAt(slots, uint32(x)*mul>>hashShift&mask) << 48
		marks |= byteAt(slots, uint32(x>>16)*mul>>hashShift&mask) << 56
		if marks != 0 {
			return i, marks
		}
	}

	return i, 0
}

func (t *Table) scanPairs(text []byte, from, to int, places []Place) (_ []Place, next int) {
	end := min(to-6, len(text)-8)
	for from <= end {
		from = skipPairs(text, from, end, t.marks)
		if from > end {
			break
		}
		if len(places) >= enough {
			return places, from
		}
		for k := from; k < from+6; k++ {
			places = t.pair(text, k, places)
		}
		from += 6
	}

	for ; from < to && len(places) < enough; from++ {
		places = t.pair(text, from, places)
	}

	return places, from
}

// skipPairs is skipGrams for pairs, six at a time.
func skipPairs(text []byte, i, end int, table []uint8) int {
	marks := base(table)
	for ; i <= end; i += 6 {
		x := load64(text, i) | foldMask
		if byteAt(marks, uint32(x)&0xFFFF)|byteAt(marks, uint32(x>>8)&0xFFFF)|
			byteAt(marks, uint32(x>>16)&0xFFFF)|byteAt(marks, uint32(x>>24)&0xFFFF)|
			byteAt(marks, uint32(x>>32)&0xFFFF)|byteAt(marks, uint32(x>>40)&0xFFFF) != 0 {
			return i
		}
	}

	return i
}

// scanFirsts is for pairs that begin with few different bytes, which are looked
// for one by one: that is the quickest of all ways while they are rare.
func (t *Table) scanFirsts(text []byte, from, to int, places []Place) (_ []Place, next int) {
	var at [maxFirst]int // where each of the bytes is next
	find := func(k, from int) {
		at[k] = to
		if i := bytes.IndexByte(text[from:to], t.firsts[k]); i >= 0 {
			at[k] = from + i
		}
	}

	for k := range t.firsts {
		find(k, from)
	}
	for len(places) < enough {
		least := 0
		for k := range t.firsts {
			if at[k] < at[least] {
				least = k
			}
		}
		if from = at[least]; from == to {
			return places, to
		}
		places = t.pair(text, from, places)
		from++
		find(least, from)
	}

	return places, from
}

// pair appends who is to be asked about the pair at i.
func (t *Table) pair(text []byte, i int, places []Place) []Place {
	x := eight(text, i)
	slot := pairSlot(uint32(x | foldMask))
	if t.marks[slot]&markOf(byte(x>>16)) != 0 {
		places = t.ask(text, i, slot, places)
	}

	return places
}
