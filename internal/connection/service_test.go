package connection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
)

func wantError(t *testing.T, err error, kind errs.Kind, reason string) {
	t.Helper()
	require.Error(t, err)
	assert.Equal(t, kind, errs.KindOf(err), "%v", err)
	assert.Equal(t, reason, errs.ReasonOf(err))
}

// TestSigningToken checks the one form in which GitLab takes a secret to sign by.
func TestSigningToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := gitea()
	c.Kind = codehost.GitLab
	made := create(t, f, tenant, c)
	const form = `^whsec_[A-Za-z0-9+/]{43}=$`
	assert.Regexp(t, form, made.WebhookSecret)
	rotated, err := f.Rotate(t.Context(), tenant, made.ID, connection.Rotation{NewWebhookSecret: true})
	require.NoError(t, err)
	assert.Regexp(t, form, rotated.WebhookSecret)
	assert.NotEqual(t, made.WebhookSecret, rotated.WebhookSecret)
}

func TestLife(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, tenant, gitea())
	assert.Regexp(t, `^con_[a-z0-9]{26}$`, made.ID)
	assert.Equal(t, "https://git.example.com", made.URL)
	assert.False(t, made.Trusted)
	assert.Len(t, made.WebhookSecret, 52)

	c, h, err := f.Open(ctx, made.ID)
	require.NoError(t, err)
	assert.Equal(t, made.Connection, c)
	opened := h.(host).options
	assert.Equal(t, connection.Secrets{Token: token, GitToken: gitToken, Webhook: []string{made.WebhookSecret}}, opened.Secrets)
	assert.Same(t, f.guarded, opened.Client)
	_, secrets, err := f.WebhookSecrets(ctx, made.ID)
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte(made.WebhookSecret)}, secrets)

	f.access.Missing = []string{"checks: write"}
	tested, err := f.Test(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"checks: write"}, tested.Missing)
	assert.Equal(t, "bot", tested.Account)
	assert.False(t, tested.TestedAt.IsZero())
	repos, err := f.Repositories(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, []codehost.Repository{{Name: "acme/shop"}}, repos)
	assert.Len(t, f.opened, 1, "a host stays open")

	name := "new"
	changed, err := f.Update(ctx, tenant, made.ID, connection.Change{Name: &name, Repositories: []string{"acme/**"}})
	require.NoError(t, err)
	assert.Equal(t, "new [acme/**] bot", fmt.Sprint(changed.Name, " ", changed.Repositories, " ", changed.Account))
	_, _, err = f.Open(ctx, made.ID)
	require.NoError(t, err)
	assert.Len(t, f.opened, 2, "what was changed is opened anew")

	list, err := f.List(ctx, tenant)
	require.NoError(t, err)
	assert.Equal(t, []connection.Connection{changed}, list)
	require.NoError(t, f.Delete(ctx, tenant, made.ID))
	_, _, err = f.Open(ctx, made.ID)
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
}

func TestRotate(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, tenant, gitea())
	opened, _, err := f.Open(ctx, made.ID)
	require.NoError(t, err)
	require.NoError(t, f.Report(ctx, opened.Refused(nil)))
	broken, err := f.Get(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Broken, broken.State)

	rotated, err := f.Rotate(ctx, tenant, made.ID, connection.Rotation{Token: "new", NewWebhookSecret: true})
	require.NoError(t, err)
	assert.Equal(t, connection.Active, rotated.State)
	assert.NotEmpty(t, rotated.WebhookSecret)
	require.NoError(t, f.Report(ctx, opened.Refused(nil)), "of the old token, and late")
	now, err := f.Get(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Active, now.State)
	again, err := f.Rotate(ctx, tenant, made.ID, connection.Rotation{WebhookSecret: given})
	require.NoError(t, err)
	assert.Empty(t, again.WebhookSecret)
	_, h, err := f.Open(ctx, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Secrets{Token: "new", GitToken: gitToken, Webhook: []string{given, rotated.WebhookSecret}},
		h.(host).options.Secrets, "two secrets at most")

	for name, r := range map[string]connection.Rotation{
		"nothing": {}, "both": {WebhookSecret: given, NewWebhookSecret: true}, "short": {WebhookSecret: "short"},
		"blank": {Token: "a b"}, "another kind": {PrivateKey: newPrivateKey(t)},
	} {
		_, err := f.Rotate(ctx, tenant, made.ID, r)
		require.Error(t, err, name)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
	}
	events, err := f.store.Events(ctx, "acme", audit.Filter{Action: audit.ConnectionRotate, Limit: 10})
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, []audit.Field{
		{Name: "token", After: "(replaced)"}, {Name: "webhook_secret", After: "(replaced)"},
	}, events[1].Fields)
}

// What the operator made can be looked at, and changed by the operator only.
func TestOperatorsConnections(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	private := gitea()
	private.URL, private.GitURL = "http://10.0.0.7:3000", "file:///srv/git/{repo}.git"
	made := create(t, f, operator, private)
	assert.True(t, made.Trusted)
	_, h, err := f.Open(ctx, made.ID)
	require.NoError(t, err)
	assert.Same(t, f.trusted, h.(host).options.Client)
	assert.Equal(t, "file:///srv/git/acme/shop.git", made.CloneURL("acme/shop"))

	name := "x"
	same := connection.Change{Name: &name}
	_, err = f.Update(ctx, tenant, made.ID, same)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionDeclared)
	_, err = f.Rotate(ctx, tenant, made.ID, connection.Rotation{Token: "x"})
	wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionDeclared)
	wantError(t, f.Delete(ctx, tenant, made.ID), errs.FailedPrecondition, errs.ReasonConnectionDeclared)
	_, err = f.Get(ctx, tenant, made.ID)
	require.NoError(t, err)
	_, err = f.Test(ctx, tenant, made.ID)
	require.NoError(t, err)
	_, err = f.Get(ctx, connection.Caller{Organization: "other"}, made.ID)
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	_, err = f.Test(ctx, connection.Caller{Organization: "other"}, made.ID)
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)

	_, err = f.Update(ctx, operator, made.ID, same)
	require.NoError(t, err)
	require.NoError(t, f.Delete(ctx, operator, made.ID))
}

func TestFor(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	find := func(org, repo string) string {
		id, err := f.For(ctx, org, repo)
		require.NoError(t, err)

		return id
	}
	assert.Empty(t, find("acme", "acme/shop"))
	var made []string
	for i, globs := range [][]string{{"acme/*"}, {"acme/shop", "ACME/*"}, {"acme/**"}} {
		c := gitea()
		c.Name, c.Repositories = fmt.Sprint("c", i), globs
		made = append(made, create(t, f, tenant, c).ID)
	}
	assert.Equal(t, made[0], find("acme", "acme/shop"), "the oldest")
	assert.Equal(t, made[1], find("acme", "ACME/shop"), "case counts")
	assert.Equal(t, made[2], find("acme", "acme/group/shop"))
	assert.Empty(t, find("acme", "other/shop"))
	assert.Empty(t, find("other", "acme/shop"))

	c := gitea()
	c.Name = "of-the-operator"
	theirs := create(t, f, operator, c).ID
	assert.Equal(t, theirs, find("acme", "acme/shop"), "nobody puts another host in its place")
	require.NoError(t, f.Delete(ctx, operator, theirs))
	require.NoError(t, f.Delete(ctx, tenant, made[0]))
	assert.Equal(t, made[1], find("acme", "acme/shop"))
}

func TestTestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for fault, want := range map[codehost.Fault]string{
		codehost.Revoked:   "The host does not accept the credentials. Give the connection new ones.",
		codehost.Forbidden: "The credentials lack a permission: read:repository",
		codehost.Gone:      "The host has no such account, App or installation. Check the connection's address and account.",
		codehost.Invalid:   "The host can't be used: no JSON",
	} {
		f := newFixture(t)
		made := create(t, f, tenant, gitea())
		f.fails = &codehost.Error{Fault: fault, Scope: "read:repository", Err: errors.New("no JSON")}
		tested, err := f.Test(t.Context(), tenant, made.ID)
		require.NoError(t, err)
		assert.Equal(t, connection.Broken, tested.State, fault)
		assert.Equal(t, want, tested.Reason)
		_, err = f.Repositories(t.Context(), tenant, made.ID)
		wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionBroken)

		f.fails = &codehost.Error{Fault: codehost.Passing, After: time.Minute, Err: errors.New("502")}
		_, err = f.Test(t.Context(), tenant, made.ID)
		wantError(t, err, errs.Unavailable, errs.ReasonHostUnavailable)
		var e *errs.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, time.Minute, e.RetryAfter)
		after, err := f.Get(t.Context(), tenant, made.ID)
		require.NoError(t, err)
		assert.Equal(t, tested, after, "what passes changes nothing")
	}
}

// An App that is suspended is not broken: its owner can undo that.
func TestTestOfSuspendedApp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	app := gitea()
	app.Kind, app.URL, app.AppID, app.Account = codehost.GitHub, "", 7, "acme"
	made, err := f.Create(t.Context(), tenant, app, connection.Secrets{PrivateKey: newPrivateKey(t)})
	require.NoError(t, err)
	f.fails = &codehost.Error{Fault: codehost.Revoked, Err: fmt.Errorf("github: %w", codehost.ErrSuspended)}
	_, err = f.Test(t.Context(), tenant, made.ID)
	require.NoError(t, err)
	kept, err := f.Get(t.Context(), tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Suspended, kept.State)
	assert.Contains(t, kept.Reason, "The owner of acme suspended the App")

	f.fails = nil
	tested, err := f.Test(t.Context(), tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Active, tested.State)
	assert.Empty(t, tested.Reason)
}

// A lost key breaks connections and nothing else, and new secrets mend them.
func TestLostKey(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, tenant, gitea())
	key, err := os.ReadFile(seal.FileOf(f.database))
	require.NoError(t, err)
	require.NoError(t, os.Remove(seal.FileOf(f.database)))
	restarted := f.with(seal.Beside(f.database, nil))

	got, err := restarted.Get(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Broken, got.State)
	assert.Regexp(t, `^The secrets can't be read: the key "file-[0-9a-f]{12}", which sealed it, is missing; give the key `+
		`back, or give the connection new secrets$`, got.Reason)
	_, _, err = restarted.Open(ctx, made.ID)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionBroken)
	_, _, err = restarted.WebhookSecrets(ctx, made.ID)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonConnectionBroken)
	tested, err := restarted.Test(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, connection.Broken, tested.State)
	id, err := restarted.For(ctx, "acme", "acme/shop")
	require.NoError(t, err)
	assert.Equal(t, made.ID, id, "no other host takes its place")
	_, err = restarted.Rotate(ctx, tenant, made.ID, connection.Rotation{WebhookSecret: given})
	wantError(t, err, errs.InvalidArgument, errs.ReasonInvalidArgument)

	require.NoError(t, os.WriteFile(seal.FileOf(f.database), key, 0o600))
	again, err := f.with(seal.Beside(f.database, nil)).Get(ctx, tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, made.Connection, again, "the key is back")

	require.NoError(t, os.Remove(seal.FileOf(f.database)))
	restarted = f.with(seal.Beside(f.database, nil))
	mended, err := restarted.Rotate(ctx, tenant, made.ID, connection.Rotation{Token: "new"})
	require.NoError(t, err)
	assert.NotEmpty(t, mended.WebhookSecret, "the one before is lost, too")
	_, _, err = restarted.Open(ctx, made.ID)
	require.NoError(t, err)
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.with(seal.New()).Create(t.Context(), tenant, gitea(), connection.Secrets{Token: token})
	wantError(t, err, errs.FailedPrecondition, errs.ReasonSecretsKeyMissing)
	require.ErrorContains(t, err, "Name one under secrets.keys in the configuration file of the server.")
}

func TestReseal(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	made := create(t, f, tenant, gitea())
	keys := t.TempDir()
	for i, name := range []string{"/k1", "/k2"} {
		require.NoError(t, os.WriteFile(keys+name, []byte(strings.Repeat(string(rune('A'+i)), 43)+"="), 0o600))
	}
	load := func(sources ...seal.Source) *connection.Service {
		s, err := seal.Load(sources, nil)
		require.NoError(t, err)

		return f.with(s)
	}
	first, second := seal.Source{Name: "k1", File: keys + "/k1"}, seal.Source{Name: "k2", File: keys + "/k2"}
	old := load(first)
	_, err := old.Rotate(ctx, tenant, made.ID, connection.Rotation{Token: token})
	require.NoError(t, err)

	both := load(second, first)
	n, failed, err := both.Reseal(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Empty(t, failed)
	n, _, err = both.Reseal(ctx)
	require.NoError(t, err)
	assert.Zero(t, n)
	_, _, err = load(second).Open(ctx, made.ID)
	require.NoError(t, err)
	_, failed, err = old.Reseal(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{made.ID: `the key "k2", which sealed it, is missing`}, failed)
}

// Secrets are neither in the database, nor in what is printed of them.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t), t.Context()
	c := gitea()
	made, err := f.Create(ctx, tenant, c, connection.Secrets{Token: token, GitToken: gitToken, Webhook: []string{given}})
	require.NoError(t, err)
	assert.Empty(t, made.WebhookSecret)
	secrets := []string{token, gitToken, given}
	c.Name = "made"
	withMade := create(t, f, tenant, c)
	secrets = append(secrets, withMade.WebhookSecret)

	_, h, err := f.Open(ctx, made.ID)
	require.NoError(t, err)
	o := h.(host).options
	shown := fmt.Sprintf("%v %+v %#v %s", o, o, o.Secrets, o.Secrets)
	files, err := os.ReadDir(strings.TrimSuffix(f.database, "/prwarden.db"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(strings.TrimSuffix(f.database, "prwarden.db") + file.Name())
		require.NoError(t, err)
		shown += string(data)
	}
	for _, secret := range secrets {
		assert.False(t, strings.Contains(shown, secret), secret)
	}
	assert.Contains(t, shown, "git.example.com", "the files are those of the database")
}

// A host that says back what it was sent tells nobody.
func TestHostsSayNoSecrets(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := create(t, f, tenant, gitea())
	for _, fault := range []codehost.Fault{codehost.Invalid, codehost.Forbidden, codehost.Passing} {
		f.fails = &codehost.Error{Fault: fault, Scope: "you said " + token, Err: errors.New("you said " + token)}
		tested, err := f.Test(t.Context(), tenant, made.ID)
		_, other := f.Repositories(t.Context(), tenant, made.ID)
		assert.NotContains(t, fmt.Sprint(tested, err, other), token, fault)
		assert.Contains(t, fmt.Sprint(tested, err), "you said (secret)", fault)
	}
	f.fails, f.access = nil, codehost.Access{Account: gitToken, Missing: []string{token}}
	tested, err := f.Test(t.Context(), tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"(secret)"}, tested.Missing)
	assert.Equal(t, "(secret)", tested.Account)
	said := tested.Refused(nil)
	said.Reason = "you said " + made.WebhookSecret
	require.NoError(t, f.Report(t.Context(), said))
	got, err := f.Get(t.Context(), tenant, made.ID)
	require.NoError(t, err)
	assert.Equal(t, "you said (secret)", got.Reason)
}

// The host is asked in the time that a test has, also when it hangs.
func TestContextOfTestsEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := create(t, f, tenant, gitea())
	f.fails = context.DeadlineExceeded
	_, err := f.Test(t.Context(), tenant, made.ID)
	wantError(t, err, errs.Unavailable, errs.ReasonHostUnavailable)
}
