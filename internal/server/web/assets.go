package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages refer to. Its path has a hash of its text, so browsers
// keep it for good.
type asset struct {
	kind    string // media type
	content []byte
	zipped  []byte
}

// assetPaths are the paths by the name of the file.
var assetPaths = map[string]string{}

func loadAssets() map[string]asset {
	all := map[string]asset{}
	entries, _ := assetFiles.ReadDir("assets") // they are in the program
	for _, e := range entries {
		content, _ := assetFiles.ReadFile("assets/" + e.Name())
		sum := sha256.Sum256(content)
		at := "/assets/" + hex.EncodeToString(sum[:4]) + "/" + e.Name()
		assetPaths[e.Name()] = at
		all[at] = asset{kind: mediaType(e.Name()), content: content, zipped: zip(content)}
	}

	return all
}

func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	}

	return "image/svg+xml"
}

func zip(content []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid one
	_, _ = z.Write(content)
	_ = z.Close()

	return out.Bytes()
}

// assetPath is where a page finds a file.
func assetPath(name string) string { return assetPaths[name] }

func (h *Handler) serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := h.assets[r.URL.Path]
	if !ok {
		h.fail(h.newVisit(w, r), errNoPage)
		return
	}
	head := w.Header()
	head.Set("Content-Type", a.kind)
	head.Set("Cache-Control", "public, max-age=31536000, immutable")
	head.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		head.Set("Content-Encoding", "gzip")
		_, _ = w.Write(a.zipped) // the browser may be gone
		return
	}
	_, _ = w.Write(a.content)
}

func (h *Handler) favicon(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, assetPath("icon.svg"), http.StatusFound)
}
