package gittest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os/exec"
	"strings"
)

// Server serves a repository over HTTP, as a code host does.
type Server struct {
	Repo     *Repo
	Token    string // asked for when set, as password of basic authentication
	Old      bool   // speak the first version of the protocol only
	NoFilter bool   // send whole histories only
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if _, password, _ := q.BasicAuth(); s.Token != "" && password != s.Token {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	if s.Old {
		q.Header.Del("Git-Protocol")
	}

	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend := cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{
		"GIT_PROJECT_ROOT=" + s.Repo.Root, "GIT_HTTP_EXPORT_ALL=1", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=uploadpack.allowFilter", fmt.Sprintf("GIT_CONFIG_VALUE_0=%t", !s.NoFilter),
		"GIT_CONFIG_KEY_1=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_1=true",
		"GIT_CONFIG_KEY_2=safe.directory", "GIT_CONFIG_VALUE_2=*",
	}}
	backend.ServeHTTP(w, q)
}

// PackServer answers every request with one pack, whatever was asked for.
type PackServer struct {
	Refs []string // `<oid> <name>`
	Pack []byte
}

// ServeHTTP implements http.Handler.
func (s *PackServer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body) // compressed where it is long, which `ls-refs` is not
	var answer bytes.Buffer
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	switch {
	case strings.HasSuffix(q.URL.Path, "/info/refs"):
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		answer.WriteString(pkt("# service=git-upload-pack\n") + "0000")
		for _, capability := range []string{"version 2", "ls-refs", "fetch=filter", "object-format=sha1"} {
			answer.WriteString(pkt(capability + "\n"))
		}
	case bytes.Contains(body, []byte("command=ls-refs")):
		for _, ref := range s.Refs {
			answer.WriteString(pkt(ref + "\n"))
		}
	default:
		answer.WriteString(pkt("packfile\n"))
		for rest := s.Pack; len(rest) > 0; {
			n := min(len(rest), 65_000)
			answer.WriteString(pkt("\x01" + string(rest[:n])))
			rest = rest[n:]
		}
	}

	answer.WriteString("0000")
	_, _ = w.Write(answer.Bytes()) // the client notices
}

// pkt is a line of git's protocol.
func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
