package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, check([]byte(`{"status":"complete","findings":[{}]}`)))
	for _, answer := range []string{`{"status":"failed","findings":[]}`, `{"status":"complete","findings":[]}`, `<html>`} {
		assert.Error(t, check([]byte(answer)), answer)
	}
}
