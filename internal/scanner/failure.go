package scanner

import (
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/scan"
)

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

// reasonOf is the reason that a scanner's error gives, "" for none.
func reasonOf(err error) (reason string, lasting bool) {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return info.GetReason(), info.GetMetadata()[metaLasting] == "true"
		}
	}

	return "", false
}

// unexpected is the error of a scanner that speaks another protocol.
func unexpected(m *scannerv1.ScanResponse) error {
	return status.Errorf(codes.Unimplemented, "unexpected message %T", m.GetMessage())
}

// elsewhere tells whether a call that did not begin its scan may be made to
// another scanner: the error says something of the scanner and nothing of what
// it was asked.
func elsewhere(err error) bool {
	reason, _ := reasonOf(err)
	if reason != "" {
		return reason == reasonStopping || reason == reasonBusy
	}

	return slices.Contains(
		[]codes.Code{codes.Unavailable, codes.Unimplemented, codes.Canceled, codes.DeadlineExceeded}, status.Code(err))
}

// scanError turns what went wrong at a scanner into the review side's error: a
// failure that the scanner reported keeps its code. A scan that no scanner began
// does not count.
func scanError(err error, begun bool) *review.ScanError {
	reason, lasting := reasonOf(err)
	code := status.Code(err)
	e := &review.ScanError{Uncounted: !begun || reason == reasonStopping, Err: err}
	fail := func(code, message string) { e.Failure = review.Failure{Code: code, Message: message} }
	switch {
	case begun && reason != "":
		fail(reason, status.Convert(err).Message())
		e.Lasting = lasting
	case reason == reasonStopping:
		fail(reason, "The scanner is stopping.")
	case !begun:
		fail("scanner_unavailable", "No scanner takes scans.")
	case code == codes.DeadlineExceeded:
		fail(scan.CodeScanTimeout, "The scan did not end in time.")
		e.Lasting = true
	case code == codes.Unavailable || code == codes.Canceled:
		fail("scanner_unavailable", "The scanner was lost during the scan.")
	default:
		fail("scanner_fault", "The scanner hit an unexpected fault; the logs of server and scanner have the details.")
	}

	return e
}
