package restclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// APIError is a refusal by the server.
type APIError struct {
	Status  int    // of HTTP; 0 when it came within a stream
	Reason  string // the ErrorInfo's, empty when there is none
	Message string // for people

	retryAfter time.Duration // how long the server wants to be left alone
	plain      bool          // the answer was not that of a prwarden server
}

// Error says it for people, the reason and the status in parentheses.
func (e *APIError) Error() string {
	switch {
	case e.Reason != "" && e.Status != 0:
		return fmt.Sprintf("%s (%s, HTTP %d)", e.Message, e.Reason, e.Status)
	case e.Status != 0:
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

// Unwrap tells the retries how long the server wants them to wait.
func (e *APIError) Unwrap() error {
	if e.retryAfter == 0 {
		return nil
	}
	return &backoff.RetryAfterError{Duration: e.retryAfter}
}

// maxQuoted is how many bytes of an answer that is not prwarden's are shown.
const maxQuoted = 200

// quoted is what is shown of such an answer: the first line of a text, nothing
// of a page.
func quoted(body []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(body[:min(len(body), maxQuoted)])), "\n")
	line = strings.TrimRight(strings.ToValidUTF8(line, ""), "\r.")
	if line == "" || strings.ContainsRune("<{[", rune(line[0])) {
		return ""
	}
	return ": " + line
}

func apiError(status int, body []byte) *APIError {
	var answer struct {
		Message string `json:"message"`
		Details []struct {
			Type   string `json:"@type"`
			Reason string `json:"reason"`
		} `json:"details"`
	}

	e := &APIError{Status: status}
	if json.Unmarshal(body, &answer) != nil || answer.Message == "" {
		e.Message, e.plain = "The server answered "+http.StatusText(status)+quoted(body)+".", true
		return e
	}

	e.Message = answer.Message
	for _, d := range answer.Details {
		if d.Type == "type.googleapis.com/google.rpc.ErrorInfo" {
			e.Reason = d.Reason
		}
	}
	return e
}

// UnreachableError is a call that got no answer.
type UnreachableError struct {
	Server string
	Err    error
}

// Error says it for people.
func (e *UnreachableError) Error() string {
	cause := e.Err
	var wrapped *url.Error
	if errors.As(cause, &wrapped) {
		cause = wrapped.Err
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Sprintf("%s did not answer within %s", e.Server, callTimeout)
	}
	return fmt.Sprintf("%s can't be reached: %v", e.Server, cause)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// distrust reports whether one end didn't take what the other showed.
func (e *UnreachableError) distrust() bool {
	var op *net.OpError
	var distrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError // the server doesn't speak TLS
	return errors.As(e.Err, &distrusted) || errors.As(e.Err, &plain) ||
		errors.As(e.Err, &op) && (op.Op == "remote error" || op.Op == "local error") // TLS alerts
}

// unknown reports whether there is no server of that name.
func (e *UnreachableError) unknown() bool {
	var name *net.DNSError
	return errors.As(e.Err, &name) && name.IsNotFound
}
