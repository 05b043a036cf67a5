package ngram

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/stagetest"
	"github.com/prwarden/prwarden/internal/match/extract"
)

// rateOf is the rate of exact bytes.
func rateOf(text string) float64 {
	var window extract.Seq
	for i := range len(text) {
		window = append(window, extract.SetOf(text[i]))
	}

	return Rate(window)
}

func TestCommonerWindowsHaveHigherRates(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct{ common, rare string }{
		{"e", "z"}, {"e", "~"}, {"a", "\x00"}, {"th", "qx"}, {"\t\t", "~~"},
		{"the", "zqj"}, {"tion", "gtm_"}, {"    ", "tion"}, {"func", "fnuc"}, {"this", "tsih"}, {"elf.", "xlf."},
	} {
		assert.Greater(t, rateOf(pair.common), 4*rateOf(pair.rare), "%q, %q", pair.common, pair.rare)
	}
}

// Rates are per MiB of code: windows of one byte together are at all its places
// but line feeds, and no window is at more.
func TestRatesAddUpToAllPlaces(t *testing.T) {
	t.Parallel()
	all := Rate(stagetest.Sets(`\.`))
	assert.InDelta(t, 1<<20, all, 0.1*(1<<20))
	sum := 0.0
	for b := range 256 {
		if b < 'A' || b > 'Z' {
			sum += rateOf(string([]byte{byte(b)}))
		}
	}
	assert.InEpsilon(t, sum, all, 1e-3)
	for n := 2; n <= 4; n++ {
		longer := Rate(stagetest.Sets(strings.Repeat(`\.`, n)))
		assert.Less(t, longer, all)
		all = longer
	}
}

func TestWhatIsInNoWindowHasNoRate(t *testing.T) {
	t.Parallel()
	assert.Zero(t, rateOf("\n"))
	assert.Zero(t, Rate(extract.Seq{{}, extract.SetOf('a'), extract.SetOf('b', 'c')}))
	assert.Equal(t, rateOf("ab"), Rate(extract.Seq{extract.SetOf('a'), extract.SetOf('b', '\n')}))
}

func TestCaseMakesNoDifference(t *testing.T) {
	t.Parallel()
	assert.Equal(t, rateOf("quer"), rateOf("QuEr"))
	var both extract.Seq
	for _, b := range []byte("quer") {
		both = append(both, extract.SetOf(b, b-'a'+'A'))
	}
	assert.Equal(t, rateOf("quer"), Rate(both))
}

// digits are ten bytes of one symbol: each has its own part of its places.
func TestBytesOfASymbolShareItsRate(t *testing.T) {
	t.Parallel()
	sum := 0.0
	for digit := range strings.SplitSeq("0123456789", "") {
		sum += rateOf("v" + digit)
	}
	assert.InEpsilon(t, sum, Rate(stagetest.Sets(`v\d`)), 1e-4)
	assert.Greater(t, rateOf("0"), rateOf("7"))
}

// A window has the sum of the rates of its texts; when they are many, about that.
func TestSetsAreTheSumOfTheirTexts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		window, texts := extract.Seq{}, []string{""}
		for range 1 + r.IntN(4) {
			var set extract.Set
			for range 1 + r.IntN(4) {
				set.Add(byte(' ' + r.IntN('A'-' ') + r.IntN(2)*('a'-'A')))
			}
			window = append(window, set)
			var longer []string
			set.Each(func(b byte) {
				for _, text := range texts {
					longer = append(longer, text+string(b))
				}
			})
			texts = longer
		}
		sum := 0.0
		for _, text := range texts {
			sum += rateOf(text)
		}
		assert.InDelta(t, sum, Rate(window), 1e-4*sum, "seed %d", seed)
	}
	many := 0.0
	for digit := range strings.SplitSeq("0123456789abcdef", "") {
		many += Rate(stagetest.Sets(`\h\h\h` + digit))
	}
	assert.InEpsilon(t, many, Rate(stagetest.Sets(`\h\h\h\h`)), 0.9)
}

func TestRateAllocatesNothing(t *testing.T) {
	for _, text := range []string{"quer", `q\hr`, `\h\h\h\h`, `\w\w\w\w`} {
		window := stagetest.Sets(text)
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
	}
	assert.Len(t, used, symbols)
}

func TestCommittedTableIsWhole(t *testing.T) {
	t.Parallel()
	tb := committed()
	assert.LessOrEqual(t, len(embedded), 64<<10)
	memory := int(unsafe.Sizeof(*tb)) + len(tb.fix)*int(unsafe.Sizeof(tb.fix[0]))
	assert.LessOrEqual(t, memory, 340<<10)
	assert.Greater(t, len(tb.fix), 20_000)
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
