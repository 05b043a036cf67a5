package filter

import (
	"bytes"
	"math/bits"
)

// Scan appends the places where the table's windows may stand that begin in
// text[from:to], ascending, until there are enough or to is reached. It returns
// where to go on. text may go on behind to, and what is there counts for the
// windows that begin before it.
//
// Grams are looked for at even offsets. Where from is odd that begins one byte
// before, for the windows that begin with any byte.
func (t *Table) Scan(text []byte, from, to int, places []Place) (_ []Place, next int) {
	switch {
	case !t.pairs:
		return t.scanGrams(text, from&^1, to, places)
	case t.firsts != nil:
		return t.scanFirsts(text, from, to, places)
	}
	return t.scanPairs(text, from, to, places)
}

// enough is how many places are returned at a time, about.
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
