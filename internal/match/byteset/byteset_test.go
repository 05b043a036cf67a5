package byteset

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// list is the bytes of a set in the order that Each has.
func list(s Set) []byte {
	out := []byte{}
	s.Each(func(b byte) { out = append(out, b) })

	return out
}

func TestSets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		got  Set
		want string
	}{
		{"none", Of(), ""},
		{"zero value", Set{}, ""},
		{"ascending, each once", Of('b', 'a', 'b', 0xFF, 0), "\x00ab\xff"},
		{"over the words' borders", Of(63, 64, 127, 128, 191, 192), "\x3f\x40\x7f\x80\xbf\xc0"},
		{"range", Range('x', 'z'), "xyz"},
		{"range of one", Range(255, 255), "\xff"},
		{"range of none", Range('b', 'a'), ""},
		{"union", Range('a', 'c').Union(Of('b', 'z')), "abcz"},
		{"fold", Of('A', 'Z', 'a', 'm', '@', '[', '_').Fold(), "@[_amz"},
		{"fold of both cases", Of('Q', 'q').Fold(), "q"},
		{"unfold", Of('A', 'z', '@', '[', '`', '{').Unfold(), "@AZ[`az{"},
		{"only ASCII has cases", Of(0xC0, 0xE0).Fold().Unfold(), "\xc0\xe0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, string(list(test.got)))
		})
	}
}

func TestSetIsItsBytes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		var set Set
		var has [256]bool
		for range r.IntN(300) {
			b := byte(r.IntN(256))
			set.Add(b)
			has[b] = true
		}
		n := 0
		for b := range 256 {
			assert.Equal(t, has[b], set.Has(byte(b)))
			if has[b] {
				n++
			}
		}
		assert.Equal(t, n, set.Len())
		assert.Equal(t, set, Of(list(set)...))
		assert.Equal(t, set.Unfold(), set.Fold().Unfold(), "both keep which letters there are")
		assert.Equal(t, set.Fold(), set.Unfold().Fold())
	}
	assert.Equal(t, 256, Range(0, 0xFF).Len())
}
