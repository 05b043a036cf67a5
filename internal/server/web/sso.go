package web

import (
	"net/url"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/server/overload"
)

// ssoName is how people call the identity provider; "" without one.
func (h *Handler) ssoName() string {
	if h.SSO == nil {
		return ""
	}

	return h.SSO.Name()
}

// ssoCookie keeps what was begun until the browser is back from the provider.
func (h *Handler) ssoCookie() string { return h.cookieName() + "-oidc" }

// ssoPath is where signing in at the provider begins. Who has to show again who he is
// comes back with a fresh session.
func ssoPath(next string, again bool) string {
	q := url.Values{"next": {next}}
	if again {
		q.Set("again", "1")
	}

	return "/sign-in/oidc?" + q.Encode()
}

func (h *Handler) beginSSO(v *visit) error {
	if h.SSO == nil {
		return errNoPage
	}
	begin, q := h.SSO.Begin, v.r.URL.Query()
	if q.Get("again") != "" {
		begin = h.SSO.BeginAgain
	}
	releaseWork(v)
	to, cookie, err := begin(v.ctx(), ownPath(q.Get("next")))
	if err != nil {
		return err
	}
	h.setCookie(v.w, h.ssoCookie(), cookie, 10*time.Minute)
	h.redirect(v, to)

	return nil
}

func (h *Handler) finishSSO(v *visit) error {
	if h.SSO == nil {
		return errNoPage
	}
	kept := ""
	if c, err := v.r.Cookie(h.ssoCookie()); err == nil {
		kept = c.Value
	}
	if strings.HasPrefix(kept, "/") { // the answer to a trial was shown here
		h.redirect(v, ownPath(kept))
		return nil
	}
	h.setCookie(v.w, h.ssoCookie(), "", 0)
	releaseWork(v)
	trial, tried, err := h.SSO.FinishTrial(v.ctx(), v.from, kept, v.r.URL.Query())
	if tried {
		// Its code is used: who loads the page again, or sends a form of it, goes on there.
		h.setCookie(v.w, h.ssoCookie(), trial.ReturnTo, 10*time.Minute)
		return h.showTrial(v, trial, err)
	}
	token, next, err := h.SSO.Finish(v.ctx(), v.from, kept, v.r.URL.Query())
	if err != nil {
		p := problemOf(v.ctx(), err)
		f := h.signInForm("/")
		f.Problem = p.Text
		return h.showStatus(v, p.Code, page{Title: "Sign in", Bare: true}, signInBody(f))
	}

	return h.signedIn(v, token, next)
}

// releaseWork has a request no longer count among those that are worked on, because it
// waits for others: an identity provider, or a browser that reads slowly.
func releaseWork(v *visit) { overload.FromContext(v.ctx()).Release(overload.LimitWork) }

// signInForm is an empty form to sign in.
func (h *Handler) signInForm(next string) signInForm {
	return signInForm{Next: next, SSO: h.ssoName(), Only: h.SSO != nil && h.SSO.Only()}
}
