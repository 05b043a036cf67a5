package ruleset

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestByteSyntax(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`\bfoo[\t\f\r ]*\(`:  `\bfoo[\x09\x0c-\x0d\x20]*\x28`,
		`(?i)key`:            `(?i:KEY)`,
		`(?i)[k-l]`:          `[K-Lk-l]`, // and not U+212A
		`a\s+b`:              `a[\x09\x0c-\x0d\x20]+b`,
		`a[^"]{2,3}?b`:       `a[\x00-\x09\x0b-\x21\x23-\xff]{2,3}b`,
		`(?s)a.b|(?P<n>cd)`:  `(?:a[^\n]b|(?:cd))`,
		`(?m)^a$|\Ab\z|\Bc`:  `(?:^a$|^b$|\Bc)`,
		`(?:ab)?(?:cd){2}e*`: `(?:ab)?(?:cd){2}(?:e)*`,
		`é`:                  `\xc3\xa9`,
		`x{2,}`:              `(?:x){2,}`,
	} {
		got, err := ByteSyntax(pattern)
		assert.NoError(t, err, pattern)
		assert.Equal(t, want, got, pattern)
	}
	for _, pattern := range []string{`[é-ü]`, `\pL`, `a\n`, `[^\x00-\x{10FFFF}]`, `(`} {
		_, err := ByteSyntax(pattern)
		assert.Error(t, err, pattern)
	}
}
