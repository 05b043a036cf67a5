package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/rest/strictjson"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// idempotentMethod is the one call that reads the Idempotency-Key.
const idempotentMethod = prwardenv1.ReviewService_CreateReview_FullMethodName

// exchange is what is known of one request on its way. It travels in the
// context, because grpc-gateway's handlers sit in between.
type exchange struct {
	requestID   string
	caller      auth.Caller
	peer        string
	idempotency []string // values of the Idempotency-Key header
	route       *route   // nil until found
	reason      string   // of the error that was answered
	pass        *auth.Pass
	shed        bool   // refused before it was admitted
	refused     bool   // not admitted
	reviewID    string // of the review that was answered
	probe       bool   // only asks which route there is
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return e
	}
	return &exchange{}
}

func withExchange(ctx context.Context, e *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// checked wraps the handlers that grpc-gateway generates: it refuses every
// request that is not exactly what its route takes, so that what they read
// leniently is never there to be read.
func (g *Gateway) checked(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
		e := exchangeOf(r.Context())
		pattern, _ := runtime.HTTPPattern(r.Context())
		e.route = g.routes.find(r.Method, pattern.String())
		if e.probe {
			return
		}
		if e.route == nil {
			g.fail(w, r, errors.New("no route for pattern "+pattern.String()))
			return
		}
		// GET /v1/reviews/x:cancel would read the review `x:cancel`.
		if strings.Contains(r.URL.Path, ":") && !e.route.custom() {
			if allowed := g.allowed(r); !slices.Contains(allowed, e.route.verb) {
				g.refuseMethod(w, r, allowed)
				return
			}
		}
		body, err := g.check(w, r, e)
		if err != nil {
			g.fail(w, r, err)
			return
		}
		for name, value := range params {
			params[name] = pathText(value)
		}
		if e.route.stream {
			if err := e.pass.Watch(); err != nil {
				g.fail(w, r, err)
				return
			}
			w = newStreamWriter(w)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next(w, r, params)
	}
}

// check says what is wrong with a request, in the order in which a caller
// would mend it, and returns its body.
func (g *Gateway) check(w http.ResponseWriter, r *http.Request, e *exchange) ([]byte, error) {
	if err := rpc.Authorize(e.caller, e.route.method); err != nil {
		return nil, err
	}
	var body []byte
	if e.route.body != nil {
		var err error
		if body, err = readBody(w, r, e.pass); err != nil {
			return nil, err
		}
	}
	if len(body) > 0 {
		if err := checkMediaType(r.Header); err != nil {
			return nil, err
		}
	}
	found := checkQuery(r.URL.RawQuery, e.route.query)
	if e.route.body != nil {
		found = append(found, e.route.body.Check(body)...)
	} else if has, err := hasBody(w, r, e.pass); err != nil {
		return nil, err
	} else if has {
		found = append(found, errs.FieldViolation{Field: strictjson.Body, Description: "this call takes no body"})
	}
	if len(found) > 0 {
		return nil, errs.InvalidFields(found...)
	}
	if e.route.method == idempotentMethod {
		if err := checkIdempotency(e.idempotency); err != nil {
			return nil, err
		}
	}
	if len(bytes.TrimSpace(body)) == 0 {
		body = nil
	}
	return body, nil
}

// checkIdempotency returns an error for values of the Idempotency-Key header
// that gRPC metadata can't carry: it takes printable ASCII, and fails a call
// with anything else as if that were a fault of ours.
func checkIdempotency(values []string) error {
	key, err := api.IdempotencyKey(values)
	if err != nil {
		return err
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return errs.Invalid("Idempotency-Key", "must consist of visible ASCII characters")
		}
	}
	return nil
}

// readBody reads a body of at most rpc.MaxBody bytes, whatever
// Content-Length says. While the client takes its time, the request is not one
// that is worked on; and one that may be large needs a place.
func readBody(w http.ResponseWriter, r *http.Request, pass *auth.Pass) ([]byte, error) {
	tooLarge := func() error {
		return errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge, "The request body is larger than 1 MiB (%d bytes), which is the most that this server takes.", rpc.MaxBody)
	}
	if r.ContentLength > rpc.MaxBody {
		return nil, tooLarge()
	}
	if r.ContentLength != 0 {
		pass.Pause()
		if r.ContentLength < 0 || r.ContentLength > auth.Large {
			if err := pass.Body(r.Context()); err != nil {
				return nil, err
			}
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, rpc.MaxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case err != nil:
		return nil, errs.Invalid(strictjson.Body, "could not be read to its end")
	}
	return body, pass.Resume(r.Context())
}

// noBodyTimeout is how long a request without a body may take to say so, where
// its header doesn't.
const noBodyTimeout = 2 * time.Second

// hasBody reports whether a request that should have no body has one, or may
// have. It reads one byte at most, and nothing where the header tells. While it
// waits, the request is not one that is worked on; its errors are those of
// Pass.Resume.
func hasBody(w http.ResponseWriter, r *http.Request, pass *auth.Pass) (bool, error) {
	has := r.ContentLength > 0
	if r.ContentLength < 0 {
		pass.Pause()
		control := http.NewResponseController(w)
		// It fails for tests' writers only, which have their bodies.
		_ = control.SetReadDeadline(time.Now().Add(noBodyTimeout))
		n, err := r.Body.Read(make([]byte, 1))
		if has = n > 0 || !errors.Is(err, io.EOF); !has {
			// A deadline that passes later would end the request's context.
			_ = control.SetReadDeadline(time.Time{})
		}
	}
	if has && r.ProtoMajor < 2 {
		// Else net/http would wait for the body before it answers.
		w.Header().Set("Connection", "close")
	}
	return has, pass.Resume(r.Context())
}

// checkMediaType returns an error for a body that says it is not JSON in
// UTF-8.
func checkMediaType(h http.Header) error {
	refuse := func(what string) error {
		return errs.New(errs.InvalidArgument, errs.ReasonUnsupportedMediaType, "%s; send the body as `Content-Type: application/json`, in UTF-8 and not compressed.", what)
	}
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse("This server does not take compressed bodies")
	}
	values := h.Values("Content-Type")
	if len(values) == 0 {
		return refuse("The request has a body and no Content-Type")
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if len(values) > 1 || err != nil || kind != "application/json" {
		return refuse("The Content-Type of the request is not JSON")
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return refuse("The Content-Type of the request has a parameter other than charset=utf-8")
		}
	}
	return nil
}

// pathText makes a path segment fit for a message. What it changes can't be
// part of any identifier, so the call answers that there is no such thing.
func pathText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
