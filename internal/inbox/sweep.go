package inbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
)

// How often a connection is looked at, and what is done then.
const (
	lookEvery  = 5 * time.Minute  // for deliveries that did not arrive, where the host keeps them
	sweepEvery = 15 * time.Minute // for pull requests that changed

	sweepRepositories = 200              // at a time: the host is called once for each
	listRepositories  = 10_000           // the most of a connection
	unheardFor        = 6 * time.Hour    // after which an open pull request is read again
	sweepUnheard      = 50               // at a time, in a repository
	sweepOverlap      = 10 * time.Minute // by which the host's clock may be behind
	sweepBack         = 24 * time.Hour   // the most that is looked for again where a repository fails
	sweepTimeout      = 5 * time.Minute
	sweepLease        = 2 * sweepTimeout
	sweepPoll         = 30 * time.Second // between looks at which connections are due
)

// Sweep is how far the sweeps of a connection are, and a claim of the next one.
type Sweep struct {
	Organization string
	Connection   string    // identifier
	Now          time.Time // of the claim
	Until        time.Time // when the claim ends: the fence

	LookedAt time.Time // last, for deliveries that did not arrive
	SweptAt  time.Time // last
	Since    time.Time // pull requests that changed since then are looked for
	RoundAt  time.Time // when the first repository of this round was looked at
	Place    string    // the last repository of this round; "" for none
}

// Sweeps keeps how far sweeps are. Its times are the database's.
type Sweeps interface {
	// ClaimSweep takes an active connection that is due, for lease; nil for none. All
	// times of a connection that was never swept are those of its creation.
	ClaimSweep(ctx context.Context, lease time.Duration) (*Sweep, error)

	// EndSweep keeps how far a claimed sweep is; the connection is due again after next.
	// Without a valid claim it does nothing.
	EndSweep(ctx context.Context, s Sweep, next time.Duration) error

	// UnheardOf returns up to limit open pull requests of a connection's repository of which
	// nothing was heard since a time, the longest first.
	UnheardOf(ctx context.Context, s Sweep, repo string, since time.Time, limit int) ([]Unheard, error)
}

// Unheard is a pull request of which nothing was heard for long.
type Unheard struct {
	Number  int32
	HeardAt time.Time // last
}

// Sweeper finds what deliveries lost: pull requests that changed. Any number of sweepers,
// in any number of processes, may do so at the same time.
type Sweeper struct {
	sweeps Sweeps
	hosts  connection.Hosts
	inbox  *Inbox
	log    *slog.Logger

	stopping context.Context
	cancel   context.CancelFunc
	working  sync.WaitGroup
}

// NewSweeper returns a sweeper that does nothing until Start.
func NewSweeper(sweeps Sweeps, hosts connection.Hosts, inbox *Inbox, log *slog.Logger) *Sweeper {
	stopping, cancel := context.WithCancel(context.Background())

	return &Sweeper{sweeps: sweeps, hosts: hosts, inbox: inbox, log: log, stopping: stopping, cancel: cancel}
}

// Start begins to sweep. It is called once.
func (s *Sweeper) Start() {
	s.working.Go(func() {
		for {
			select {
			case <-time.After(sweepPoll - rand.N(sweepPoll/5)):
			case <-s.stopping.Done():
				return
			}
			for s.stopping.Err() == nil && s.next() {
			}
		}
	})
}

// Stop ends the sweeps, in the middle if need be, and waits for that or for ctx. Stopping
// twice is stopping once.
func (s *Sweeper) Stop(ctx context.Context) error {
	s.cancel()

	return waitFor(ctx, s.working.Wait)
}

// next sweeps a connection that is due; false when there is none.
func (s *Sweeper) next() bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.stopping), storeTimeout)
	defer cancel()
	sweep, err := s.sweeps.ClaimSweep(ctx, sweepLease)
	if err != nil {
		s.log.Warn("sweeps can't be claimed", "error", err)
		return false
	}
	if sweep == nil {
		return false
	}

	next := lookEvery
	if err := s.sweep(sweep); err != nil {
		s.log.Warn("a sweep of a connection broke off", "connection_id", sweep.Connection,
			"organization", sweep.Organization, "error", err)
		var of *codehost.Error
		if errors.As(err, &of) {
			next = max(next, of.After)
		}
	}

	last, cancel := context.WithTimeout(context.WithoutCancel(s.stopping), storeTimeout)
	defer cancel()
	if err := s.sweeps.EndSweep(last, *sweep, next-rand.N(next/10)); err != nil {
		s.log.Warn("how far a sweep is can't be stored", "connection_id", sweep.Connection, "error", err)
	}

	return true
}

// sweep does what is due of a connection, and keeps in w how far that came.
func (s *Sweeper) sweep(w *Sweep) error {
	ctx, cancel := context.WithTimeout(s.stopping, sweepTimeout)
	defer cancel()
	c, host, err := s.hosts.Open(ctx, w.Connection)
	if err != nil {
		return err
	}

	var errLook error
	if again, ok := host.(codehost.Redeliverer); ok {
		n, err := again.Redeliver(ctx, w.LookedAt.Add(-sweepOverlap))
		if errLook = err; err == nil {
			w.LookedAt = w.Now
		}
		if n > 0 {
			s.log.Info("deliveries that did not arrive were asked for again", "connection_id", c.ID, "deliveries", n)
		}
	}
	if w.Now.Sub(w.SweptAt) < sweepEvery-lookEvery/2 { // looks come a little early
		return errLook
	}

	return errors.Join(errLook, s.repositories(ctx, w, c, host))
}

// repositories looks through the next repositories of a round.
func (s *Sweeper) repositories(ctx context.Context, w *Sweep, c connection.Connection, host codehost.Host) error {
	list, err := host.Repositories(ctx, listRepositories)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(r codehost.Repository) bool { return !c.IsFor(r.Name) || r.Name <= w.Place })
	slices.SortFunc(list, func(a, b codehost.Repository) int { return cmp.Compare(a.Name, b.Name) })
	if w.Place == "" {
		w.RoundAt = w.Now
	}

	for i, r := range list {
		if i == sweepRepositories {
			w.SweptAt = w.Now

			return nil
		}
		if err := s.repository(ctx, w, c, host, r); err != nil {
			return err
		}
		w.Place = r.Name
	}
	w.SweptAt, w.Since, w.Place = w.Now, w.RoundAt, ""

	return nil
}

// repository has pull requests that changed looked at, as if they had been delivered.
func (s *Sweeper) repository(
	ctx context.Context, w *Sweep, c connection.Connection, host codehost.Host, r codehost.Repository,
) error {
	changed, err := host.OpenPullRequests(ctx, r, w.Since.Add(-sweepOverlap))
	if err != nil {
		switch codehost.FaultOf(err) {
		case codehost.Gone, codehost.Forbidden, codehost.Moved: // the others are there
			s.log.Warn("a repository can't be swept", "connection_id", c.ID, "repo", r.Name, "error", err)
			return nil
		case codehost.Limited, codehost.Revoked:
			return err
		}
		if ctx.Err() == nil { // this round goes on behind it, and the next one looks for the same
			w.Place, w.RoundAt = r.Name, w.Since
			if earliest := w.Now.Add(-sweepBack); earliest.After(w.Since) {
				w.RoundAt = earliest
			}
		}

		return err
	}

	for _, p := range changed {
		id := sweptID(r, p.Number, p.HeadSHA, p.BaseRef, p.UpdatedAt.UTC().String())
		if err := s.look(ctx, c, r, p.Number, id); err != nil {
			return err
		}
	}

	return s.unheard(ctx, w, c, r)
}

// unheard has pull requests looked at that are kept as open, and may be closed since: the
// host lists open ones only.
func (s *Sweeper) unheard(ctx context.Context, w *Sweep, c connection.Connection, r codehost.Repository) error {
	list, err := s.sweeps.UnheardOf(ctx, *w, r.Name, w.Now.Add(-unheardFor), sweepUnheard)
	if err != nil {
		return err
	}
	for _, p := range list {
		if err := s.look(ctx, c, r, p.Number, sweptID(r, p.Number, p.HeardAt.UTC().String())); err != nil {
			return err
		}
	}

	return nil
}

// look has a pull request looked at, once for each identifier.
func (s *Sweeper) look(
	ctx context.Context, c connection.Connection, r codehost.Repository, number int32, id string,
) error {
	_, err := s.inbox.Accept(ctx, c, id, []codehost.Hint{{
		Kind: codehost.HintPullRequest, Repository: r, Number: number,
	}})

	return err
}

// sweptID is the same for a pull request until what is known of it changes, so that it is
// looked at once.
func sweptID(r codehost.Repository, number int32, known ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(
		append([]string{r.ID, r.Name, strconv.Itoa(int(number))}, known...), "\x00")))

	return "sweep-" + hex.EncodeToString(sum[:16])
}

// waitFor returns when until does, or with the error of ctx when that ends first.
func waitFor(ctx context.Context, until func()) error {
	ended := make(chan struct{})
	go func() {
		until()
		close(ended)
	}()

	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
