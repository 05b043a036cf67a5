package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"google.golang.org/grpc/status"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// contentPolicy lets pages load what this server serves and send forms to it, and
// nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func setHeaders(h http.Header, secure bool) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// page is what the frame around each page needs.
type page struct {
	Title   string
	Section string // which entry of the menu is the present one
	Theme   string // light or dark; "" for what the system says
	Visit   *visit
	Flash   flash
	Bare    bool // without the menu, for people who have not signed in
	Refresh bool // it is loaded again every few seconds where there is no script
}

// show answers with a page.
func (h *Handler) show(v *visit, title, section string, body templ.Component) error {
	return h.showStatus(v, http.StatusOK, page{Title: title, Section: section}, body)
}

// showBare answers with a page that has no menu.
func (h *Handler) showBare(v *visit, title string, body templ.Component) error {
	return h.showStatus(v, http.StatusOK, page{Title: title, Bare: true}, body)
}

func (h *Handler) showStatus(v *visit, code int, p page, body templ.Component) error {
	p.Visit, p.Theme, p.Flash = v, themeOf(v.r), h.takeFlash(v)
	var out bytes.Buffer
	if err := frame(p, body).Render(v.ctx(), &out); err != nil {
		return err
	}

	return h.write(v, code, out.Bytes())
}

func (h *Handler) write(v *visit, code int, body []byte) error {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(code)
	_, _ = v.w.Write(body) // the browser may be gone

	return nil
}

// problem is an error as a person reads it.
type problem struct {
	Code      int
	Title     string
	Text      string
	Reason    string
	RequestID string
	Retry     string // the address to try again; "" where that is no use
	Fields    []errs.FieldViolation
}

// of returns what is wrong with a field, or with its parts; "" for nothing.
func (p problem) of(field string) string {
	for _, f := range p.Fields {
		rest, ok := strings.CutPrefix(f.Field, field)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return f.Description
		}
	}

	return ""
}

// problemOf tells what went wrong. Errors of calls come as a gRPC status.
func problemOf(ctx context.Context, err error) problem {
	s, ok := status.FromError(err)
	if !ok {
		s = rpc.Status(err)
	}
	reason := rpc.Reason(s)
	p := problem{
		Code: rpc.HTTPStatus(s.Code(), reason), Text: s.Message(), Reason: reason, RequestID: rpc.RequestID(ctx),
		Fields: rpc.Fields(s),
	}
	switch p.Code {
	case http.StatusNotFound:
		p.Title = "Nothing here"
	case http.StatusForbidden:
		p.Title = "You may not do that"
	case http.StatusTooManyRequests:
		p.Title = "Too many requests"
	case http.StatusServiceUnavailable:
		p.Title = "Not available right now"
	case http.StatusInternalServerError:
		p.Title = "The server failed"
	default:
		p.Title = "That didn't work"
	}

	return p
}

// within names fields as the part of the request does that begins so.
func (p problem) within(part string) problem {
	p.Text = strings.TrimPrefix(p.Text, part)
	for i := range p.Fields {
		p.Fields[i].Field = strings.TrimPrefix(p.Fields[i].Field, part)
	}

	return p
}

// fail answers an error: with the page to sign in or to give the password again, or
// with what went wrong.
func (h *Handler) fail(v *visit, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge, "The form is larger than 1 MiB.")
	}
	p := problemOf(v.ctx(), err)
	rpc.SetReason(v.ctx(), p.Reason)
	if _, ofCall := status.FromError(err); !ofCall && rpc.Unexpected(err) { // the chain logs those of calls
		h.Log.Error("a page failed", "request_id", p.RequestID, "path", v.r.URL.Path, "error", err)
	}
	if p.Reason == errs.ReasonSessionEnded {
		h.setCookie(v.w, h.cookieName(), "", 0)
		to := "/sign-in"
		if next := returnTo(v.r); next != "/" {
			to += "?next=" + url.QueryEscape(next)
		}
		h.redirect(v, to)
		return
	}
	if p.Reason == errs.ReasonSignInAgain {
		p := page{Title: "Your password, please", Bare: true}
		body := confirmBody(v.account.User.Email, h.ssoName(), returnTo(v.r), "")
		if h.showStatus(v, http.StatusForbidden, p, body) == nil {
			return
		}
	}

	if v.r.Method == http.MethodGet && p.Code >= http.StatusTooManyRequests {
		p.Retry = v.r.URL.RequestURI()
	}
	s, ok := status.FromError(err)
	if !ok {
		s = rpc.Status(err)
	}
	if wait := rpc.RetryAfter(s); wait > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if err := h.showStatus(v, p.Code, page{Title: p.Title, Bare: v.caller.UserID == ""}, problemBody(p)); err != nil {
		h.Log.Error("a page can't be made", "error", err)
		http.Error(v.w, p.Text, p.Code)
	}
}

// returnTo is where somebody goes on after signing in: the page that was asked for,
// or the one from which a form was sent.
func returnTo(r *http.Request) string {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return ownPath(wholePage(*r.URL))
	}
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host {
		return ownPath(wholePage(*from))
	}

	return "/"
}

// wholePage is the address of the page of which one may lead to a part.
func wholePage(u url.URL) string {
	if q := u.Query(); q.Has("part") {
		q.Del("part")
		u.RawQuery = q.Encode()
	}

	return u.RequestURI()
}

// themeOf is what a person has chosen, light or dark.
func themeOf(r *http.Request) string {
	c, err := r.Cookie("prwarden-theme")
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}

	return c.Value
}

// compressed writes an answer with gzip, unless it is compressed already.
type compressed struct {
	http.ResponseWriter
	zip     *gzip.Writer
	accepts bool
	begun   bool
}

func compress(w http.ResponseWriter, r *http.Request) *compressed {
	return &compressed{ResponseWriter: w, accepts: strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")}
}

// WriteHeader implements http.ResponseWriter.
func (c *compressed) WriteHeader(code int) {
	c.begin(code)
	c.ResponseWriter.WriteHeader(code)
}

func (c *compressed) begin(code int) {
	if c.begun {
		return
	}
	c.begun = true
	h := c.Header()
	if !c.accepts || h.Get("Content-Encoding") != "" || code == http.StatusNoContent || code == http.StatusSeeOther ||
		strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
		return
	}
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	h.Del("Content-Length")
	c.zip, _ = gzip.NewWriterLevel(c.ResponseWriter, gzip.BestSpeed+2) // the level is a valid one
}

// Write implements http.ResponseWriter.
func (c *compressed) Write(p []byte) (int, error) {
	c.begin(http.StatusOK)
	if c.zip == nil {
		return c.ResponseWriter.Write(p)
	}

	return c.zip.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *compressed) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressed) close() {
	if c.zip != nil {
		_ = c.zip.Close() // the browser may be gone
	}
}
