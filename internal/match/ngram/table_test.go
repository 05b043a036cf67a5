package ngram

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommittedTableIsWhole(t *testing.T) {
	t.Parallel()
	tb, err := decode(strings.NewReader(embedded))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(embedded), 64<<10)
	memory := int(unsafe.Sizeof(*tb)) + len(tb.fix)*int(unsafe.Sizeof(tb.fix[0]))
	assert.LessOrEqual(t, memory, 340<<10)
	var singles float32
	for _, rate := range tb.single {
		singles += rate
	}
	assert.InEpsilon(t, 1<<20, singles, 0.05, "every place has a byte")
	for b := byte(' '); b < 0x7f; b++ {
		if b < 'A' || b > 'Z' {
			assert.Positive(t, tb.share[b], "%q", b)
		}
	}
}

// counted trains a table on a text, all of it kept.
func counted(t *testing.T, text string, corrections int) *table {
	var c Counter
	c.Add([]byte(text), 1)
	var file bytes.Buffer
	require.NoError(t, c.Encode(&file, Size{Corrections: corrections}))
	tb, err := decode(&file)
	require.NoError(t, err)

	return tb
}

// Levels are eighths of an octave, and whole octaves for triples: 4.4 % off for
// one rate and 41 % for the other.
func TestTrainedRatesAreThoseOfTheText(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("if x < 10 { Print(x) }\n", 100)
	tb := counted(t, text, 0)
	for _, window := range []string{"x", "(", "i", "pr", "(x", "pri", "x <", "10 "} {
		want := float64(strings.Count(strings.ToLower(text), window)) / float64(len(text)) * (1 << 20)
		if window == "10 " { // one of four texts of two digits of the same shares, and a space
			want /= 4
		}
		off := 1.05
		if len(window) > 2 {
			off = 1.05 * 1.45
		}
		got := tb.rateOfBytes([]byte(window))
		assert.LessOrEqual(t, math.Max(got/want, want/got), off, "%q: %f, %f", window, got, want)
	}
	assert.Zero(t, tb.rateOfBytes([]byte("zz")))
	assert.Zero(t, tb.rateOfBytes([]byte("x\n")))
}

// In this text ab follows x and y, and c and d follow ab, equally often; that x
// goes with c and y with d is more than a chain of three can know.
func TestCorrectionsMendTheChain(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("xabc yabd ", 400) + "xabd"
	places := 400.0 / float64(len(text)) * (1 << 20)
	plain, mended := counted(t, text, 0), counted(t, text, 100)
	right, wrong := []byte("xabc ya"), []byte("xabd xa")
	assert.InEpsilon(t, 1, plain.rateOfBytes(right[:4])/plain.rateOfBytes(wrong[:4]), 0.01)
	assert.InDelta(t, 0, math.Log2(mended.rateOfBytes(right[:4])/places), 0.6)
	assert.InDelta(t, -math.Log2(400), math.Log2(mended.rateOfBytes(wrong[:4])/places), 0.6+1)
	assert.Greater(t, mended.rateOfBytes(right), 50*mended.rateOfBytes(wrong), "in a longer window too")
}

func TestCounterLeavesOutLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("q", maxLine+1)
	tb := counted(t, "a\n"+long+"\nb\n"+long, 0)
	assert.Zero(t, tb.rateOfBytes([]byte("q")))
	assert.InEpsilon(t, 1<<18, tb.rateOfBytes([]byte("a")), 0.05)
}

func TestWeightsCount(t *testing.T) {
	t.Parallel()
	var c Counter
	c.Add([]byte("aaaaaaaa"), 0.25)
	c.Add([]byte("bb"), 1)
	var file bytes.Buffer
	require.NoError(t, c.Encode(&file, Size{}))
	tb, err := decode(&file)
	require.NoError(t, err)
	assert.Equal(t, tb.rateOfBytes([]byte("b")), tb.rateOfBytes([]byte("a")))
}

func TestRareTriplesAreEstimated(t *testing.T) {
	t.Parallel()
	var c Counter
	c.Add([]byte(strings.Repeat("ab bc ", 1000)+"abc "), 1)
	var file bytes.Buffer
	require.NoError(t, c.Encode(&file, Size{Rarest: 1000}))
	tb, err := decode(&file)
	require.NoError(t, err)
	got := tb.rateOfBytes([]byte("abc"))
	assert.Greater(t, got, 174.0, "it occurred once in 6,004 bytes")
	assert.Less(t, got, 300_000.0, "no more than the rarest that is stored")
}

func TestNothingCountedIsNoTable(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, new(Counter).Encode(&bytes.Buffer{}, Size{}), "nothing was counted")
	var c Counter
	c.Add([]byte("a"), 1)
	require.ErrorIs(t, c.Encode(full{}, Size{}), errFull)
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestDamagedTablesAreRefused(t *testing.T) {
	t.Parallel()
	rates := make([]byte, levels)
	body := func(numbers ...uint64) []byte {
		b := bytes.Clone(rates)
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}

		return b
	}
	for name, file := range map[string]struct {
		file, message string
	}{
		"empty":            {"", "not a table"},
		"another version":  {strings.Replace(embedded, header, "ngram\x00\x01", 1), "not a table"},
		"cut off":          {embedded[:len(embedded)/2], "unexpected EOF"},
		"no deflate":       {header + "\xff\xff\xff", "damaged"},
		"too short":        {deflated(rates[1:]).String(), "too short"},
		"no number":        {deflated(rates).String(), "cut off"},
		"too many":         {deflated(body(1 << 16)).String(), "too many"},
		"too few":          {deflated(body(2, 5)).String(), "cut off"},
		"out of range":     {deflated(body(1, quads)).String(), "out of place"},
		"twice":            {deflated(body(2, 5, 0)).String(), "out of place"},
		"without steps":    {deflated(body(2, 5, 1, 3)).String(), "not a step"},
		"too large a step": {deflated(body(1, 5, 2*maxStep)).String(), "too large"},
	} {
		_, err := decode(strings.NewReader(file.file))
		require.ErrorContains(t, err, file.message, name)
	}
	_, err := decode(deflated(body(1, quads-1, 0)))
	require.NoError(t, err)
}

func TestStepsAreOctaves(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-8, -3, -1, 1, 2, 8} {
		assert.Equal(t, n, octaves(stepOf(float64(n))))
	}
	assert.Equal(t, -8, octaves(stepOf(-20)))
	assert.Equal(t, 8, octaves(stepOf(20)))
	assert.Equal(t, 1, octaves(stepOf(leastOff)))
	assert.Equal(t, -1, octaves(stepOf(-leastOff)))
}
