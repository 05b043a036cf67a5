package github

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/bradleyfalzon/ghinstallation/v2"
	api "github.com/google/go-github/v88/github"
)

// transportOf is what a client makes calls by.
func transportOf(c *http.Client) http.RoundTripper {
	if c == nil || c.Transport == nil {
		return http.DefaultTransport
	}

	return c.Transport
}

var errNotInstalled = errors.New("github: nobody installed the App yet")

// installation makes calls as an installation. Its token is minted when it is needed and
// again when it is about to end.
type installation struct {
	apps *ghinstallation.AppsTransport
	find func(context.Context) (int64, error) // its ID

	mu      sync.Mutex
	current *ghinstallation.Transport // nil until there was a call

	last atomic.Pointer[string] // token, which no error may tell
}

// transport is the current one. The one that was refused is replaced.
func (i *installation) transport(
	ctx context.Context, refused *ghinstallation.Transport,
) (*ghinstallation.Transport, error) {
	id, err := i.find(ctx)
	if err != nil {
		return nil, &notMinted{cause: err}
	}

	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current == nil || i.current == refused {
		i.current = ghinstallation.NewFromAppsTransport(i.apps, id)
		i.current.InstallationTokenOptions = &api.InstallationTokenOptions{}
	}

	return i.current, nil
}

// RoundTrip makes a call. One whose token was refused, since somebody revoked it, is
// made again with a new token: a call that was answered by 401 has done nothing.
func (i *installation) RoundTrip(q *http.Request) (*http.Response, error) {
	used, r, err := i.try(q, nil)
	if err != nil || r.StatusCode != http.StatusUnauthorized || q.Body != nil && q.GetBody == nil {
		return r, err
	}

	again := q.Clone(q.Context())
	if q.GetBody != nil {
		if again.Body, err = q.GetBody(); err != nil {
			return r, nil //nolint:nilerr // the answer stands
		}
	}

	_ = r.Body.Close()
	_, r, err = i.try(again, used)
	return r, err
}

// try makes a call by another transport than the one that was refused, and tells when
// the call was not made for want of a token.
func (i *installation) try(
	q *http.Request, refused *ghinstallation.Transport,
) (used *ghinstallation.Transport, r *http.Response, err error) {
	token := ""
	if used, err = i.transport(q.Context(), refused); err == nil {
		if token, err = used.Token(q.Context()); err != nil {
			err = notGiven(err)
		}
	}

	if err != nil {
		if q.Body != nil {
			_ = q.Body.Close()
		}
		return nil, nil, err
	}

	i.last.Store(&token)
	r, err = used.RoundTrip(q)
	return used, r, err
}

// notMinted is the error of a call that was never made, for want of a token.
type notMinted struct{ cause error }

// Error returns the cause.
func (e *notMinted) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *notMinted) Unwrap() error { return e.cause }

// notGiven reads why GitHub gave no token, and closes the answer, which the library
// leaves open.
func notGiven(err error) error {
	var he *ghinstallation.HTTPError
	if !errors.As(err, &he) || he.Response == nil {
		return &notMinted{cause: err}
	}

	defer he.Response.Body.Close()
	if cause := api.CheckResponse(he.Response); cause != nil {
		err = cause
	}

	return &notMinted{cause: err}
}
