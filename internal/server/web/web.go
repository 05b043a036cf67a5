// Package web is the dashboard: pages that are made here, from what the same gRPC
// calls answer that the API makes, as the person who has signed in. Pages work
// without script; the one script only makes them quicker.
package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// Accounts is what pages need of package account.
type Accounts interface {
	SignIn(ctx context.Context, from account.Client, email, password string) (token string, err error)
	Confirm(ctx context.Context, from account.Client, token, password string) (renewed string, err error)
	Account(ctx context.Context, c auth.Caller) (account.Account, error)
	ChangePassword(ctx context.Context, c auth.Caller, current, chosen string) error
	Sessions(ctx context.Context, c auth.Caller) ([]account.Session, error)
	EndSession(ctx context.Context, c auth.Caller, id string) error
	EndSessions(ctx context.Context, c auth.Caller) error

	HasUsers(ctx context.Context) (bool, error)
	CheckSetUp(ctx context.Context, token string) error
	SetUp(ctx context.Context, from account.Client, token, organization string, p account.Person) (string, error)
	CheckReset(ctx context.Context, token string) (account.User, error)
	Reset(ctx context.Context, from account.Client, token, password string) (string, error)
	Invitation(ctx context.Context, token string) (i account.Invitation, known bool, err error)
	Accept(ctx context.Context, from account.Client, token, name, password string) (string, error)
	AcceptAs(ctx context.Context, from account.Client, c auth.Caller, token string) error
}

// Sessions finds out who has signed in; see account.Sessions.
type Sessions interface {
	Caller(ctx context.Context, token, organization string) (auth.Caller, error)
	Recheck(ctx context.Context, c auth.Caller) error
	Renew(ctx context.Context, token string) (renewed string, err error)
	End(ctx context.Context, token string) error
}

// SSO signs people in at an identity provider; see package sso.
type SSO interface {
	Name() string
	Only() bool
	Begin(ctx context.Context, returnTo string) (redirectURL, cookie string, err error)
	BeginAgain(ctx context.Context, returnTo string) (redirectURL, cookie string, err error)
	Finish(ctx context.Context, from account.Client, cookie string, query url.Values) (token, returnTo string, err error)
	BeginTrial(ctx context.Context, userID, returnTo string) (redirectURL, cookie string, err error)
	FinishTrial(ctx context.Context, from account.Client, cookie string, q url.Values) (account.Trial, bool, error)
}

// Config is what a Handler needs.
type Config struct {
	// Conn calls the services in this process.
	Conn      grpc.ClientConnInterface
	Admission rpc.Admission
	Accounts  Accounts
	Sessions  Sessions
	SSO       SSO // single sign-on; nil for none

	// Organizations lists the names of those there are, for the set-up.
	Organizations func(ctx context.Context) ([]string, error)

	// Secure says that browsers reach the pages by https, as the address says that
	// people use. Cookies are then for https alone.
	Secure bool
	Source bool // whether pages show source code
	Now    func() time.Time
	Log    *slog.Logger

	// Stopping is closed when the server stops: what is streamed ends.
	Stopping <-chan struct{}
}

// Handler serves the pages.
type Handler struct {
	Config
	calls  clients
	mux    *http.ServeMux
	assets map[string]asset // by path
	guard  *http.CrossOriginProtection
}

// New makes the Handler.
func New(c Config) *Handler {
	h := &Handler{
		Config: c, calls: newClients(c.Conn), mux: http.NewServeMux(), assets: loadAssets(),
		guard: http.NewCrossOriginProtection(),
	}
	h.routes()

	return h
}

// roots are the first parts of the paths of pages.
var roots = []string{
	"", "assets", "o", "sign-in", "sign-out", "setup", "reset", "invitation", "account", "auth", "theme", "favicon.ico",
}

// Serves reports whether a path is one of pages, which need no key.
func (h *Handler) Serves(path string) bool { return IsPage(path) }

// IsPage reports whether a path is one of pages, also where they are switched off. The
// set-up of a GitHub App, beneath /setup/app, has pages of its own.
func IsPage(path string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")

	return slices.Contains(roots, first) && (first != "setup" || rest == "")
}

// Route returns the pattern of a request's path, without its method.
func (h *Handler) Route(r *http.Request) string {
	_, pattern := h.mux.Handler(r)
	_, path, _ := strings.Cut(pattern, "/")

	return "/" + path
}

// routes are all pages.
func (h *Handler) routes() {
	h.mux.HandleFunc("GET /assets/", h.serveAsset)
	h.mux.HandleFunc("GET /favicon.ico", h.favicon)

	h.stranger("GET /sign-in", h.signInPage)
	h.stranger("POST /sign-in", h.signIn)
	h.stranger("GET /sign-in/oidc", h.counted(h.beginSSO))
	h.stranger("GET /auth/oidc/callback", h.counted(h.finishSSO))
	h.stranger("GET /setup", h.counted(h.setUpPage))
	h.stranger("POST /setup", h.counted(h.setUp))
	h.stranger("GET /reset", h.counted(h.resetPage))
	h.stranger("POST /reset", h.counted(h.reset))
	h.stranger("GET /invitation", h.counted(h.invitationPage))
	h.stranger("POST /invitation", h.counted(h.acceptInvitation))
	h.stranger("POST /theme", h.setTheme)

	h.person("GET /{$}", h.home)
	h.person("POST /sign-out", h.signOut)
	h.person("GET /account", h.accountPage)
	h.person("POST /account/name", h.rename)
	h.person("POST /account/password", h.changePassword)
	h.person("POST /account/sessions", h.endSession)
	h.person("POST /account/confirm", h.confirm)

	h.person("GET /o/{org}/{$}", h.organizationHome)
	h.person("GET /o/{org}/settings/keys", h.keysPage)
	h.person("POST /o/{org}/settings/keys", h.createKey)
	h.person("POST /o/{org}/settings/keys/revoke", h.revokeKey)
	h.settingsRoutes()

	h.ruleRoutes()
	h.findingRoutes()

	h.reviewRoutes()

	h.stranger("/", func(*visit) error { return errNoPage })
}

// errNoPage is answered where there is no page, or none for this person.
var errNoPage = errs.New(errs.NotFound, errs.ReasonRouteNotFound, "There is no such page, or it isn't yours.")

// visit is one request for a page.
type visit struct {
	w http.ResponseWriter
	r *http.Request

	token   string // of the session; "" without one
	caller  auth.Caller
	account account.Account
	org     string // in whose pages the person is; "" in none
	scoped  bool   // whether the page is one of an organization
	from    account.Client
}

func (v *visit) ctx() context.Context { return v.r.Context() }

// has reports whether the person has a scope in the organization.
func (v *visit) has(s auth.Scope) bool { return v.caller.Has(s) }

// here is the address of a page of the organization.
func (v *visit) here(path string) string { return "/o/" + v.org + path }

// stranger is a page that needs no session.
func (h *Handler) stranger(pattern string, serve func(*visit) error) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := h.newVisit(w, r)
		if err := overloadHold(r.Context()); err != nil {
			h.fail(v, err)
			return
		}
		if err := serve(v); err != nil {
			h.fail(v, err)
		}
	})
}

// counted counts requests for a page of strangers against their address: such a page looks
// tokens up that anybody may make up, or asks an identity provider.
func (h *Handler) counted(serve func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if err := h.Admission.Admitter.AdmitStranger(v.ctx(), credentialsOf(v.r)); err != nil {
			return err
		}

		return serve(v)
	}
}

// signedInAs returns who has signed in, for a page of strangers. A session that is not good
// counts against the address.
func (h *Handler) signedInAs(v *visit, token string) (auth.Caller, error) {
	c, err := h.Sessions.Caller(v.ctx(), token, "")
	if err != nil && errs.KindOf(err) == errs.Unauthenticated {
		err = cmp.Or(h.Admission.Admitter.AdmitStranger(v.ctx(), credentialsOf(v.r)), err)
	}

	return c, err
}

// person is a page for somebody who has signed in. Where a path has an organization,
// it must be one of his.
func (h *Handler) person(pattern string, serve func(*visit) error) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := h.newVisit(w, r)
		if err := h.identify(v); err != nil {
			h.fail(v, err)
			return
		}
		if err := serve(v); err != nil {
			h.fail(v, err)
		}
	})
}

func (h *Handler) newVisit(w http.ResponseWriter, r *http.Request) *visit {
	credentials := credentialsOf(r)

	return &visit{w: w, r: r, from: account.Client{
		Address: h.Admission.Admitter.Address(credentials), Agent: r.UserAgent(),
	}}
}

func credentialsOf(r *http.Request) auth.Credentials {
	return auth.Credentials{PeerAddr: r.RemoteAddr, ForwardedFor: r.Header.Values("X-Forwarded-For")}
}

// identify finds out who it is, and counts the request.
func (h *Handler) identify(v *visit) error {
	v.org, v.scoped = v.r.PathValue("org"), v.r.PathValue("org") != ""
	v.token = h.sessionToken(v.r)
	if v.token == "" {
		return errs.New(errs.Unauthenticated, errs.ReasonSessionEnded, "Sign in to see this page.")
	}
	ctx := v.r.Context()
	var err error
	v.caller, err = h.Admission.AdmitPerson(ctx, credentialsOf(v.r), func() (auth.Caller, error) {
		return h.Sessions.Caller(ctx, v.token, v.org)
	})
	if err != nil {
		return err
	}

	v.r = v.r.WithContext(rpc.Admitted(ctx, v.caller))
	if v.account, err = h.Accounts.Account(v.ctx(), v.caller); err != nil {
		return err
	}
	if v.scoped && v.caller.Organization == "" {
		return errNoPage
	}

	return nil
}

// overloadHold counts a stranger's request as open. It has no place among those that are
// worked on: it may wait for an identity provider, or for its password to be hashed.
func overloadHold(ctx context.Context) error {
	return overload.FromContext(ctx).Hold(ctx, overload.LimitOpen, 1)
}

// ServeHTTP implements http.Handler. Guard bounds how many requests are open, as for
// the API.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header(), h.Secure)
	if r.Header.Get("Authorization") != "" {
		h.fail(h.newVisit(w, r), errs.New(errs.PermissionDenied, errs.ReasonPersonNeeded,
			"Pages are for people who have signed in; an API key is for paths beneath /v1."))
		return
	}
	if err := h.guard.Check(r); err != nil {
		h.fail(h.newVisit(w, r), errs.New(errs.PermissionDenied, errs.ReasonPersonNeeded,
			"This form was sent by the page of another site."))
		return
	}
	request, err := h.Admission.Guard.Open(r.Context(), overload.LimitOpen, credentialsOf(r))
	if err != nil {
		h.fail(h.newVisit(w, r), err)
		return
	}
	defer request.Close()

	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	}
	z := compress(w, r)
	defer z.close()
	h.mux.ServeHTTP(z, r.WithContext(overload.NewContext(r.Context(), request)))
}

// maxForm is the most bytes that a form may have: a rules file or 500 fingerprints
// fit.
const maxForm = 1 << 20
