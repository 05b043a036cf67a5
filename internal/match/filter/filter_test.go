package filter

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
	"github.com/prwarden/prwarden/internal/match/extract"
)

// window is a needle of a sequence: size bytes from at on, and what is behind.
func window(kind Kind, seq extract.Seq, at, size int, id uint32) Needle {
	end := at + size
	if kind != Run {
		end = min(end+1, len(seq))
	}

	return Needle{Kind: kind, Sets: seq[at:end], Around: seq, At: at, ID: id}
}

// scan collects the places of all tables in text[from:to], however many calls
// that takes.
func scan(t testing.TB, f *Filter, text string, from, to int) []Place {
	t.Helper()
	var all []Place
	for _, table := range f.Tables {
		for pos := from; pos < to; {
			places, next, _ := table.Scan([]byte(text), pos, to, nil, new(Vain))
			require.Greater(t, next, pos, "it goes on")
			require.True(t, slices.IsSortedFunc(places, func(a, b Place) int { return cmp.Compare(a.At, b.At) }))
			all, pos = append(all, places...), next
		}
	}

	return all
}

func TestScan(t *testing.T) {
	t.Parallel()
	grams := func(text string, at int) Needle {
		return window(Grams, stagetest.Sets(text), at, min(4, len(text)-at), 7)
	}
	pair := func(text string) Needle { return window(Pair, stagetest.Sets(text), 0, 2, 7) }

	for _, test := range []struct {
		name   string
		needle Needle
		text   string
		want   []Place
	}{
		{"grams stand at even places", grams("kubectl", 2), "  kubectl", []Place{{4, 7}}},
		{"and are passed over at odd ones", grams("kubectl", 2), " kubectl", nil},
		{"at the end of the text", grams("tail", 0), strings.Repeat(".", 40) + "tail", []Place{{40, 7}}},
		{"cut off at the end of the text", grams("tail", 0), strings.Repeat(".", 40) + "tai", nil},
		{"three bytes at the end of the text", grams("end", 0), "the end", []Place{{4, 7}}},
		{"the bytes around have to be right", grams("kubectl", 2), "  rubectl", nil},
		{"a class", grams(`SK\h\h`, 0), "SKe9 SKxx SK00", []Place{{0, 7}, {10, 7}}},
		{"two at once", grams("tata", 0), "tatatata", []Place{{0, 7}, {2, 7}, {4, 7}}},
		{"pairs stand anywhere", pair("${"), "${a} ${b} $$", []Place{{0, 7}, {5, 7}}},
		{"a pair at the end of the text", pair("${"), "x${", []Place{{1, 7}}},
		{"pairs of letters", pair("if"), "if x; iff", []Place{{0, 7}, {6, 7}}},
		{"half a pair at the end", pair("if"), "if i", []Place{{0, 7}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, scan(t, New([]Needle{test.needle}), test.text, 0, len(test.text)))
		})
	}
}

// Letters are looked for without regard to case, and told apart by the probe.
func TestCase(t *testing.T) {
	t.Parallel()
	exact := New([]Needle{window(Grams, stagetest.Sets("Query"), 0, 4, 1)})
	assert.Equal(t, []Place{{0, 1}}, scan(t, exact, "Query query QUERY", 0, 17))
	var either extract.Seq

	for _, c := range []byte("query") {
		either = append(either, extract.SetOf(c, c-'a'+'A'))
	}
	both := New([]Needle{window(Grams, either, 0, 4, 1)})

	assert.Equal(t, []Place{{0, 1}, {6, 1}, {12, 1}}, scan(t, both, "Query query QUERY", 0, 17))
}

// alphabet has letters of both cases, bytes that folding merges with others, a
// line feed, a NUL and bytes beyond ASCII.
const alphabet = "aAbBzZ019@`_-{[$ \n\x00\x10\xc5\xe5\xff"

func randomText(r *rand.Rand, n int) string {
	letters := alphabet[:1+r.IntN(len(alphabet))]
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}

	return string(out)
}

// randomNeedle is of any kind, with bytes known around it or not.
func randomNeedle(r *rand.Rand, id uint32) Needle {
	var seq extract.Seq
	anyAt := r.IntN(40) // at most one: it has 128 values in a gram
	for i := range 2 + r.IntN(12) {
		set := extract.SetOf(alphabet[r.IntN(len(alphabet))])
		switch r.IntN(6) {
		case 0:
			set = set.Union(extract.SetOf(alphabet[r.IntN(len(alphabet))]))
		case 1:
			set = extract.SetOf('z', 'Z')
		case 2, 3:
			if i == anyAt {
				set = extract.Range(0, 0xFF)
			}
		}
		seq = append(seq, set)
	}
	if len(seq) < 3 || r.IntN(3) == 0 {
		return window(Pair, seq, r.IntN(len(seq)-1), 2, id)
	}
	at := r.IntN(len(seq) - 2)
	if at+3 < len(seq) { // only the last bytes of a sequence are a window of three
		return window(Grams, seq, at, 4, id)
	}

	return window(Grams, seq, at, 3, id)
}

// example is a text that a needle's sequence stands for.
func example(r *rand.Rand, n Needle) string {
	var out []byte
	for _, set := range n.Around {
		var list []byte
		set.Each(func(b byte) { list = append(list, b) })
		out = append(out, list[r.IntN(len(list))])
	}

	return string(out)
}

// Every place where a needle stands is found, and none twice, in texts of all
// lengths and parts of them, and no other place.
func TestNothingIsMissed(t *testing.T) {
	t.Parallel()
	stood := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 6))
		var needles []Needle
		for id := range uint32(1 + r.IntN(8)) {
			needles = append(needles, randomNeedle(r, id))
		}
		text := randomText(r, r.IntN(60))
		for range r.IntN(6) {
			text += example(r, needles[r.IntN(len(needles))]) + randomText(r, r.IntN(30))
		}
		if r.IntN(10) == 0 {
			text = strings.Repeat(text, 1+r.IntN(40)) // more than are returned at once
		}
		from, to := 0, len(text)
		if r.IntN(2) == 0 {
			from = r.IntN(len(text) + 1)
			to = from + r.IntN(len(text)-from+1)
		}
		found := map[Place]bool{}
		for _, p := range scan(t, New(needles), text, from, to) {
			n := needles[p.ID]
			if found[p] || int(p.At) < from&^1 || int(p.At) >= to || !stagetest.Stands(n.Around, text, int(p.At)-n.At) {
				require.Fail(t, "twice, outside, or not there", "seed %d: %v", seed, p)
			}
			found[p] = true
		}
		for _, n := range needles {
			step := 1
			if n.Kind == Grams {
				step = 2
			}
			for at := (from + step - 1) / step * step; at < to; at += step {
				if !stagetest.Stands(n.Around, text, at-n.At) {
					continue
				}
				stood++
				if !found[Place{uint32(at), n.ID}] {
					require.Fail(t, "missed", "seed %d: %s in %q[%d:%d] at %d", seed, stagetest.Show(n.Around), text, from, to, at)
				}
			}
		}
	}

	assert.Greater(t, stood, 1500)
}

// What is at the even place before an odd begin is found, for the windows whose
// first byte is any: the rest of them is in the part.
func TestOddBegin(t *testing.T) {
	t.Parallel()
	f := New([]Needle{window(Grams, stagetest.Sets(`\.key`), 0, 4, 3)})
	assert.Equal(t, []Place{{4, 3}}, scan(t, f, "xxxx_key=1", 5, 10))
	assert.Empty(t, scan(t, f, "xxxx_key=1", 6, 10))
}

// At most about so many places are compared at a time, right or not.
func TestEnough(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("tata", 1000))
	for _, needle := range []Needle{
		window(Grams, stagetest.Sets("tata"), 0, 4, 0),
		window(Pair, stagetest.Sets("ta"), 0, 2, 0),
		window(Pair, stagetest.Sets("$t"), 0, 2, 0),
		window(Grams, stagetest.Sets("tatatatatax"), 0, 4, 0),
	} {
		f := New([]Needle{needle})
		var vain Vain
		places, next, compared := f.Tables[0].Scan(text, 0, len(text), nil, &vain)
		inVain := 0
		for _, id := range vain.IDs {
			inVain += int(vain.Counts[id])
		}
		assert.Equal(t, compared, len(places)+inVain)
		vain.Reset()
		assert.Empty(t, vain.IDs)
		assert.LessOrEqual(t, compared, enough+16)
		if compared > 0 {
			assert.Less(t, next, len(text))
		}
	}
}

func TestNothingToLookFor(t *testing.T) {
	t.Parallel()
	f := New(nil)
	assert.Empty(t, f.Tables)
	assert.False(t, f.HasRuns())
	f.ScanRuns([]byte("text"), 0, 4, func(uint32, int) { assert.Fail(t, "found") })
}

// The table grows with the grams, up to what stays in the processor's cache.
func TestSize(t *testing.T) {
	t.Parallel()
	last := int64(0)
	for _, count := range []int{1, 100, 1000, 5000} {
		f := New(randomGrams(count))
		assert.LessOrEqual(t, last, f.Size())
		assert.LessOrEqual(t, len(f.Tables[0].marks), 1<<maxBits)
		last = f.Size()
	}
}

// place is what ScanRuns says.
type place struct {
	id uint32
	at int
}

func TestScanRuns(t *testing.T) {
	t.Parallel()
	sets := extract.Seq{
		extract.Range('a', 'f').Union(extract.Range('0', '9')), extract.SetOf('A', 'a'), extract.Range('a', 'z'),
	}
	found := 0

	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		var needles []Needle
		for id := range uint32(1 + r.IntN(5)) {
			row := slices.Repeat(extract.Seq{sets[r.IntN(len(sets))]}, 1+r.IntN(9))
			needles = append(needles, window(Run, row, 0, len(row), id))
		}
		text := ""
		for range r.IntN(24) {
			text += strings.Repeat(string(alphabet[r.IntN(len(alphabet))]), r.IntN(8))
		}
		from := r.IntN(len(text) + 1)
		to := from + r.IntN(len(text)-from+1)
		var got, want []place
		f := New(needles)
		assert.True(t, f.HasRuns())
		f.ScanRuns([]byte(text), from, to, func(id uint32, at int) { got = append(got, place{id, at}) })
		for _, n := range needles {
			want = append(want, runsIn(text, from, to, n)...)
		}
		slices.SortStableFunc(got, func(a, b place) int { return cmp.Compare(a.id, b.id) })
		require.Equal(t, want, got, "seed %d: %q[%d:%d]", seed, text, from, to)
		found += len(got)
	}

	assert.Greater(t, found, 200)
}

// runsIn finds the runs of a needle in text[from:to], byte by byte.
func runsIn(text string, from, to int, n Needle) (list []place) {
	for begin := from; begin < to; begin++ {
		end := begin
		for end < to && n.Sets[0].Has(text[end]) {
			end++
		}
		if end-begin >= len(n.Sets) {
			list = append(list, place{n.ID, begin})
		}
		begin = end
	}

	return list
}

// randomGrams is windows of names that hardly occur.
func randomGrams(count int) []Needle {
	r := rand.New(rand.NewPCG(uint64(count), 8))
	needles := make([]Needle, count)
	for i := range needles {
		name := make([]byte, 8)
		for k := range name {
			name[k] = byte('a' + r.IntN(26))
		}
		needles[i] = window(Grams, stagetest.Sets(string(name)), 2, 4, uint32(i))
	}

	return needles
}
