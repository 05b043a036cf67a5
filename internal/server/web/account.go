package web

import (
	"net/http"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/errs"
)

func (h *Handler) accountPage(v *visit) error { return h.showAccount(v, http.StatusOK, accountView{}) }

func (h *Handler) showAccount(v *visit, code int, a accountView) error {
	list, err := h.Accounts.Sessions(v.ctx(), v.caller)
	if err != nil {
		return err
	}

	a.Sessions, a.Own = list, v.caller.SessionHash

	return h.showStatus(v, code, page{Title: "Account", Section: "account"}, accountBody(v, a))
}

// rename gives the person another name.
func (h *Handler) rename(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	name := v.r.PostForm.Get("name")
	if _, err := h.calls.accounts.UpdateAccount(v.ctx(), &prwardenv1.UpdateAccountRequest{Name: name}); err != nil {
		code, text, ok := formProblemOf(v, err)
		if !ok {
			return err
		}

		return h.showAccount(v, code, accountView{Name: name, NameProblem: text})
	}
	h.leaveFlash(v, flash{Text: "Your name is changed."})
	h.redirect(v, "/account")

	return nil
}

func (h *Handler) changePassword(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	err := h.Accounts.ChangePassword(v.ctx(), v.caller, v.r.PostForm.Get("current"), v.r.PostForm.Get("new"))
	if err != nil && (errs.KindOf(err) == errs.InvalidArgument || errs.KindOf(err) == errs.ResourceExhausted) {
		p := problemOf(v.ctx(), err)
		return h.showAccount(v, p.Code, accountView{Problem: p.Text})
	}
	if err != nil {
		return err
	}

	token, err := h.Sessions.Renew(v.ctx(), v.token)
	if err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "Your password is changed; your other sessions have ended."})
	h.setCookie(v.w, h.cookieName(), token, account.SessionLife)
	h.redirect(v, "/account")

	return nil
}

// endSession ends one session, or all.
func (h *Handler) endSession(v *visit) (err error) {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	if id := v.r.PostForm.Get("id"); id == "all" {
		err = h.Accounts.EndSessions(v.ctx(), v.caller)
	} else {
		err = h.Accounts.EndSession(v.ctx(), v.caller, id)
	}
	if err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "Signed out there."})
	h.redirect(v, "/account")

	return nil
}

// confirm takes the password again, and leads back to where it was needed.
func (h *Handler) confirm(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	next := ownPath(v.r.PostForm.Get("next"))
	token, err := h.Accounts.Confirm(v.ctx(), v.from, v.token, v.r.PostForm.Get("password"))
	if err != nil && errs.ReasonOf(err) != errs.ReasonSessionEnded {
		p := problemOf(v.ctx(), err)
		return h.showStatus(v, p.Code, page{Title: "Your password, please", Bare: true},
			confirmBody(v.account.User.Email, h.ssoName(), next, p.Text))
	}
	if err != nil {
		return err
	}

	return h.signedIn(v, token, next)
}

// browserName says in two words what a browser says of itself in many.
func browserName(agent string) string {
	name := "Unknown browser"
	for _, b := range [][2]string{
		{"Edg/", "Edge"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	} {
		if strings.Contains(agent, b[0]) {
			name = b[1]
			break
		}
	}
	for _, s := range [][2]string{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, s[0]) {
			return name + " on " + s[1]
		}
	}

	return name
}
