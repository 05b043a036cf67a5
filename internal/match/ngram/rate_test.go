package ngram

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

func TestCommonerWindowsHaveHigherRates(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct{ common, rare string }{
		{"e", "z"}, {"e", "~"}, {"a", "\x00"}, {"th", "qx"}, {"\t\t", "~~"},
		{"the", "zqj"}, {"tion", "gtm_"}, {"    ", "tion"}, {"func", "fnuc"}, {"this", "tsih"},
		{"self.", "sxlf."}, {"return ", "retrun "}, {"function", "fqnctyon"}, {"http://", "hptt://"},
	} {
		assert.Greater(t, committed().rateOfBytes([]byte(pair.common)), 4*committed().rateOfBytes([]byte(pair.rare)),
			"%q, %q", pair.common, pair.rare)
	}
}

// Rates are per MiB of code: windows of one byte together are at all its places
// but line feeds, and no window is at more.
func TestRatesAddUpToAllPlaces(t *testing.T) {
	t.Parallel()
	all := Rate(setsOf(`\.`))
	assert.InDelta(t, 1<<20, all, 0.1*(1<<20))
	sum := 0.0
	for b := range 256 {
		if fold(byte(b)) == byte(b) {
			sum += committed().rateOfBytes([]byte{byte(b)})
		}
	}
	assert.InEpsilon(t, sum, all, 1e-3)
	for n := 2; n <= MaxWindow; n++ {
		longer := Rate(setsOf(strings.Repeat(`\.`, n)))
		assert.Less(t, longer, all)
		all = longer
	}
}

func TestWhatIsInNoWindowHasNoRate(t *testing.T) {
	t.Parallel()
	assert.Zero(t, committed().rateOfBytes([]byte("\n")))
	assert.Zero(t, Rate([]byteset.Set{{}, byteset.Of('a'), byteset.Of('b', 'c')}))
	assert.Equal(t, committed().rateOfBytes([]byte("ab")), Rate([]byteset.Set{byteset.Of('a'), byteset.Of('b', '\n')}))
}

func TestCaseMakesNoDifference(t *testing.T) {
	t.Parallel()
	want := committed().rateOfBytes([]byte("query"))
	assert.Equal(t, want, committed().rateOfBytes([]byte("QuErY")))
	var lower, upper, both []byteset.Set
	for _, b := range []byte("query") {
		set := byteset.Of(b)
		lower, both = append(lower, set), append(both, set.Unfold())
		upper = append(upper, byteset.Of(b-'a'+'A'))
	}
	assert.Equal(t, want, Rate(lower))
	assert.Equal(t, want, Rate(upper))
	assert.Equal(t, want, Rate(both))
	assert.Equal(t, Rate([]byteset.Set{byteset.Range('a', 'z')}), Rate([]byteset.Set{byteset.Range('A', 'Z')}))
}

func TestWindowsHaveBounds(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { committed().rateOfBytes(nil) })
	assert.Panics(t, func() { committed().rateOfBytes([]byte("123456789")) })
	assert.Panics(t, func() { Rate(nil) })
	assert.Panics(t, func() { Rate(make([]byteset.Set, MaxWindow+1)) })
}

// digits are ten bytes of one symbol: each has its own part of its places.
func TestBytesOfASymbolShareItsRate(t *testing.T) {
	t.Parallel()
	sum := 0.0
	for b := byte('0'); b <= '9'; b++ {
		sum += committed().rateOfBytes([]byte{'v', b})
	}
	assert.InEpsilon(t, sum, Rate(setsOf(`v\d`)), 1e-4)
	assert.Greater(t, committed().rateOfBytes([]byte("0")), committed().rateOfBytes([]byte("7")))
}

// randomSets is a window of random sets; many of few bytes, some of many.
func randomSets(r *rand.Rand, sizes ...int) []byteset.Set {
	window := make([]byteset.Set, len(sizes))
	for i, size := range sizes {
		for window[i].Len() < size {
			window[i].Add(byte(' ' + r.IntN('A'-' ') + r.IntN(2)*('a'-'A')))
		}
	}

	return window
}

// texts calls f with each text that a window stands for.
func texts(window []byteset.Set, f func([]byte)) {
	text := make([]byte, len(window))
	var at func(int)
	at = func(i int) {
		if i == len(window) {
			f(text)
			return
		}
		window[i].Each(func(b byte) {
			text[i] = b
			at(i + 1)
		})
	}
	at(0)
}

func TestSmallSetsAreTheSumOfTheirTexts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		sizes := make([]int, 1+r.IntN(MaxWindow))
		product := 1
		for i := range sizes {
			sizes[i] = 1
			if size := 1 + r.IntN(4); product*size <= maxTexts {
				sizes[i] = size
				product *= size
			}
		}
		window := randomSets(r, sizes...)
		sum := 0.0
		texts(window, func(text []byte) { sum += committed().rateOfBytes(text) })
		assert.InDelta(t, sum, Rate(window), 1e-4*sum, "seed %d", seed)
	}
}

// The dynamic program, where it forgets nothing, is the sum over all texts of
// the chain without corrections.
func TestWalkIsTheSumOfTheChain(t *testing.T) {
	t.Parallel()
	plain := *committed()
	plain.first, plain.fix = [pairs + 1]uint16{}, nil
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		sizes := make([]int, 3+r.IntN(2))
		for i := range sizes {
			sizes[i] = 5 + r.IntN(6)
		}
		window := randomSets(r, sizes...)
		sum := 0.0
		texts(window, func(text []byte) { sum += plain.rateOfBytes(text) })
		assert.InEpsilon(t, sum, plain.rateOfSets(window), 1e-3, "seed %d", seed)
	}
}

func TestRateAllocatesNothing(t *testing.T) {
	for _, text := range []string{"quer", `q\hr`, `\h\h\h\h\h`, `\w\w\w\w`} {
		window := setsOf(text)
		assert.Zero(t, testing.AllocsPerRun(10, func() { Rate(window) }), text)
	}
}

func TestEveryByteHasASymbol(t *testing.T) {
	t.Parallel()
	used := map[uint8]bool{}
	for b := range 256 {
		s := symbolOf(byte(b))
		require.Less(t, int(s), symbols)
		used[s] = true
		assert.Equal(t, symbolOf(fold(byte(b))), s)
	}
	assert.Len(t, used, symbols)
	assert.Equal(t, bytes.ToLower([]byte("AZ")), []byte{fold('A'), fold('Z')})
}

// setsOf writes a window as sets: a byte for itself, and after a backslash d
// for digits, h for hexadecimal digits, w for what names have, . for any byte.
func setsOf(text string) []byteset.Set {
	digits := byteset.Range('0', '9')
	class := map[byte]byteset.Set{
		'd': digits,
		'h': digits.Union(byteset.Range('a', 'f')),
		'w': digits.Union(byteset.Range('a', 'z')).Union(byteset.Of('_')),
		'.': byteset.Range(0, '\t').Union(byteset.Range('\v', 255)),
	}
	var window []byteset.Set
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			window = append(window, byteset.Of(text[i]))
			continue
		}
		i++
		window = append(window, class[text[i]])
	}

	return window
}
