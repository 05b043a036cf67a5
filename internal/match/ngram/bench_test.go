package ngram

import (
	"strings"
	"testing"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

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

func BenchmarkRate(b *testing.B) {
	for _, bench := range []struct{ name, window string }{
		{"exact4", "quer"},
		{"exact8", "querydsl"},
		{"oneClass", `qu\hr`},
		{"twoClasses", `q\h\hr`},
		{"hexadecimal4", `\h\h\h\h`},
		{"hexadecimal8", `\h\h\h\h\h\h\h\h`},
		{"names4", `\w\w\w\w`},
		{"any8", `\.\.\.\.\.\.\.\.`},
	} {
		window := setsOf(bench.window)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Rate(window)
			}
		})
	}
}

func BenchmarkRateOf(b *testing.B) {
	window := []byte("quer")
	b.ReportAllocs()
	for b.Loop() {
		RateOf(window)
	}
}

// BenchmarkRules rates as many windows as 5,000 rules have, of different bytes:
// it shows the misses of the processor's cache that one window doesn't.
func BenchmarkRules(b *testing.B) {
	text := []byte("func (t *table) follow(before, ab, c int) (part float32, nextbefore, bc int) {")
	b.ReportAllocs()
	for b.Loop() {
		for i := range 100_000 {
			at := i * 7 % (len(text) - 4)
			window := [4]byte(text[at:])
			window[i%4] = 'a' + byte(i*11%26)
			RateOf(window[:])
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode(strings.NewReader(embedded)); err != nil {
			b.Fatal(err)
		}
	}
}
