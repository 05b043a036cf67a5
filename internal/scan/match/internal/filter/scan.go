package filter

// ScanGrams writes to places where grams may stand that begin in text[from:to],
// ascending, until places is full or to is reached. It returns how many it
// wrote and where to go on. text may go on behind to, and what is there counts
// for the grams that begin before it.
func (f *Filter) ScanGrams(text []byte, from, to int, places []Place) (n, next int) {
	t := &f.grams
	end := min(to-8, len(text)-16) // 16 bytes are read at a time, and up to 8 places written
	for from <= end {
		from = skipGrams(text, from, end, t.marks)
		if from > end {
			break
		}
		if n+8 > len(places) {
			return n, from
		}
		n += t.look(text, from, places[n:])
		from += 8
	}
	for ; from < to; from++ {
		if n == len(places) {
			return n, from
		}
		gram, behind := tail(text, from)
		slot := gram * mul >> hashShift & t.mask
		if t.marks[slot]&markOf(behind) != 0 {
			places[n] = Place{At: uint32(from), Slot: slot}
			n++
		}
	}
	return n, from
}

// skipGrams is the loop that all bytes go through: it returns the first i, out
// of from, from+8, from+16 and so on, up to which no slot is marked for the
// eight grams from i on; it is more than end when there is none.
func skipGrams(text []byte, i, end int, table []uint8) int {
	marks, mask := base(table), uint32(len(table)-1)
	for ; i <= end; i += 8 {
		x := load64(text, i) | foldMask
		marked := byteAt(marks, uint32(x)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>8)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>16)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>24)*mul>>hashShift&mask)
		x = load64(text, i+4) | foldMask
		marked |= byteAt(marks, uint32(x)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>8)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>16)*mul>>hashShift&mask)
		marked |= byteAt(marks, uint32(x>>24)*mul>>hashShift&mask)
		if marked != 0 {
			return i
		}
	}
	return i
}

// look writes the places among the eight from i on of which the slot is marked
// for the byte behind.
func (t *table) look(text []byte, i int, places []Place) (n int) {
	x, y := load64(text, i)|foldMask, load64(text, i+8)
	behind := load64(text, i+4)
	marks := base(t.marks)
	for k := range uint32(8) {
		slot := uint32(x) * mul >> hashShift & t.mask
		if byteAt(marks, slot)&markOf(byte(behind)) != 0 {
			places[n] = Place{At: uint32(i) + k, Slot: slot}
			n++
		}
		x, behind = x>>8|(y|foldMask)<<56, behind>>8|y>>32<<56
		y >>= 8
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

// ScanPairs is ScanGrams for pairs.
func (f *Filter) ScanPairs(text []byte, from, to int, places []Place) (n, next int) {
	t := &f.pairs
	end := min(to-6, len(text)-8)
	for from <= end {
		from = skipPairs(text, from, end, t.marks)
		if from > end {
			break
		}
		if n+6 > len(places) {
			return n, from
		}
		n += t.lookPairs(text, from, places[n:])
		from += 6
	}
	for ; from < to; from++ {
		if n == len(places) {
			return n, from
		}
		gram, _ := tail(text, from)
		slot := gram & 0xFFFF
		if t.marks[slot]&markOf(byte(gram>>16)) != 0 {
			places[n] = Place{At: uint32(from), Slot: slot}
			n++
		}
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

func (t *table) lookPairs(text []byte, i int, places []Place) (n int) {
	x := load64(text, i) | foldMask
	marks := base(t.marks)
	for k := range uint32(6) {
		slot := uint32(x) & 0xFFFF
		if byteAt(marks, slot)&markOf(byte(x>>16)) != 0 {
			places[n] = Place{At: uint32(i) + k, Slot: slot}
			n++
		}
		x >>= 8
	}
	return n
}
