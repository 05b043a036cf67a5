package rest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

func TestWhatIsLoggedAsUnexpected(t *testing.T) {
	t.Parallel()
	chain := func(err error) error { return rpcerr.Status(err).Err() }
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"the connection in memory was lost": {status.Error(codes.Unavailable, "transport is closing"), true},
		"gRPC refused its own call":         {status.Error(codes.Internal, "header key contains value with non-printable ASCII"), true},
		"a fault in the gateway":            {errors.New("x"), true},
		"the chain logged it":               {chain(errors.New("x")), false},
		"the database is away":              {chain(errs.New(errs.Unavailable, errs.ReasonUnavailable, "x")), false},
		"a mistake of the caller":           {errs.Invalid("x", "y"), false},
		"the caller left":                   {status.FromContextError(context.Canceled).Err(), false},
	} {
		assert.Equal(t, tc.want, unexpected(tc.err, shape(tc.err)), name)
	}
}
