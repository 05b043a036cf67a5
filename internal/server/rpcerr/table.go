// Package rpcerr turns the errors of the domain into statuses and back. The
// table in this file is the only place that knows which error is which gRPC
// code and which HTTP status.
package rpcerr

import (
	"net/http"

	"google.golang.org/grpc/codes"

	"github.com/prwarden/prwarden/internal/errs"
)

// Domain is the domain of every google.rpc.ErrorInfo.
const Domain = "prwarden"

// statusClientClosedRequest is what proxies log when the caller went away.
// Nobody is there to read it.
const statusClientClosedRequest = 499

// row says what one kind of error is on the wire. reason is that of an error that
// has none, as one from another server may be.
type row struct {
	kind   errs.Kind
	code   codes.Code
	http   int
	reason string
}

// table has a row for every kind. A kind is on one row and a code is on one
// row, so it reads in both directions.
func table() []row {
	return []row{
		{errs.Internal, codes.Internal, http.StatusInternalServerError, errs.ReasonInternal},
		{errs.InvalidArgument, codes.InvalidArgument, http.StatusBadRequest, errs.ReasonInvalidArgument},
		{errs.Unauthenticated, codes.Unauthenticated, http.StatusUnauthorized, errs.ReasonKeyInvalid},
		{errs.PermissionDenied, codes.PermissionDenied, http.StatusForbidden, errs.ReasonScopeMissing},
		{errs.NotFound, codes.NotFound, http.StatusNotFound, errs.ReasonRouteNotFound},
		{errs.AlreadyExists, codes.AlreadyExists, http.StatusConflict, errs.ReasonRuleExists},
		{errs.Aborted, codes.Aborted, http.StatusConflict, errs.ReasonIdempotencyConflict},
		{errs.FailedPrecondition, codes.FailedPrecondition, http.StatusConflict, errs.ReasonReviewFinished},
		{errs.ResourceExhausted, codes.ResourceExhausted, http.StatusTooManyRequests, errs.ReasonRateLimited},
		{errs.Unavailable, codes.Unavailable, http.StatusServiceUnavailable, errs.ReasonUnavailable},
		{errs.Canceled, codes.Canceled, statusClientClosedRequest, errs.ReasonCanceled},
		{errs.DeadlineExceeded, codes.DeadlineExceeded, http.StatusGatewayTimeout, errs.ReasonDeadlineExceeded},
		{errs.Unimplemented, codes.Unimplemented, http.StatusMethodNotAllowed, errs.ReasonMethodNotAllowed},
	}
}

func byKind(k errs.Kind) row {
	for _, r := range table() {
		if r.kind == k {
			return r
		}
	}

	return table()[0]
}

// byCode returns the row of a code. Codes that this server never sends, but a
// proxy on the way may, are put to the nearest.
func byCode(c codes.Code) row {
	switch c {
	case codes.OutOfRange:
		c = codes.InvalidArgument
	case codes.Unknown, codes.DataLoss:
		c = codes.Internal
	}

	for _, r := range table() {
		if r.code == c {
			return r
		}
	}

	return table()[0]
}

// HTTPStatus returns the HTTP status of a gRPC code and a reason; the reason
// may be "".
func HTTPStatus(c codes.Code, reason string) int {
	if c == codes.OK {
		return http.StatusOK
	}
	switch reason {
	case errs.ReasonBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case errs.ReasonUnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	}

	return byCode(c).http
}
