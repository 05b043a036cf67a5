package connection_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/seal"
)

// apps makes Apps as a test says.
type apps struct {
	app    connection.App
	fails  error
	client *http.Client // of the last call
	states []string
}

func (a *apps) Form(s connection.Setup, place connection.SetupPlace, state string) (string, string, error) {
	a.states = append(a.states, state)

	return s.URL + "/new", place.Hook + " " + place.Done, nil
}

func (a *apps) Complete(_ context.Context, o connection.Options, _ string) (connection.App, error) {
	a.client = o.Client

	return a.app, a.fails
}

// makingApps is a service that has Apps made.
func makingApps(t *testing.T) (*connection.Service, *apps, *fixture) {
	t.Helper()
	f := newFixture(t)
	a := &apps{app: connection.App{
		ID: 7, Owner: "ACME", URL: "https://github.com/apps/x", PrivateKey: newPrivateKey(t), WebhookSecret: given,
	}}
	open := func(connection.Options) (codehost.Host, error) { return host{}, nil }

	return connection.NewService(connection.Config{
		Store: f.store, Sealer: seal.Beside(f.database, nil), Hosts: connection.Factory{codehost.GitHub: open},
		Client: f.guarded, TrustedClient: f.trusted, Listed: func(*url.URL) bool { return false },
		Apps: a, PublicURL: "https://prwarden.example.com/", Log: slog.New(slog.DiscardHandler),
	}), a, f
}

func newApp() connection.Connection {
	return connection.Connection{Name: "github", Account: "acme", Repositories: []string{"acme/*"}}
}

// begin starts a set-up and returns the state that its page sends to the host.
func begin(t *testing.T, s *connection.Service, a *apps, by connection.Caller) string {
	t.Helper()
	started, err := s.StartSetup(t.Context(), by, newApp(), false)
	require.NoError(t, err)
	token, ok := strings.CutPrefix(started.URL, "https://prwarden.example.com/setup/app?token=")
	require.True(t, ok, started.URL)
	form, err := s.SetupForm(t.Context(), token)
	require.NoError(t, err)
	assert.Equal(t, "https://github.com", form.Origin)
	assert.Equal(t, "https://prwarden.example.com/hooks/"+started.ConnectionID+
		" https://prwarden.example.com/setup/app/done", form.Manifest)
	state := a.states[len(a.states)-1]
	assert.NotContains(t, state, token)
	_, err = s.SetupForm(t.Context(), state)
	wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)

	return state
}

func TestSetup(t *testing.T) {
	t.Parallel()
	s, a, f := makingApps(t)
	ctx := audit.NewContext(t.Context(), audit.Actor{Kind: audit.Key, ID: "key_a", Address: "192.0.2.7"})
	started, err := s.StartSetup(ctx, tenant, newApp(), true)
	require.NoError(t, err)
	_, token, _ := strings.Cut(started.URL, "token=")
	form, err := s.SetupForm(t.Context(), token)
	require.NoError(t, err)
	assert.True(t, form.Personal)

	made, err := s.CompleteSetup(t.Context(), a.states[0], "code")
	require.NoError(t, err)
	assert.Equal(t, "key:key_a", made.CreatedBy)
	assert.Same(t, f.guarded, a.client)
	assert.Equal(t, started.ConnectionID, made.ID)
	assert.Equal(t, "https://github.com/apps/x/installations/new", made.InstallURL)
	assert.EqualValues(t, 7, made.AppID)
	assert.False(t, made.Trusted)
	_, secrets, err := s.WebhookSecrets(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte(given)}, secrets)
	for _, action := range []audit.Action{audit.ConnectionSetUp, audit.ConnectionCreate} {
		events, err := f.store.Events(t.Context(), "acme", audit.Filter{Action: action, Limit: 10})
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.Equal(t, "key:key_a", events[0].Actor)
		assert.Equal(t, made.ID, events[0].Target)
	}
	_, err = s.StartSetup(ctx, tenant, newApp(), false)
	wantError(t, err, errs.AlreadyExists, errs.ReasonConnectionExists)
}

func TestSetupThatFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  func(*apps)
		want string
	}{
		"another account": {func(a *apps) { a.app.Owner = "other" }, `The App belongs to the account "other"`},
		"no secret":       {func(a *apps) { a.app.WebhookSecret = "" }, "webhook_secret: "},
		"no key":          {func(a *apps) { a.app.PrivateKey = "x" }, "private_key: "},
		"an old code": {func(a *apps) { a.fails = &codehost.Error{Fault: codehost.Gone, Err: errors.New("404")} },
			"The host doesn't know the code"},
		"no answer": {func(a *apps) { a.fails = errors.New("no route") }, "The host can't be asked for the App now: no route."},
	} {
		s, a, _ := makingApps(t)
		tt.set(a)
		state := begin(t, s, a, operator)
		_, err := s.CompleteSetup(t.Context(), state, "code")
		require.ErrorContains(t, err, tt.want, name)
		list, err := s.List(t.Context(), tenant)
		require.NoError(t, err)
		assert.Empty(t, list, name)
		_, err = s.CompleteSetup(t.Context(), state, "code")
		wantError(t, err, errs.NotFound, errs.ReasonConnectionNotFound)
	}
}

func TestSetupsAreChecked(t *testing.T) {
	t.Parallel()
	s, _, _ := makingApps(t)
	for field, c := range map[string]connection.Connection{
		"account":      {Name: "a", Repositories: []string{"acme/*"}},
		"name":         {Name: "A", Account: "acme", Repositories: []string{"acme/*"}},
		"repositories": {Name: "a", Account: "acme"},
		"url":          {Name: "a", Account: "acme", Repositories: []string{"acme/*"}, URL: "https://h;script-src"},
		"api_url":      {Name: "a", Account: "acme", Repositories: []string{"acme/*"}, APIURL: "http://10.0.0.7"},
	} {
		_, err := s.StartSetup(t.Context(), tenant, c, false)
		var e *errs.Error
		require.ErrorAs(t, err, &e, field)
		require.NotEmpty(t, e.Fields, field)
		assert.Equal(t, field, e.Fields[0].Field)
	}
	s.PublicURL = ""
	_, err := s.StartSetup(t.Context(), tenant, newApp(), false)
	wantError(t, err, errs.FailedPrecondition, errs.ReasonPublicURLMissing)
}
