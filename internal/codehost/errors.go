package codehost

import (
	"errors"
	"fmt"
	"time"
)

// ErrSignature is the error of a delivery that is not signed by any secret.
var ErrSignature = errors.New("codehost: the signature is wrong")

// ErrSuspended is in the error of credentials that the account's owner suspended. They
// work again later; its Fault is Revoked.
var ErrSuspended = errors.New("the owner of the account suspended the App")

// Fault is what a caller can do about an error.
type Fault string

// The faults.
const (
	Passing   Fault = "passing"   // try again, after Error.After if that is set
	Limited   Fault = "limited"   // nothing of the connection before Error.After
	Revoked   Fault = "revoked"   // the credential is not accepted
	Forbidden Fault = "forbidden" // it lacks Error.Scope
	Gone      Fault = "gone"      // it isn't there any more
	Moved     Fault = "moved"     // look the repository up by its ID
	Stale     Fault = "stale"     // the head is another one
	BadLine   Fault = "bad_line"  // a line can't be commented on
	Invalid   Fault = "invalid"   // the host refuses it for good
	Unknown   Fault = "unknown"   // no answer: it may have happened
)

// Error is a call that failed.
type Error struct {
	Fault Fault
	After time.Duration // of Passing and Limited; 0 when the host doesn't say
	Scope string        // of Forbidden, in the host's words
	Err   error
}

// Error returns the fault and its cause, which has no secret.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Fault, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// FaultOf is the fault of an error; Passing for one that says none.
func FaultOf(err error) Fault {
	var e *Error
	if errors.As(err, &e) {
		return e.Fault
	}

	return Passing
}
