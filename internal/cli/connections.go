package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
)

// Connections manages connections: over the API, or on the database of a server.
type Connections interface {
	CreateConnection(ctx context.Context, c connection.Connection, s connection.Secrets) (restclient.WithSecret, error)
	SetUpApp(ctx context.Context, c connection.Connection, personal bool) (restclient.Setup, error)
	Connections(ctx context.Context) ([]restclient.Connection, error)
	UpdateConnection(ctx context.Context, id string, c connection.Change) (restclient.Connection, error)
	DeleteConnection(ctx context.Context, id string) error
	RotateConnection(ctx context.Context, id string, r connection.Rotation) (restclient.WithSecret, error)
	TestConnection(ctx context.Context, id string) (restclient.Connection, error)
	ConnectionRepositories(ctx context.Context, id string) ([]codehost.Repository, error)
}

// ConnectionsOverAPI manages those of the organization that the key belongs to.
func ConnectionsOverAPI(st Streams, c config.Client) (Connections, error) {
	return newClient(st, c, troubles(st))
}

// SecretFiles are the files that secrets are read from; "-" is stdin, "" none.
type SecretFiles struct{ Token, GitToken, PrivateKey, Webhook string }

// read reads them.
func (f SecretFiles) read(in io.Reader) (out connection.Secrets, err error) {
	one := func(path string) string {
		if path == "" || err != nil {
			return ""
		}
		var data []byte
		if path == "-" {
			data, err = io.ReadAll(in)
		} else {
			data, err = os.ReadFile(path)
		}
		return strings.TrimSpace(string(data))
	}
	out = connection.Secrets{Token: one(f.Token), GitToken: one(f.GitToken), PrivateKey: one(f.PrivateKey)}
	if secret := one(f.Webhook); secret != "" {
		out.Webhook = []string{secret}
	}
	if err != nil {
		return connection.Secrets{}, &UsageError{Err: err}
	}
	return out, nil
}

// CreateConnection makes a connection, and prints what to enter at the host.
func CreateConnection(
	ctx context.Context, st Streams, m Connections, c connection.Connection, f SecretFiles,
) error {
	secrets, err := f.read(os.Stdin)
	if err != nil {
		return err
	}
	made, err := m.CreateConnection(ctx, c, secrets)
	if err != nil {
		return reviewError(err)
	}
	st.note("%s", terminal.Safe(fmt.Sprintf("The connection %s is made; `prwarden connections test %[1]s` tries it.",
		made.Connection.Name)))
	return printSecret(st, made)
}

// SetUpApp begins to make a connection with a GitHub App of its own, and prints the
// address where that goes on.
func SetUpApp(
	ctx context.Context, st Streams, m Connections, c connection.Connection, f SecretFiles, personal bool,
) error {
	if f != (SecretFiles{}) || c.AppID != 0 || c.Installation != 0 {
		return Usagef("--new-app makes the App and its secrets; leave out --app-id, --installation-id and the files")
	}
	if c.Kind != "" && c.Kind != codehost.GitHub {
		return Usagef("--new-app makes an App of GitHub; only github has Apps")
	}
	started, err := m.SetUpApp(ctx, c, personal)
	if err != nil {
		return reviewError(err)
	}
	st.note("%s", terminal.Safe(fmt.Sprintf("Open this address in a browser before %s UTC. It works once.",
		started.ExpiresAt.UTC().Format(time.TimeOnly))))
	_, err = fmt.Fprintf(st.Out, "setup_url: %s\n", terminal.Safe(started.URL))
	return err
}

// printSecret prints where webhooks go and their secret, when the server made one.
func printSecret(st Streams, made restclient.WithSecret) error {
	address := made.Connection.WebhookURL
	if address == "" {
		address = "/hooks/" + made.Connection.ID + " of the server, whose public_url is not set"
	}
	fmt.Fprintf(st.Out, "webhook_url: %s\n", terminal.Safe(address))
	if made.WebhookSecret == "" {
		return nil
	}
	st.note("The secret is shown this once only.")
	_, err := fmt.Fprintf(st.Out, "webhook_secret: %s\n", terminal.Safe(made.WebhookSecret))
	return err
}

// ListConnections prints all connections.
func ListConnections(ctx context.Context, st Streams, m Connections) error {
	list, err := m.Connections(ctx)
	if err != nil {
		return reviewError(err)
	}
	t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tKIND\tSTATE\tURL\tREPOSITORIES\tFROM\tTESTED\tID")
	for _, c := range list {
		from := "api"
		if c.Trusted {
			from = "operator"
		}
		if c.Declared {
			from = "file"
		}
		tested := "never"
		if !c.TestedAt.IsZero() {
			tested = c.TestedAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Safe(c.Name), terminal.Safe(string(c.Kind)),
			terminal.Safe(string(c.State)), terminal.Safe(c.URL), terminal.Safe(strings.Join(c.Repositories, ",")), from, tested,
			terminal.Safe(c.ID))
	}
	return t.Flush()
}

// find returns the connection of a name or identifier.
func find(ctx context.Context, m Connections, name string) (restclient.Connection, error) {
	list, err := m.Connections(ctx)
	if err != nil {
		return restclient.Connection{}, reviewError(err)
	}
	i := slices.IndexFunc(list, func(c restclient.Connection) bool { return c.Name == name || c.ID == name })
	if i < 0 {
		return restclient.Connection{}, Usagef("there is no connection %s; `prwarden connections list` shows them",
			terminal.Safe(name))
	}
	return list[i], nil
}

// ShowConnection prints a connection.
func ShowConnection(ctx context.Context, st Streams, m Connections, name string) error {
	c, err := find(ctx, m, name)
	if err != nil {
		return err
	}
	return printConnection(st, c)
}

func printConnection(st Streams, c restclient.Connection) error {
	t := tabwriter.NewWriter(st.Out, 0, 0, 1, ' ', 0)
	for _, line := range [][2]string{
		{"connection_id", c.ID}, {"name", c.Name}, {"kind", string(c.Kind)}, {"url", c.URL},
		{"repositories", strings.Join(c.Repositories, ", ")}, {"account", c.Account}, {"state", string(c.State)},
		{"reason", c.Reason}, {"missing_permissions", strings.Join(c.Missing, ", ")}, {"created_by", c.CreatedBy},
		{"webhook_url", c.WebhookURL},
	} {
		fmt.Fprintf(t, "%s:\t%s\n", line[0], terminal.Safe(cmp.Or(line[1], "-")))
	}
	return t.Flush()
}

// UpdateConnection changes a connection.
func UpdateConnection(ctx context.Context, st Streams, m Connections, name string, change connection.Change) error {
	c, err := find(ctx, m, name)
	if err != nil {
		return err
	}
	if c, err = m.UpdateConnection(ctx, c.ID, change); err != nil {
		return reviewError(err)
	}
	return printConnection(st, c)
}

// DeleteConnection deletes a connection.
func DeleteConnection(ctx context.Context, st Streams, m Connections, name string) error {
	c, err := find(ctx, m, name)
	if err != nil {
		return err
	}
	if err := m.DeleteConnection(ctx, c.ID); err != nil {
		return reviewError(err)
	}
	st.note("%s", terminal.Safe(fmt.Sprintf("The connection %s is deleted.", c.Name)))
	return nil
}

// RotateConnection gives a connection new secrets; with made the server makes one for
// webhooks.
func RotateConnection(ctx context.Context, st Streams, m Connections, name string, f SecretFiles, made bool) error {
	secrets, err := f.read(os.Stdin)
	if err != nil {
		return err
	}
	c, err := find(ctx, m, name)
	if err != nil {
		return err
	}
	r := connection.Rotation{
		Token: secrets.Token, GitToken: secrets.GitToken, PrivateKey: secrets.PrivateKey, NewWebhookSecret: made,
	}
	if len(secrets.Webhook) > 0 {
		r.WebhookSecret = secrets.Webhook[0]
	}
	rotated, err := m.RotateConnection(ctx, c.ID, r)
	if err != nil {
		return reviewError(err)
	}
	return printSecret(st, rotated)
}

// TestConnection asks the host what the credentials may do. A connection that is
// broken, or lacks a permission, fails the command.
func TestConnection(ctx context.Context, st Streams, m Connections, name string) error {
	c, err := find(ctx, m, name)
	if err != nil {
		return err
	}
	if c, err = m.TestConnection(ctx, c.ID); err != nil {
		return reviewError(err)
	}
	if err := printConnection(st, c); err != nil {
		return err
	}
	if c.State != connection.Active || len(c.Missing) > 0 {
		return ErrFound
	}
	return nil
}

// ListConnectionRepositories prints what the credentials of a connection reach.
func ListConnectionRepositories(ctx context.Context, st Streams, m Connections, name string) error {
	c, err := find(ctx, m, name)
	if err != nil {
		return err
	}
	list, err := m.ConnectionRepositories(ctx, c.ID)
	if err != nil {
		return reviewError(err)
	}
	for _, r := range list {
		if _, err := fmt.Fprintln(st.Out, terminal.Safe(r.Name)); err != nil {
			return err
		}
	}
	return nil
}
