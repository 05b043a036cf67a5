package rest

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/api"
	"github.com/prwarden/prwarden/internal/server/overload"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// idempotentMethod is the one call that reads the Idempotency-Key.
const idempotentMethod = prwardenv1.ReviewService_CreateReview_FullMethodName

// readInput reads the body of a request, and says what is wrong with it in the
// order in which a caller would mend it. The body of r is then the message that
// it was.
func (g *Gateway) readInput(w http.ResponseWriter, r *http.Request, e *exchange) error {
	if err := rpc.Authorize(e.Caller, e.route.method); err != nil {
		return err
	}
	body, err := readBody(w, r, e.route)
	if err != nil {
		return err
	}
	if found := checkQuery(r.URL.RawQuery, e.route.query); len(found) > 0 {
		return errs.InvalidFields(found...)
	}
	if e.route.method == idempotentMethod {
		if err := checkIdempotency(e.idempotency); err != nil {
			return err
		}
	}

	if e.route.body == nil {
		r.Body = http.NoBody
		return nil
	}

	message := e.route.body.New().Interface()
	r.Body = readMessage{http.NoBody, message}
	return readJSON(body, message)
}

// readBody reads a body of at most rpc.MaxBody bytes, whatever Content-Length
// says. While the client takes its time, the request is not one that is worked
// on.
func readBody(w http.ResponseWriter, r *http.Request, rt *route) ([]byte, error) {
	if rt.body == nil {
		if r.ContentLength <= 0 {
			return nil, nil
		}
		if r.ProtoMajor < 2 {
			// Else net/http would wait for the body before it answers.
			w.Header().Set("Connection", "close")
		}

		return nil, errs.Invalid(bodyField, "this call takes no body")
	}

	tooLarge := errs.New(errs.InvalidArgument, errs.ReasonBodyTooLarge,
		"The request body is larger than 1 MiB (%d bytes), which is the most that this server takes.", rpc.MaxBody)
	size := r.ContentLength
	switch {
	case size == 0:
		return nil, nil
	case size > rpc.MaxBody:
		return nil, tooLarge
	case size < 0:
		size = rpc.MaxBody
	}

	request := overload.FromContext(r.Context())
	request.Pause()
	if err := request.Body(r.Context(), size); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, rpc.MaxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, errs.Invalid(bodyField, "could not be read to its end")
	}

	if len(body) > 0 {
		if err := checkMediaType(r.Header); err != nil {
			return nil, err
		}
	}

	return body, request.Work(r.Context())
}

// checkIdempotency returns an error for values of the Idempotency-Key header
// that gRPC metadata can't carry: it takes printable ASCII.
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

// checkMediaType returns an error for a body that says it is not JSON in
// UTF-8.
func checkMediaType(h http.Header) error {
	refuse := func(what string) error {
		return errs.New(errs.InvalidArgument, errs.ReasonUnsupportedMediaType,
			"%s; send the body as `Content-Type: application/json`, in UTF-8 and not compressed.", what)
	}
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse("This server does not take compressed bodies")
	}
	values := h.Values("Content-Type")
	if len(values) == 0 {
		return refuse("The request has a body and no Content-Type")
	}
	kind, params, err := mime.ParseMediaType(values[0])
	if len(values) > 1 || err != nil || kind != jsonType {
		return refuse("The Content-Type of the request is not JSON")
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return refuse("The Content-Type of the request has a parameter other than charset=utf-8")
		}
	}

	return nil
}

// readMessage is a body that was read.
type readMessage struct {
	io.ReadCloser
	message proto.Message
}

// marshaler is how bodies and answers are read and written.
type marshaler struct{ *runtime.JSONPb }

func newMarshaler() marshaler {
	options := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}
	return marshaler{&runtime.JSONPb{MarshalOptions: options}}
}

// NewDecoder implements runtime.Marshaler. grpc-gateway reads bodies that were
// read and checked, so their message only has to be put where it wants it: into
// a request, or into a field of one.
func (m marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		body, ok := r.(readMessage)
		if !ok {
			return io.EOF // which stands for an empty body
		}
		if into, ok := v.(proto.Message); ok {
			proto.Merge(into, body.message)
			return nil
		}

		reflect.ValueOf(v).Elem().Set(reflect.ValueOf(body.message))
		return nil
	})
}
