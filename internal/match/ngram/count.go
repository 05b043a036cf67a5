package ngram

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxLine is the length of a line over which it isn't counted, in bytes: the
// engine doesn't look at such lines either.
const maxLine = 16 << 10

// Counter counts what a table is made of. It takes up to 128 MiB and is not safe
// for concurrent use. The zero value has counted nothing.
type Counter struct {
	total float64
	bytes [256]float64           // by folded byte
	quads [pairs]*[pairs]float64 // by the first two symbols, then by the last two; nil is all 0
}

// Add counts a text, each place in it weight times. The text's beginning counts
// as following line feeds. Lines over 16 KiB are left out.
func (c *Counter) Add(text []byte, weight float64) {
	quad := 0 // four line feeds
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
			c.bytes[fold(b)] += weight
			quad = quad*symbols%quads + int(symbolOf(b))
			page := c.quads[quad/pairs]
			if page == nil {
				page = new([pairs]float64)
				c.quads[quad/pairs] = page
			}
			page[quad%pairs] += weight
		}
	}
}

// all yields the quads whose first two symbols occurred, ascending, and their
// counts.
func (c *Counter) all(yield func(quad int, n float64) bool) {
	for ab, page := range c.quads {
		if page == nil {
			continue
		}
		for cd, n := range page {
			if !yield(ab*pairs+cd, n) {
				return
			}
		}
	}
}

// Size says how much goes into a table.
type Size struct {
	// Rarest is the places per MiB under which three symbols have no rate of
	// their own. A higher one makes the file smaller.
	Rarest float64
	// Corrections is the number of quads that are corrected, at most 65,535.
	Corrections int
}

// Encode writes the table. It fails when nothing was counted, and when the
// writer does.
func (c *Counter) Encode(w io.Writer, size Size) error {
	if c.total == 0 {
		return errors.New("ngram: nothing was counted")
	}
	perMiB := (1 << 20) / c.total
	var body bytes.Buffer
	for _, n := range c.bytes {
		body.WriteByte(known(n*perMiB, 0, 1))
	}
	triple, pair := make([]float64, triples), make([]float64, pairs)
	for quad, n := range c.all {
		triple[quad%triples] += n * perMiB
		pair[quad%pairs] += n * perMiB
	}
	for _, rate := range pair {
		body.WriteByte(known(rate, 0, 1))
	}
	for _, rate := range triple {
		body.WriteByte(known(rate, size.Rarest, perOctave))
	}
	plain := append(slices.Clone(body.Bytes()), 0) // with no corrections yet
	t, err := decode(deflated(plain))
	if err != nil {
		return err
	}
	writeFixes(&body, c.corrections(t, size.Corrections))
	if _, err := io.Copy(w, deflated(body.Bytes())); err != nil {
		return fmt.Errorf("ngram: writing the table: %w", err)
	}

	return nil
}

// known is the level of a rate, in multiples of step: few different levels
// deflate better. It is 0 when there is none, or it is too rare.
func known(rate, rarest float64, step int) byte {
	if rate == 0 || rate < rarest {
		return 0
	}
	level := (int(levelOf(rate)) + step/2) / step * step

	return byte(min(max(level, step), math.MaxUint8/step*step))
}

// deflated is a table's file with this body.
func deflated(body []byte) *bytes.Buffer {
	file := bytes.NewBufferString(header)
	z, _ := flate.NewWriter(file, flate.BestCompression) // the level is valid
	_, _ = z.Write(body)                                 // into memory
	_ = z.Close()

	return file
}

// fix is a quad and by how many octaves the chain's rate of it is too low.
type fix struct {
	quad    int
	octaves float64
	worth   float64
}

// negligible is a rate, per MiB, under which rates aren't told apart.
const negligible = 0.05

// leastOff is how far off the chain is where a correction is of use, in octaves.
const leastOff = 0.75

// corrections returns the corrections of most worth, ascending by quad.
func (c *Counter) corrections(t *table, limit int) []fix {
	perMiB := (1 << 20) / c.total
	var all []fix
	for quad, n := range c.all {
		counted := max(n*perMiB, negligible)
		chained := max(float64(t.chain(quad)), negligible)
		if counted == chained {
			continue // both negligible
		}
		octaves := math.Log2(counted / chained)
		if math.Abs(octaves) < leastOff {
			continue
		}
		if odd, ok := odd(quad); ok {
			worth := math.Abs(octaves) * math.Pow(counted*chained, 0.3) * math.Pow(0.3, float64(odd))
			all = append(all, fix{quad, octaves, worth})
		}
	}
	slices.SortFunc(all, func(a, b fix) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.quad, b.quad))
	})
	all = all[:min(len(all), limit, math.MaxUint16)]
	slices.SortFunc(all, func(a, b fix) int { return cmp.Compare(a.quad, b.quad) })

	return all
}

// chain is the rate of four symbols without a correction.
func (t *table) chain(quad int) float32 {
	if bc := t.pair[quad/symbols%pairs]; bc > 0 {
		return t.rate[t.triple[quad/symbols]] * t.rate[t.triple[quad%triples]] / bc
	}

	return 0
}

// odd is the number of a quad's symbols that names don't have: rules have names
// in them, so what is in names is worth more. ok is false when no window has
// the quad, because a control is in it.
func odd(quad int) (n int, ok bool) {
	for range 4 {
		s := uint8(quad % symbols)
		if s == symControl {
			return 0, false
		}
		if !inNames(s) {
			n++
		}
		quad /= symbols
	}

	return n, true
}

// writeFixes writes corrections, ascending by quad.
func writeFixes(body *bytes.Buffer, fixes []fix) {
	numbers := binary.AppendUvarint(nil, uint64(len(fixes)))
	last := 0
	for _, f := range fixes {
		numbers = binary.AppendUvarint(numbers, uint64(f.quad-last))
		last = f.quad
	}
	body.Write(numbers)
	for _, f := range fixes {
		body.WriteByte(stepOf(f.octaves))
	}
}
