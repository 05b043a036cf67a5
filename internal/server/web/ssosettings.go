package web

import (
	"net/http"
	"strings"
	"time"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// ssoView is what the page of single sign-on shows.
type ssoView struct {
	Provider *prwardenv1.SingleSignOn // nil for none
	Check    *prwardenv1.SingleSignOn_Check
	Trial    *trialView
}

// trialView is what came of a sign-in that was tried.
type trialView struct {
	Problem string // nothing else is there with it
	Claims  []account.Claim
	Email   string // "" unless the provider has verified it
	Role    string // that the groups give in the organization; "" for none

	BreakGlass bool // the email is that of who signs in with a password always
}

func (h *Handler) ssoPage(v *visit) error {
	return h.showSSO(v, http.StatusOK, v.r.URL.Query().Has("check"), nil)
}

func (h *Handler) showSSO(v *visit, code int, check bool, trial *trialView) error {
	got, err := h.calls.members.GetSingleSignOn(v.ctx(), &prwardenv1.GetSingleSignOnRequest{Check: check})
	if err != nil {
		return err
	}

	return h.showStatus(v, code, page{Title: "Single sign-on", Section: "sso"},
		ssoBody(v, ssoView{Provider: got.GetProvider(), Check: got.GetCheck(), Trial: trial}))
}

// trySSO sends an owner to the provider, which then says who he is. He stays signed in
// as before.
func (h *Handler) trySSO(v *visit) error {
	if err := v.caller.Require(auth.OrganizationAdmin); err != nil {
		return err
	}
	if h.SSO == nil {
		return errNoPage
	}
	releaseWork(v)
	to, cookie, err := h.SSO.BeginTrial(v.ctx(), v.caller.UserID, v.here("/settings/sso"))
	if errs.KindOf(err) == errs.Unavailable {
		return h.showSSO(v, http.StatusOK, true, nil) // the check says why
	}
	if err != nil {
		return err
	}
	h.setCookie(v.w, h.ssoCookie(), cookie, 10*time.Minute)
	h.redirect(v, to)

	return nil
}

// showTrial shows the owner who began it what the provider said.
func (h *Handler) showTrial(v *visit, t account.Trial, failed error) error {
	org, _, _ := strings.Cut(strings.TrimPrefix(t.ReturnTo, "/o/"), "/")
	v.r.SetPathValue("org", org)
	if err := h.identify(v); err != nil {
		return err
	}
	if v.caller.UserID != t.UserID {
		return errNoPage
	}
	view := &trialView{Claims: t.Claims, Email: t.Email, Role: string(t.Roles[org]), BreakGlass: t.BreakGlass}
	if failed != nil {
		view = &trialView{Problem: problemOf(v.ctx(), failed).Text}
	}

	return h.showSSO(v, http.StatusOK, false, view)
}
