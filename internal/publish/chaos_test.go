package publish_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/publish"
)

var (
	chaosKills    = flag.Int("chaos.kills", 40, "publishers that are killed in the chaos test")
	chaosPushes   = flag.Int("chaos.pushes", 40, "pushes of the chaos test")
	chaosSeed     = flag.Uint64("chaos.seed", 1, "seed of the chaos test")
	chaosPostgres = flag.Bool("chaos.postgres", false, "run the chaos test on Postgres")
)

var errDead = errors.New("chaos: the process is dead")

// mortal is a publisher's process: once it is dead, it neither sends nor hears anything.
type mortal struct {
	publish.Store
	hosts *publish.ModelHost
	dead  atomic.Bool
	*publish.Publisher
}

func (m *mortal) gone() error {
	if m.dead.Load() {
		return errDead
	}

	return nil
}

func (m *mortal) ClaimPublication(ctx context.Context, owner string, d time.Duration) (*publish.Claim, error) {
	if err := m.gone(); err != nil {
		return nil, err
	}

	return m.Store.ClaimPublication(ctx, owner, d)
}

func (m *mortal) Reserve(ctx context.Context, c publish.Claim, r publish.Reservation) (publish.Reserved, error) {
	if err := m.gone(); err != nil {
		return publish.Reserved{}, err
	}

	return m.Store.Reserve(ctx, c, r)
}

func (m *mortal) Record(ctx context.Context, c publish.Claim, k publish.Known) error {
	if err := m.gone(); err != nil {
		return err
	}

	return m.Store.Record(ctx, c, k)
}

func (m *mortal) EndPublication(ctx context.Context, c publish.Claim, e publish.End) error {
	if err := m.gone(); err != nil {
		return err
	}

	return m.Store.EndPublication(ctx, c, e)
}

// mortalHosts is the way of such a process to the code host.
type mortalHosts struct {
	*publish.ModelHost
	m *mortal
}

func (h mortalHosts) Open(ctx context.Context, id string) (connection.Connection, codehost.Host, error) {
	c, _, err := h.ModelHost.Open(ctx, id)

	return c, h, err
}

func (h mortalHosts) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	if err := h.m.gone(); err != nil {
		return err
	}

	return h.ModelHost.Do(ctx, p, s)
}

func (s *scene) mortal(name string) *mortal {
	m := &mortal{Store: s.store, hosts: s.host}
	o := s.options()
	o.Name, o.Backoff, o.Workers = name, 10*time.Millisecond, 4
	o.Read, o.Write, o.Margin = 400*time.Millisecond, 300*time.Millisecond, 500*time.Millisecond
	m.Publisher = publish.NewPublisher(m, mortalHosts{s.host, m}, o)
	m.Start()

	return m
}

func (m *mortal) kill() {
	m.dead.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = m.Stop(ctx) // which is over at once
}

// TestChaos kills publishers while pull requests are pushed to, on a host that fails,
// does not answer, and takes effect after that.
func TestChaos(t *testing.T) {
	t.Parallel()
	const pulls = 6
	database := ""
	if *chaosPostgres {
		database = pgtest.New(t)
	}
	s := newSceneAt(t, codehost.Limits{
		AnnotationsPerCall: 3, Annotations: 1000, CommentsPerCall: 2, Body: 65536, Title: 255, Summary: 65535,
	}, database)
	random := rand.New(rand.NewPCG(*chaosSeed, 1))
	s.host.Fault = publish.RandomTrouble(rand.New(rand.NewPCG(*chaosSeed, 2)), 100*time.Millisecond)
	s.host.Latency = func() time.Duration { return rand.N(5 * time.Millisecond) }

	killed := make(chan int)
	pushed := make(chan struct{})
	go func() {
		alive := []*mortal{s.mortal("a"), s.mortal("b")}
		kills := 0
		for done := false; !done || kills < *chaosKills; {
			select {
			case <-pushed:
				done = true
			case <-time.After(20*time.Millisecond + rand.N(60*time.Millisecond)):
			}
			if kills < *chaosKills {
				victim := rand.IntN(len(alive))
				alive[victim].kill()
				alive[victim] = s.mortal(fmt.Sprint("after ", kills))
				kills++
			}
		}
		for _, m := range alive {
			assert.NoError(t, m.Stop(context.Background()))
		}
		killed <- kills
	}()

	want := pushAtRandom(s, random, pulls, *chaosPushes)
	close(pushed)
	kills := <-killed
	s.host.Calm()
	s.advance(10 * time.Minute) // whatever is waited for
	s.publisher(publish.Options{
		Name: "last", Poll: 5 * time.Millisecond, Now: s.store.Now, Backoff: 10 * time.Millisecond,
		Read: 2 * time.Second, Write: 2 * time.Second, Margin: 500 * time.Millisecond,
	})
	for number := range want {
		s.untilDone(number)
	}
	for number, fingerprints := range want {
		checkChaos(t, s, number, fingerprints)
	}
	t.Logf("%d kills, %d pushes of %d pull requests", kills, *chaosPushes, len(want))
}

// pushAtRandom pushes and reviews, and returns what the last review of each pull request
// found.
func pushAtRandom(s *scene, random *rand.Rand, pulls, pushes int) map[int32][]string {
	want := map[int32][]string{}
	for i := range pushes {
		number := int32(1 + random.IntN(pulls))
		head := sha(i + 1)
		if last, err := s.store.GetPullRequest(context.Background(), publish.Key{
			Organization: "acme", Repo: "acme/shop", Number: number,
		}); err == nil && random.IntN(4) == 0 {
			head = last.HeadSHA // the same commit again
		}
		p := s.push(number, head)
		s.create(number, head)
		<-time.After(time.Duration(random.IntN(60)) * time.Millisecond)
		s.keep(p) // the same delivery again
		var found []string
		for f := range 10 {
			if random.IntN(2) == 0 {
				found = append(found, fmt.Sprint("f", f))
			}
		}
		s.finish(s.claim(), found...)
		want[number] = found
		<-time.After(time.Duration(random.IntN(60)) * time.Millisecond)
	}

	return want
}

func checkChaos(t *testing.T, s *scene, number int32, fingerprints []string) {
	t.Helper()
	r := s.host.Result(number)
	assert.Empty(t, s.host.Wrong(number))
	assert.ElementsMatch(t, fingerprints, r.Open, "open comments of %d", number)
	for f, n := range r.Posted {
		assert.Equal(t, 1, n, "%s was posted in %d", f, number)
	}
	assert.LessOrEqual(t, r.Summaries, 1)
	verdict := codehost.Success
	if len(fingerprints) > 0 {
		verdict = codehost.Failure
	}
	assert.Equal(t, verdict, r.Check.Verdict, "verdict of %d", number)
	assert.Equal(t, len(fingerprints), r.Annotations)

	last := map[string]string{} // review by commit
	for _, c := range r.History {
		if c.Verdict == codehost.Outdated {
			continue
		}
		require.GreaterOrEqual(t, c.ReviewID, last[c.SHA], "an older result after a newer one in %d", number)
		last[c.SHA] = c.ReviewID
	}
	latest := slices.MaxFunc(r.History, func(a, b codehost.Check) int {
		if a.ReviewID < b.ReviewID {
			return -1
		}

		return 1
	})
	assert.Equal(t, latest.ReviewID, r.Check.ReviewID)
}
