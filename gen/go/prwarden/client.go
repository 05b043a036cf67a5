// Package prwarden calls a prwarden server, the self-hosted pull-request
// scanner, over gRPC.
//
// A Client has a field for each service; the messages are in package
// prwardenv1, github.com/prwarden/prwarden/gen/go/prwarden/v1.
package prwarden

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// Defaults of Options.
const (
	DefaultTimeout  = time.Minute
	DefaultAttempts = 4
)

// maxAnswer is the largest message that a client takes, in bytes: 10,000
// findings, with as many suppressed and fixed ones, are more than the 4 MiB
// that gRPC takes by default.
const maxAnswer = 128 << 20

// Options of a Client. Their zero value is good for a server with a
// certificate of a public authority.
type Options struct {
	// TLS says what an https server must show and what it is shown, such as
	// RootCAs for a private authority; nil for what the system believes.
	TLS *tls.Config
	// Timeout bounds every call that is answered at once and whose context
	// has no deadline, with its repetitions; DefaultTimeout when 0.
	Timeout time.Duration
	// Attempts is how often a call is tried; DefaultAttempts when 0.
	Attempts int
	// Dial is passed on to gRPC, for example for interceptors.
	Dial []grpc.DialOption
}

// Client calls one server with one API key. It is safe for concurrent use.
//
// A call that fails returns an error that ErrorOf reads. A call that is
// answered at once is tried again when the server asks for it (over the rate
// limit, or away for a moment) and nothing can happen twice: CreateReview gets
// an idempotency key unless its context has one (see IdempotencyKey), and
// calls that create, cancel or delete something else are repeated over the
// rate limit only. WatchReview has no timeout and is not repeated; Watch opens it
// again.
type Client struct {
	// Reviews starts reviews and reads their results.
	Reviews prwardenv1.ReviewServiceClient
	// Rules lists, creates, tries and deletes rules.
	Rules prwardenv1.RuleServiceClient
	// Keys makes, lists and revokes API keys.
	Keys prwardenv1.KeyServiceClient

	conn     *grpc.ClientConn
	attempts int
}

// New returns a client of the gRPC API at address, https://HOST[:PORT]. It
// connects with the first call. http:// sends the key and all else in plain
// text, for tests and trusted networks.
func New(address, apiKey string, o Options) (*Client, error) {
	target, transport, err := endpoint(address, o.TLS)
	if err != nil {
		return nil, err
	}
	if o.Attempts < 0 || o.Timeout < 0 {
		return nil, errors.New("prwarden: Timeout and Attempts must not be negative")
	}
	calls := &calls{authorization: "Bearer " + apiKey, timeout: o.Timeout, attempts: o.Attempts}
	if calls.timeout == 0 {
		calls.timeout = DefaultTimeout
	}
	if calls.attempts == 0 {
		calls.attempts = DefaultAttempts
	}
	options := append([]grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithChainUnaryInterceptor(calls.unary),
		grpc.WithChainStreamInterceptor(calls.stream),
	}, o.Dial...)
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, fmt.Errorf("prwarden: %w", err)
	}
	return &Client{
		Reviews: prwardenv1.NewReviewServiceClient(conn),
		Rules:   prwardenv1.NewRuleServiceClient(conn),
		Keys:    prwardenv1.NewKeyServiceClient(conn),

		conn:     conn,
		attempts: calls.attempts,
	}, nil
}

// Close ends the connection, and open watches with it.
func (c *Client) Close() error { return c.conn.Close() }

func endpoint(address string, config *tls.Config) (string, credentials.TransportCredentials, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Path != "" && u.Path != "/") {
		return "", nil, fmt.Errorf("prwarden: address must be https://HOST[:PORT] or http://HOST[:PORT]; it is %q", address)
	}
	port := u.Port()
	switch u.Scheme {
	case "https":
		if port == "" {
			port = "443"
		}
		return net.JoinHostPort(u.Hostname(), port), credentials.NewTLS(config), nil
	case "http":
		if port == "" {
			port = "80"
		}
		return net.JoinHostPort(u.Hostname(), port), insecure.NewCredentials(), nil
	}
	return "", nil, fmt.Errorf("prwarden: address must be https://HOST[:PORT] or http://HOST[:PORT]; it is %q", address)
}

type idempotencyKey struct{}

// IdempotencyKey returns a context whose CreateReview has the key, 1 to 255
// visible ASCII characters: for 24 hours the same key with the same request
// gets the first answer again. A key that a job knows again when it is
// restarted, such as the number of the job, keeps it from scanning twice.
func IdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}
