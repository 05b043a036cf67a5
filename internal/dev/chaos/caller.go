package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// caller calls one server over REST.
type caller struct {
	base string // http://HOST:PORT
	http *http.Client
}

// Times of calls.
const (
	callTimeout  = 5 * time.Second // a frozen server is left
	watchTimeout = time.Minute
)

func newCaller(address string) *caller {
	return &caller{"http://" + address, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// errTransient is why a call may be made again: the server could not be reached, did not answer in time, or said that
// it can't now.
var errTransient = errors.New("try again")

// refusal is an answer that trying again would not change.
type refusal struct {
	status int
	reason string // of google.rpc.ErrorInfo
	text   string
}

// Error implements error.
func (e *refusal) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.reason, e.text) }

// refusedWith tells whether err is a refusal for a reason.
func refusedWith(err error, reason string) bool {
	var r *refusal
	return errors.As(err, &r) && r.reason == reason
}

// created is the answer to a creation.
type created struct {
	ID        string `json:"review_id"`
	Status    string `json:"status"`
	Estimated int    `json:"estimated_ms"`
}

// shown is a review as the API shows it.
type shown struct {
	Status   string `json:"status"`
	Findings []struct {
		finding
		Fingerprint string `json:"fingerprint"`
	} `json:"findings"`
	Summary map[string]int `json:"summary"`
	Error   struct {
		Code string `json:"code"`
	} `json:"error"`
}

func (c *caller) create(ctx context.Context, token, key, repo string, number int) (out created, err error) {
	body := fmt.Sprintf(`{"repo": %q, "pr_number": %d}`, repo, number)
	err = c.call(ctx, http.MethodPost, "/v1/reviews", body, http.Header{
		"Authorization": {"Bearer " + token}, "Idempotency-Key": {key},
	}, &out)
	return out, err
}

func (c *caller) get(ctx context.Context, token, id string) (out shown, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/reviews/"+id, "", http.Header{"Authorization": {"Bearer " + token}}, &out)
	return out, err
}

func (c *caller) cancel(ctx context.Context, token, id string) error {
	header := http.Header{"Authorization": {"Bearer " + token}}
	return c.call(ctx, http.MethodPost, "/v1/reviews/"+id+":cancel", "{}", header, &shown{})
}

func (c *caller) createRule(ctx context.Context, token, rule string) error {
	var out map[string]any
	return c.call(ctx, http.MethodPost, "/v1/rules", rule, http.Header{"Authorization": {"Bearer " + token}}, &out)
}

// watch returns when the stream of a review's states ends: nil when it ended in order after a final state.
func (c *caller) watch(ctx context.Context, token, id string) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	header := http.Header{"Authorization": {"Bearer " + token}}
	answer, err := c.send(ctx, http.MethodGet, "/v1/reviews/"+id+":watch", "", header)
	if err != nil {
		return err
	}
	if bytes.Contains(answer, []byte(`"error"`)) || !bytes.HasSuffix(answer, []byte("\n")) {
		return errTransient // it broke off
	}

	lines := bytes.Split(bytes.TrimSpace(answer), []byte("\n"))
	var last struct {
		Result shown `json:"result"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || !final(last.Result.Status) {
		return errTransient // the server ended
	}
	return nil
}

// call makes a call and decodes the answer.
func (c *caller) call(ctx context.Context, method, path, body string, header http.Header, out any) error {
	answer, err := c.send(ctx, method, path, body, header)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return &refusal{text: "the answer is not the JSON that was promised: " + err.Error()}
	}
	return nil
}

func (c *caller) send(ctx context.Context, method, path, body string, header http.Header) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTransient, err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTransient, err)
	}
	if response.StatusCode < http.StatusBadRequest {
		return answer, nil
	}

	var said struct {
		Message string `json:"message"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	}
	refused := &refusal{status: response.StatusCode, text: string(answer)}
	if json.Unmarshal(answer, &said) == nil {
		for _, d := range said.Details {
			refused.reason += d.Reason
		}
	}
	busy := response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable
	if busy && response.Header.Get("Retry-After") != "" {
		return nil, fmt.Errorf("%w: %w", errTransient, refused)
	}
	return nil, refused
}
