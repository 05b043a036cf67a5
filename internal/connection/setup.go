package connection

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
)

// Paths of the pages of a set-up below the public address of a server. The first has the
// parameter `token`, and the second, which GitHub leads to, `state` and `code`.
const (
	SetupPath     = "/setup/app"
	SetupDonePath = "/setup/app/done"
)

const (
	// setupFor is how long a set-up may take.
	setupFor = 10 * time.Minute
	// completeTimeout bounds the end of a set-up, with its call of the host.
	completeTimeout = 20 * time.Second
)

// Setup is a connection whose GitHub App is being made. Its identifier is that which the
// connection will have.
type Setup struct {
	Connection
	Personal  bool   // the account is a person's, not an organization's
	StateHash string // SHA-256 of the state, hexadecimal
	ExpiresAt time.Time
}

// Apps makes GitHub Apps of what a page posts.
type Apps interface {
	// Form is what a page posts as the field `manifest`, and to where. State comes back
	// at the address done.
	Form(s Setup, place SetupPlace, state string) (action, manifest string, err error)

	// Complete exchanges the code that the host gave back for the App. Of o only the
	// addresses and the client count.
	Complete(ctx context.Context, o Options, code string) (App, error)
}

// SetupPlace is where a server is reached.
type SetupPlace struct{ Public, Hook, Done string }

// App is a GitHub App that was made.
type App struct {
	ID            int64
	Owner         string // login
	URL           string // of its page, below which it is installed
	PrivateKey    string // PEM
	WebhookSecret string
}

// Started is a set-up that somebody can go on with in a browser.
type Started struct {
	ConnectionID string
	URL          string // has a secret, and works until the App is made or ExpiresAt
	ExpiresAt    time.Time
}

// StartSetup begins to make a connection together with its GitHub App. The errors are
// those of ConnectionService.SetUpGitHubApp in the API.
func (s *Service) StartSetup(ctx context.Context, by Caller, c Connection, personal bool) (Started, error) {
	if s.PublicURL == "" {
		return Started{}, errs.New(errs.FailedPrecondition, errs.ReasonPublicURLMissing,
			"The server doesn't know its own address, which the App needs. Set public_url in the configuration file.")
	}
	c.Kind = codehost.GitHub
	c = c.withDefaults()
	c.ID, c.Organization = newID(), by.Organization
	c.State, c.Trusted, c.CreatedBy = Active, by.Operator, audit.FromContext(ctx).String()
	if err := s.checkSetup(c); err != nil {
		return Started{}, err
	}
	if _, err := s.seal(c, Secrets{}); err != nil { // it would be too late when the App is made
		return Started{}, err
	}

	token := rand.Text() + rand.Text()
	expires, err := s.Store.CreateSetup(ctx, Setup{
		Connection: c, Personal: personal, StateHash: hashOf(stateOf(token)),
	}, setupFor, MaxConnections)

	return Started{
		ConnectionID: c.ID, URL: s.page(SetupPath) + "?token=" + token, ExpiresAt: expires,
	}, err
}

// plainHost is that of an address which the policy of a page can name.
var plainHost = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// checkSetup is check for a connection that has no App yet.
func (s *Service) checkSetup(c Connection) error {
	c.AppID = 1 // an App needs the account
	if err := s.check(c, nil); err != nil {
		return err
	}
	if u, err := url.Parse(c.URL); err != nil || !plainHost.MatchString(u.Host) {
		return errs.Invalid("url", "its host must be a name or an address, with a port or without one")
	}

	return nil
}

// page is the address of a page of this server.
func (s *Service) page(path string) string { return strings.TrimRight(s.PublicURL, "/") + path }

// stateOf is what the host gives back for a token. Who knows it can't tell the token.
func stateOf(token string) string { return hashOf("state of a set-up\x00" + token) }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))

	return hex.EncodeToString(sum[:])
}

// SetupForm is what the page of a set-up posts.
type SetupForm struct {
	Setup
	Action   string // where to
	Origin   string // of Action
	Manifest string // JSON
}

// SetupForm returns the form of a set-up; NotFound when it has ended.
func (s *Service) SetupForm(ctx context.Context, token string) (SetupForm, error) {
	state := stateOf(token)
	setup, err := s.Store.ReadSetup(ctx, hashOf(state))
	if err != nil {
		return SetupForm{}, err
	}
	action, manifest, err := s.Apps.Form(setup, SetupPlace{
		Public: s.PublicURL, Hook: s.page("/hooks/" + setup.ID), Done: s.page(SetupDonePath),
	}, state)
	if err != nil {
		return SetupForm{}, err
	}
	to, err := url.Parse(action)
	if err != nil {
		return SetupForm{}, err
	}

	return SetupForm{Setup: setup, Action: action, Origin: to.Scheme + "://" + to.Host, Manifest: manifest}, nil
}

// SetUp is a connection whose App was made.
type SetUp struct {
	Connection
	InstallURL string // where the App is installed; "" when the host says no such place
}

// CompleteSetup ends the set-up of a state, makes its App known and stores the
// connection; NotFound when it has ended. It can't be done again: on other errors the App
// may be there, and the connection isn't.
func (s *Service) CompleteSetup(ctx context.Context, state, code string) (SetUp, error) {
	setup, err := s.Store.TakeSetup(ctx, hashOf(state))
	if err != nil {
		return SetUp{}, err
	}
	// It goes on when the browser is closed: the host gives the App's secrets once.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	ctx = audit.NewContext(ctx, audit.ParseActor(setup.CreatedBy))
	c := setup.Connection
	client := s.Client
	if c.Trusted {
		client = s.TrustedClient
	}

	app, err := s.Apps.Complete(ctx, Options{Connection: c, Client: client}, code)
	if err != nil {
		return SetUp{}, completeError(err)
	}
	if !strings.EqualFold(app.Owner, c.Account) {
		return SetUp{}, errs.New(errs.FailedPrecondition, errs.ReasonConnectionBroken,
			"The App belongs to the account %q, and the connection is for %q.", errs.Cut(app.Owner, maxAccount), c.Account)
	}

	c.AppID = app.ID
	secrets := Secrets{PrivateKey: app.PrivateKey, Webhook: []string{app.WebhookSecret}}
	if err := s.check(c, &secrets); err != nil {
		return SetUp{}, err
	}
	stored, err := s.create(ctx, c, secrets)
	done := SetUp{Connection: stored}
	if strings.HasPrefix(app.URL, c.URL+"/") {
		done.InstallURL = app.URL + "/installations/new"
	}

	return done, err
}

// completeError says why the host gave no App.
func completeError(err error) error {
	var e *codehost.Error
	if errors.As(err, &e) && (e.Fault == codehost.Gone || e.Fault == codehost.Invalid) {
		return errs.New(errs.FailedPrecondition, errs.ReasonConnectionBroken,
			"The host doesn't know the code that it gave, or gave it more than an hour ago.")
	}
	out := errs.New(errs.Unavailable, errs.ReasonHostUnavailable, "The host can't be asked for the App now: %s.",
		errs.Cut(err.Error(), maxReason))
	out.Err = err

	return out
}

// SetupNotFound is the error for a set-up that has ended.
func SetupNotFound() error {
	return errs.New(errs.NotFound, errs.ReasonConnectionNotFound,
		"This address was used already, or is older than 10 minutes.")
}
