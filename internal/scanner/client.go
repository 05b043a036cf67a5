// Package scanner is the two ends of the scanner's gRPC interface: a
// server over scan, and a client that is the review side's Scanner. Both ends
// are always used, in one process over memory and between machines over TCP.
package scanner

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
)

// Client scans by calling the scanners of a pool. It is a review.Scanner.
type Client struct {
	pool *Pool
}

// NewClient returns a client that calls the scanners of pool.
func NewClient(pool *Pool) *Client { return &Client{pool: pool} }

// Await implements review.Scanner: it returns when any scanner can be reached.
func (c *Client) Await(ctx context.Context) {
	for {
		ready, changed := c.pool.anyReady()
		if ready {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Scan implements review.Scanner. The scan goes to the scanner with the most
// room, waits in line while none has any, and goes to another one when that
// one is lost before the scan began. Once it began it is never tried again
// here: its outcome, and whether that counts, are the caller's.
func (c *Client) Scan(ctx context.Context, j review.Job, progress func(review.Progress)) (review.Outcome, error) {
	refused := map[*peer]error{}
	for {
		call, err := c.seek(ctx, j, refused)
		if err != nil {
			return review.Outcome{}, scanError(err)
		}
		outcome, begun, err := call.run(j, progress)
		call.end()
		switch {
		case err == nil:
			return outcome, nil
		case begun || ctx.Err() != nil || !elsewhere(err):
			return review.Outcome{}, scanError(err)
		}
		refused[call.peer] = err
	}
}

// run takes the place that the call was offered and follows the scan to its
// end. begun tells whether the scan began, or may have.
func (c *call) run(j review.Job, progress func(review.Progress)) (o review.Outcome, begun bool, err error) {
	takes := &scannerv1.ScanGo{LimitMs: j.Limit.Milliseconds()}
	if err := send(c.stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Go{Go: takes}}); err != nil {
		return o, false, err
	}
	var last review.Progress
	var told weight
	for {
		m, err := c.hear()
		if err != nil {
			// Of a scanner that is lost now it can't be told whether it began.
			return review.Outcome{}, begun || isLost(err), err
		}
		switch m := m.GetMessage().(type) {
		case *scannerv1.ScanResponse_Waiting: // a sign of life
		case *scannerv1.ScanResponse_NeedRules:
			err = sendRules(c.stream, j.Rules.Rules)
		case *scannerv1.ScanResponse_Progress:
			p := review.Progress{FilesDone: int(m.Progress.GetFilesDone()), FilesTotal: int(m.Progress.GetFilesTotal())}
			if !begun || p != last { // else it is a sign of life
				progress(p)
			}
			begun, last = true, p
		case *scannerv1.ScanResponse_Findings:
			err = addFindings(&o, m.Findings.GetFindings(), j.MaxFindings, &told)
		case *scannerv1.ScanResponse_Skips:
			err = addSkips(&o, m.Skips.GetSkips(), j.MaxFindings, &told)
		case *scannerv1.ScanResponse_Result:
			if err := addResult(&o, m.Result); err != nil {
				return review.Outcome{}, begun, err
			}
			return o, begun, nil
		default:
			err = fmt.Errorf("%w: unknown message %T", errProtocol, m)
		}
		if err != nil {
			return review.Outcome{}, begun, err
		}
	}
}

// errProtocol is a scanner that does not speak as it should.
var errProtocol = errors.New("scannergrpc: the scanner speaks another protocol")

// callOptions are those of every scan.
func callOptions() []grpc.CallOption {
	return []grpc.CallOption{grpc.MaxCallRecvMsgSize(maxAnswer), grpc.MaxCallSendMsgSize(MaxMessage)}
}
