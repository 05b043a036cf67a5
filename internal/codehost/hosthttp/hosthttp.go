// Package hosthttp calls the API of a code host and turns what goes wrong into faults.
// It is for hosts without a client library.
package hosthttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/egress"
)

// maxAnswer is how much of an answer is read, in bytes. Lists come in pages.
const maxAnswer = 16 << 20

// Client calls one host with one credential.
type Client struct {
	http          *http.Client
	base          string
	authorization string
}

// New makes a client for an API at an address, with the text of the Authorization
// header; "" for none. It follows no redirect, whatever the HTTP client does.
func New(client *http.Client, base, authorization string) *Client {
	c := *client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{http: &c, base: strings.TrimRight(base, "/"), authorization: authorization}
}

// Call is one request.
type Call struct {
	Method string
	Path   string // after the API's address, escaped
	Query  url.Values
	In     any // sent as JSON; nil for no body
	Out    any // filled from the answer's JSON; nil when it isn't needed
}

// Do makes a call, for as long as the context lasts, and returns the headers of the
// answer. It fails with *codehost.Error.
func (c *Client) Do(ctx context.Context, call Call) (http.Header, error) {
	q, err := c.request(ctx, call)
	if err != nil {
		return nil, &codehost.Error{Fault: codehost.Invalid, Err: c.clean(err)}
	}

	answer, err := c.http.Do(q)
	if refused, ok := errors.AsType[*egress.Refused](err); ok { // nothing was sent
		return nil, &codehost.Error{Fault: codehost.Invalid, Err: refused}
	}
	if err != nil {
		return nil, &codehost.Error{Fault: unanswered(call.Method, err), Err: c.clean(err)}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &codehost.Error{Fault: unanswered(call.Method, err), Err: c.clean(err)}
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return nil, c.refused(call, answer, body)
	case len(body) > maxAnswer:
		return nil, c.wrong(call, fmt.Errorf("the answer is longer than %d bytes", maxAnswer))
	case call.Out == nil:
		return answer.Header, nil
	}
	if err := json.Unmarshal(body, call.Out); err != nil {
		return nil, c.wrong(call, fmt.Errorf("the answer is not what the API gives: %w", err))
	}

	return answer.Header, nil
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, error) {
	var body io.Reader
	if call.In != nil {
		data, err := json.Marshal(call.In)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	address := c.base + call.Path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}

	q, err := http.NewRequestWithContext(ctx, call.Method, address, body)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/json")
	q.Header.Set("User-Agent", "prwarden")
	if call.In != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if c.authorization != "" {
		q.Header.Set("Authorization", c.authorization)
	}

	return q, nil
}

// wrong is the error of an answer of success that can't be read. What was asked for has
// been done.
func (c *Client) wrong(call Call, err error) error {
	fault := codehost.Passing
	if writes(call.Method) {
		fault = codehost.Unknown
	}

	return &codehost.Error{Fault: fault, Err: c.clean(fmt.Errorf("%s %s: %w", call.Method, call.Path, err))}
}

// unanswered is the fault of a request without a whole answer. One that was never sent
// changed nothing.
func unanswered(method string, err error) codehost.Fault {
	var dial *net.OpError
	if !writes(method) || errors.As(err, &dial) && dial.Op == "dial" {
		return codehost.Passing
	}

	return codehost.Unknown
}

func writes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// clean makes an error whose text has no credential in it, which a host may repeat.
func (c *Client) clean(err error) error {
	text := err.Error()
	kind, secret, _ := strings.Cut(c.authorization, " ")
	secrets := []string{secret}
	if plain, err := base64.StdEncoding.DecodeString(secret); kind == "Basic" && err == nil {
		_, password, _ := strings.Cut(string(plain), ":")
		secrets = append(secrets, password)
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}

	return errors.New(text)
}
