package match

import (
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzProgramSize(f *testing.F) {
	for _, seed := range []string{
		`a{3,5}`, `(?:ab|cd)*`, `(a?){4}`, `x{2,}`, `[a-z]+?`, `(?i)straße`, `(?:a{3}){4}`, `(?:)`, `((a*)*)+`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil || len(pattern) > MaxPattern || programSize(re) > 10*MaxProgram {
			return
		}
		prog, err := syntax.Compile(re.Simplify())
		require.NoError(t, err)
		// The estimate may be off by what Simplify does, never by a factor.
		real := len(prog.Inst)
		require.LessOrEqual(t, real, 2*programSize(re)+10)
	})
}
