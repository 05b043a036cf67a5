package filter

import "bytes"

// Scan writes to places where the table's windows may stand that begin in
// text[from:to], ascending, until places is full or to is reached. It returns
// how many it wrote and where to go on. text may go on behind to, and what is
// there counts for the windows that begin before it.
//
// Grams are looked for at even offsets. Where from is odd that begins one byte
// before, for the windows that begin with any byte.
func (t *Table) Scan(text []byte, from, to int, places []Place) (n, next int) {
	switch {
	case !t.pairs:
		return t.scanGrams(text, from, to, places)
	case t.first != nil:
		return t.scanFirst(text, from, to, places)
	}
	return t.scanPairs(text, from, to, places)
}

func (t *Table) scanGrams(text []byte, from, to int, places []Place) (n, next int) {
	from &^= 1
	end := min(to-15, len(text)-22) // 22 bytes are read at a time, and up to 8 places written
	for from <= end {
		from = skipGrams(text, from, end, t.marks)
		if from > end {
			break
		}
		if n+8 > len(places) {
			return n, from
		}
		n += t.look(text, from, places[n:])
		from += 16
	}
	for ; from < to; from += 2 {
		if n == len(places) {
			return n, from
		}
		gram, behind := tail(text, from)
		if t.marks[gramSlot(gram)&t.mask]&markOf(behind) != 0 {
			places[n] = Place{At: uint32(from), Window: gram}
			n++
		}
	}
	return n, from
}

// skipGrams is the loop that all bytes go through: it returns the first i, out
// of from, from+16, from+32 and so on, up to which no slot is marked for the
// eight grams at even offsets from i on; it is more than end when there is none.
func skipGrams(text []byte, i, end int, table []uint8) int {
	marks, mask := base(table), uint32(len(table)-1)
	for ; i <= end; i += 16 {
		x := load64(text, i) | foldMask
		marked := byteAt(marks, uint32(x)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>16)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>32)*mul>>hashShift&mask)
		x = load64(text, i+6) | foldMask
		marked |= byteAt(marks, uint32(x)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>16)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>32)*mul>>hashShift&mask)
		x = load64(text, i+12) | foldMask
		marked |= byteAt(marks, uint32(x)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>16)*mul>>hashShift&mask)
		if marked != 0 {
			return i
		}
	}
	return i
}

// look writes the places among the eight from i on of which the slot is marked
// for the byte behind.
func (t *Table) look(text []byte, i int, places []Place) (n int) {
	marks, mask := base(t.marks), t.mask
	for k := i; k < i+16; k += 2 {
		x := load64(text, k)
		gram := uint32(x | foldMask)
		if m := byteAt(marks, gram*mul>>hashShift&mask); m != 0 && m&markOf(byte(x>>32)) != 0 {
			places[n] = Place{At: uint32(k), Window: gram}
			n++
		}
	}
	return n
}

// tail is the gram at i, folded, and the byte behind it, where the text may be
// over before it: what is missing is 0.
func tail(text []byte, i int) (gram uint32, behind byte) {
	var b [5]byte
	copy(b[:], text[i:])
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24 | foldMask&0xFFFFFFFF, b[4]
}

func (t *Table) scanPairs(text []byte, from, to int, places []Place) (n, next int) {
	end := min(to-6, len(text)-8)
	for from <= end {
		from = skipPairs(text, from, end, t.marks)
		if from > end {
			break
		}
		if n+6 > len(places) {
			return n, from
		}
		for k := from; k < from+6; k++ {
			n += t.lookPair(text, k, places[n:])
		}
		from += 6
	}
	for ; from < to && n < len(places); from++ {
		n += t.lookPair(text, from, places[n:])
	}
	return n, from
}

// scanFirst is for pairs that begin with few different bytes, which are looked
// for one by one: that is the quickest of all ways while they are rare.
func (t *Table) scanFirst(text []byte, from, to int, places []Place) (n, next int) {
	var at [maxFirst]int // where each of the bytes is next
	find := func(k, from int) {
		at[k] = to
		if i := bytes.IndexByte(text[from:to], t.first[k]); i >= 0 {
			at[k] = from + i
		}
	}
	for k := range t.first {
		find(k, from)
	}
	for n < len(places) {
		first := 0
		for k := range t.first {
			if at[k] < at[first] {
				first = k
			}
		}
		if from = at[first]; from == to {
			return n, to
		}
		n += t.lookPair(text, from, places[n:])
		from++
		find(first, from)
	}
	return n, from
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

// lookPair writes the place i if its pair is marked for the byte behind.
func (t *Table) lookPair(text []byte, i int, places []Place) int {
	gram, _ := tail(text, i)
	pair := pairSlot(gram)
	behind := byte(0)
	if i+2 < len(text) {
		behind = text[i+2]
	}
	if t.marks[pair]&markOf(behind) == 0 {
		return 0
	}
	places[0] = Place{At: uint32(i), Window: pair}
	return 1
}
