package api_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/assert"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/audit"
)

func TestEveryActionIsAFilter(t *testing.T) {
	t.Parallel()
	allowed := func(action string) error {
		return protovalidate.Validate(&prwardenv1.ListEventsRequest{Action: &action})
	}
	for _, action := range audit.Actions() {
		assert.NoError(t, allowed(string(action)))
	}
	assert.ErrorContains(t, allowed("foo"), "action: must be in list [key.create, key.revoke, ")
}
