package hook

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// smallBody is what every delivery may have at once, in bytes. Nearly all are smaller;
// of larger ones there are few at a time.
const smallBody = 512 << 10

// readBody reads the body as it is, whatever Content-Encoding says: that is what is
// signed.
func readBody(w http.ResponseWriter, r *http.Request, request *overload.Request) (body []byte, err error) {
	control, end := http.NewResponseController(w), time.Now().Add(bodyTimeout)
	if err := control.SetReadDeadline(end); err != nil {
		return nil, err
	}
	defer func() {
		if err == nil { // otherwise what is left of the body must not be waited for
			err = control.SetReadDeadline(time.Time{})
		}
	}()

	limited := http.MaxBytesReader(w, r.Body, MaxBody)
	body, err = io.ReadAll(io.LimitReader(limited, smallBody))
	if err != nil || len(body) < smallBody {
		return body, readError(err)
	}

	if err := request.Hold(r.Context(), overload.LimitLargeHooks, 1); err != nil {
		return nil, err
	}
	rest := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength+bytes.MinRead, 2*smallBody)))
	rest.Write(body)
	for err == nil {
		if now := time.Now().Add(partTimeout); now.Before(end) {
			err = control.SetReadDeadline(now)
		} else {
			err = control.SetReadDeadline(end)
		}
		if err == nil {
			_, err = io.CopyN(rest, limited, smallBody)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}

	return rest.Bytes(), readError(err)
}

func readError(err error) error {
	var over *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &over):
		return tooLarge()
	}

	return errs.Invalid("body", "could not be read to its end in time, which is %s at most", bodyTimeout)
}
