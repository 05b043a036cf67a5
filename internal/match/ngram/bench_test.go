package ngram

import (
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
