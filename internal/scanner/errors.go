package scanner

import (
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
)

// What the scanner's ErrorInfo has.
const (
	errorDomain    = "prwarden.scanner"
	reasonStopping = "scanner_stopping" // the scanner stops and hands the scan back
	reasonBusy     = "scanner_busy"     // the scanner has no free slot
	metaLasting    = "lasting"          // "true" when trying again is pointless
)

// Codes of failures that the client itself finds.
const (
	codeScannerUnavailable = "scanner_unavailable" // could not be reached, or died
	codeScannerFault       = "scanner_fault"       // broke the protocol or hit an unexpected fault
)

var (
	errNoScanner = errors.New("scanner: none can be reached")
	errSilent    = errors.New("scanner: it neither accepted nor refused the scan in time")
	errProtocol  = errors.New("scanner: it speaks another protocol")
)

// reasonOf is the reason that a scanner's error gives, "" for none.
func reasonOf(err error) (reason string, lasting bool) {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return info.GetReason(), info.GetMetadata()[metaLasting] == "true"
		}
	}

	return "", false
}

// isBusy tells whether a scanner refused a scan because it has no free slot.
func isBusy(err error) bool {
	reason, _ := reasonOf(err)
	return reason == reasonBusy
}

// elsewhere tells whether a call that did not begin its scan may be made to
// another scanner: the error says something of the scanner and nothing of what
// it was asked.
func elsewhere(err error) bool {
	if errors.Is(err, errSilent) || errors.Is(err, errProtocol) {
		return true
	}
	switch reason, _ := reasonOf(err); reason {
	case reasonStopping, reasonBusy:
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
	return reason == "" && status.Code(err) == codes.Unavailable
}

// notBegun is the error of a scan that no scanner began: none could be reached,
// or each had a reason not to.
func notBegun(err error) *review.ScanError {
	f := review.Failure{Code: codeScannerUnavailable, Message: "No scanner takes scans."}
	if reason, _ := reasonOf(err); reason == reasonStopping {
		f = review.Failure{Code: reasonStopping, Message: "The scanner is stopping."}
	}

	return &review.ScanError{Failure: f, Uncounted: true, Err: err}
}

// scanError turns what went wrong at a scanner into the review side's error: a
// failure that the scanner reported keeps its code.
func scanError(err error) *review.ScanError {
	fail := func(code, message string) *review.ScanError {
		return &review.ScanError{Failure: review.Failure{Code: code, Message: message}, Err: err}
	}
	st, ok := status.FromError(err)
	if !ok {
		return fail(codeScannerFault, "The scanner answered something that this server does not understand.")
	}

	if reason, lasting := reasonOf(err); reason != "" {
		reported := fail(reason, st.Message())
		reported.Lasting, reported.Uncounted = lasting, reason == reasonStopping
		return reported
	}

	switch st.Code() {
	case codes.DeadlineExceeded:
		timeout := fail(scan.CodeScanTimeout, "The scan did not end in time.")
		timeout.Lasting = true
		return timeout
	case codes.Unavailable, codes.Canceled:
		return fail(codeScannerUnavailable, "The scanner was lost during the scan.")
	}

	return fail(codeScannerFault, "The scanner hit an unexpected fault; its log has the details.")
}

// failureStatus is an error of a scanner that the client turns back.
func failureStatus(code codes.Code, reason, message string, lasting bool) error {
	st, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{
		Reason: reason, Domain: errorDomain, Metadata: map[string]string{metaLasting: strconv.FormatBool(lasting)},
	})
	if err != nil {
		return fmt.Errorf("failure %s: %w", reason, err)
	}

	return st.Err()
}
