// Package setup is the pages by which somebody has GitHub make the App of a connection.
// Who opens one has no key: the secret in its address is what counts.
package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
)

// Service makes Apps; see connection.Service.
type Service interface {
	SetupForm(ctx context.Context, token string) (connection.SetupForm, error)
	CompleteSetup(ctx context.Context, state, code string) (connection.SetUp, error)
}

// Handler answers at connection.SetupPath and connection.SetupDonePath.
type Handler struct {
	Service Service
	Log     *slog.Logger
}

var (
	//go:embed page.html
	layout string
	//go:embed style.css
	style string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(style) },
	}).Parse(layout))
)

// view is what the page shows: a form, what was made, or a problem.
type view struct {
	Form    *connection.SetupForm
	Made    *connection.SetUp
	Problem string
	Late    bool // the host may have made an App
}

// ServeHTTP implements http.Handler. Errors are sentences on the page.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query, v := r.URL.Query(), view{}
	var err error
	if r.URL.Path == connection.SetupPath {
		var form connection.SetupForm
		form, err = h.Service.SetupForm(r.Context(), query.Get("token"))
		v.Form = &form
	} else {
		var made connection.SetUp
		made, err = h.Service.CompleteSetup(r.Context(), query.Get("state"), query.Get("code"))
		v.Made = &made
		v.Late = err != nil && query.Get("code") != ""
	}

	status := http.StatusOK
	if err != nil {
		status, v.Problem = h.problem(r.Context(), err)
		v.Form, v.Made = nil, nil
	}
	h.write(w, status, v)
}

// problem is how an error is answered.
func (h *Handler) problem(ctx context.Context, err error) (status int, sentence string) {
	status = http.StatusServiceUnavailable
	switch errs.KindOf(err) {
	case errs.NotFound:
		status = http.StatusNotFound
	case errs.FailedPrecondition, errs.AlreadyExists, errs.InvalidArgument:
		status = http.StatusConflict
	case errs.Unavailable, errs.DeadlineExceeded:
	default:
		h.Log.ErrorContext(ctx, "the set-up of an App failed", "error", err)
		return http.StatusInternalServerError, "The server failed; its log says why."
	}

	var e *errs.Error
	if errors.As(err, &e) {
		sentence = e.Message
	}

	return status, sentence
}

// write answers with a page that runs no script, and may post its form to its host only.
func (h *Handler) write(w http.ResponseWriter, status int, v view) {
	action := "'none'"
	if v.Form != nil {
		action = v.Form.Origin
	}
	var body bytes.Buffer
	if err := page.Execute(&body, v); err != nil {
		h.Log.Error("a page of a set-up can't be made", "error", err)
		status = http.StatusInternalServerError
	}

	sum := sha256.Sum256([]byte(style))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'; form-action "+action+"; base-uri 'none'; frame-ancestors 'none'")
	// The host learns where the form comes from, and not the secret in the address.
	w.Header().Set("Referrer-Policy", "strict-origin")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the browser may be gone
}
