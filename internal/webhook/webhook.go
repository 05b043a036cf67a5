// Package webhook tells receivers that organizations name what happens: signed messages
// by HTTP, which are tried again for days, with a log of all attempts.
package webhook

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
)

// Limits of webhooks.
const (
	MaxWebhooks = 20   // of an organization
	MaxListed   = 100  // messages of a webhook
	MaxAnswer   = 1024 // bytes that are kept of a receiver's answer

	maxName = 63   // bytes
	maxURL  = 2048 // bytes
	maxText = 300  // bytes of an error
)

// Event is what a message tells of.
type Event string

// The events. A receiver subscribes to any but Test, which is sent on request.
const (
	ReviewQueued     Event = "review.queued"
	ReviewCompleted  Event = "review.completed"
	ReviewFailed     Event = "review.failed"
	ConnectionBroken Event = "connection.broken"
	Test             Event = "webhook.test"
)

// Events are those that can be subscribed to.
func Events() []Event { return []Event{ReviewQueued, ReviewCompleted, ReviewFailed, ConnectionBroken} }

// Format is how messages are written.
type Format string

// The formats.
const (
	Standard Format = "standard" // signed JSON of Standard Webhooks
	Slack    Format = "slack"    // what Slack's incoming webhooks take, without a signature
)

// State says whether messages are sent.
type State string

// The states.
const (
	Active   State = "active"
	Disabled State = "disabled" // Reason says why
)

// Webhook is a receiver of an organization.
type Webhook struct {
	ID           string // `whk_` and an opaque suffix
	Organization string
	Name         string // for people
	URL          string // as it may be shown: the rest of a secret one is left out
	Events       []Event
	Format       Format
	State        State
	Reason       string    // why it is Disabled, or can't be sent to; "" for none
	FailingSince time.Time // first failure since the last success; zero for none
	CreatedAt    time.Time
	CreatedBy    string // actor, as audit.Actor.String has it
	UpdatedAt    time.Time
}

// Stored is a webhook with its sealed address and secrets.
type Stored struct {
	Webhook
	Sealed []byte
}

// Audited is what events of the audit log say of a webhook.
func (w Webhook) Audited() map[string]any {
	return map[string]any{
		"name": w.Name, "url": w.URL, "events": w.Events, "format": w.Format, "state": w.State,
	}
}

// Data is what a message says: identifiers and counts, no finding, because those are
// private. Its JSON is that of a message's `data`.
type Data struct {
	Organization string          `json:"organization"`
	ReviewID     string          `json:"review_id,omitempty"`
	Repo         string          `json:"repo,omitempty"`
	PRNumber     int32           `json:"pr_number,omitempty"`
	HeadSHA      string          `json:"head_sha,omitempty"`
	Verdict      finding.Outcome `json:"verdict,omitempty"`
	Findings     finding.Summary `json:"findings,omitempty"` // by severity
	FailureCode  string          `json:"failure_code,omitempty"`
	ConnectionID string          `json:"connection_id,omitempty"`
	Connection   string          `json:"connection,omitempty"` // name
	URL          string          `json:"url,omitempty"`        // where to read more
}

// MessageState is how far a message is.
type MessageState string

// The states of a message.
const (
	Waiting   MessageState = "waiting"
	Delivered MessageState = "delivered"
	Failed    MessageState = "failed" // it is not tried again
)

// Message is an event for a webhook.
type Message struct {
	ID           string // `msg_` and an opaque suffix; the same for each attempt, and for each webhook
	Organization string
	Webhook      string // identifier
	Event        Event
	Data         Data
	State        MessageState
	CreatedAt    time.Time
	NextAt       time.Time // of the next attempt, while Waiting
	Attempts     []Attempt // the oldest first
}

// Attempt is one delivery of a message.
type Attempt struct {
	At       time.Time
	Status   int // of HTTP; 0 without an answer
	Duration time.Duration
	Answer   string // its first MaxAnswer bytes
	Error    string // why there is no answer; "" for none
}

// Claim is a message to send now.
type Claim struct {
	Message Message
	To      Stored
	Attempt int // rises with every claim: the fence
	Tries   int // failed ones since it was queued
}

// Except is what a claim passes over.
type Except struct{ Webhooks, Organizations []string }

// End is how an attempt ended.
type End struct {
	Attempt Attempt
	State   MessageState
	After   time.Duration // until the next attempt, for Waiting
	Hold    time.Duration // in which nothing is sent to the webhook
	Gone    bool          // the receiver wants no more
}

// Store keeps webhooks and their messages. All times are the store's own clock's. The
// store also writes the messages, in the transactions of what they tell.
type Store interface {
	// CreateWebhook stores a webhook and returns it with its times. It fails with
	// FailedPrecondition (WEBHOOK_QUOTA) while the organization has quota ones.
	CreateWebhook(ctx context.Context, w Stored, quota int) (Stored, error)
	// ReadWebhook returns a webhook of an organization; NotFound (WEBHOOK_NOT_FOUND).
	ReadWebhook(ctx context.Context, org, id string) (Stored, error)
	// ListWebhooks returns those of an organization, of all for "", the oldest first.
	ListWebhooks(ctx context.Context, org string) ([]Stored, error)
	// ChangeWebhook stores what change makes of a webhook, with its event. When that has
	// no action nothing is stored. Messages of one that becomes Disabled fail. NotFound,
	// and what change fails with.
	ChangeWebhook(ctx context.Context, org, id string, change func(*Stored) (audit.Change, error)) (Stored, error)
	// DeleteWebhook deletes a webhook with its messages; NotFound.
	DeleteWebhook(ctx context.Context, org, id string) error
	// ResealWebhook replaces sealed secrets, with an event, unless they were changed
	// meanwhile.
	ResealWebhook(ctx context.Context, org, id string, before, after []byte) error

	// ListMessages returns the newest messages of a webhook with their attempts, the
	// newest first.
	ListMessages(ctx context.Context, org, webhook string, limit int) ([]Message, error)
	// QueueTest stores a Test message for a webhook.
	QueueTest(ctx context.Context, org, webhook, message string) error
	// RequeueMessage has a message of an active webhook sent once more, as if for the first
	// time; NotFound (MESSAGE_NOT_FOUND), and WEBHOOK_DISABLED.
	RequeueMessage(ctx context.Context, org, webhook, message string) error

	// ClaimMessage takes the message that has been due longest, of an active webhook that
	// is not held and not excepted; nil for none. For a webhook of Slack the claim holds
	// the webhook for slackGap.
	ClaimMessage(ctx context.Context, except Except, lease, slackGap time.Duration) (*Claim, error)
	// EndAttempt stores how an attempt ended. A webhook that is Gone, or has failed for
	// DisableAfter, is disabled. Without a valid claim it does nothing. Attempts before the last
	// KeptAttempts are forgotten.
	EndAttempt(ctx context.Context, c Claim, e End) error
}

// DisableAfter is how long a webhook may fail until it is disabled. One with a fault now
// and then has a success in between; for one that is seldom used the same message must
// have failed DisableTries times.
const (
	DisableAfter = 5 * 24 * time.Hour
	DisableTries = 3
)

// KeptAttempts is how many attempts of a message are kept, the last ones. A message that
// is sent again by hand has more than the retries alone.
const KeptAttempts = 20

// Reasons of a disabled webhook.
const (
	ReasonGone    = "The receiver answered 410 Gone."
	ReasonFailing = "No message could be delivered for 5 days."
	ReasonAsked   = "It was switched off."
)

// NotFound is the error for a webhook that isn't there.
func NotFound(id string) error {
	return errs.New(errs.NotFound, errs.ReasonWebhookNotFound, "There is no webhook %q.", id)
}

// MessageNotFound is the error for a message that isn't there, or not any more.
func MessageNotFound(id string) error {
	return errs.New(errs.NotFound, errs.ReasonMessageNotFound,
		"The webhook has no message %q. Messages are kept for 30 days.", id)
}

// OverQuota is the error for one webhook too many.
func OverQuota(quota int) error {
	return errs.New(errs.FailedPrecondition, errs.ReasonWebhookQuota,
		"The organization has %d webhooks, which is the most. Delete one first.", quota)
}

// IsDisabled is the error for sending to a webhook that is disabled.
func IsDisabled(reason string) error {
	return errs.New(errs.FailedPrecondition, errs.ReasonWebhookDisabled,
		"The webhook is disabled: %s Enable it first.", reason)
}
