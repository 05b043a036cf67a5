package stagetest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/match/byteset"
)

func TestShow(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `S K [0-9a-f] [0-9] [0-9A-Z_a-z] . \\`, Show(Sets(`SK\h\d\w\.\\`)))
	assert.Equal(t, `\. [\t␣] \xc5 \x00`,
		Show([]byteset.Set{byteset.Of('.'), byteset.Of('\t', ' '), byteset.Of(0xC5), byteset.Of(0)}))
	not := byteset.Range(0, '\n'-1).Union(byteset.Range('\n'+1, 0xFF))
	assert.Equal(t, `[^\n]`, Show([]byteset.Set{not}))
}

func TestStands(t *testing.T) {
	t.Parallel()
	assert.True(t, Stands(Sets(`a\d`), "xa1", 1))
	for _, at := range []int{-1, 0, 2, 3} {
		assert.False(t, Stands(Sets(`a\d`), "xa1", at), at)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"", "a", "é", "aa", "aé", "éa", "éé"}, Texts([]string{"a", "é"}, 2))
}
