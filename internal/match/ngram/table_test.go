package ngram

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

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
