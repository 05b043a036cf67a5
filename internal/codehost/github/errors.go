package github

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	api "github.com/google/go-github/v88/github"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/egress"
)

// maxWords is how much of GitHub's words an error keeps, in characters.
const maxWords = 300

// fault says what a caller can do about an error of a call; nil for none. Mutation is
// whether the call may have changed something.
func (h *Host) fault(err error, mutation bool) error {
	var (
		accepted *api.AcceptedError
		minted   *notMinted
		known    *codehost.Error
	)
	switch {
	case err == nil || errors.As(err, &accepted):
		return nil
	case errors.As(err, &minted):
		return h.mintFault(minted)
	case errors.As(err, &known):
		return err
	}

	status, header, message := answer(err)
	if status == 0 {
		return noAnswer(err, mutation)
	}

	return &codehost.Error{
		Fault: statusFault(status, header, message, mutation),
		After: wait(status, header),
		Scope: h.scope(status, header, message),
		Err:   said(status, h.words(message)),
	}
}

// said is an error with what GitHub said.
func said(status int, words string) error {
	return errors.New(strings.TrimSpace(fmt.Sprintf("github: %d %s %s", status, http.StatusText(status), words)))
}

// answer is what GitHub answered, as far as an error tells; 0 for nothing.
func answer(err error) (status int, header http.Header, message string) {
	var (
		plain     *api.ErrorResponse
		limit     *api.RateLimitError
		secondary *api.AbuseRateLimitError
		redirect  *api.RedirectionError
		factor    *api.TwoFactorAuthError
	)
	switch {
	case errors.As(err, &plain):
		for _, e := range plain.Errors {
			message += "; " + strings.Trim(e.Resource+" "+e.Field+" "+e.Code+" "+e.Message, " ")
		}
		return plain.Response.StatusCode, plain.Response.Header, plain.Message + message
	case errors.As(err, &limit):
		return http.StatusTooManyRequests, limit.Response.Header, limit.Message
	case errors.As(err, &secondary):
		return http.StatusTooManyRequests, secondary.Response.Header, secondary.Message
	case errors.As(err, &redirect):
		return redirect.StatusCode, redirect.Response.Header, "the repository has another name"
	case errors.As(err, &factor):
		return http.StatusUnauthorized, factor.Response.Header, factor.Message
	}

	return 0, nil, ""
}

// noAnswer is the fault of a call that GitHub didn't answer, or not to its end. What
// didn't reach it can't have changed anything.
func noAnswer(err error, mutation bool) error {
	var (
		dial *net.OpError
		call *url.Error
	)
	if refused, ok := errors.AsType[*egress.Refused](err); ok { // nothing was sent
		return &codehost.Error{Fault: codehost.Invalid, Err: refused}
	}
	if errors.As(err, &call) { // without the address, which may have a code in it
		err = call.Err
	}

	e := &codehost.Error{Fault: codehost.Passing, Err: fmt.Errorf("github: no answer: %w", err)}
	if reached := !errors.As(err, &dial) || dial.Op != "dial"; mutation && reached {
		e.Fault = codehost.Unknown
	}

	return e
}

// mintFault is the fault of a call for which there was no token.
func (h *Host) mintFault(e *notMinted) error {
	var known *codehost.Error
	if errors.As(e.cause, &known) {
		return known
	}

	status, header, message := answer(e.cause)
	switch status {
	case 0:
		return noAnswer(e.cause, false)
	case http.StatusUnauthorized:
		message = "the App's ID or private key is wrong; " + message
	case http.StatusForbidden:
		if strings.Contains(strings.ToLower(message), "suspended") { // "This installation has been suspended"
			return &codehost.Error{Fault: codehost.Revoked, Err: fmt.Errorf("github: %w", codehost.ErrSuspended)}
		}
		message = "the installation of the App gives no token; " + message
	case http.StatusNotFound:
		message = "the App isn't installed any more"
	case http.StatusUnprocessableEntity: // a repository or permission that it was not given
		return &codehost.Error{
			Fault: codehost.Forbidden, Scope: h.words(message), Err: said(status, h.words(message)),
		}
	default:
		return &codehost.Error{
			Fault: statusFault(status, header, message, false), After: wait(status, header),
			Scope: h.scope(status, header, message), Err: said(status, h.words(message)),
		}
	}

	return &codehost.Error{
		Fault: codehost.Revoked, Err: errors.New("github: " + strings.TrimSuffix(h.words(message), "; ")),
	}
}

// statusFault is the fault of an answer.
func statusFault(status int, header http.Header, message string, mutation bool) codehost.Fault {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusForbidden && limitedBy(header, message):
		return codehost.Limited
	case status == http.StatusUnauthorized:
		return codehost.Revoked
	case status == http.StatusForbidden:
		return codehost.Forbidden
	case status == http.StatusNotFound, status == http.StatusGone, status == http.StatusUnavailableForLegalReasons:
		return codehost.Gone
	case status >= 300 && status < 400:
		return codehost.Moved
	case status == http.StatusUnprocessableEntity && staleHead(message):
		return codehost.Stale
	case status == http.StatusUnprocessableEntity && strings.Contains(message, "submitted too quickly"):
		return codehost.Limited
	case mutation && (status == http.StatusBadGateway || status == http.StatusGatewayTimeout):
		return codehost.Unknown // what is behind the gateway may still be at it
	case status >= 500, status == http.StatusConflict, status == http.StatusRequestTimeout:
		return codehost.Passing
	}

	return codehost.Invalid
}

// limitedBy tells whether a 403 is a limit.
func limitedBy(header http.Header, message string) bool {
	return header.Get("Retry-After") != "" || header.Get(api.HeaderRateRemaining) == "0" ||
		strings.Contains(strings.ToLower(message), "rate limit")
}

// staleHead tells whether a 422 is about a commit that was force-pushed away.
func staleHead(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "no commit found") || strings.Contains(m, "commit_id") ||
		strings.Contains(m, "commit not found")
}

// wait is how long GitHub wants a caller to wait; 0 when it doesn't say. Its own date
// counts, because this machine's clock may be wrong.
func wait(status int, header http.Header) time.Duration {
	if status < 400 {
		return 0
	}

	if s, err := strconv.Atoi(header.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, 24*60*60)) * time.Second
	}

	reset, err := strconv.ParseInt(header.Get(api.HeaderRateReset), 10, 64)
	if err != nil || header.Get(api.HeaderRateRemaining) != "0" {
		return 0
	}

	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}

	return min(max(time.Unix(reset, 0).Sub(now), 0), 24*time.Hour)
}

// scope is what a refused credential lacks, in GitHub's words; "" for other answers.
func (h *Host) scope(status int, header http.Header, message string) string {
	if status != http.StatusForbidden || limitedBy(header, message) {
		return ""
	}

	for _, name := range []string{"X-Accepted-GitHub-Permissions", "X-Accepted-OAuth-Scopes"} {
		if accepted := header.Get(name); accepted != "" {
			return h.words(message + " (accepted: " + accepted + ")")
		}
	}

	return h.words(message)
}

// jwt is what an App proves itself by. There is a new one for each call, so it is known by
// its form (RFC 7519: two objects and a signature, in base64).
var jwt = regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+`)

// words are GitHub's, as much of them as a log or a page can bear, and without a token.
func (h *Host) words(s string) string {
	secrets := []string{h.o.Token, h.o.GitToken}
	if h.tokens != nil && h.tokens.last.Load() != nil {
		secrets = append(secrets, *h.tokens.last.Load())
	}

	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}

	s = jwt.ReplaceAllString(s, "***")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)

	if cut := []rune(s); len(cut) > maxWords {
		return string(cut[:maxWords]) + "…"
	}

	return s
}

// gone tells whether something isn't there any more.
func gone(err error) bool { return codehost.FaultOf(err) == codehost.Gone }
