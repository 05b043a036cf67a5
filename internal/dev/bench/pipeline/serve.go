package main

import (
	"context"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// origin is where reviews and git by hand fetch from.
type origin struct {
	base string // URL; a repository's follows
	stop func()
}

// url is the URL of a repository.
func (o origin) url(repo string) string { return o.base + "/" + repo }

// newOrigin makes the bare repository at dir reachable below root, over file://
// or, with overHTTP, through git's own http-backend.
func newOrigin(ctx context.Context, dir, root string, overHTTP bool) (origin, error) {
	link := filepath.Join(root, repository)
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return origin{}, err
	}
	if err := os.Symlink(dir, link); err != nil {
		return origin{}, err
	}
	if !overHTTP {
		return origin{base: "file://" + root, stop: func() {}}, nil
	}
	programs, err := exec.CommandContext(ctx, "git", "--exec-path").Output()
	if err != nil {
		return origin{}, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return origin{}, err
	}
	config := filepath.Join(root, "gitconfig")
	if err := os.WriteFile(config, []byte("[safe]\n\tdirectory = *\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"), 0o600); err != nil {
		return origin{}, err
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=" + config},
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// CGI has no name for it but git reads this one.
		h := *backend
		h.Env = append(h.Env[:len(h.Env):len(h.Env)], "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
		h.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }() // until stop
	return origin{base: "http://" + listener.Addr().String(), stop: func() { _ = server.Close() }}, nil
}
