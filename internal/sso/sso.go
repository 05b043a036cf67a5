// Package sso lets people sign in at an identity provider, by OpenID Connect: the code
// flow with PKCE. What is to be remembered between its two halves is sealed in a cookie,
// so that any server can finish what another one began.
package sso

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/errs"
)

// CallbackPath is where the provider sends people back to.
const CallbackPath = "/auth/oidc/callback"

// Lasts is how long a person has to sign in at the provider.
const Lasts = 10 * time.Minute

// maxReturnTo is the longest path that a person comes back to, in bytes.
const maxReturnTo = 1024

// patience is how long the provider may take for what a request asks of it.
const patience = 10 * time.Second

// sealedAs is what cookies are sealed as.
const sealedAs = "sign_in/oidc"

// Sealer seals what the browser keeps; see package seal.
type Sealer interface {
	Seal(secret []byte, row string) ([]byte, error)
	Open(stored []byte, row string) ([]byte, error)
}

// Accounts begins sessions; see account.Service.SignInBy.
type Accounts interface {
	SignInBy(ctx context.Context, from account.Client, i account.Identity) (token string, err error)
}

// Options are what a Service needs.
type Options struct {
	Provider     account.OIDC // valid
	ClientSecret string       // "" for a client without one
	RedirectURL  string       // address of CallbackPath, which the provider knows
	Sealer       Sealer
	Accounts     Accounts
	Client       *http.Client     // that reaches the provider
	Now          func() time.Time // clock of the sessions
	Log          *slog.Logger
}

// Service is single sign-on at one identity provider.
type Service struct {
	Options

	discovering singleflight.Group
	mu          sync.Mutex
	found       *endpoints // nil until the provider was asked
}

// New makes it. The provider is asked for its endpoints when somebody signs in first.
func New(o Options) *Service { return &Service{Options: o} }

// Name is what people know the provider by.
func (s *Service) Name() string {
	if s.Provider.Name != "" {
		return s.Provider.Name
	}

	return "single sign-on"
}

// Only reports whether people sign in with single sign-on only.
func (s *Service) Only() bool { return s.Provider.Only }

// attempt is what is remembered of a sign-in that began.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	ReturnTo string    `json:"return_to"`
	Again    bool      `json:"again"`
	Trial    string    `json:"trial"` // the user who only tries it; "" for a sign-in
	Expires  time.Time `json:"expires"`
}

// Begin returns where a browser is sent to sign in, and what a cookie keeps until it is
// back at CallbackPath. returnTo is the path that the person goes on at, "/" in place of a
// long one; the pages see to it that it is one of theirs. It fails with Unavailable while the provider is away.
func (s *Service) Begin(ctx context.Context, returnTo string) (redirectURL, cookie string, err error) {
	return s.begin(ctx, attempt{ReturnTo: returnTo})
}

// BeginAgain is Begin for somebody who has signed in, and has to show the provider once
// more who he is. His new session is fresh.
func (s *Service) BeginAgain(ctx context.Context, returnTo string) (redirectURL, cookie string, err error) {
	return s.begin(ctx, attempt{ReturnTo: returnTo, Again: true})
}

func (s *Service) begin(ctx context.Context, a attempt) (redirectURL, cookie string, err error) {
	at, err := s.discover(ctx)
	if err != nil {
		return "", "", err
	}

	if len(a.ReturnTo) > maxReturnTo {
		a.ReturnTo = "/"
	}
	a.State, a.Nonce, a.Verifier = rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	a.Expires = s.Now().Add(Lasts)
	plain, err := json.Marshal(a)
	if err != nil {
		return "", "", err
	}
	sealed, err := s.Sealer.Seal(plain, sealedAs)
	if err != nil {
		return "", "", err
	}

	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if a.Again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}

	return at.oauth.AuthCodeURL(a.State, options...), base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Finish signs in who is back from the provider: it returns the token of the session,
// and the path that the person goes on at. cookie is what Begin said, and query that of
// the request. It fails with Unauthenticated (SIGN_IN_FAILED), and with Unavailable while
// the provider is away.
func (s *Service) Finish(
	ctx context.Context, from account.Client, cookie string, query url.Values,
) (session, returnTo string, err error) {
	a, err := s.opened(cookie)
	if err != nil {
		return "", "", err
	}
	if a.Trial != "" {
		return "", "", s.refuse(from, "it was a trial")
	}
	if err := s.answered(from, a, query); err != nil {
		return "", "", err
	}

	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	identity, err := s.identity(asking, from, query.Get("code"), a)
	if err != nil {
		return "", "", err
	}
	session, err = s.Accounts.SignInBy(ctx, from, identity)

	return session, a.ReturnTo, err
}

// answered checks that a provider's answer is one to what began.
func (s *Service) answered(from account.Client, a attempt, query url.Values) error {
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return s.refuse(from, "the state is another one")
	}
	if issuer := query.Get("iss"); issuer != "" && issuer != s.Provider.Issuer {
		return s.refuse(from, "another provider answers")
	}
	if code := query.Get("error"); code != "" {
		return s.refuse(from, "the provider says "+errs.Cut(code, 100))
	}

	return nil
}

// opened returns what a cookie keeps.
func (s *Service) opened(cookie string) (a attempt, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err == nil {
		sealed, err = s.Sealer.Open(sealed, sealedAs)
	}
	if err == nil {
		err = json.Unmarshal(sealed, &a)
	}
	if err != nil || !s.Now().Before(a.Expires) {
		return attempt{}, errs.New(errs.Unauthenticated, errs.ReasonSignInFailed,
			"This sign-in took longer than 10 minutes, or began in another browser. Begin again.")
	}

	return a, nil
}

// refuse logs why a sign-in failed, which the person needn't know in detail.
func (s *Service) refuse(from account.Client, why string) error {
	s.Log.Warn("a sign-in at the identity provider failed", "address", from.Address, "reason", why)

	return errs.New(errs.Unauthenticated, errs.ReasonSignInFailed,
		"The identity provider did not sign you in. Begin again; if that doesn't help, ask the operator.")
}

// endpoints are what a provider says of itself.
type endpoints struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
}

// discover asks the provider for its endpoints, once.
func (s *Service) discover(ctx context.Context) (*endpoints, error) {
	s.mu.Lock()
	found := s.found
	s.mu.Unlock()
	if found != nil {
		return found, nil
	}

	waiting := s.discovering.DoChan("", func() (any, error) {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		provider, err := oidc.NewProvider(s.clientContext(asking), s.Provider.Issuer)
		if err != nil {
			return nil, err
		}
		found := s.endpoints(provider)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.found = found

		return found, nil
	})
	var asked singleflight.Result
	select {
	case asked = <-waiting:
	case <-ctx.Done():
		asked.Err = ctx.Err()
	}
	if err := asked.Err; err != nil {
		s.Log.Warn("the identity provider could not be asked for its endpoints", "error", errs.Cut(err.Error(), 500))
		return nil, errAway()
	}

	return asked.Val.(*endpoints), nil
}

func errAway() error {
	return errs.New(errs.Unavailable, errs.ReasonUnavailable, "The identity provider can't be reached now; try again.")
}

func (s *Service) endpoints(provider *oidc.Provider) *endpoints {
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	_ = provider.Claims(&says) // which it has answered as JSON

	at := provider.Endpoint()
	at.AuthStyle = oauth2.AuthStyleInHeader // what a provider takes that doesn't say
	if s.ClientSecret == "" || len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic") {
		at.AuthStyle = oauth2.AuthStyleInParams
	}

	return &endpoints{
		provider: provider,
		verifier: provider.Verifier(&oidc.Config{ClientID: s.Provider.ClientID, Now: s.Now}),
		oauth: oauth2.Config{
			ClientID: s.Provider.ClientID, ClientSecret: s.ClientSecret, Endpoint: at, RedirectURL: s.RedirectURL,
			Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, s.Provider.Scopes...),
		},
	}
}

// clientContext is the context of requests to the provider.
func (s *Service) clientContext(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, s.Client)
}
