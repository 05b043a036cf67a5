package grpcserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/prwarden/prwarden/internal/admission"
)

// admittedKey is the metadata entry in which the gateway says whom it
// admitted. It is believed on the in-memory connection and nowhere else.
const admittedKey = "prwarden-admitted-bin"

// handover is what the gateway says of a request that it admitted.
type handover struct {
	Caller admission.Caller `json:"caller"`
	Peer   string           `json:"peer"`
}

// AdmittedMetadata is what a call on the in-memory connection has to carry for
// a request that was already admitted, and counted, as caller's from the peer.
func AdmittedMetadata(caller admission.Caller, peer, requestID string) (metadata.MD, error) {
	data, err := json.Marshal(handover{Caller: caller, Peer: peer})
	if err != nil {
		return nil, fmt.Errorf("hand over an admitted caller: %w", err)
	}
	return metadata.Pairs(admittedKey, string(data), RequestIDKey, requestID), nil
}

// RateMetadata is a decision as response metadata, the same in gRPC and, as
// headers, in REST. The reset is rounded up: at that second it is over.
func RateMetadata(d admission.Decision) metadata.MD {
	reset := d.Reset.Add(time.Second - time.Nanosecond).Unix()
	return metadata.Pairs(
		RateLimitKey, strconv.Itoa(d.Limit),
		RateRemainingKey, strconv.Itoa(d.Remaining),
		RateResetKey, strconv.FormatInt(reset, 10),
	)
}

// admit is the link in which a request is admitted, unless the gateway did.
type admit struct{ admitter *admission.Admitter }

func (a admit) around(ctx context.Context, _ string, next func(context.Context) error) error {
	md, _ := metadata.FromIncomingContext(ctx)
	c := callOf(ctx)
	if said := md.Get(admittedKey); len(said) > 0 {
		md = md.Copy()
		md.Delete(admittedKey)
		ctx = metadata.NewIncomingContext(ctx, md)
		if c.inProcess {
			var h handover
			if err := json.Unmarshal([]byte(said[0]), &h); err != nil {
				return fmt.Errorf("admitted caller of the gateway: %w", err)
			}
			c.caller, c.peer = h.Caller, h.Peer
			return next(admission.NewContext(ctx, h.Caller))
		}
	}
	caller, decision, err := a.admitter.Admit(ctx, admission.Credentials{
		Authorization: md.Get(authorizationKey), PeerAddr: c.peer, ForwardedFor: md.Get(forwardedForKey),
	}, admission.KeyRequired)
	c.caller = caller
	if decision.Limit > 0 {
		// It fails only when the header was sent already, which nobody did yet.
		_ = grpc.SetHeader(ctx, RateMetadata(decision))
	}
	if err != nil {
		return err
	}
	return next(admission.NewContext(ctx, caller))
}
