// Package restclient calls a prwarden server over its REST API, as the
// commands need it. It imports nothing of the server but what a review is, so
// that the commands run on every system.
package restclient

import (
	"bufio"
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Client calls one server with one key. It is safe for concurrent use.
type Client struct {
	base      string
	key       string
	userAgent string
	http      *http.Client
	maxBody   int64 // bytes of an answer
	trouble   func(error)
	answered  atomic.Bool // the server has answered a call
}

// Limits of the client.
const (
	callTimeout = 30 * time.Second
	// maxBody bounds an answer, in bytes. Servers bound what a review lists far
	// below it; one that doesn't can be brought to more by a repository with
	// long paths of characters that JSON escapes.
	maxBody      = 128 << 20
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
func New(base, key, userAgent string, config *tls.Config, trouble func(error)) *Client {
	c := &Client{
		base:      strings.TrimRight(base, "/"),
		key:       key,
		userAgent: userAgent,
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		maxBody: maxBody,
		trouble: trouble,
	}

	if transport, ok := http.DefaultTransport.(*http.Transport); ok && config != nil {
		secured := transport.Clone()
		secured.TLSClientConfig = config
		c.http.Transport = secured
	}
	return c
}

// CreateReview starts a scan, or answers the one that was started with the same
// idempotency key. An empty key stands for one that nobody else has. It is safe
// against a lost answer: every attempt bears the same key.
func (c *Client) CreateReview(ctx context.Context, in NewReview, key string) (Created, []byte, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return Created{}, nil, err
	}
	if key == "" {
		key = cryptorand.Text()
	}
	var out Created
	raw, err := c.call(ctx, request{method: http.MethodPost, path: "/v1/reviews", body: body, idempotency: key}, &out)
	if err == nil && out.ReviewID == "" {
		err = c.strange("its answer has no review_id")
	}
	return out, raw, err
}

// GetReview reads a review. raw is the answer as it came.
func (c *Client) GetReview(ctx context.Context, id string) (r Review, raw []byte, err error) {
	raw, err = c.call(ctx, request{method: http.MethodGet, path: "/v1/reviews/" + url.PathEscape(id)}, &r)
	if err == nil && r.Status == "" {
		err = c.strange("its answer has no status")
	}
	return r, raw, err
}

// WatchReview calls each for every message of a review's watch stream. It
// returns nil when the server ended the stream, which a final state precedes
// unless the connection broke.
func (c *Client) WatchReview(ctx context.Context, id string, each func(Update)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(watchSilence, cancel)
	defer silence.Stop()
	resp, err := c.send(ctx, request{method: http.MethodGet, path: "/v1/reviews/" + url.PathEscape(id) + ":watch"})
	if err != nil {
		return err
	}

	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, err := c.read(resp, nil)
		return err
	}

	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxWatchLine)
	for lines.Scan() {
		silence.Reset(watchSilence)
		var m struct {
			Result *Update         `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return c.strange("its watch stream holds a line that is not JSON")
		}
		if m.Error != nil {
			return apiError(0, m.Error)
		}
		if m.Result != nil {
			each(*m.Result)
		}
	}
	return lines.Err()
}

type request struct {
	method, path string
	body         []byte // JSON; nil for none
	idempotency  string // key; empty for none
}

// call sends a request, again after a failure that may pass, and decodes its
// answer.
func (c *Client) call(ctx context.Context, r request, out any) ([]byte, error) {
	waits := &backoff.ExponentialBackOff{
		InitialInterval: time.Second, MaxInterval: maxBackoff, Multiplier: 2,
		RandomizationFactor: 0.25, // clients that wait for one server come back at different moments
	}
	troubled := false
	notify := func(err error, _ time.Duration) {
		if !troubled {
			c.trouble(err)
		}
		troubled = true
	}

	return backoff.Retry(ctx, func() ([]byte, error) {
		raw, err := c.once(ctx, r, out)
		if err != nil && !c.passing(err) {
			err = backoff.Permanent(err)
		}
		return raw, err
	}, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(Patience), backoff.WithNotify(notify))
}

func (c *Client) once(ctx context.Context, r request, out any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := c.read(resp, out)
	if created, ok := out.(*Created); ok && err == nil {
		created.At, _ = http.ParseTime(resp.Header.Get("Date")) // zero when there is none
	}
	return raw, err
}

// passing reports whether err may pass by itself. A name that nobody knows may
// pass only if it was known a moment ago.
func (c *Client) passing(err error) bool {
	var refused *APIError
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var unreachable *UnreachableError
	return errors.As(err, &unreachable) && !unreachable.distrust() && (c.answered.Load() || !unreachable.unknown())
}

func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	if r.idempotency != "" {
		req.Header.Set("Idempotency-Key", r.idempotency)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &UnreachableError{Server: c.base, Err: err}
	}
	c.answered.Store(true)
	return resp, nil
}

func (c *Client) read(resp *http.Response, out any) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, c.maxBody+1))
	if err != nil {
		return nil, &UnreachableError{Server: c.base, Err: err}
	}
	switch {
	case resp.StatusCode >= 300:
		e := apiError(resp.StatusCode, raw)
		if resp.StatusCode == http.StatusBadRequest && e.plain && strings.HasPrefix(c.base, "http:") {
			e.Message += " Does it speak TLS? Then its address begins with https://."
		}
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			e.retryAfter = time.Duration(s)*time.Second + rand.N(time.Second) // not all clients at once
		}
		return raw, e
	case int64(len(raw)) > c.maxBody:
		return nil, fmt.Errorf("the answer of %s is over %d MiB, which is too large to be read", c.base, c.maxBody>>20)
	case out == nil:
		return raw, nil
	}

	if err := json.Unmarshal(raw, out); err != nil {
		return nil, c.strange("its answer is not the JSON that was expected")
	}
	return raw, nil
}

func (c *Client) strange(what string) error {
	return fmt.Errorf("%s does not talk like a prwarden server: %s; check --server", c.base, what)
}
