package scanner

import (
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/review"
)

// What the scanner's ErrorInfo has.
const (
	errorDomain    = "prwarden.scanner"
	reasonStopping = "scanner_stopping" // the scanner stops and hands the scan back
	reasonBusy     = "scanner_busy"     // the scanner has no room for another call that waits
	reasonProtocol = "scanner_protocol" // the scanner does not speak this server's protocol
	metaLasting    = "lasting"          // "true" when trying again is pointless
)

// Codes of failures that the client itself finds.
const (
	codeScannerUnavailable = "scanner_unavailable" // could not be reached, or died
	codeScannerFault       = "scanner_fault"       // broke the protocol or hit an unexpected fault
)

// errSilent is a scanner that gave no sign of life.
var errSilent = errors.New("scannergrpc: the scanner gave no sign of life")

// reasonOf is the reason that a scanner's error gives, "" for none.
func reasonOf(err error) (reason string, lasting bool) {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return info.GetReason(), info.GetMetadata()[metaLasting] == "true"
		}
	}
	return "", false
}

// elsewhere tells whether a call that did not begin its scan may be made to
// another scanner: the error says something of the scanner and nothing of what
// it was asked.
func elsewhere(err error) bool {
	if errors.Is(err, errSilent) || errors.Is(err, errProtocol) {
		return true
	}
	switch reason, _ := reasonOf(err); reason {
	case reasonStopping, reasonBusy, reasonProtocol:
		return true
	case "":
	default:
		return false
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Unimplemented, codes.Canceled, codes.DeadlineExceeded:
		return true
	}
	return false
}

// isLost tells whether a scanner ended a call without saying why.
func isLost(err error) bool {
	reason, _ := reasonOf(err)
	return errors.Is(err, errSilent) || reason == "" && status.Code(err) == codes.Unavailable
}

// notBegun is the error of a scan that no scanner began: none could be reached,
// or each had a reason not to.
func notBegun(err error) *review.ScanError {
	f := review.Failure{Code: codeScannerUnavailable, Message: "The scanner could not be reached."}
	reason, _ := reasonOf(err)
	switch {
	case reason == reasonStopping:
		f = review.Failure{Code: reasonStopping, Message: "The scanner is stopping."}
	case reason == reasonProtocol, errors.Is(err, errProtocol), status.Code(err) == codes.Unimplemented:
		f = review.Failure{Code: reasonProtocol, Message: "The scanner does not speak this server's protocol; scanners are to be upgraded before servers."}
	}
	return &review.ScanError{Failure: f, Uncounted: true, Err: err}
}

// scanError turns what went wrong into the review side's error: a failure that
// the scanner reported keeps its code, and everything else is a passing fault.
func scanError(err error) error {
	var known *review.ScanError
	if errors.As(err, &known) {
		return err
	}
	lost := &review.ScanError{
		Failure: review.Failure{Code: codeScannerUnavailable, Message: "The scanner was lost during the scan."},
		Err:     err,
	}
	if errors.Is(err, errSilent) {
		return lost
	}
	st, ok := status.FromError(err)
	if !ok {
		return &review.ScanError{
			Failure: review.Failure{Code: codeScannerFault, Message: "The scanner answered something that this server does not understand."},
			Err:     err,
		}
	}
	if reason, lasting := reasonOf(err); reason != "" {
		return &review.ScanError{
			Failure:   review.Failure{Code: reason, Message: st.Message()},
			Lasting:   lasting,
			Uncounted: reason == reasonStopping,
			Err:       err,
		}
	}
	switch st.Code() {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return lost
	}
	return &review.ScanError{
		Failure: review.Failure{Code: codeScannerFault, Message: "The scanner hit an unexpected fault; its log has the details."},
		Err:     err,
	}
}
