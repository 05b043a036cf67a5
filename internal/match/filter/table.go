package filter

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/prwarden/prwarden/internal/match/extract"
)

// Table finds the places of windows by a hash. All of it but marks is only
// looked at where a slot is marked; slots that are not take next to no memory.
type Table struct {
	pairs  bool
	firsts []byte // with which pairs begin, when they are few

	mask   uint32   // of a hash, to a slot
	marks  []uint8  // by slot: 0, or a bit for each hash of the byte behind
	used   []used   // by 64 slots: which are marked
	first  []uint32 // by marked slot: its first probe; one more at the end
	probes []probe

	sequences []sequence // by id
	sets      int        // how many different ones they have
}

// sequence is the bytes around a window. All of them have to be right before
// anybody is asked.
type sequence struct {
	sets []*extract.Set
	from int // where it begins, from the window
}

// setSequences keeps the sequences of needles, and one of each set.
func (t *Table) setSequences(needles []Needle) {
	kept := map[extract.Set]*extract.Set{}
	for _, n := range needles {
		s := sequence{sets: make([]*extract.Set, len(n.Around)), from: -n.At}
		for i, set := range n.Around {
			if kept[set] == nil {
				one := set
				kept[set] = &one
			}
			s.sets[i] = kept[set]
		}
		t.sequences = append(t.sequences, make([]sequence, max(int(n.ID)+1-len(t.sequences), 0))...)
		t.sequences[n.ID] = s
	}
	t.sets = len(kept)
}

// isAt says whether the sequence is in text around the window at an offset.
func (s *sequence) isAt(text []byte, at int) bool {
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

// used says which of 64 slots are marked, and how many are in all slots before.
type used struct {
	bits   uint64
	before uint32
}

// probe is eight bytes that stand near a window, and who is to be asked where
// they do.
type probe struct {
	want, mask uint64
	id         uint32
	from       int32 // where the eight bytes are, from the window
}

const (
	mul       = 0x9E3779B1 // 2^32 divided by the golden ratio: spreads neighbours
	hashShift = 32 - maxBits
	foldMask  = 0x2020202020202020
	minBits   = 12
	maxBits   = 19
)

// newTable makes a table of grams or pairs.
func newTable(needles []Needle, pairs bool) (t *Table) {
	var es entries
	for _, n := range needles {
		es.add(n, pairs)
	}
	if pairs {
		t = es.table(16, pairSlot)
		t.pairs, t.firsts = true, firstBytes(needles)
	} else {
		// Up to 2^19 slots: 512 KiB, which stay in the second-level cache.
		t = es.table(min(max(bits.Len(uint(len(es)))+7, minBits), maxBits), gramSlot)
	}
	t.setSequences(needles)

	return t
}

func gramSlot(v uint32) uint32 { return v * mul >> hashShift }

func pairSlot(v uint32) uint32 { return v & 0xFFFF }

// maxFirst is up to how many bytes are looked for one by one.
const maxFirst = 3

// IsRare says whether bytes are few and not those that text consists of, so
// that pairs that begin with them are best looked for by them.
func IsRare(set extract.Set) bool {
	frequent := false
	set.Each(func(b byte) {
		frequent = frequent || b <= ' ' || b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
	})

	return !frequent && set.Len() <= maxFirst
}

// firstBytes returns the bytes that pairs begin with when they are rare, else
// nil.
func firstBytes(pairs []Needle) (first []byte) {
	var set extract.Set
	for _, n := range pairs {
		set = set.Union(n.Sets[0])
	}
	if IsRare(set) {
		set.Each(func(b byte) { first = append(first, b) })
	}

	return first
}

// entry is one value of a window, folded.
type entry struct {
	value uint32
	slot  uint32
	marks uint8
	probe probe
}

type entries []entry

// add appends all values that the window of n may have.
func (es *entries) add(n Needle, pairs bool) {
	size := 4
	if pairs {
		size = 2
	}
	e := entry{marks: 0xFF, probe: newProbe(n)}
	if len(n.Sets) > size {
		e.marks = 0
		n.Sets[size].Each(func(b byte) { e.marks |= markOf(b) })
	}
	values := make([]uint32, 1, 16)
	for i := range size {
		folded := allFolded
		if i < len(n.Sets) {
			folded = extract.Set{}
			n.Sets[i].Each(func(b byte) { folded.Add(b | 0x20) })
		}
		next := values
		if folded.Len() > 1 {
			next = make([]uint32, 0, len(values)*folded.Len())
		}
		folded.Each(func(b byte) {
			for k, v := range values {
				if v |= uint32(b) << (8 * i); folded.Len() > 1 {
					next = append(next, v)
				} else {
					next[k] = v
				}
			}
		})
		values = next
	}
	for _, v := range values {
		e.value = v
		*es = append(*es, e)
	}
}

// allFolded is all bytes, folded.
var allFolded = extract.Range(0x20, 0x3F).Union(extract.Range(0x60, 0x7F)).Union(
	extract.Range(0xA0, 0xBF),
).Union(extract.Range(0xE0, 0xFF))

// markOf is the bit of a byte behind a window, the same for both cases of a
// letter.
func markOf(b byte) uint8 { return markBits[b] }

var markBits = func() (marks [256]uint8) {
	for b := range marks {
		marks[b] = 1 << ((b^b>>3)&3 | b>>2&4)
	}

	return marks
}()

// newProbe picks the eight bytes around a window that say most: those of which
// most bits are the same in all bytes of their sets.
func newProbe(n Needle) probe {
	first, most := 0, -1
	for i := 0; i == 0 || i+8 <= len(n.Around); i++ {
		sum := 0
		for _, set := range n.Around[i:min(i+8, len(n.Around))] {
			sum += 8 - bits.Len(uint(set.Len()-1))
		}
		if sum > most {
			first, most = i, sum
		}
	}
	p := probe{id: n.ID, from: int32(first - n.At)}
	for i, set := range n.Around[first:min(first+8, len(n.Around))] {
		and, or := byte(0xFF), byte(0)
		set.Each(func(b byte) { and, or = and&b, or|b })
		mask := ^(and ^ or)
		p.want |= uint64(and&mask) << (8 * i)
		p.mask |= uint64(mask) << (8 * i)
	}

	return p
}

// table puts the entries into a table of 1<<size slots.
func (es entries) table(size int, slot func(v uint32) uint32) *Table {
	t := &Table{
		mask:   1<<size - 1,
		marks:  make([]uint8, 1<<size),
		used:   make([]used, 1<<size/64),
		probes: make([]probe, 0, len(es)),
	}
	for i := range es {
		es[i].slot = slot(es[i].value) & t.mask
		t.marks[es[i].slot] |= es[i].marks
		t.used[es[i].slot/64].bits |= 1 << (es[i].slot % 64)
	}
	marked := uint32(0)
	for i := range t.used {
		t.used[i].before = marked
		marked += uint32(bits.OnesCount64(t.used[i].bits))
	}
	slices.SortFunc(es, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.probe.id, b.probe.id))
	})
	for i, e := range es {
		if i == 0 || e.slot != es[i-1].slot {
			t.first = append(t.first, uint32(len(t.probes)))
		} else if e.probe == es[i-1].probe {
			continue // two values of a window
		}
		t.probes = append(t.probes, e.probe)
	}
	t.first = append(t.first, uint32(len(t.probes)))

	return t
}

// ask appends who is to be asked about a place, by its slot, which is marked.
func (t *Table) ask(text []byte, at int, slot uint32, places []Place) []Place {
	u := &t.used[slot/64]
	k := u.before + uint32(bits.OnesCount64(u.bits&(1<<(slot%64)-1)))
	probes := t.probes[t.first[k]:t.first[k+1]]
	for i := range probes {
		p := &probes[i]
		if eight(text, at+int(p.from))&p.mask == p.want {
			places = append(places, Place{At: uint32(at), ID: p.id})
		}
	}

	return places
}

// eight is the eight bytes at i, 0 for those that the text does not have.
func eight(text []byte, i int) uint64 {
	if i >= 0 && i+8 <= len(text) {
		return load64(text, i)
	}
	var x uint64
	for k := range 8 {
		if at := i + k; at >= 0 && at < len(text) {
			x |= uint64(text[at]) << (8 * k)
		}
	}

	return x
}

// runs is the runs of one set.
type runs struct {
	has    [256]bool
	length int   // the least of them
	each   []run // ascending by length
}

// run is who is to be asked when so many bytes stand in a row.
type run struct {
	length int
	id     uint32
}

// groupRuns makes one of the runs that have the same set.
func groupRuns(needles []Needle) []runs {
	index := map[extract.Set]int{}
	var groups []runs
	for _, n := range needles {
		i, ok := index[n.Sets[0]]
		if !ok {
			i = len(groups)
			index[n.Sets[0]] = i
			groups = append(groups, runs{})
			n.Sets[0].Each(func(b byte) { groups[i].has[b] = true })
		}
		groups[i].each = append(groups[i].each, run{length: len(n.Sets), id: n.ID})
	}
	for i := range groups {
		g := &groups[i]
		slices.SortStableFunc(g.each, func(a, b run) int { return cmp.Compare(a.length, b.length) })
		g.length = g.each[0].length
	}

	return groups
}

// ScanRuns calls found with the id and the begin of each run in text[from:to],
// ascending for each id.
func (f *Filter) ScanRuns(text []byte, from, to int, found func(id uint32, at int)) {
	text = text[:to]
	for k := range f.runs {
		g := &f.runs[k]
		// Backwards from where a run that begins at begin would have its last
		// byte: the first one that is not of the set is where to go on.
		for begin := from; begin+g.length <= len(text); {
			i := begin + g.length - 1
			for i >= begin && g.has[text[i]] {
				i--
			}
			if i >= begin {
				begin = i + 1
				continue
			}
			end := begin + g.length
			for end < len(text) && g.has[text[end]] {
				end++
			}
			for _, r := range g.each {
				if r.length > end-begin {
					break
				}
				found(r.id, begin)
			}
			begin = end + 1
		}
	}
}

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
