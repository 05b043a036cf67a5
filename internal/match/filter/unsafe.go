package filter

import (
	"encoding/binary"
	"unsafe"
)

// The loops over the text read eight bytes at any place, and a table at hashes.
// Checked, they take 1.4 to 1.7 times as long. These reads can't leave their
// slices:
//
//   - load64 is called with i ≥ 0 and i+8 ≤ len(text): skipGrams and scanGrams
//     read from i up to i+22 where i ≤ len(text)-22, skipPairs from i to i+8
//     where i ≤ len(text)-8, and eight looks at the bounds first.
//   - byteAt is called with slots of the table whose base it is given, the length
//     of which is a power of two: a hash is masked by that length less one, and
//     a pair is below 1<<16, the length of the table of pairs.

// base is the begin of a table that is not empty.
func base(table []uint8) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(table)) }

// byteAt is table[i].
func byteAt(table unsafe.Pointer, i uint32) uint64 { return uint64(*(*uint8)(unsafe.Add(table, i))) }

// load64 is the eight bytes at text[i:] as a little-endian number.
func load64(text []byte, i int) uint64 {
	b := (*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(text)), i))
	return binary.LittleEndian.Uint64(b[:])
}
