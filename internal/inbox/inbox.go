// Package inbox takes what code hosts tell and works it off: a delivery is kept before it
// is answered, what it hints at is read from the host, and a head that was not scanned is
// queued. A sweep finds what deliveries lost.
package inbox

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
)

// Limits of a delivery.
const (
	MaxID = 200 // bytes of its identifier

	// MaxWaiting is how many deliveries of a connection may wait. More are refused: what
	// they are about is found by the sweep, and who claims deliveries passes over those
	// that wait for a broken connection.
	MaxWaiting = 10_000

	tooManyFor = 10 * time.Minute // before one more may be sent
	maxHints   = 100              // the rest is left to the sweep
	maxText    = 1 << 10          // bytes of a name, a branch or an identifier
	maxWords   = 64 << 10         // bytes of a comment
	maxReason  = 500              // bytes
)

// Outcome is what became of a delivery.
type Outcome string

// The outcomes. Only a Waiting delivery still has its hints.
const (
	Waiting Outcome = "waiting"
	Done    Outcome = "done"
	Ignored Outcome = "ignored" // there is nothing to do about it
	Failed  Outcome = "failed"  // the host refuses it for good
)

// Delivery is what a code host told, or a sweep found. Its body is not kept.
type Delivery struct {
	Organization string
	Connection   string // identifier
	ID           string // of the host, unique in the connection; or of a sweep
	Event        string // kinds of its hints, for people
	Subject      string // pull request that all of it is about; "" for none
	Hints        []codehost.Hint
	Attempt      int       // of working it off, from 1: the fence
	ClaimedAt    time.Time // of this attempt
	ReceivedAt   time.Time
}

// Except are those of whom nothing is claimed.
type Except struct{ Organizations, Connections []string }

// Store keeps deliveries. All times are the store's own clock's.
type Store interface {
	// KeepDelivery stores a delivery, durably. kept is false when there is one with
	// its identifier already. While MaxWaiting of the connection wait it fails with
	// TooMany, unless it says how an installation is.
	KeepDelivery(ctx context.Context, d Delivery) (kept bool, err error)

	// ClaimDelivery takes the delivery that has been due longest, but of nobody in
	// except; nil for none. Of one subject only one is worked off at a time, and of a
	// connection that is not active only what says how its installation is.
	ClaimDelivery(ctx context.Context, except Except, lease time.Duration) (*Delivery, error)

	// EndDelivery stores how a claimed delivery ended, and forgets its hints. When one
	// that says no more than to look at a pull request is Done, so are the others of
	// this kind that were received before the claim. Without a valid claim it does
	// nothing.
	EndDelivery(ctx context.Context, d Delivery, o Outcome, reason string) error

	// RetryDelivery puts a claimed delivery back, not to be claimed before delay has
	// passed. Without a valid claim it does nothing.
	RetryDelivery(ctx context.Context, d Delivery, delay time.Duration, reason string) error
}

// Inbox keeps deliveries until a Worker works them off.
type Inbox struct {
	store Store
	wake  chan struct{}
}

// New returns an inbox over a store.
func New(store Store) *Inbox { return &Inbox{store: store, wake: make(chan struct{}, 1)} }

// Status is what a host is told of its delivery.
type Status string

// The statuses.
const (
	Accepted  Status = "accepted"
	Duplicate Status = "duplicate" // its identifier was accepted before
	NotForUs  Status = "ignored"
)

// TooMany is the error for one delivery too many.
func TooMany() error {
	e := errs.New(errs.ResourceExhausted, errs.ReasonRateLimited,
		"%d deliveries of the connection wait already, which is the most; see whether it works.", MaxWaiting)
	e.RetryAfter = tooManyFor

	return e
}

// Accept keeps a delivery that was verified, durably, unless nothing in it is for us.
// It fails with InvalidArgument, ResourceExhausted while too many wait, and Unavailable
// while the database is away.
func (i *Inbox) Accept(ctx context.Context, c connection.Connection, id string, hints []codehost.Hint) (Status, error) {
	if id == "" || len(id) > MaxID || strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", errs.Invalid("delivery id",
			"must be 1 to %d visible ASCII characters in the header of the code host", MaxID)
	}
	hints = slices.DeleteFunc(slices.Clone(hints), isForOthers)
	if len(hints) == 0 {
		return NotForUs, nil
	}

	d := Delivery{
		Organization: c.Organization, Connection: c.ID, ID: id, Event: eventOf(hints), Subject: subjectOf(hints),
		Hints: hints[:min(len(hints), maxHints)],
	}
	kept, err := i.store.KeepDelivery(ctx, d)
	switch {
	case err != nil:
		return "", err
	case !kept:
		return Duplicate, nil
	}

	select {
	case i.wake <- struct{}{}:
	default:
	}

	return Accepted, nil
}

// command is what a comment has in it that is for us. Who may give one, and whether
// it is one, Commands says.
const command = "/prwarden"

// isForOthers reports whether there is nothing to do about a hint, or its texts are
// such as no host has them.
func isForOthers(h codehost.Hint) bool {
	for _, text := range []string{
		h.Repository.ID, h.Repository.Name, h.HeadSHA, h.BaseSHA, h.Ref, h.Account, h.Name,
		h.Comment.ID, h.Comment.Author, h.Comment.AuthorID,
	} {
		if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return true
		}
	}

	switch h.Kind {
	case codehost.HintPullRequest:
		return h.Number < 1
	case codehost.HintComment:
		return h.Number < 1 || len(h.Comment.Body) > maxWords || !strings.Contains(h.Comment.Body, command)
	case codehost.HintRerun:
		return h.Number < 1 && h.HeadSHA == ""
	case codehost.HintInstallation, codehost.HintRepository, codehost.HintMergeGroup, codehost.HintMergeGroupGone:
		return false
	}

	return true
}

// eventOf lists the kinds of hints.
func eventOf(hints []codehost.Hint) string {
	var kinds []string
	for _, h := range hints {
		if !slices.Contains(kinds, string(h.Kind)) {
			kinds = append(kinds, string(h.Kind))
		}
	}

	return strings.Join(kinds, ",")
}

// subjectOf names the pull request that all of the hints are about; "" for none.
func subjectOf(hints []codehost.Hint) (subject string) {
	for _, h := range hints {
		repository := h.Repository.ID
		if repository == "" {
			repository = h.Repository.Name
		}
		of := repository + "#" + strconv.Itoa(int(h.Number))
		if h.Number < 1 || subject != "" && subject != of {
			return ""
		}
		subject = of
	}

	return subject
}
