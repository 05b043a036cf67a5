package steady_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/dev/steady"
)

func TestReserve(t *testing.T) {
	t.Parallel()
	const many = 100
	seen := map[string]bool{}
	for range many {
		p, err := steady.ReservePort()
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, p.Close()) })
		assert.False(t, seen[p.Addr()], p.Addr())
		seen[p.Addr()] = true
		for range 2 { // and again
			_, err = net.Dial("tcp", p.Addr())
			require.ErrorContains(t, err, "refused", "nobody listens")
			l, err := net.Listen("tcp", p.Addr())
			require.NoError(t, err, "whoever names it may")
			c, err := net.Dial("tcp", p.Addr())
			require.NoError(t, err)
			require.NoError(t, c.Close())
			_, err = net.Listen("tcp", p.Addr())
			require.ErrorContains(t, err, "in use", "one at a time")
			require.NoError(t, l.Close())
		}
	}
	for range many {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, l.Close()) })
		assert.False(t, seen[l.Addr().String()], "it is nobody else's")
	}
}
