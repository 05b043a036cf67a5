// Package hook takes deliveries of code hosts at /hooks/{connection_id}: whoever sends
// one has no key, so it is bounded before it is read, and believed only when it is signed.
package hook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// Path is where deliveries go, followed by the identifier of the connection. Route is
// the same for logs and metrics.
const (
	Path  = "/hooks/"
	Route = "/hooks/{connection_id}"
)

// Limits of deliveries.
const (
	// MaxBody is the size of a delivery, in bytes: GitHub's largest.
	MaxBody = 25 << 20

	// PerMinute is how many deliveries an address may send to one connection in a
	// minute, and PerAddress how many to all.
	PerMinute  = 1_000
	PerAddress = 6_000

	// unknownPerMinute is how many connections that there are not an address may look
	// for in a minute.
	unknownPerMinute = 60

	// bodyTimeout is the time that a body may take. GitHub waits 10 s for all. Of a
	// large one each part of smallBody has to come within partTimeout.
	bodyTimeout = 10 * time.Second
	partTimeout = time.Second

	// storeTimeout bounds what the database may take.
	storeTimeout = 5 * time.Second
)

// Inbox keeps deliveries; see inbox.Inbox.
type Inbox interface {
	Accept(ctx context.Context, c connection.Connection, id string, hints []codehost.Hint) (inbox.Status, error)
}

// Config is what a Handler needs.
type Config struct {
	Hosts   connection.Hosts
	Inbox   Inbox
	Guard   *overload.Guard
	Trusted []netip.Prefix // proxies whose X-Forwarded-For is believed
	Now     func() time.Time
	Log     *slog.Logger
}

// Handler takes deliveries.
type Handler struct {
	Config
	limiter *auth.Limiter
	senders *senders
}

// New makes a handler.
func New(c Config) *Handler {
	return &Handler{Config: c, limiter: auth.NewLimiter(nil, time.Now), senders: newSenders(c.Hosts)}
}

// Receive takes the delivery of a request and keeps it, durably. The answer is what the
// host is told. It fails with ResourceExhausted, Unavailable while there is no room or no database, NotFound for
// an unknown connection, Unauthenticated (SIGNATURE_INVALID), and InvalidArgument.
func (h *Handler) Receive(w http.ResponseWriter, r *http.Request) (string, error) {
	id := strings.TrimPrefix(r.URL.Path, Path)
	if !idForm.MatchString(id) {
		id = "" // it is counted, and kept in memory, under no name of its own
	}
	c := auth.Credentials{PeerAddr: r.RemoteAddr, ForwardedFor: r.Header.Values("X-Forwarded-For")}
	address := "hooks:" + auth.ClientAddress(c.PeerAddr, c.ForwardedFor, h.Trusted).String()
	d, err := h.limiter.Take(r.Context(),
		auth.Counter{Name: address + ":" + id, Limit: PerMinute}, auth.Counter{Name: address, Limit: PerAddress})
	switch {
	case err != nil:
		return "", err
	case !d.OK:
		return "", limited(d)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return "", errs.New(errs.Unimplemented, errs.ReasonMethodNotAllowed, "This path takes POST only.")
	case r.ContentLength > MaxBody:
		return "", tooLarge()
	}

	status, err := h.receive(w, r, c, id, address)

	return string(status), err
}

func (h *Handler) receive(
	w http.ResponseWriter, r *http.Request, c auth.Credentials, id, address string,
) (inbox.Status, error) {
	request, err := h.Guard.Open(r.Context(), overload.LimitHooks, c)
	if err != nil {
		return "", err
	}
	defer request.Close()
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	s, err := h.find(ctx, id, address)
	if err != nil {
		return "", err
	}
	request.Own("connection:" + id) // an organization has many addresses
	body, err := readBody(w, r, request)
	if err != nil {
		return "", err
	}
	if err := request.Hold(r.Context(), overload.LimitWork, 1); err != nil {
		return "", err
	}

	return h.keep(r, s, body)
}

// keep verifies a delivery and keeps it.
func (h *Handler) keep(r *http.Request, s *sender, body []byte) (inbox.Status, error) {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	s, delivery, err := h.verify(ctx, s, r.Header, body)
	if err != nil {
		return "", err
	}
	hints, err := s.host.Hints(r.Header, body)
	if err != nil {
		h.Log.WarnContext(ctx, "a signed delivery can't be read", "connection_id", s.connection.ID, "error", err)
		return "", errs.Invalid("body", "is not a delivery of this code host; have it send JSON")
	}

	status, err := h.Inbox.Accept(ctx, s.connection, delivery, hints)
	if errs.KindOf(err) == errs.DeadlineExceeded {
		err = unavailable(err)
	}

	return status, err
}

// idForm is that of a connection's identifier. Others are looked up nowhere.
var idForm = regexp.MustCompile(`^con_[0-9a-z]{1,64}$`)

// find finds the sender of a delivery, of which nothing but its header was read. Who
// looks for connections that there are not is soon refused.
func (h *Handler) find(ctx context.Context, id, address string) (*sender, error) {
	unknown := auth.Counter{Name: address + ":unknown", Limit: unknownPerMinute}
	if d := h.limiter.Peek(unknown, auth.Counter{}); !d.OK && !h.senders.remembers(id) {
		return nil, limited(d)
	}

	s, err := (*sender)(nil), error(errNoConnection)
	if id != "" {
		s, err = h.senders.find(ctx, id)
	}
	if errs.KindOf(err) == errs.NotFound {
		_, _ = h.limiter.Take(ctx, unknown, auth.Counter{}) // it has no store that could fail
	}

	return s, senderError(err)
}

// senderError is what is told of a sender that can't be read.
func senderError(err error) error {
	switch errs.KindOf(err) {
	case errs.NotFound:
		return errNoConnection
	case errs.FailedPrecondition, errs.DeadlineExceeded: // its secrets can't be opened now
		return unavailable(err)
	}

	return err
}

// verify checks the signature, by the secrets of now. It returns the sender that it
// verified with.
func (h *Handler) verify(
	ctx context.Context, s *sender, header http.Header, body []byte,
) (*sender, string, error) {
	delivery, err := s.host.Verify(header, body, s.secrets, h.Now())
	if errors.Is(err, codehost.ErrSignature) && s.isOld() { // the secret may be a new one
		if s, err = h.senders.read(ctx, s.connection.ID); err != nil {
			return nil, "", senderError(err)
		}
		delivery, err = s.host.Verify(header, body, s.secrets, h.Now())
	}
	if errors.Is(err, codehost.ErrSignature) {
		err = errs.New(errs.Unauthenticated, errs.ReasonSignatureInvalid,
			"The delivery is not signed by the connection's webhook secret.")
	}

	return s, delivery, err
}

// errNoConnection does not repeat the identifier.
var errNoConnection = errs.New(errs.NotFound, errs.ReasonConnectionNotFound,
	"There is no such connection; the address of its webhook was answered when it was created.")

func tooLarge() error {
	return errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge,
		"The delivery is larger than %d MiB, which is the most.", MaxBody>>20)
}

func limited(d auth.Decision) error {
	e := errs.New(errs.ResourceExhausted, errs.ReasonRateLimited,
		"This address sent more than %d deliveries in a minute.", d.Limit)
	e.RetryAfter = d.RetryAfter

	return e
}

func unavailable(err error) error {
	e := errs.New(errs.Unavailable, errs.ReasonUnavailable, "The delivery can't be kept right now; send it again.")
	e.RetryAfter = time.Minute
	e.Err = err

	return e
}
