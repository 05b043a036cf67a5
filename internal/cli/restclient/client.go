// Package restclient calls a prwarden server over its REST API, as the
// commands need it. It imports nothing of the server but what a review is, so
// that the commands run on every system.
package restclient

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/review"
)

// Client calls one server with one key. It is safe for concurrent use.
type Client struct {
	base    string
	key     string
	http    *http.Client
	trouble func(error)
}

// Limits of the client.
const (
	callTimeout  = 30 * time.Second
	maxBody      = 128 << 20 // bytes of an answer; servers bound what a review lists far below it
	maxWatchLine = 1 << 20
	maxBackoff   = 15 * time.Second
	watchSilence = 45 * time.Second // keep-alives come every 15 s; without any the connection is dead
)

// Patience is how long a call tries again while the server, or the proxy before
// it, restarts or has too much to do.
const Patience = 2 * time.Minute

// New returns a client of the server at base, an http or https address
// without the /v1. The key goes to that server only: redirects are not
// followed. config says what an https server must show, and what it is shown;
// nil stands for what the system trusts. trouble gets the first failure of each
// call that is tried again.
func New(base, key string, config *tls.Config, trouble func(error)) *Client {
	return &Client{
		base: strings.TrimRight(base, "/"), key: key, trouble: trouble,
		http: &http.Client{
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// NewReview asks for a scan.
type NewReview struct {
	Repo     string `json:"repo"`
	PRNumber int32  `json:"pr_number"`
	Ruleset  string `json:"ruleset,omitempty"`
	HeadSHA  string `json:"head_sha,omitempty"`
	BaseSHA  string `json:"base_sha,omitempty"`
	BaseRef  string `json:"base_ref,omitempty"`
	FailOn   string `json:"fail_on,omitempty"`
	Priority string `json:"priority,omitempty"`

	RequireBase bool `json:"require_base,omitempty"`
}

// Created is the answer to that.
type Created struct {
	ReviewID    string `json:"review_id"`
	Status      string `json:"status"`
	EstimatedMS int64  `json:"estimated_ms"`
	Available   *bool  `json:"scanner_available"` // false when no scanner can be reached, else not there

	At time.Time `json:"-"` // when the server answered, by its own clock; zero when it didn't say
}

// ReviewPage is a part of the list of reviews.
type ReviewPage struct {
	Reviews       []review.Review `json:"reviews"` // without findings
	NextPageToken string          `json:"next_page_token"`
}

// Update is one message of a watch stream.
type Update struct {
	ReviewID   string `json:"review_id"`
	Status     string `json:"status"`
	FilesDone  int    `json:"files_done"`
	FilesTotal int    `json:"files_total"` // 0 when not known
	KeepAlive  bool   `json:"keep_alive"`
	Available  *bool  `json:"scanner_available"` // as in Created
}

// CreateReview starts a scan, or answers the one that was started with the same
// idempotency key. An empty key stands for one that nobody else has. It is safe
// against a lost answer: every attempt bears the same key.
func (c *Client) CreateReview(ctx context.Context, in NewReview, key string) (out Created, raw []byte, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, nil, err
	}
	if key == "" {
		key = cryptorand.Text()
	}

	raw, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/reviews", body: body, idempotency: key}, &out)
	if err == nil && out.ReviewID == "" {
		err = c.strange("its answer has no review_id")
	}
	return out, raw, err
}

// GetReview reads a review. raw is the answer as it came.
func (c *Client) GetReview(ctx context.Context, id string) (r review.Review, raw []byte, err error) {
	raw, err = c.call(ctx, request{method: http.MethodGet, path: "/v1/reviews/" + url.PathEscape(id)}, &r)
	if err == nil && r.Status == "" {
		err = c.strange("its answer has no status")
	}
	return r, raw, err
}

// ListReviews reads a page of reviews, newest first. query is that of the API.
func (c *Client) ListReviews(ctx context.Context, query url.Values) (page ReviewPage, raw []byte, err error) {
	raw, err = c.call(ctx, request{method: http.MethodGet, path: "/v1/reviews?" + query.Encode()}, &page)
	return page, raw, err
}

// CancelReview cancels a review that has not ended.
func (c *Client) CancelReview(ctx context.Context, id string) (r review.Review, raw []byte, err error) {
	path := "/v1/reviews/" + url.PathEscape(id) + ":cancel"
	raw, err = c.call(ctx, request{method: http.MethodPost, path: path, body: []byte("{}")}, &r)
	return r, raw, err
}

// WatchReview calls each for every message of a review's watch stream, until the
// stream ends or breaks. GetReview tells what became of the review.
func (c *Client) WatchReview(ctx context.Context, id string, each func(Update)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(watchSilence, cancel)
	defer silence.Stop()
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/reviews/" + url.PathEscape(id) + ":watch"})
	if err != nil {
		return
	}
	defer resp.Body.Close()

	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxWatchLine)
	for lines.Scan() {
		silence.Reset(watchSilence)
		var m struct {
			Result *Update `json:"result"` // not there in an error, which ends the stream
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.Result == nil {
			return
		}
		each(*m.Result)
	}
}

type request struct {
	method, path string
	body         []byte // JSON; nil for none
	idempotency  string // key; empty for none

	timeout time.Duration // of the answer; 0 for callTimeout
}

// call sends a request, again after a failure that may pass, and decodes its
// answer.
func (c *Client) call(ctx context.Context, r request, out any) ([]byte, error) {
	waits := &backoff.ExponentialBackOff{
		InitialInterval: time.Second, MaxInterval: maxBackoff, Multiplier: 2,
		RandomizationFactor: 0.25, // clients that wait for one server come back at different moments
	}
	told := false
	notify := func(err error, _ time.Duration) {
		if !told {
			c.trouble(err)
		}
		told = true
	}

	return backoff.Retry(ctx, func() ([]byte, error) {
		raw, err := c.once(ctx, r, out)
		if err != nil && !passing(err) {
			err = backoff.Permanent(err)
		}
		return raw, err
	}, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(Patience), backoff.WithNotify(notify))
}

// once sends a request and decodes its answer.
func (c *Client) once(ctx context.Context, r request, out any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.timeout, callTimeout))
	defer cancel()
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()

	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, c.unreachable(err)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return raw, apiError(resp, raw)
	case len(raw) > maxBody:
		return nil, c.strange(fmt.Sprintf("its answer is over %d MiB", maxBody>>20))
	case out == nil: // an answer without a body
		return raw, nil
	case json.Unmarshal(raw, out) != nil:
		return nil, c.strange("its answer is not the JSON that was expected")
	}
	if created, ok := out.(*Created); ok {
		created.At, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	return raw, nil
}

func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "prwarden/"+build.Read().Version)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.idempotency != "" {
		req.Header.Set("Idempotency-Key", r.idempotency)
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return resp, nil
}

// APIError is a refusal by the server.
type APIError struct {
	Status  int    // of HTTP
	Reason  string // the ErrorInfo's, empty when there is none
	Message string // for people

	retryAfter time.Duration // how long the server wants to be left alone
}

// Error says it for people, the reason and the status in parentheses.
func (e *APIError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s (%s, HTTP %d)", e.Message, e.Reason, e.Status)
	}
	return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
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

// apiError reads a refusal. Of an answer that is not prwarden's it shows the first
// line, unless that is markup.
func apiError(resp *http.Response, body []byte) error {
	var answer struct {
		Message string `json:"message"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	}
	e := &APIError{Status: resp.StatusCode}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		e.retryAfter = time.Duration(s)*time.Second + rand.N(time.Second) // not all clients at once
	}

	if json.Unmarshal(body, &answer) == nil && answer.Message != "" {
		e.Message = answer.Message
		for _, d := range answer.Details {
			e.Reason += d.Reason // which only the ErrorInfo has
		}
		if e.Reason == "ROUTE_NOT_FOUND" {
			e.Message += " Check --server: it names the server, without a path such as /v1."
		}
		return e
	}

	line, _, _ := strings.Cut(string(body[:min(len(body), maxQuoted)]), "\n")
	e.Message = "The server answered " + http.StatusText(resp.StatusCode)
	if line = strings.TrimRight(line, "\r."); line != "" && !strings.ContainsRune("<{[", rune(line[0])) {
		e.Message += ": " + line
	}
	e.Message += "."
	switch {
	case strings.Contains(line, "HTTP request to an HTTPS server"): // as Go's servers say it
		e.Message += " Begin --server with https://."
	case e.Status < 400 || e.Status == http.StatusNotFound || e.Status == http.StatusUnsupportedMediaType:
		e.Message += " Check --server: this is not how a prwarden server answers."
	}
	return e
}

// retryable reports whether a status may be another one later.
func retryable(status int) bool {
	return slices.Contains([]int{
		http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, status)
}

// unreachable says that a call got no answer. The address that it went to is long
// and says no more than the server's.
func (c *Client) unreachable(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer in time", c.base)
	}
	for _, text := range []string{ // net/http has no types for them; with the second, the server spoke unasked
		"malformed HTTP response", "readLoopPeekFailLocked: %!w(<nil>)",
	} {
		if strings.Contains(err.Error(), text) {
			return backoff.Permanent(fmt.Errorf(
				"%s is no REST API; --server takes the server's REST address, not its gRPC port", c.base))
		}
	}
	if what := remedy(err); what != "" {
		return backoff.Permanent(fmt.Errorf("%s can't be reached: %w; %s", c.base, err, what))
	}
	return fmt.Errorf("%s can't be reached: %w", c.base, err)
}

// remedy says what to change when a call can't succeed as it is; empty when it may
// later.
func remedy(err error) string {
	var distrusted *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	var alert *net.OpError

	switch {
	case errors.As(err, &authority):
		return "--ca-file names the authority to trust"
	case errors.As(err, &distrusted):
		return "check --server and --ca-file"
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return "begin --server with http://, or name the port for https"
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"):
		return "the TLS handshake failed; check --server, --client-cert and --client-key"
	}
	return ""
}

// strange says that an answer is not prwarden's, which it will not be later.
func (c *Client) strange(what string) error {
	return backoff.Permanent(fmt.Errorf("%s does not talk like a prwarden server: %s; check --server", c.base, what))
}

// passing reports whether a failure may pass by itself. A name that nobody knows
// will not.
func passing(err error) bool {
	var refused *APIError
	var permanent *backoff.PermanentError
	var name *net.DNSError

	switch {
	case errors.As(err, &refused):
		return retryable(refused.Status)
	case errors.As(err, &permanent):
		return false
	}
	return !errors.As(err, &name) || !name.IsNotFound
}
