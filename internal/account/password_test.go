package account_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/errs"
)

// good is a password that nobody guesses first.
const good = "violet-Harbor 7 quilts"

func TestPasswordsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := account.NewPasswords()
	for _, chosen := range []string{
		good, "x7Kq9mZp2LwT", "correct horse battery staple", "зимний вечер в гагарах", strings.Repeat("aB3$ükq9", 32),
	} {
		require.NoError(t, p.Check("password", chosen, "ada@acme.example", "Ada Lovelace"), chosen)
	}

	for _, chosen := range []string{
		"", "Sh0rt&sweet", strings.Repeat("aB3$ükq9", 32) + "x", "not UTF-8 \xff but long",
		"passwordpassword", "Password1234", "P@ssw0rd1234!", "qwertyuiop12", "iloveyou1234", "letmein12345",
		"123456789012", "abcdefghijkl", "zyxwvutsrqpo", "aaaaaaaaaaaa", "abababababab", "dragonbaseball",
		"prwarden2026", "prwardenprwarden", "ada@acme.example", "adalovelace1", "LovelaceLovelace", "acme.example!!",
	} {
		err := p.Check("password", chosen, "ada@acme.example", "Ada Lovelace")
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%q: %v", chosen, err)
		if chosen != "" {
			assert.NotContains(t, err.Error(), chosen)
		}
	}
}

func TestPasswordsAreHashed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p := account.NewPasswords()
	stored, err := p.Hash(ctx, good)
	require.NoError(t, err)
	assert.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, stored)
	again, err := p.Hash(ctx, good)
	require.NoError(t, err)
	assert.NotEqual(t, stored, again)

	for password, want := range map[string]bool{good: true, good + " ": false, "": false} {
		ok, stale, err := p.Verify(ctx, stored, password)
		require.NoError(t, err)
		assert.Equal(t, want, ok, password)
		assert.False(t, stale)
	}

	// Of the reference implementation: `echo -n password | argon2 somesalt -id -t 2 -m 8 -p 1`
	// with less memory than today.
	const older = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	ok, stale, err := p.Verify(ctx, older, "password")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.True(t, stale, "it is hashed again")

	ok, _, err = p.Verify(ctx, "", "")
	require.NoError(t, err)
	assert.False(t, ok, "who has no password has none that is right")
	for _, broken := range []string{"x", "$argon2id$v=19$m=256,t=2,p=1$", "$argon2i$v=19$m=256,t=2,p=1$YQ$YQ", "$argon2id$v=19$m=256,t=2,p=1$YQ$!"} {
		_, _, err = p.Verify(ctx, broken, "password")
		require.Error(t, err, broken)
		assert.NotContains(t, err.Error(), broken)
	}
}

// Whoever leaves does not wait, and others are told to come back.
func TestPasswordsAreHashedTwoAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := account.NewPasswords()
		free := account.Occupy(p)
		ctx, leave := context.WithCancel(t.Context())
		leave()
		_, err := p.Hash(ctx, good)
		require.ErrorIs(t, err, context.Canceled)
		_, err = p.Hash(t.Context(), good)
		require.Equal(t, errs.Unavailable, errs.KindOf(err))
		free()
		_, err = p.Hash(t.Context(), good)
		require.NoError(t, err)
	})
}
