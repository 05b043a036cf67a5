package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpc"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

const jsonType = "application/json"

// streamWriteTimeout is how long a watcher may take to read one message.
const streamWriteTimeout = 30 * time.Second

// fail answers an error: of ours, or a status that came through gRPC.
func (g *Gateway) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := exchangeOf(r.Context())
	s := shape(err)
	if unexpected(err, s) {
		g.log.LogAttrs(r.Context(), slog.LevelError, "unexpected error",
			slog.String("request_id", e.requestID), slog.Any("error", err))
	}
	answer, err := encode(s)
	if err != nil {
		g.log.Error("an error could not be encoded", "request_id", e.requestID, "error", err)
		answer = refusal{status: http.StatusInternalServerError, body: []byte(`{"code":13,"message":"Something went wrong on the server."}`)}
	}
	e.reason = answer.reason
	answer.write(w)
}

// shed answers a request that the gate does not let in. It costs little, and
// there is no more to say of it: the gate tells how many there are.
func (g *Gateway) shed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil || errs.KindOf(err) != errs.Unavailable {
		g.fail(w, r, err)
		return
	}
	exchangeOf(r.Context()).reason = g.busy.reason
	g.busy.write(w)
}

// refusal is an error as it is answered.
type refusal struct {
	status     int
	reason     string
	retryAfter string // seconds; "" for none
	body       []byte
}

func encode(s *status.Status) (refusal, error) {
	reason := rpcerr.Reason(s)
	r := refusal{status: rpcerr.HTTPStatus(s.Code(), reason), reason: reason}
	if wait := rpcerr.RetryAfter(s); wait > 0 && (r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable) {
		r.retryAfter = strconv.FormatInt(int64(math.Ceil(wait.Seconds())), 10)
	}
	var err error
	if r.body, err = errorJSON().Marshal(s.Proto()); err != nil {
		return refusal{}, fmt.Errorf("encode an error: %w", err)
	}
	return r, nil
}

func (r refusal) write(w http.ResponseWriter) {
	h := w.Header()
	// Left by grpc-gateway when a stream fails before its first message.
	h.Del("Trailer")
	h.Del("Transfer-Encoding")
	h.Set("Content-Type", jsonType)
	if r.status == http.StatusUnauthorized {
		h["WWW-Authenticate"] = []string{"Bearer"}
	}
	if r.retryAfter != "" {
		h.Set("Retry-After", r.retryAfter)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // the client may be gone
}

// errorJSON is how every error is written. Its details have fields of Google's
// that this API never fills, so they are left out, other than elsewhere.
func errorJSON() protojson.MarshalOptions { return protojson.MarshalOptions{UseProtoNames: true} }

// marshaler writes answers, and the last message of a stream that fails.
type marshaler struct{ *runtime.JSONPb }

// StreamContentType implements runtime.StreamContentType: a stream is one JSON
// value on each line, which is no JSON as a whole.
func (m marshaler) StreamContentType(any) string { return "application/x-ndjson" }

// ContentType implements runtime.Marshaler.
func (m marshaler) ContentType(v any) string {
	if body, ok := v.(*httpbody.HttpBody); ok {
		return body.GetContentType()
	}
	return m.JSONPb.ContentType(v)
}

// Marshal implements runtime.Marshaler. What a call answers as a whole body
// passes as it is.
func (m marshaler) Marshal(v any) ([]byte, error) {
	if body, ok := v.(*httpbody.HttpBody); ok {
		return body.GetData(), nil
	}
	if chunk, ok := v.(map[string]proto.Message); ok && chunk["error"] != nil {
		body, err := errorJSON().Marshal(chunk["error"])
		if err != nil {
			return nil, err
		}
		return slices.Concat([]byte(`{"error":`), body, []byte(`}`)), nil
	}
	if message, ok := v.(proto.Message); ok {
		// JSONPb copies the text once more. Most answers are at most twice as
		// long as in protobuf, and a text that grows takes several times its
		// size on the way.
		return m.MarshalAppend(make([]byte, 0, 2*proto.Size(message)), message)
	}
	return m.JSONPb.Marshal(v)
}

// shape gives every error the form that ours have. A status with one of our
// reasons was made by the chain and passes as it is; one without was made by
// the gRPC client in between.
func shape(err error) *status.Status {
	if s, ok := status.FromError(err); ok && rpcerr.Reason(s) != "" {
		return s
	}
	return rpcerr.Status(err)
}

// unexpected reports whether an error that became s has to be logged here. The
// chain logs its own and gives each a reason; what has none was made by the
// gRPC client, to which the connection in memory should never be unavailable.
func unexpected(err error, s *status.Status) bool {
	made, fromGRPC := status.FromError(err)
	if !fromGRPC {
		return rpcerr.Unexpected(err)
	}
	return rpcerr.Reason(made) == "" && (s.Code() == codes.Internal || s.Code() == codes.Unavailable)
}

func (g *Gateway) shapeStream(ctx context.Context, err error) *status.Status {
	s := shape(err)
	if unexpected(err, s) {
		g.log.LogAttrs(ctx, slog.LevelError, "unexpected error",
			slog.String("request_id", exchangeOf(ctx).requestID), slog.Any("error", err))
	}
	return s
}

// routingFailed answers a request that no route takes.
func (g *Gateway) routingFailed(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, _ int) {
	if exchangeOf(r.Context()).probe {
		return
	}
	allowed := g.allowed(r)
	if len(allowed) == 0 {
		g.fail(w, r, errs.New(errs.NotFound, errs.ReasonRouteNotFound, "There is nothing at this path; /docs shows what there is, and /openapi.json lists it for programs."))
		return
	}
	g.refuseMethod(w, r, allowed)
}

func (g *Gateway) refuseMethod(w http.ResponseWriter, r *http.Request, allowed []string) {
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	g.fail(w, r, errs.New(errs.Unimplemented, errs.ReasonMethodNotAllowed, "This path takes %s only.", list))
}

// allowed returns the methods that the path of a request takes.
func (g *Gateway) allowed(r *http.Request) []string {
	var (
		matched []*route
		custom  bool // some route has a verb of its own, such as :cancel
	)
	for _, verb := range g.routes.verbs() {
		if rt := g.probe(r, verb); rt != nil {
			matched = append(matched, rt)
			custom = custom || rt.custom()
		}
	}
	var out []string
	for _, rt := range matched {
		// GET /v1/reviews/x:cancel reads the review `x:cancel`, and no id looks
		// like this.
		if custom && !rt.custom() {
			continue
		}
		verb := rt.verb
		out = append(out, verb)
		if verb == http.MethodGet && !rt.stream {
			out = append(out, http.MethodHead)
		}
	}
	if len(out) > 0 {
		out = append(out, http.MethodOptions)
	}
	return out
}

// probe asks the router for the route that a request would take with another
// method; nil for none.
func (g *Gateway) probe(r *http.Request, verb string) *route {
	e := &exchange{probe: true}
	other := r.Clone(withExchange(r.Context(), e))
	other.Method = verb
	g.mux.ServeHTTP(nowhere{}, other)
	return e.route
}

// setStatus gives a successful answer the status that the protos promise.
func (g *Gateway) setStatus(ctx context.Context, w http.ResponseWriter, m proto.Message) error {
	if created, ok := m.(*prwardenv1.CreateReviewResponse); ok {
		exchangeOf(ctx).reviewID = created.GetReviewId()
	}
	method, _ := runtime.RPCMethod(ctx)
	rt := g.routes.byMethod(method)
	if m == nil || rt == nil || rt.success == http.StatusOK {
		return nil
	}
	if rt.success == http.StatusNoContent {
		w.Header().Del("Content-Type")
	}
	// Writing the body of a 204 fails, as it should, and grpc-gateway expects
	// that.
	w.WriteHeader(rt.success)
	return nil
}

// setRateHeaders tells a decision in the spelling that the API documents.
func setRateHeaders(h http.Header, d auth.Decision) {
	md := rpc.RateMetadata(d)
	h["X-RateLimit-Limit"] = md.Get(rpc.RateLimitKey)
	h["X-RateLimit-Remaining"] = md.Get(rpc.RateRemainingKey)
	h["X-RateLimit-Reset"] = md.Get(rpc.RateResetKey)
}

// recorder notes what was answered, and bounds what waits to be read.
type recorder struct {
	http.ResponseWriter
	status int // 0 until written
	bytes  int64

	ctx   context.Context
	pass  *auth.Pass  // nil for no bounds
	crowd func(error) // answers that there is no place for a large answer
}

// bound sets the bounds of an answer.
func (w *recorder) bound(ctx context.Context, pass *auth.Pass, crowd func(error)) {
	w.ctx, w.pass, w.crowd = ctx, pass, crowd
}

// unbound lets what is answered have any size.
func (w *recorder) unbound() {
	w.pass.Pause()
	w.pass = nil
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	// What is left to do waits for the client.
	w.pass.Pause()
	if len(p) > auth.Large {
		done, err := w.pass.Answer(w.ctx)
		switch {
		case err != nil && w.status == 0:
			w.crowd(err)
			return len(p), nil
		case err != nil:
			return 0, err
		}
		defer done()
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// streamWriter lets an answer last as long as it likes while it is being read:
// the server's deadlines are for whole answers, this one's is for each
// message.
type streamWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newStreamWriter(w http.ResponseWriter) streamWriter {
	s := streamWriter{w, http.NewResponseController(w)}
	// A deadline for reading would end the request's context when it passes.
	_ = s.control.SetReadDeadline(time.Time{})
	_ = s.control.SetWriteDeadline(time.Time{})
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold messages back
	return s
}

func (s streamWriter) Write(p []byte) (int, error) {
	if err := s.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return s.ResponseWriter.Write(p)
}

func (s streamWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// nowhere takes an answer that nobody wants.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
