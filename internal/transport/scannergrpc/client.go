// Package scannergrpc is the two ends of the scanner's gRPC interface: a
// server over scan, and a client that is the review side's Scanner. Both ends
// are always used, in one process over memory and between machines over TCP.
package scannergrpc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// MaxMessage is the size, in bytes, that a message of this interface can have.
// Batches are cut well below it; the rules of a rules file travel in one
// message and bound it: 64 KiB of YAML, as protobuf.
const MaxMessage = 4 << 20

// batchSize is the size, in bytes, at which a batch is sent.
const batchSize = 256 << 10

// What the scanner's ErrorInfo has.
const (
	errorDomain    = "prwarden.scanner"
	reasonStopping = "scanner_stopping" // the scanner stops and hands the scan back
	metaLasting    = "lasting"          // "true" when trying again is pointless
)

// Codes of failures that the client itself finds.
const (
	codeScannerUnavailable = "scanner_unavailable" // could not be reached, or died
	codeScannerFault       = "scanner_fault"       // broke the protocol or hit an unexpected fault
)

// Client scans by calling a scanner. It is a review.Scanner.
type Client struct {
	rpc scannerv1.ScannerServiceClient
}

// NewClient returns a client that calls over conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: scannerv1.NewScannerServiceClient(conn)}
}

// Scan implements review.Scanner.
func (c *Client) Scan(ctx context.Context, j review.Job, progress func(review.Progress)) (review.Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream, whatever happened
	outcome, err := c.scan(ctx, j, progress)
	if err != nil {
		return review.Outcome{}, scanError(err)
	}
	return outcome, nil
}

func (c *Client) scan(ctx context.Context, j review.Job, progress func(review.Progress)) (review.Outcome, error) {
	stream, err := c.rpc.Scan(ctx, grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage))
	if err != nil {
		return review.Outcome{}, notBegun(err)
	}
	if err := send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Start{Start: startOf(j)}}); err != nil {
		return review.Outcome{}, err
	}
	var o review.Outcome
	for begun := false; ; begun = true {
		m, err := stream.Recv()
		if err != nil {
			if !begun {
				err = notBegun(err)
			}
			return review.Outcome{}, err
		}
		switch m := m.GetMessage().(type) {
		case *scannerv1.ScanResponse_NeedRules:
			if err := sendRules(stream, j.Rules.Rules); err != nil {
				return review.Outcome{}, err
			}
		case *scannerv1.ScanResponse_Progress:
			progress(review.Progress{FilesDone: int(m.Progress.GetFilesDone()), FilesTotal: int(m.Progress.GetFilesTotal())})
		case *scannerv1.ScanResponse_Findings:
			if err := addFindings(&o, m.Findings.GetFindings()); err != nil {
				return review.Outcome{}, err
			}
		case *scannerv1.ScanResponse_Skips:
			for _, p := range m.Skips.GetSkips() {
				o.Skipped = append(o.Skipped, review.Skip{File: string(p.GetPath()), Line: int(p.GetLine()), RuleID: p.GetRuleId(), Reason: p.GetReason()})
			}
		case *scannerv1.ScanResponse_Result:
			err := addResult(&o, m.Result)
			return o, err
		default:
			return review.Outcome{}, fmt.Errorf("unknown message %T", m)
		}
	}
}

func startOf(j review.Job) *scannerv1.ScanStart {
	selection := scannerv1.ScanStart_repository
	switch j.Ruleset {
	case rule.RulesetDefault:
		selection = scannerv1.ScanStart_default_ruleset
	case rule.RulesetCustom:
		selection = scannerv1.ScanStart_custom
	}
	return &scannerv1.ScanStart{
		ReviewId:     j.ReviewID,
		Organization: j.Organization,
		Repo:         j.Repo,
		PrNumber:     j.PRNumber,
		Selection:    selection,
		RulesDigest:  j.Rules.Digest,
		MaxFindings:  int32(j.MaxFindings),
	}
}

// send hides the io.EOF of a broken stream, whose real error Recv has.
func send(stream scannerv1.ScannerService_ScanClient, m *scannerv1.ScanRequest) error {
	if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func sendRules(stream scannerv1.ScannerService_ScanClient, rules []rule.Rule) error {
	parts := batches(toProtoRules(rules))
	if len(parts) == 0 {
		parts = [][]*scannerv1.ScanRule{nil}
	}
	for i, part := range parts {
		chunk := &scannerv1.RuleChunk{Rules: part, Last: i == len(parts)-1}
		if err := send(stream, &scannerv1.ScanRequest{Message: &scannerv1.ScanRequest_Rules{Rules: chunk}}); err != nil {
			return err
		}
	}
	return nil
}

// batches cuts messages into runs of about batchSize bytes.
func batches[M proto.Message](all []M) [][]M {
	var parts [][]M
	size, first := 0, 0
	for i, m := range all {
		size += proto.Size(m)
		if size >= batchSize || i == len(all)-1 {
			parts = append(parts, all[first:i+1])
			size, first = 0, i+1
		}
	}
	return parts
}

func addFindings(o *review.Outcome, ps []*scannerv1.ScanFinding) error {
	for _, p := range ps {
		severity, ok := rule.ParseSeverity(p.GetSeverity())
		if !ok {
			return fmt.Errorf("finding of rule %q: unknown severity %q", p.GetRuleId(), p.GetSeverity())
		}
		o.Findings = append(o.Findings, review.Finding{
			RuleID:      p.GetRuleId(),
			Severity:    severity,
			File:        string(p.GetPath()),
			Line:        int(p.GetLine()),
			EndLine:     int(p.GetEndLine()),
			Column:      int(p.GetColumn()),
			Message:     p.GetMessage(),
			Snippet:     p.GetSnippet(),
			Fingerprint: p.GetFingerprint(),
		})
	}
	return nil
}

func addResult(o *review.Outcome, p *scannerv1.ScanResult) error {
	o.HeadSHA = p.GetHeadSha()
	o.BaseSHA = p.GetBaseSha()
	o.RulesDigest = p.GetRulesDigest()
	o.Truncated = p.GetTruncated()
	o.FilesTotal = int(p.GetFilesTotal())
	o.Summary = review.Summary{}
	for word, n := range p.GetSummary() {
		severity, ok := rule.ParseSeverity(word)
		if !ok {
			return fmt.Errorf("summary: unknown severity %q", word)
		}
		o.Summary[severity] = int(n)
	}
	o.RulesFileKnown = p.GetRulesFileValid()
	var err error
	o.RulesFile, err = fromProtoRules(p.GetRulesFileRules())
	return err
}

// notBegun marks the error of a scanner that could not be reached: no scan
// began, for every scan begins with a message from the scanner.
func notBegun(err error) error {
	if status.Code(err) != codes.Unavailable {
		return err
	}
	return &review.ScanError{
		Failure:   review.Failure{Code: codeScannerUnavailable, Message: "The scanner could not be reached."},
		Uncounted: true,
		Err:       err,
	}
}

// scanError turns what went wrong into the review side's error: a failure that
// the scanner reported keeps its code, and everything else is a passing fault.
func scanError(err error) error {
	var known *review.ScanError
	if errors.As(err, &known) {
		return err
	}
	st, ok := status.FromError(err)
	if !ok {
		return &review.ScanError{
			Failure: review.Failure{Code: codeScannerFault, Message: "The scanner answered something that this server does not understand."},
			Err:     err,
		}
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return &review.ScanError{
				Failure:   review.Failure{Code: info.GetReason(), Message: st.Message()},
				Lasting:   info.GetMetadata()[metaLasting] == "true",
				Uncounted: info.GetReason() == reasonStopping,
				Err:       err,
			}
		}
	}
	if st.Code() == codes.Unavailable || st.Code() == codes.Canceled || st.Code() == codes.DeadlineExceeded {
		return &review.ScanError{
			Failure: review.Failure{Code: codeScannerUnavailable, Message: "The scanner was lost during the scan."},
			Err:     err,
		}
	}
	return &review.ScanError{
		Failure: review.Failure{Code: codeScannerFault, Message: "The scanner hit an unexpected fault; its log has the details."},
		Err:     err,
	}
}

// Await implements review.Scanner.
func (c *Client) Await(context.Context) {}
