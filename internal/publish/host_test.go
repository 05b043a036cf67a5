package publish

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
)

// ModelHost is a code host in memory with several pull requests, for tests of
// publishers. It is also the only connection's Hosts.
type ModelHost struct {
	mu       sync.Mutex
	pulls    map[int32]*modelPull
	limits   codehost.Limits
	reported []string
	reads    int
	writes   int

	// Fault chooses what goes wrong with a call; nil for nothing.
	Fault func(write bool) Trouble
	// Latency is how long a step takes. A caller who hangs up meanwhile does not stop it.
	Latency func() time.Duration
	// Refuse says what a host would refuse; nil for nothing.
	Refuse func(codehost.Step) error
	state  connection.State
	late   sync.WaitGroup
}

type modelPull struct {
	model
	pull    codehost.PullRequest
	history []codehost.Check // all that were set
}

// Trouble is what goes wrong with one call.
type Trouble struct {
	Err  error         // the answer
	Done bool          // it has its effect all the same
	Late time.Duration // which comes so much later
}

// NewModelHost returns a host without pull requests.
func NewModelHost(l codehost.Limits) *ModelHost {
	return &ModelHost{pulls: map[int32]*modelPull{}, limits: l, state: connection.Active}
}

// Push makes a pull request, or gives it another head.
func (h *ModelHost) Push(p codehost.PullRequest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.pulls[p.Number]
	if old == nil {
		old = &modelPull{model: model{limits: h.limits, posted: map[string]int{}}}
		h.pulls[p.Number] = old
	}
	old.pull, old.head = p, p.HeadSHA
}

func fault(f codehost.Fault) error {
	return &codehost.Error{Fault: f, Err: errors.New("model: " + string(f))}
}

func (h *ModelHost) trouble(write bool) Trouble {
	h.mu.Lock()
	defer h.mu.Unlock()
	if write {
		h.writes++
	} else {
		h.reads++
	}
	if h.Fault == nil {
		return Trouble{}
	}

	return h.Fault(write)
}

// PullRequest implements codehost.Host.
func (h *ModelHost) PullRequest(
	ctx context.Context, _ codehost.Repository, number int32,
) (codehost.PullRequest, error) {
	if err := errors.Join(ctx.Err(), h.trouble(false).Err); err != nil {
		return codehost.PullRequest{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pulls[number] == nil {
		return codehost.PullRequest{}, fault(codehost.Gone)
	}

	return h.pulls[number].pull, nil
}

// Observe implements codehost.Host.
func (h *ModelHost) Observe(ctx context.Context, p codehost.PullRequest) (codehost.Observed, error) {
	if err := errors.Join(ctx.Err(), h.trouble(false).Err); err != nil {
		return codehost.Observed{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pulls[p.Number].head != p.HeadSHA {
		return codehost.Observed{}, fault(codehost.Stale)
	}

	return h.pulls[p.Number].observe(), nil
}

// Do implements codehost.Host.
func (h *ModelHost) Do(ctx context.Context, p codehost.PullRequest, s codehost.Step) error {
	if h.Refuse != nil {
		if err := h.Refuse(s); err != nil {
			return err
		}
	}
	x := h.trouble(true)
	if h.Latency != nil && x.Late == 0 {
		late := h.Latency()
		timer := time.NewTimer(late)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			x = Trouble{Err: fault(codehost.Unknown), Done: x.Err == nil || x.Done, Late: late}
			if !x.Done {
				return x.Err
			}
		}
	}
	if x.Late > 0 {
		h.late.Add(1)
		time.AfterFunc(x.Late, func() {
			defer h.late.Done()
			_ = h.do(p, s)
		})
	} else if x.Err == nil || x.Done {
		if err := h.do(p, s); err != nil && x.Err == nil {
			return err
		}
	}

	return x.Err
}

func (h *ModelHost) do(p codehost.PullRequest, s codehost.Step) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.pulls[p.Number]
	if s.Action == codehost.AddComments && m.head != p.HeadSHA {
		return fault(codehost.Stale)
	}
	if s.Action == codehost.SetCheck {
		m.history = append(m.history, s.Check)
		if s.Check.Verdict == codehost.Outdated && s.Check.SHA == m.head {
			m.putCheck(s.Check) // of a head that came back meanwhile: the next publication sets it right
			return nil
		}
	}
	before := m.missing
	m.do(s)
	if m.missing > before {
		return fault(codehost.Gone)
	}

	return nil
}

// Limits implements codehost.Host.
func (h *ModelHost) Limits() codehost.Limits { return h.limits }

// Calm ends all trouble, and waits for late effects.
func (h *ModelHost) Calm() {
	h.mu.Lock()
	h.Fault = nil
	h.mu.Unlock()
	h.late.Wait()
}

// Wrong is what a publisher must not have done.
func (h *ModelHost) Wrong(number int32) []string {
	h.mu.Lock()
	defer h.mu.Unlock()

	return slices.Clone(h.pulls[number].wrong)
}

// Result is what there is to see in a pull request.
type Result struct {
	Check       codehost.Check
	Annotations int
	Open        []string       // fingerprints of open comments
	Closed      []string       // and of closed ones
	Posted      map[string]int // how often a comment was made
	Summaries   int            // that were ever made
	Summary     string
	History     []codehost.Check // of all commits
}

// Result returns what there is to see in a pull request.
func (h *ModelHost) Result(number int32) (r Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.pulls[number]
	have := m.observe()
	if have.Check != nil {
		r.Check, r.Annotations = *have.Check, have.Annotations
	}
	for _, c := range have.Comments {
		if c.Closed {
			r.Closed = append(r.Closed, c.Fingerprint)
		} else {
			r.Open = append(r.Open, c.Fingerprint)
		}
	}
	slices.Sort(r.Open)
	slices.Sort(r.Closed)
	r.Posted, r.Summaries, r.History = maps.Clone(m.posted), m.summaries, slices.Clone(m.history)
	if len(have.Summaries) > 0 {
		r.Summary = have.Summaries[0].Body
	}

	return r
}

// Remove deletes the comments on a finding as a person does.
func (h *ModelHost) Remove(number int32, fingerprint string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.pulls[number]
	m.comments = slices.DeleteFunc(m.comments, func(c modelComment) bool { return c.Fingerprint == fingerprint })
}

// Double has a call that was given up take effect at last: all of ours is there twice.
func (h *ModelHost) Double(number int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.pulls[number]
	for _, c := range slices.Clone(m.comments) {
		c.Ref = m.ref()
		m.comments = append(m.comments, c)
	}
}

// Touch changes the comments on a finding as a person does.
func (h *ModelHost) Touch(number int32, fingerprint string, change func(*codehost.ObservedComment)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range h.pulls[number].comments {
		if c.Fingerprint == fingerprint {
			change(&h.pulls[number].comments[i].ObservedComment)
		}
	}
}

// Open implements connection.Hosts.
func (h *ModelHost) Open(_ context.Context, id string) (connection.Connection, codehost.Host, error) {
	h.mu.Lock()
	defer h.mu.Unlock()

	return connection.Connection{ID: id, Organization: "acme", Name: id, State: h.state}, h, nil
}

// Report implements connection.Hosts.
func (h *ModelHost) Report(_ context.Context, c connection.Connection) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = c.State
	h.reported = append(h.reported, string(c.State)+": "+c.Reason)

	return nil
}

// Count is how many calls read and wrote since the last time.
func (h *ModelHost) Count() (reads, writes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	reads, writes = h.reads, h.writes
	h.reads, h.writes = 0, 0

	return reads, writes
}

// Calls is how many calls there were.
func (h *ModelHost) Calls() int {
	reads, writes := h.Count()

	return reads + writes
}

// Reported are the reports so far.
func (h *ModelHost) Reported() []string {
	h.mu.Lock()
	defer h.mu.Unlock()

	return slices.Clone(h.reported)
}

// RandomTrouble is what a bad day brings: calls that fail, that get no answer, and that
// take effect later, up to a time.
func RandomTrouble(r *rand.Rand, late time.Duration) func(write bool) Trouble {
	return func(write bool) Trouble {
		switch n := r.IntN(100); {
		case n >= 25:
		case !write:
			return Trouble{Err: fault(codehost.Passing)}
		case n < 5:
			return Trouble{Err: fault(codehost.Passing)}
		case n < 10:
			return Trouble{Err: fault(codehost.Passing), Done: true}
		case n < 15:
			return Trouble{Err: fault(codehost.Unknown)}
		case n < 20:
			return Trouble{Err: fault(codehost.Unknown), Done: true}
		default:
			return Trouble{Err: fault(codehost.Unknown), Done: true, Late: time.Duration(r.Int64N(int64(late)))}
		}

		return Trouble{}
	}
}

// The rest of codehost.Host and connection.Hosts, which publishers don't use.

// Verify implements codehost.Host.
func (h *ModelHost) Verify(http.Header, []byte, [][]byte, time.Time) (string, error) { panic("unused") }

// Hints implements codehost.Host.
func (h *ModelHost) Hints(http.Header, []byte) ([]codehost.Hint, error) { panic("unused") }

// Access implements codehost.Host.
func (h *ModelHost) Access(context.Context) (codehost.Access, error) { panic("unused") }

// Repositories implements codehost.Host.
func (h *ModelHost) Repositories(context.Context, int) ([]codehost.Repository, error) {
	panic("unused")
}

// OpenPullRequests implements codehost.Host.
func (h *ModelHost) OpenPullRequests(
	context.Context, codehost.Repository, time.Time,
) ([]codehost.PullRequest, error) {
	panic("unused")
}

// Credential implements codehost.Host.
func (h *ModelHost) Credential(context.Context, codehost.Repository) (codehost.Credential, error) {
	panic("unused")
}

// MayCommand implements codehost.Host.
func (h *ModelHost) MayCommand(context.Context, codehost.Repository, codehost.Comment) (bool, error) {
	panic("unused")
}

// Acknowledge implements codehost.Host.
func (h *ModelHost) Acknowledge(
	context.Context, codehost.PullRequest, codehost.Comment, codehost.Reaction,
) error {
	panic("unused")
}

// WebhookSecrets implements connection.Hosts.
func (h *ModelHost) WebhookSecrets(context.Context, string) (connection.Connection, [][]byte, error) {
	panic("unused")
}

// For implements connection.Hosts.
func (h *ModelHost) For(context.Context, string, string) (string, error) { panic("unused") }
