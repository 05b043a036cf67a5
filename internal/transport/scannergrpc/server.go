package scannergrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// maxRules is how many rules one scan may be sent: the default ruleset and an
// organization's 5,000 many times over. It bounds what a client can make the
// scanner hold.
const maxRules = 50_000

// Server is the ScannerService over a scan.Scanner.
type Server struct {
	scannerv1.UnimplementedScannerServiceServer

	scanner *scan.Scanner
	log     *slog.Logger

	stopping context.Context
	stop     context.CancelFunc
}

// NewServer returns a server over a scanner.
func NewServer(scanner *scan.Scanner, log *slog.Logger) *Server {
	s := &Server{scanner: scanner, log: log}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// HandBack breaks off the scans that run and refuses new ones. Their callers
// are told that it is not the pull requests' fault. Twice is once.
func (s *Server) HandBack() { s.stop() }

// Scan implements ScannerService.
func (s *Server) Scan(stream scannerv1.ScannerService_ScanServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	start := first.GetStart()
	if start == nil {
		return status.Error(codes.InvalidArgument, "the first message must be `start`")
	}
	rules, err := s.rules(stream, start.GetRulesDigest())
	if err != nil {
		return err
	}
	request := scan.Request{
		Target:      scan.Target{Organization: start.GetOrganization(), Repo: start.GetRepo(), Number: start.GetPrNumber()},
		Rules:       rules,
		MaxFindings: int(start.GetMaxFindings()),
	}
	switch start.GetSelection() {
	case scannerv1.ScanStart_repository:
		request.Selection = scan.SelectRepository
	case scannerv1.ScanStart_default_ruleset:
		request.Selection = scan.SelectDefault
	case scannerv1.ScanStart_custom:
		request.Selection = scan.SelectCustom
	default:
		return status.Errorf(codes.InvalidArgument, "selection: unknown value %d", start.GetSelection())
	}

	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	// The first message says that the scan begins. A client that is gone is
	// noticed by its context; what Send says of it can wait until then.
	if err := stream.Send(progressMessage(scan.Progress{})); err != nil {
		return err
	}
	result, err := s.scanner.Scan(ctx, request, func(p scan.Progress) {
		_ = stream.Send(progressMessage(p))
	})
	switch {
	case err == nil:
		s.log.Info("scanned", "review_id", start.GetReviewId(), "files", result.FilesTotal, "findings", len(result.Findings), "ms", result.Times)
	case s.stopping.Err() != nil:
		return failureStatus(codes.Unavailable, reasonStopping, "The scanner is stopping.", false)
	default:
		return s.failed(start, err)
	}
	return sendResult(stream, result)
}

// rules returns the rules with that digest, and has the client send them when
// they are not there.
func (s *Server) rules(stream scannerv1.ScannerService_ScanServer, digest string) (*scan.Ruleset, error) {
	if rules, ok := s.scanner.Rules(digest); ok {
		return rules, nil
	}
	if err := stream.Send(&scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_NeedRules{NeedRules: &scannerv1.NeedRules{}}}); err != nil {
		return nil, err
	}
	var all []rule.Rule
	for last := false; !last; {
		m, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		chunk := m.GetRules()
		if chunk == nil {
			return nil, status.Error(codes.InvalidArgument, "after `need_rules` only `rules` may follow")
		}
		part, err := fromProtoRules(chunk.GetRules())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		all = append(all, part...)
		if len(all) > maxRules {
			return nil, status.Errorf(codes.InvalidArgument, "more than %d rules", maxRules)
		}
		last = chunk.GetLast()
	}
	rules, err := s.scanner.AddRules(digest, all)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return rules, nil
}

// failed turns a scan's error into a status that the client turns back.
func (s *Server) failed(start *scannerv1.ScanStart, err error) error {
	var f *scan.Failure
	if !errors.As(err, &f) {
		return status.FromContextError(err).Err()
	}
	s.log.Warn("scan failed", "review_id", start.GetReviewId(), "organization", start.GetOrganization(),
		"repo", start.GetRepo(), "pr_number", start.GetPrNumber(), "code", f.Code, "error", err)
	code := codes.Unavailable
	if f.Lasting {
		code = codes.FailedPrecondition
	}
	return failureStatus(code, f.Code, f.Message, f.Lasting)
}

func failureStatus(code codes.Code, reason, message string, lasting bool) error {
	st, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{
		Reason: reason, Domain: errorDomain, Metadata: map[string]string{metaLasting: strconv.FormatBool(lasting)},
	})
	if err != nil {
		return fmt.Errorf("failure %s: %w", reason, err)
	}
	return st.Err()
}

func progressMessage(p scan.Progress) *scannerv1.ScanResponse {
	return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Progress{
		Progress: &scannerv1.ScanProgress{FilesDone: int32(p.Done), FilesTotal: int32(p.Total)},
	}}
}

func sendResult(stream scannerv1.ScannerService_ScanServer, r *scan.Result) error {
	err := sendBatches(stream, r.Findings, toProtoFinding, func(part []*scannerv1.ScanFinding) *scannerv1.ScanResponse {
		return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Findings{Findings: &scannerv1.FindingBatch{Findings: part}}}
	})
	if err != nil {
		return err
	}
	err = sendBatches(stream, r.Skips, toProtoSkip, func(part []*scannerv1.ScanSkip) *scannerv1.ScanResponse {
		return &scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Skips{Skips: &scannerv1.SkipBatch{Skips: part}}}
	})
	if err != nil {
		return err
	}
	summary := make(map[string]int32, len(r.Summary))
	for severity, n := range r.Summary {
		summary[severity.String()] = int32(n)
	}
	return stream.Send(&scannerv1.ScanResponse{Message: &scannerv1.ScanResponse_Result{Result: &scannerv1.ScanResult{
		HeadSha:        r.HeadSHA,
		BaseSha:        r.BaseSHA,
		RulesDigest:    r.RulesDigest,
		Summary:        summary,
		Truncated:      r.Truncated,
		FilesTotal:     int32(r.FilesTotal),
		RulesFileRules: toProtoRules(r.RulesFile),
		RulesFileValid: r.RulesFileValid,
	}}})
}

func sendBatches[T any, P proto.Message](stream grpc.ServerStream, all []T, convert func(T) P, wrap func([]P) *scannerv1.ScanResponse) error {
	converted := make([]P, 0, len(all))
	for _, one := range all {
		converted = append(converted, convert(one))
	}
	for _, part := range batches(converted) {
		if err := stream.SendMsg(wrap(part)); err != nil {
			return err
		}
	}
	return nil
}

func toProtoFinding(f scan.Finding) *scannerv1.ScanFinding {
	return &scannerv1.ScanFinding{
		RuleId:      f.RuleID,
		Severity:    f.Severity.String(),
		Path:        []byte(f.Path),
		Line:        int32(f.Line),
		EndLine:     int32(f.EndLine),
		Column:      int32(f.Column),
		Message:     f.Message,
		Snippet:     f.Snippet,
		Fingerprint: f.Fingerprint,
	}
}

func toProtoSkip(k scan.Skip) *scannerv1.ScanSkip {
	return &scannerv1.ScanSkip{Path: []byte(k.Path), Line: int32(k.Line), RuleId: k.RuleID, Reason: k.Reason}
}

// Register registers the server.
func (s *Server) Register(r grpc.ServiceRegistrar) { scannerv1.RegisterScannerServiceServer(r, s) }

// ServerOptions are the options that a grpc.Server with this service needs.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage)}
}
