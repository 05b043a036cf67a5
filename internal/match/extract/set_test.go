package extract_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match/extract"
)

func TestSets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		got  extract.Set
		want string
	}{
		{"none", extract.SetOf(), ""},
		{"zero value", extract.Set{}, ""},
		{"ascending, each once", extract.SetOf('b', 'a', 'b', 0xFF, 0), "\x00ab\xff"},
		{"over the words' borders", extract.SetOf(63, 64, 127, 128, 191, 192), "\x3f\x40\x7f\x80\xbf\xc0"},
		{"range", extract.Range('x', 'z'), "xyz"},
		{"range of one", extract.Range(255, 255), "\xff"},
		{"range of none", extract.Range('b', 'a'), ""},
		{"union", extract.Range('a', 'c').Union(extract.SetOf('b', 'z')), "abcz"},
		{"fold", extract.SetOf('A', 'Z', 'a', 'm', '@', '[', '_').Fold(), "@[_amz"},
		{"fold of both cases", extract.SetOf('Q', 'q').Fold(), "q"},
		{"only ASCII has cases", extract.SetOf(0xC0, 0xE0).Fold(), "\xc0\xe0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var list []byte
			test.got.Each(func(b byte) {
				list = append(list, b)
				assert.True(t, test.got.Has(b))
			})
			assert.Equal(t, test.want, string(list))
			assert.Equal(t, len(test.want), test.got.Len())
			assert.False(t, test.got.Has('N'))
		})
	}
	assert.Equal(t, 256, extract.Range(0, 0xFF).Len())
}
