package match_test

import (
	"fmt"
	"testing"

	"github.com/prwarden/prwarden/internal/scan/match"
)

func TestHF(t *testing.T) {
	for _, p := range []string{`fmt\.Print(ln|f)?\(`, `TODO`, `(?i)todo`,`err`, `\bif\b`, `[ \t]+$`, `\w+\.Print`} {
		c, _ := match.CostOf(p, false)
		fmt.Println(p, c, c.Time())
	}
}
