package hook

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
)

const (
	// maxSenders bounds how many connections are remembered.
	maxSenders = 1_000

	// maxAge is how long a connection is believed, and freshAge how old what refuses a
	// signature may be: a secret may have been changed a moment ago. So long a failure is
	// believed, too.
	maxAge   = 10 * time.Second
	freshAge = time.Second
)

// sender is a connection as deliveries need it.
type sender struct {
	connection connection.Connection
	host       codehost.Host
	secrets    [][]byte
	read       time.Time
	err        error // why there is nothing but the time
}

func (s *sender) isOld() bool { return time.Since(s.read) > freshAge }

// senders remembers connections, so that a flood of deliveries costs no query each.
type senders struct {
	hosts   connection.Hosts
	known   *lru.Cache[string, *sender]
	reading singleflight.Group
}

func newSenders(hosts connection.Hosts) *senders {
	known, _ := lru.New[string, *sender](maxSenders) // it fails for a size under 1

	return &senders{hosts: hosts, known: known}
}

// remembers reports whether find asks nobody.
func (s *senders) remembers(id string) bool { return s.remembered(id) != nil }

// remembered is what is known of a connection that is; nil for nothing.
func (s *senders) remembered(id string) *sender {
	known, ok := s.known.Get(id)
	if ok && (time.Since(known.read) < freshAge || known.err == nil && time.Since(known.read) < maxAge) {
		return known
	}

	return nil
}

// find returns a connection; NotFound, and FailedPrecondition when its secrets can't be
// opened.
func (s *senders) find(ctx context.Context, id string) (*sender, error) {
	if known := s.remembered(id); known != nil {
		return known, known.err
	}

	return s.read(ctx, id)
}

// read is find that asks the store. Callers at the same time share one answer.
func (s *senders) read(ctx context.Context, id string) (*sender, error) {
	found, err, _ := s.reading.Do(id, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		known := &sender{read: time.Now()}
		known.connection, known.secrets, known.err = s.hosts.WebhookSecrets(ctx, id)
		if errs.KindOf(known.err) == errs.NotFound { // others keep their places
			s.known.Remove(id)
			return nil, known.err
		}
		if known.err == nil {
			_, known.host, known.err = s.hosts.Open(ctx, id)
		}
		s.known.Add(id, known)

		return known, known.err
	})
	if err != nil {
		return nil, err
	}

	return found.(*sender), nil
}
