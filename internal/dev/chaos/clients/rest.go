package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// rest calls a server over REST.
type rest struct {
	base string // http://HOST:PORT
	http *http.Client
}

func newREST(addr string) *rest {
	return &rest{base: "http://" + addr, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

func (r *rest) close() error {
	r.http.CloseIdleConnections()
	return nil
}

func (r *rest) create(ctx context.Context, token, key string, in request) (out accepted, err error) {
	err = r.call(ctx, query{http.MethodPost, "/v1/reviews", token, key, in, http.StatusAccepted}, &out)
	return out, err
}

// restReview is a review as REST has it.
type restReview struct {
	Status   string `json:"status"`
	Findings []struct {
		RuleID      string `json:"rule_id"`
		Severity    string `json:"severity"`
		File        string `json:"file"`
		Line        int    `json:"line"`
		Snippet     string `json:"snippet"`
		Fingerprint string `json:"fingerprint"`
	} `json:"findings"`
	Summary     map[string]int `json:"summary"`
	CompletedAt time.Time      `json:"completed_at"`
	Error       struct {
		Code string `json:"code"`
	} `json:"error"`
}

func (r *rest) get(ctx context.Context, token, id string) (Review, error) {
	var in restReview
	if err := r.call(ctx, query{http.MethodGet, "/v1/reviews/" + id, token, "", nil, http.StatusOK}, &in); err != nil {
		return Review{}, err
	}
	out := Review{Status: in.Status, Failure: in.Error.Code, CompletedAt: in.CompletedAt}
	for _, f := range in.Findings {
		out.Findings = append(out.Findings, pulls.Finding{RuleID: f.RuleID, Severity: f.Severity, File: f.File, Line: f.Line, Snippet: f.Snippet})
		out.Fingerprint = append(out.Fingerprint, f.Fingerprint)
	}
	for _, n := range in.Summary {
		out.Total += n
	}
	return out, nil
}

func (r *rest) cancel(ctx context.Context, token, id string) error {
	return r.call(ctx, query{http.MethodPost, "/v1/reviews/" + id + ":cancel", token, "", struct{}{}, http.StatusOK}, &restReview{})
}

func (r *rest) watch(ctx context.Context, token, id string, each func(string)) error {
	resp, err := r.send(ctx, query{method: http.MethodGet, path: "/v1/reviews/" + id + ":watch", token: token})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return &Transient{Err: err}
		}
		var m struct {
			Result struct {
				Status string `json:"status"`
			} `json:"result"`
			Error *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return &Refusal{Code: "200", Text: "a line of a watch is not JSON: " + string(line)}
		}
		if m.Error != nil {
			return &Transient{Err: fmt.Errorf("watch broke off: code %d: %s", m.Error.Code, m.Error.Message)}
		}
		each(m.Result.Status)
	}
}

// query is a call.
type query struct {
	method, path string
	token        string
	key          string // Idempotency-Key; "" for none
	body         any    // as JSON; nil for none
	want         int    // status of a success
}

func (r *rest) send(ctx context.Context, q query) (*http.Response, error) {
	var reader io.Reader
	if q.body != nil {
		data, err := json.Marshal(q.body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, r.base+q.path, reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+q.token)
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.key != "" {
		req.Header.Set("Idempotency-Key", q.key)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, &Transient{Err: err}
	}
	return resp, nil
}

// call makes a call and decodes the answer if it has the wanted status.
func (r *rest) call(ctx context.Context, q query, out any) error {
	resp, err := r.send(ctx, q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != q.want {
		return refusal(resp)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return &Transient{Err: err}
	}
	if err := json.Unmarshal(data, out); err != nil {
		return &Refusal{Code: strconv.Itoa(resp.StatusCode), Text: "the answer is not the JSON that was promised: " + err.Error()}
	}
	return nil
}

// refusal says what an answer of another status means.
func refusal(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return &Transient{Err: err}
	}
	var m struct {
		Message string `json:"message"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	}
	r := &Refusal{Code: strconv.Itoa(resp.StatusCode), Text: string(data)}
	if json.Unmarshal(data, &m) == nil {
		r.Text = m.Message
		for _, d := range m.Details {
			r.Reason += d.Reason
		}
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil {
			return &Refusal{Code: r.Code, Reason: r.Reason, Text: "an answer that asks for patience without Retry-After: " + r.Text}
		}
		return &Transient{Err: r, RetryAfter: time.Duration(seconds) * time.Second}
	}
	return r
}

// CreateRule creates a rule of an organization on the first server. body is
// that of POST /v1/rules. It is not made again when it fails.
func (p *Pool) CreateRule(ctx context.Context, organization, body string) error {
	var answer map[string]any
	r := newREST(p.o.Servers[0].HTTP)
	defer func() { _ = r.close() }()
	return r.call(ctx, query{http.MethodPost, "/v1/rules", p.o.Keys[organization], "", json.RawMessage(body), http.StatusCreated}, &answer)
}
