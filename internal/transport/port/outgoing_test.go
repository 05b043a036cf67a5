package port

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fulfilled(e *Expectation) bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func TestExpectationsAreFulfilledInTheirOrder(t *testing.T) {
	t.Parallel()
	c := &conn{}
	addr := remoteAddr{&net.TCPAddr{}, c}
	c.outgoing.wrote(1000)
	a, b := Expect(addr, 10), Expect(addr, 20)
	c.outgoing.wrote(9)
	assert.False(t, fulfilled(a), "what was written before does not count")
	c.outgoing.wrote(1)
	assert.True(t, fulfilled(a))
	require.NoError(t, a.Wait(t.Context()))
	c.outgoing.wrote(19)
	assert.False(t, fulfilled(b))
	third := Expect(addr, 5)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.Wait(gone), context.Canceled)
	c.outgoing.wrote(4)
	assert.False(t, fulfilled(third))
	c.outgoing.wrote(1)
	assert.True(t, fulfilled(third), "it does not wait for what will not be written")
	b.Forget()
	assert.Empty(t, c.outgoing.expected)
}

func TestNothingIsExpectedOfOtherConnections(t *testing.T) {
	t.Parallel()
	e := Expect(&net.TCPAddr{}, 10)
	e.Forget()
	require.NoError(t, e.Wait(t.Context()))
}
