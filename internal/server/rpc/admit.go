package rpc

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/prwarden/prwarden/internal/auth"
)

// RateMetadata is a decision as response metadata, the same in gRPC and, as
// headers, in REST. The reset is rounded up: at that second it is over.
func RateMetadata(d auth.Decision) metadata.MD {
	reset := d.Reset.Add(time.Second - time.Nanosecond).Unix()
	return metadata.Pairs(
		RateLimitKey, strconv.Itoa(d.Limit),
		RateRemainingKey, strconv.Itoa(d.Remaining),
		RateResetKey, strconv.FormatInt(reset, 10),
	)
}

// admit is the link in which a request is admitted, unless the gateway did.
type admit struct{ admitter *auth.Admitter }

func (a admit) around(ctx context.Context, _ string, next func(context.Context) error) error {
	c := callOf(ctx)
	if c.inProcess {
		return next(auth.NewContext(ctx, c.caller))
	}
	md, _ := metadata.FromIncomingContext(ctx)
	caller, decision, err := a.admitter.Admit(ctx, credentialsOf(c, md), auth.KeyRequired)
	c.caller = caller
	c.pass.Admitted(caller)
	// It fails only when the header was sent already, which nobody did yet.
	_ = grpc.SetHeader(ctx, RateMetadata(decision))
	if err != nil {
		c.refused = true
		return err
	}
	return next(auth.NewContext(ctx, caller))
}
