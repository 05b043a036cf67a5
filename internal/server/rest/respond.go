package rest

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

const jsonType = "application/json"

// streamWriteTimeout is how long a watcher may take to read one message.
const streamWriteTimeout = 30 * time.Second

// fail answers an error: of ours, or a status that came through gRPC.
func (g *Gateway) fail(w http.ResponseWriter, r *http.Request, err error) {
	s := g.shapeStream(r.Context(), err)
	reason := rpcerr.Reason(s)
	exchangeOf(r.Context()).reason = reason
	code := rpcerr.HTTPStatus(s.Code(), reason)

	h := w.Header()
	h.Set("Content-Type", jsonType)
	if code == http.StatusUnauthorized {
		h["WWW-Authenticate"] = []string{"Bearer"}
	}
	wait := rpcerr.RetryAfter(s)
	if wait > 0 && (code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable) {
		h.Set("Retry-After", strconv.FormatInt(int64(math.Ceil(wait.Seconds())), 10))
	}
	body, err := errorJSON().Marshal(s.Proto())
	if err != nil {
		g.log.Error("an error could not be encoded", "request_id", exchangeOf(r.Context()).RequestID, "error", err)
	}
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client may be gone
}

// shapeStream gives every error the form that ours have. A status with one of
// our reasons was made by the chain, which logged what was unexpected.
func (g *Gateway) shapeStream(ctx context.Context, err error) *status.Status {
	s, fromGRPC := status.FromError(err)
	if fromGRPC && rpcerr.Reason(s) != "" {
		return s
	}
	shaped := rpcerr.Status(err)
	if shaped.Code() == codes.Internal {
		g.log.LogAttrs(ctx, slog.LevelError, "unexpected error",
			slog.String("request_id", exchangeOf(ctx).RequestID), slog.Any("error", err))
	}

	return shaped
}

// errorJSON is how every error is written. Its details have fields of Google's
// that this API never fills, so they are left out, other than elsewhere.
func errorJSON() protojson.MarshalOptions { return protojson.MarshalOptions{UseProtoNames: true} }

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
	switch v := v.(type) {
	case *httpbody.HttpBody:
		return v.GetData(), nil
	case map[string]proto.Message:
		if v["error"] != nil { // the last message of a stream that fails
			body, err := errorJSON().Marshal(v["error"])
			return slices.Concat([]byte(`{"error":`), body, []byte(`}`)), err
		}
	case proto.Message:
		// JSONPb copies the text once more. Most answers are at most twice as
		// long as in protobuf, and a text that grows takes several times its
		// size on the way.
		return m.MarshalAppend(make([]byte, 0, 2*proto.Size(v)), v)
	}

	return m.JSONPb.Marshal(v)
}

// recorder notes what was answered, and bounds what waits to be read.
type recorder struct {
	http.ResponseWriter
	status int // 0 until written
	bytes  int64

	r       *http.Request
	request *overload.Request // nil for no bounds
	gateway *Gateway          // answers that there is no room for a large answer
}

// unbound lets what is answered have any size.
func (w *recorder) unbound() {
	w.request.Pause()
	w.request = nil
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. What is left to do waits for the client.
func (w *recorder) Write(p []byte) (int, error) {
	w.request.Pause()
	written, err := w.request.Answer(w.r.Context(), int64(len(p)))
	switch {
	case err != nil && w.status == 0:
		w.gateway.fail(w, w.r, err)
		return len(p), nil
	case err != nil:
		return 0, err
	}

	defer written()
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

// Write implements http.ResponseWriter.
func (s streamWriter) Write(p []byte) (int, error) {
	if err := s.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}

	return s.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (s streamWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
