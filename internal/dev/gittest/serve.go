package gittest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
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
	path, service := q.URL.Path, "git-upload-pack"
	if !strings.HasPrefix(path, "/"+Name+".git/") {
		http.NotFound(w, q)
		return
	}

	args := []string{"-c", fmt.Sprintf("uploadpack.allowFilter=%t", !s.NoFilter),
		"-c", "uploadpack.allowAnySHA1InWant=true", "-c", "safe.directory=*", "upload-pack", "--stateless-rpc"}
	w.Header().Set("Cache-Control", "no-cache")
	if strings.HasSuffix(path, "/info/refs") {
		w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
		_, _ = io.WriteString(w, pkt("# service="+service+"\n")+"0000") // the client notices
		args = append(args, "--http-backend-info-refs")
	} else {
		w.Header().Set("Content-Type", "application/x-"+service+"-result")
	}

	cmd := exec.CommandContext(q.Context(), "git", append(args, s.Repo.Dir)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null"}
	if !s.Old {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+q.Header.Get("Git-Protocol"))
	}
	cmd.Stdin, cmd.Stdout = plainBody(q), w
	_ = cmd.Run() // the client sees what is missing
}

// PackServer answers every request with one pack, whatever was asked for.
type PackServer struct {
	Refs []string // `<oid> <name>`
	Pack []byte
}

// ServeHTTP implements http.Handler.
func (s *PackServer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(plainBody(q))
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

func plainBody(q *http.Request) io.Reader {
	if q.Header.Get("Content-Encoding") != "gzip" {
		return q.Body
	}
	z, err := gzip.NewReader(q.Body)
	if err != nil {
		return q.Body
	}

	return z
}
