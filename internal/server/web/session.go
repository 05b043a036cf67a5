package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/account"
)

// cookieName is that of the session's cookie. Browsers keep one with the prefix only
// when it came by https, from this host, for all paths.
func (h *Handler) cookieName() string {
	if h.Secure {
		return "__Host-prwarden"
	}

	return "prwarden"
}

func (h *Handler) sessionToken(r *http.Request) string {
	c, err := r.Cookie(h.cookieName())
	if err != nil {
		return ""
	}

	return c.Value
}

// setCookie sets a cookie for a time; a time of 0 removes it.
func (h *Handler) setCookie(w http.ResponseWriter, name, value string, lasts time.Duration) {
	c := &http.Cookie{
		Name: name, Value: value, Path: "/", HttpOnly: true, Secure: h.Secure, SameSite: http.SameSiteLaxMode,
		MaxAge: int(lasts / time.Second),
	}
	if lasts == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// signedIn sends a browser on with a session. The one that it had ends.
func (h *Handler) signedIn(v *visit, token, next string) error {
	if old := h.sessionToken(v.r); old != "" && old != token {
		if err := h.Sessions.End(v.ctx(), old); err != nil {
			h.Log.Warn("an earlier session could not be ended", "error", err)
		}
	}
	h.setCookie(v.w, h.cookieName(), token, account.SessionLife)
	h.redirect(v, ownPath(next))

	return nil
}

// redirect sends a browser to a page of ours, which it gets with GET.
func (h *Handler) redirect(v *visit, to string) { http.Redirect(v.w, v.r, to, http.StatusSeeOther) }

// ownPath returns a path of this server, "/" for what could lead elsewhere.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}

	return next
}
