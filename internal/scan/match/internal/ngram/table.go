package ngram

import (
	"compress/flate"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
)

//go:embed table.bin
var embedded string

// committed is the table that is built in, decoded when it is first asked for.
var committed = sync.OnceValue(func() *table {
	t, err := decode(embedded)
	if err != nil {
		panic(err) // the build is broken: a test decodes it
	}
	return t
})

// table is the trained rates, in the form in which they are looked up.
type table struct {
	share  [256]float32 // of a byte among the bytes of its symbol
	symbol [256]uint8
	single [symbols]float32           // rate of a symbol
	pair   [symbols * symbols]float32 // rate of two
	triple [symbols * symbols * symbols]uint8
	rate   [256]float32 // that a level of triple stands for
}

// decode reads what Counter.Encode wrote.
func decode(file string) (*table, error) {
	body, ok := strings.CutPrefix(file, header)
	if !ok {
		return nil, errors.New("ngram: not a table of this version")
	}
	var t table
	var levels [256]byte
	z := flate.NewReader(strings.NewReader(body))
	if _, err := io.ReadFull(z, levels[:]); err != nil {
		return nil, fmt.Errorf("ngram: damaged table: %w", err)
	}
	if _, err := io.ReadFull(z, t.triple[:]); err != nil {
		return nil, fmt.Errorf("ngram: damaged table: %w", err)
	}
	for i := range t.rate {
		t.rate[i] = float32(rateAt(uint8(i)))
	}
	t.sum()
	t.fill()
	t.divide(levels)
	return &t, nil
}

// sum computes the rates of symbols and pairs: those of the trigrams that begin
// with them.
func (t *table) sum() {
	for ab := range t.pair {
		for _, level := range t.triple[ab*symbols:][:symbols] {
			if level > 0 {
				t.pair[ab] += t.rate[level]
			}
		}
		t.single[ab/symbols] += t.pair[ab]
	}
}

// fill puts estimates where the table has no level: the rate abc = ab · bc / b,
// as if c didn't depend on a, but not over floor.
func (t *table) fill() {
	floor := t.floor()
	var of [symbols * symbols]int
	for i, rate := range t.pair {
		of[i] = int(exponent(rate))
	}
	for ab := range t.pair {
		b := ab % symbols
		row := t.triple[ab*symbols:][:symbols]
		rest := of[ab] - int(exponent(t.single[b])) + base
		for c := range row {
			if row[c] == 0 {
				row[c] = uint8(min(max(rest+of[b*symbols+c]-base, 0), floor))
			}
		}
	}
}

// floor is the level of the rarest trigram that has one; those without are no
// more frequent.
func (t *table) floor() int {
	floor := math.MaxUint8
	for _, level := range t.triple {
		if level > 0 {
			floor = min(floor, int(level))
		}
	}
	return floor
}

// exponent is the level of a rate, far below 0 for none.
func exponent(rate float32) float64 {
	if rate == 0 {
		return -math.MaxUint8
	}
	return math.Round(base + perOctave*math.Log2(float64(rate)))
}

// divide computes each byte's share of its symbol. A line feed and upper-case
// letters have none: they are in no window.
func (t *table) divide(levels [256]byte) {
	var whole [symbols]float32
	for i, level := range levels {
		s := symbolOf(byte(i))
		t.symbol[i] = s
		if level > 0 {
			t.share[i] = t.rate[level]
			whole[s] += t.rate[level]
		}
	}
	for i := range t.share {
		if s := t.symbol[i]; whole[s] > 0 {
			t.share[i] /= whole[s]
		}
	}
	t.share['\n'] = 0
}

