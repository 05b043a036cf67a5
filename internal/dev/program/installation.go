package program

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Installation is prwarden with a folder, a configuration and a database.
type Installation struct {
	Binary   string
	Dir      string
	Database string // as --database takes it
}

// Organization is an entry of the configuration.
type Organization struct {
	Name, Repositories string
	URL                string // of its code host
}

// Install makes the folder, the configuration and the tables of the database.
func Install(ctx context.Context, binary, dir, database string, organizations []Organization) (*Installation, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}

	i := &Installation{binary, dir, database}
	err := i.configure(ctx, organizations, "    rate_limit: 1000000000\n")
	if err != nil && strings.Contains(err.Error(), "rate_limit") {
		// An older program, to compare with, has no limit of that kind.
		err = i.configure(ctx, organizations, "")
	}
	return i, err
}

// configure writes the configuration, with more settings of each organization, and makes the tables.
func (i *Installation) configure(ctx context.Context, organizations []Organization, settings string) error {
	config := "organizations:\n"
	for _, org := range organizations {
		config += fmt.Sprintf("  - name: %s\n    repositories: [%q]\n    host: {kind: git, url: %q}\n%s",
			org.Name, org.Repositories, org.URL, settings)
	}
	if err := os.WriteFile(i.Config(), []byte(config), 0o600); err != nil {
		return err
	}
	_, err := i.Command(ctx, "migrate")
	return err
}

// Config is the path of the configuration.
func (i *Installation) Config() string { return filepath.Join(i.Dir, "prwarden.yaml") }

// Command runs a command to its end and returns what it prints, without the white space around it.
func (i *Installation) Command(ctx context.Context, args ...string) (string, error) {
	env := append(os.Environ(), "PRWARDEN_DATABASE="+i.Database)
	return output(ctx, env, "", i.Binary, append(args, "--config", i.Config())...)
}

// Key makes an API key of an organization, whose rate limit nothing reaches, and returns its token.
func (i *Installation) Key(ctx context.Context, organization string) (string, error) {
	return i.Command(ctx, "keys", "create", "--org", organization, "--name", "dev", "--rate-limit", "1000000000")
}

// Serve starts the server on free ports, with more arguments, and waits until it serves.
func (i *Installation) Serve(ctx context.Context, args ...string) (*Process, error) {
	all := []string{
		"serve", "--config", i.Config(), "--cache-dir", filepath.Join(i.Dir, "cache"),
		"--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0",
	}
	env := []string{"PRWARDEN_DATABASE=" + i.Database}
	return Start(ctx, Options{Path: i.Binary, Args: append(all, args...), Env: env, Dir: i.Dir})
}

// Client calls a REST API with a key.
type Client struct {
	URL   string // http://HOST:PORT
	Token string
}

// Refusal is an answer that is none of success.
type Refusal struct {
	Status int
	Header http.Header
	Body   string
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%d %s: %s", r.Status, http.StatusText(r.Status), r.Body)
}

// Header has the headers of each request.
func (c Client) Header() http.Header {
	return http.Header{"Authorization": {"Bearer " + c.Token}, "Content-Type": {"application/json"}}
}

// Call makes a request and returns the body of the answer, which is a *Refusal when its status is 400 or more. more are
// pairs of headers.
func (c Client) Call(ctx context.Context, method, path, body string, more ...string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = c.Header()
	for i := 0; i+1 < len(more); i += 2 {
		request.Header.Set(more[i], more[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end

	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = &Refusal{response.StatusCode, response.Header, string(text)}
	}
	return text, err
}

// output runs a program to its end and returns what it prints.
func output(ctx context.Context, env []string, stdin, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(stdin)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %q: %w: %s", program, args, err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), err
}
