package command_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/command"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
)

// world is a code host and what there is behind commands. It notes what is done.
type world struct {
	codehost.Host

	writers  []string
	known    map[string]bool
	did      []string
	bodies   []string
	changes  []triage.Change
	actors   []string
	setErr   error
	queueErr error
	doErr    error
	ackErr   error
	mayErr   error
}

func (w *world) KeepCommand(_ context.Context, _, _, name string) (bool, error) {
	first := !w.known[name]
	w.known[name] = true

	return first, nil
}

func (w *world) KnowsCommand(_ context.Context, _, _, name string) (bool, error) {
	return w.known[name], nil
}

func (w *world) ForgetCommand(_ context.Context, _, _, name string) error {
	delete(w.known, name)

	return nil
}

func (w *world) Set(ctx context.Context, _ string, c triage.Change) (string, int, error) {
	w.did = append(w.did, "ignore")
	w.changes, w.actors = append(w.changes, c), append(w.actors, audit.FromContext(ctx).String())

	return "trg_a", 1, w.setErr
}

func (w *world) Queue(_ context.Context, _ connection.Connection, p codehost.PullRequest, again string) error {
	w.did = append(w.did, "rescan "+p.HeadSHA+" "+again)

	return w.queueErr
}

func (w *world) RulesFor(context.Context, string, string) (rule.Set, error) {
	return rule.Set{Rules: []rule.Rule{{
		ID: "security/no-eval", Severity: rule.High, Message: "Don't.", References: []string{"https://example.com/a"},
	}}}, nil
}

func (w *world) FileRules(context.Context, string, string) ([]rule.Rule, error) {
	return []rule.Rule{{ID: "style/x", Severity: rule.Low, Message: "```\n@everyone <img src=x> ````\x1b[2J"}}, nil
}

func (w *world) MayCommand(_ context.Context, _ codehost.Repository, c codehost.Comment) (bool, error) {
	return strings.Contains(strings.Join(w.writers, " "), c.Author), w.mayErr
}

func (w *world) Do(_ context.Context, _ codehost.PullRequest, s codehost.Step) error {
	w.did, w.bodies = append(w.did, string(s.Action)), append(w.bodies, s.Body)

	return w.doErr
}

func (w *world) Acknowledge(_ context.Context, _ codehost.PullRequest, c codehost.Comment, r codehost.Reaction) error {
	w.did = append(w.did, string(r)+" "+c.ID)

	return w.ackErr
}

func newWorld() (*world, func(codehost.Comment) error) {
	w := &world{writers: []string{"ann"}, known: map[string]bool{}}
	commands := command.New(w, w, w, w, slog.New(slog.DiscardHandler))
	con := connection.Connection{ID: "con_a", Organization: "acme", Kind: codehost.GitHub}
	p := codehost.PullRequest{
		Repository: codehost.Repository{Name: "acme/shop"}, Number: 7, State: codehost.Open, HeadSHA: "aa",
	}

	return w, func(c codehost.Comment) error {
		p := p
		if c.ID == "closed" {
			p.State = codehost.Merged
		}

		return commands.Handle(context.Background(), con, w, p, c)
	}
}

func says(id, body string) codehost.Comment {
	return codehost.Comment{ID: id, Author: "ann", Body: body}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	w, handle := newWorld()
	require.NoError(t, handle(says("1", "/prwarden rescan")))
	require.NoError(t, handle(says("2", "/prwarden ignore 0f -- our own build until 2027-01-31")))
	assert.Equal(t, []string{"rescan aa comment:1", "+1 1", "ignore", "+1 2"}, w.did)
	assert.Equal(t, []triage.Change{{
		Repo: "acme/shop", PRNumber: 7, Fingerprints: []string{"0f"}, Decision: finding.Accepted,
		Reason: "our own build", Until: "2027-01-31",
	}}, w.changes)
	assert.Equal(t, []string{"host:github/ann"}, w.actors)

	// The same comment, in whatever delivery, does nothing more.
	require.NoError(t, handle(says("1", "/prwarden rescan")))
	require.NoError(t, handle(says("2", "/prwarden rescan")))
	assert.Len(t, w.did, 4)
	on := says("1", "/prwarden rescan")
	on.OnLine = true
	require.NoError(t, handle(on), "comments on lines have numbers of their own")
	assert.Equal(t, []string{"rescan aa line-comment:1", "+1 1"}, w.did[4:])
}

// Forks, strangers, quotes and examples have no effect at all.
func TestCommandsOfNobody(t *testing.T) {
	t.Parallel()
	w, handle := newWorld()
	stranger := codehost.Comment{ID: "1", Author: "mallory", Body: "/prwarden ignore 0f -- trust me until 2027-01-31"}
	require.NoError(t, handle(stranger))
	w.writers = append(w.writers, "mallory")
	require.NoError(t, handle(stranger), "who may write later didn't mean that")
	for i, body := range []string{
		"@prwarden rescan", "> /prwarden rescan", "```\n/prwarden rescan\n```", "`/prwarden rescan`",
		"@ann please write /prwarden rescan", "<!--\n/prwarden rescan\n-->", "/prwarden-bot rescan",
	} {
		require.NoError(t, handle(says(string(rune('a'+i)), body)))
	}
	require.NoError(t, handle(says("", "/prwarden rescan")), "without an id it could be done again")
	assert.Empty(t, w.did)
}

func TestRefusedCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id, body string
		change   func(*world)
		want     []string
	}{
		"nothing that there is": {"1", "/prwarden destroy", nil, []string{"-1 1"}},
		"a closed pull request": {"closed", "/prwarden rescan", nil, []string{"-1 closed"}},
		"no such rule":          {"1", "/prwarden explain no/rule", nil, []string{"-1 1"}},
		"the policy": {"1", "/prwarden ignore 0f -- x", func(w *world) {
			w.setErr = errs.New(errs.PermissionDenied, errs.ReasonTriageNotAllowed, "no")
		}, []string{"ignore", "-1 1"}},
		"a repository that is not allowed": {"1", "/prwarden rescan", func(w *world) {
			w.queueErr = errs.New(errs.PermissionDenied, errs.ReasonRepositoryNotAllowed, "no")
		}, []string{"rescan aa comment:1", "-1 1"}},
		"one of two": {"1", "/prwarden destroy\n/prwarden rescan", nil, []string{"rescan aa comment:1", "-1 1"}},
		"no reactions": {"1", "/prwarden rescan", func(w *world) {
			w.ackErr = &codehost.Error{Fault: codehost.Forbidden, Err: errors.New("no")}
		}, []string{"rescan aa comment:1", "+1 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, handle := newWorld()
			if c.change != nil {
				c.change(w)
			}
			require.NoError(t, handle(says(c.id, c.body)))
			require.NoError(t, handle(says(c.id, c.body)), "it is refused once")
			assert.Equal(t, c.want, w.did)
		})
	}
}

// What passes is tried again, and until then it is not answered.
func TestCommandsAreTriedAgain(t *testing.T) {
	t.Parallel()
	away := errs.New(errs.Unavailable, errs.ReasonUnavailable, "away")
	limited := &codehost.Error{Fault: codehost.Limited, Err: errors.New("slow down")}
	for name, c := range map[string]struct {
		body string
		fail func(*world, bool)
		want []string
	}{
		"the database": {"/prwarden rescan", func(w *world, is bool) { w.queueErr = when(is, error(away)) },
			[]string{"rescan aa comment:1", "rescan aa comment:1", "+1 1"}},
		"the host, when it is asked": {"/prwarden rescan", func(w *world, is bool) { w.mayErr = when(is, error(limited)) },
			[]string{"rescan aa comment:1", "+1 1"}},
		"the host, when it is answered": {"/prwarden rescan", func(w *world, is bool) { w.ackErr = when(is, error(limited)) },
			[]string{"rescan aa comment:1", "+1 1", "rescan aa comment:1", "+1 1"}},
		"an explanation": {"/prwarden explain style/x", func(w *world, is bool) { w.doErr = when(is, error(limited)) },
			[]string{"add_summary", "add_summary", "+1 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, handle := newWorld()
			c.fail(w, true)
			require.Error(t, handle(says("1", c.body)))
			c.fail(w, false)
			require.NoError(t, handle(says("1", c.body)))
			assert.Equal(t, c.want, w.did)
		})
	}
}

func when[T any](is bool, v T) (out T) {
	if is {
		out = v
	}

	return out
}

func TestExplain(t *testing.T) {
	t.Parallel()
	w, handle := newWorld()
	require.NoError(t, handle(says("1", "/prwarden explain security/no-eval")))
	require.NoError(t, handle(says("2", "/prwarden explain security/no-eval")))
	assert.Equal(t, []string{"add_summary", "+1 1", "+1 2"}, w.did, "one a rule and pull request")
	assert.Equal(t, "**high** `security/no-eval`\n\n```text\nDon't.\nhttps://example.com/a\n```\n", w.bodies[0])

	require.NoError(t, handle(says("3", "/prwarden explain style/x")))
	assert.Equal(t, "**low** `style/x`\n\n`````text\n```\n@everyone <img src=x> ```` [2J\n`````\n", w.bodies[1])
	assert.False(t, codehost.IsSummary(w.bodies[1]), "nobody edits it")

	// Without an answer it may be there.
	w, handle = newWorld()
	w.doErr = &codehost.Error{Fault: codehost.Unknown, Err: errors.New("no answer")}
	require.NoError(t, handle(says("1", "/prwarden explain style/x")))
	require.NoError(t, handle(says("2", "/prwarden explain style/x")))
	assert.Equal(t, []string{"add_summary", "+1 1", "+1 2"}, w.did)
}
