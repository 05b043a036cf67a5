package hosthttp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/prwarden/prwarden/internal/codehost"
)

const (
	// maxMessage is how much of a host's own words an error has, in characters.
	maxMessage = 300
	// maxAfter is how long a host can send us away.
	maxAfter = 24 * time.Hour
)

// faults are those of answers; others of 400 to 499 are Invalid and of 500 Passing.
var faults = map[int]codehost.Fault{
	http.StatusMovedPermanently:  codehost.Moved,
	http.StatusFound:             codehost.Moved,
	http.StatusSeeOther:          codehost.Moved,
	http.StatusTemporaryRedirect: codehost.Moved,
	http.StatusPermanentRedirect: codehost.Moved,
	http.StatusUnauthorized:      codehost.Revoked,
	http.StatusForbidden:         codehost.Forbidden,
	http.StatusNotFound:          codehost.Gone,
	http.StatusRequestTimeout:    codehost.Passing,
	http.StatusConflict:          codehost.Passing,
	http.StatusGone:              codehost.Gone,
	http.StatusLocked:            codehost.Forbidden, // an archived repository
	http.StatusTooEarly:          codehost.Passing,
	http.StatusTooManyRequests:   codehost.Limited,
}

// refused is the error of an answer that is none of success.
func (c *Client) refused(call Call, answer *http.Response, body []byte) error {
	fault, known := faults[answer.StatusCode]
	switch {
	case known:
	case answer.StatusCode == http.StatusBadGateway || answer.StatusCode == http.StatusGatewayTimeout:
		// What is in front of the host got no answer: it may have happened.
		fault = codehost.Passing
		if writes(call.Method) {
			fault = codehost.Unknown
		}
	case answer.StatusCode >= 400 && answer.StatusCode < 500:
		fault = codehost.Invalid
	default:
		fault = codehost.Passing
	}

	after := retryAfter(answer.Header, time.Now())
	words := message(body)
	if fault == codehost.Forbidden && (after > 0 || strings.Contains(strings.ToLower(words), "rate limit")) {
		fault = codehost.Limited
	}
	err := fmt.Errorf("%s %s: the host answered %s", call.Method, call.Path, answer.Status)
	if words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}

	e := &codehost.Error{Fault: fault, Err: c.clean(err)}
	switch fault {
	case codehost.Passing, codehost.Limited:
		e.After = after
	case codehost.Forbidden:
		e.Scope = c.clean(fmt.Errorf("%s", cmp.Or(words, answer.Status))).Error()
	}

	return e
}

// message is what an answer says in words: the `message` of its JSON, in one line. Of
// other answers, such as a page of a proxy, nothing is repeated.
func message(body []byte) string {
	var said struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
			Detail  any    `json:"detail"`
		} `json:"error"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(body, &said) // what could be read counts
	text := cmp.Or(said.Message, said.Error.Message)
	if scopes := required(said.Error.Detail); scopes != "" {
		text += " " + scopes
	}
	if text == "" && len(said.Errors) > 0 {
		text = said.Errors[0].Message
	}
	if text == "" {
		text = otherWords(body)
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage])
	}

	return text
}

// otherWords is what an answer says whose `message` is no text, or which has the form of
// OAuth (RFC 6750), with the scope that is needed. GitLab has both.
func otherWords(body []byte) string {
	var said struct {
		Message     json.RawMessage `json:"message"`
		Error       string          `json:"error"`
		Description string          `json:"error_description"`
		Scope       string          `json:"scope"`
	}
	_ = json.Unmarshal(body, &said) // what could be read counts
	if text := cmp.Or(said.Description, said.Error); text != "" {
		return strings.TrimSuffix(text+" Scope: "+said.Scope, " Scope: ")
	}
	if strings.HasPrefix(string(said.Message), "{") || strings.HasPrefix(string(said.Message), "[") {
		return string(said.Message)
	}

	return ""
}

// required are the scopes that Bitbucket Cloud names when a token lacks them.
func required(detail any) string {
	object, _ := detail.(map[string]any)
	scopes, _ := object["required"].([]any)
	var out []string
	for _, scope := range scopes {
		out = append(out, fmt.Sprint(scope))
	}

	return strings.Join(out, ", ")
}

// retryAfter is how long the host wants to be left alone, by the header Retry-After in
// seconds or as a date; 0 when it doesn't say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxAfter)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent // by the host's own clock
	}

	return max(0, min(at.Sub(now), maxAfter))
}
