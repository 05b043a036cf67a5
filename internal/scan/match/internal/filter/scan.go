package filter

// ScanGrams writes to places where grams may stand that begin in text[from:to],
// ascending, until places is full or to is reached. It returns how many it
// wrote and where to go on. text may go on behind to, and what is there counts
// for the grams that begin before it.
func (f *Filter) ScanGrams(text []byte, from, to int, places []Place) (n, next int) {
	t := &f.grams
	marks := base(t.marks)
	shift := t.shift & 31
	i := from
	// 16 bytes are read at a time, and up to 8 places written.
	for end := min(to-8, len(text)-16); i <= end; i += 8 {
		x, y := load64(text, i)|foldMask, load64(text, i+4)|foldMask
		s0, s1 := uint32(x)*mul>>shift, uint32(x>>8)*mul>>shift
		s2, s3 := uint32(x>>16)*mul>>shift, uint32(x>>24)*mul>>shift
		s4, s5 := uint32(y)*mul>>shift, uint32(y>>8)*mul>>shift
		s6, s7 := uint32(y>>16)*mul>>shift, uint32(y>>24)*mul>>shift
		m0, m1, m2, m3 := byteAt(marks, s0), byteAt(marks, s1), byteAt(marks, s2), byteAt(marks, s3)
		m4, m5, m6, m7 := byteAt(marks, s4), byteAt(marks, s5), byteAt(marks, s6), byteAt(marks, s7)
		if m0|m1|m2|m3|m4|m5|m6|m7 == 0 {
			continue
		}
		if n+8 > len(places) {
			return n, i
		}
		slots := [8]uint32{s0, s1, s2, s3, s4, s5, s6, s7}
		for k, m := range [8]uint8{m0, m1, m2, m3, m4, m5, m6, m7} {
			if m&markOf(text[i+k+4]) != 0 {
				places[n] = Place{At: uint32(i + k), Slot: slots[k]}
				n++
			}
		}
	}
	for ; i < to; i++ {
		if n == len(places) {
			return n, i
		}
		gram, behind := tail(text, i)
		slot := gram * mul >> shift
		if t.marks[slot]&markOf(behind) != 0 {
			places[n] = Place{At: uint32(i), Slot: slot}
			n++
		}
	}
	return n, i
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
	marks := base(t.marks)
	i := from
	for end := min(to-6, len(text)-8); i <= end; i += 6 {
		x := load64(text, i) | foldMask
		s0, s1, s2 := uint32(x)&0xFFFF, uint32(x>>8)&0xFFFF, uint32(x>>16)&0xFFFF
		s3, s4, s5 := uint32(x>>24)&0xFFFF, uint32(x>>32)&0xFFFF, uint32(x>>40)&0xFFFF
		m0, m1, m2 := byteAt(marks, s0), byteAt(marks, s1), byteAt(marks, s2)
		m3, m4, m5 := byteAt(marks, s3), byteAt(marks, s4), byteAt(marks, s5)
		if m0|m1|m2|m3|m4|m5 == 0 {
			continue
		}
		if n+6 > len(places) {
			return n, i
		}
		slots := [6]uint32{s0, s1, s2, s3, s4, s5}
		for k, m := range [6]uint8{m0, m1, m2, m3, m4, m5} {
			if m&markOf(text[i+k+2]) != 0 {
				places[n] = Place{At: uint32(i + k), Slot: slots[k]}
				n++
			}
		}
	}
	for ; i < to; i++ {
		if n == len(places) {
			return n, i
		}
		gram, _ := tail(text, i)
		slot := gram & 0xFFFF
		if t.marks[slot]&markOf(tailAt(text, i+2)) != 0 {
			places[n] = Place{At: uint32(i), Slot: slot}
			n++
		}
	}
	return n, i
}

// tailAt is the byte at i, or 0 behind the end.
func tailAt(text []byte, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return 0
}

// ScanRuns calls found with the id and the begin of each run that overlaps
// text[from:to], ascending for each id. A run that goes on behind to is found
// when enough of it is before to.
func (f *Filter) ScanRuns(text []byte, from, to int, found func(id uint32, at int)) {
	for k := range f.runs {
		r := &f.runs[k]
		for i := from + r.length - 1; i < to; {
			if !r.set.Has(text[i]) {
				i += r.length
				continue
			}
			begin := i
			for begin > from && i-begin < r.length-1 && r.set.Has(text[begin-1]) {
				begin--
			}
			end := i + 1
			for end < to && end-begin < r.length && r.set.Has(text[end]) {
				end++
			}
			if end-begin < r.length {
				i = end + r.length // text[end] is not of the set
				continue
			}
			found(r.id, begin)
			for end < to && r.set.Has(text[end]) {
				end++
			}
			i = end + r.length
		}
	}
}
