package stagetest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match/extract"
)

func TestShow(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `S K [0-9a-f] [0-9] [0-9A-Z_a-z] . \\`, Show(Sets(`SK\h\d\w\.\\`)))
	assert.Equal(t, `\. [\t␣] \xc5 \x00`,
		Show(extract.Seq{extract.SetOf('.'), extract.SetOf('\t', ' '), extract.SetOf(0xC5), extract.SetOf(0)}))
	not := extract.Range(0, '\n'-1).Union(extract.Range('\n'+1, 0xFF))
	assert.Equal(t, `[^\n]`, Show(extract.Seq{not}))
}

func TestStands(t *testing.T) {
	t.Parallel()
	assert.True(t, Stands(Sets(`a\d`), "xa1", 1))
	for _, at := range []int{-1, 0, 2, 3} {
		assert.False(t, Stands(Sets(`a\d`), "xa1", at), at)
	}
}
