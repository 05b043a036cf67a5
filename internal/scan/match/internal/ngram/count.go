package ngram

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxLine is the length of a line over which it isn't counted, in bytes: the
// engine doesn't look at such lines either.
const maxLine = 16 << 10

// Counter counts what a table is made of. It is not safe for concurrent use.
type Counter struct {
	total float64
	bytes [256]float64 // by folded byte
	grams []float64    // by trigram: see gram
}

// NewCounter returns a counter that has seen nothing.
func NewCounter() *Counter {
	return &Counter{grams: make([]float64, symbols*symbols*symbols)}
}

// gram is the place of three symbols in a table.
func gram(a, b, c uint8) int { return (int(a)*symbols+int(b))*symbols + int(c) }

// Add counts a text, each place in it weight times. The text's beginning counts
// as the beginning of a line. Lines over 16 KiB are left out.
func (c *Counter) Add(text []byte, weight float64) {
	last, mid := uint8(symControl), uint8(symControl)
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line = text[:end+1]
		}
		text = text[len(line):]
		if len(line) > maxLine {
			continue
		}
		c.total += weight * float64(len(line))
		for _, b := range line {
			b = fold(b)
			c.bytes[b] += weight
			s := symbolOf(b)
			c.grams[gram(last, mid, s)] += weight
			last, mid = mid, s
		}
	}
}

// The table's file is
//
//	header     6 bytes: "ngram", then the format's version
//	levels     of the 256 bytes, then of the 64³ trigrams, a byte each, deflated
//
// A level is a rate in eighths of an octave: level v means 2^((v-base)/8) a MiB.
// Level 0 in the file is "too rare to tell", see fill.
const (
	header    = "ngram\x00\x01"
	perOctave = 8
	base      = 95 // the level of one place per MiB; 255 is 2^20, every place
	step      = 4  // levels in the file are multiples of it: fewer of them deflate better
)

// levelOf returns the level nearest to a rate, at least 1.
func levelOf(rate float64) uint8 {
	return uint8(min(max(math.Round(base+perOctave*math.Log2(rate)), 1), math.MaxUint8))
}

// rateAt returns the rate that a level stands for.
func rateAt(level uint8) float64 { return math.Exp2((float64(level) - base) / perOctave) }

// Encode writes the table. Trigrams counted less than atLeast times are left to
// be estimated from bigrams. It fails when nothing was counted, and when the
// writer does.
func (c *Counter) Encode(w io.Writer, atLeast float64) error {
	if c.total == 0 {
		return errors.New("ngram: nothing was counted")
	}
	levels := make([]byte, 0, 256+len(c.grams))
	perMiB := (1 << 20) / c.total
	for _, n := range c.bytes {
		levels = append(levels, stored(n, perMiB, 1))
	}
	for _, n := range c.grams {
		levels = append(levels, stored(n, perMiB, atLeast))
	}
	if _, err := io.WriteString(w, header); err != nil {
		return fmt.Errorf("ngram: %w", err)
	}
	z, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		return fmt.Errorf("ngram: %w", err)
	}
	if _, err := z.Write(levels); err != nil {
		return fmt.Errorf("ngram: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("ngram: %w", err)
	}
	return nil
}

// stored is the level of something that was counted n times.
func stored(n, perMiB, atLeast float64) byte {
	if n == 0 || n < atLeast {
		return 0
	}
	return max(step, (levelOf(n*perMiB)+step/2)/step*step)
}
