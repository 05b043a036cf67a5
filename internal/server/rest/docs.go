package rest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/rule/schema"
	"github.com/prwarden/prwarden/internal/server/rest/docs"
)

// Paths of what describes the API, and the files that it scans by. They need no
// key and are counted as requests without one are.
const (
	openAPIPath = "/openapi.json"
	docsPath    = "/docs"
	schemaPath  = "/rules.schema.json" // of the rules file, for editors
)

// static is an answer that is the same for everybody as long as the server
// runs.
type static struct {
	plain, packed []byte // packed by gzip
	tag           string // of plain; strong
	header        http.Header
}

// newStatics makes the document, the page that shows it, and the schema.
func newStatics(openAPI []byte) (map[string]*static, error) {
	page, err := docs.New(openAPI)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", docsPath, err)
	}
	document := newStatic(openAPI, http.Header{"Content-Type": {jsonType}})
	docs := newStatic(page.HTML, http.Header{
		"Content-Type":                 {"text/html; charset=utf-8"},
		"Content-Security-Policy":      {page.Policy},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
	})
	rulesFile := newStatic(schema.JSON(), http.Header{"Content-Type": {"application/schema+json"}})
	return map[string]*static{openAPIPath: document, docsPath: docs, docsPath + "/": docs, schemaPath: rulesFile}, nil
}

func newStatic(body []byte, header http.Header) *static {
	sum := sha256.Sum256(body)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return &static{plain: body, packed: packed.Bytes(), tag: hex.EncodeToString(sum[:16]), header: header}
}

// serve answers with the document, or with 304 for who has it.
func (s *static) serve(w *recorder, r *http.Request) {
	h := w.Header()
	for name, values := range s.header {
		h[name] = values
	}
	h.Set("Cache-Control", "no-cache") // it may be kept, and has to be asked for
	h.Set("Vary", "Accept-Encoding")
	body, tag := s.plain, s.tag
	if takesGzip(r.Header.Values("Accept-Encoding")) {
		body, tag = s.packed, s.tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}

	h.Set("ETag", strconv.Quote(tag))
	w.unbound() // it is there anyway, once for all who read it
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reports whether a client says that it takes gzip.
func takesGzip(values []string) bool {
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		word, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if !strings.EqualFold(strings.TrimSpace(word), "gzip") {
			continue
		}
		_, value, _ := strings.Cut(quality, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err != nil || q > 0
	}

	return false
}
