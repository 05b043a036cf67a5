package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
)

// Webhooks are those of the organization that an API key belongs to.
type Webhooks struct {
	st     Streams
	client *restclient.Client
}

// WebhooksOverAPI manages webhooks over the API.
func WebhooksOverAPI(st Streams, c config.Client) (*Webhooks, error) {
	client, err := newClient(st, c, troubles(st))

	return &Webhooks{st: st, client: client}, err
}

// WebhookAddress is where messages are sent: an address, or the file that has it, with
// "-" for stdin.
type WebhookAddress struct{ URL, File string }

func (a WebhookAddress) read() (string, error) {
	switch {
	case a.File == "":
		return a.URL, nil
	case a.URL != "":
		return "", Usagef("--url and --url-file exclude each other")
	}

	var data []byte
	var err error
	if a.File == "-" {
		data, err = io.ReadAll(os.Stdin)
	} else {
		data, err = os.ReadFile(a.File)
	}
	if err != nil {
		return "", &UsageError{Err: err}
	}

	return strings.TrimSpace(string(data)), nil
}

// Create makes a webhook and prints its secret.
func (w *Webhooks) Create(ctx context.Context, n restclient.NewWebhook, a WebhookAddress) (err error) {
	if n.URL, err = a.read(); err != nil {
		return err
	}
	if n.URL == "" {
		return Usagef("--url or --url-file is required")
	}
	made, err := w.client.CreateWebhook(ctx, n)
	if err != nil {
		return reviewError(err)
	}
	w.st.note("%s", terminal.Safe(fmt.Sprintf("The webhook %s is made; `prwarden webhooks test %[1]s` tries it.",
		made.Webhook.Name)))

	return w.printSecret(made)
}

func (w *Webhooks) printSecret(made restclient.WebhookWithSecret) error {
	fmt.Fprintf(w.st.Out, "webhook_id: %s\n", terminal.Safe(made.Webhook.ID))
	if made.Secret == "" {
		return nil
	}
	w.st.note("The secret is shown this once only.")
	_, err := fmt.Fprintf(w.st.Out, "secret: %s\n", terminal.Safe(made.Secret))

	return err
}

// List prints all webhooks.
func (w *Webhooks) List(ctx context.Context) error {
	list, err := w.client.Webhooks(ctx)
	if err != nil {
		return reviewError(err)
	}
	t := tabwriter.NewWriter(w.st.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATE\tFORMAT\tURL\tEVENTS\tID")
	for _, one := range list {
		printCells(t, one.Name, one.State, one.Format, one.URL, strings.Join(one.Events, ","), one.ID)
	}

	return t.Flush()
}

// printCells prints a row of a table.
func printCells(to io.Writer, cells ...string) {
	for i, cell := range cells {
		cells[i] = terminal.Safe(cell)
	}
	fmt.Fprintln(to, strings.Join(cells, "\t"))
}

// find returns the webhook of a name or identifier.
func (w *Webhooks) find(ctx context.Context, name string) (restclient.Webhook, error) {
	list, err := w.client.Webhooks(ctx)
	if err != nil {
		return restclient.Webhook{}, reviewError(err)
	}
	found := slices.DeleteFunc(list, func(one restclient.Webhook) bool { return one.Name != name && one.ID != name })
	switch len(found) {
	case 0:
		return restclient.Webhook{}, Usagef("there is no webhook %s; `prwarden webhooks list` shows them",
			terminal.Safe(name))
	case 1:
		return found[0], nil
	default:
		return restclient.Webhook{}, Usagef("%d webhooks have the name %s; give the ID, as `prwarden webhooks list` shows it",
			len(found), terminal.Safe(name))
	}
}

// Show prints a webhook.
func (w *Webhooks) Show(ctx context.Context, name string) error {
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}

	return w.print(one)
}

func (w *Webhooks) print(one restclient.Webhook) error {
	failing := ""
	if !one.FailingSince.IsZero() {
		failing = one.FailingSince.UTC().Format(time.DateTime)
	}
	t := tabwriter.NewWriter(w.st.Out, 0, 0, 1, ' ', 0)
	for _, line := range [][2]string{
		{"webhook_id", one.ID}, {"name", one.Name}, {"url", one.URL}, {"events", strings.Join(one.Events, ", ")},
		{"format", one.Format}, {"state", one.State}, {"reason", one.Reason}, {"failing_since", failing},
		{"created_by", one.CreatedBy},
	} {
		printCells(t, line[0]+":", cmp.Or(line[1], "-"))
	}

	return t.Flush()
}

// Update changes a webhook and prints it.
func (w *Webhooks) Update(ctx context.Context, name string, c restclient.WebhookChange, a WebhookAddress) (err error) {
	if c.URL, err = a.read(); err != nil {
		return err
	}
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}
	if one, err = w.client.UpdateWebhook(ctx, one.ID, c); err != nil {
		return reviewError(err)
	}

	return w.print(one)
}

// Delete deletes a webhook with its messages.
func (w *Webhooks) Delete(ctx context.Context, name string) error {
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}
	if err := w.client.DeleteWebhook(ctx, one.ID); err != nil {
		return reviewError(err)
	}
	w.st.note("%s", terminal.Safe(fmt.Sprintf("The webhook %s is deleted.", one.Name)))

	return nil
}

// Rotate makes a new secret of a webhook and prints it.
func (w *Webhooks) Rotate(ctx context.Context, name string) error {
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}
	made, err := w.client.RotateWebhookSecret(ctx, one.ID)
	if err != nil {
		return reviewError(err)
	}

	return w.printSecret(made)
}

// Test has a test message sent, and prints its identifier.
func (w *Webhooks) Test(ctx context.Context, name string) error {
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}
	id, err := w.client.TestWebhook(ctx, one.ID)
	if err != nil {
		return reviewError(err)
	}
	w.st.note("%s", terminal.Safe(fmt.Sprintf("The message is on its way; `prwarden webhooks messages %s` shows what "+
		"became of it.", name)))
	_, err = fmt.Fprintln(w.st.Out, terminal.Safe(id))

	return err
}

// Messages prints the newest messages of a webhook, the newest first. output is
// OutputTable or OutputJSON, which has one a line, with all attempts.
func (w *Webhooks) Messages(ctx context.Context, name, output string) error {
	if output != OutputTable && output != OutputJSON {
		return Usagef("--output: %q is neither %s nor %s", output, OutputTable, OutputJSON)
	}
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}
	list, err := w.client.WebhookMessages(ctx, one.ID)
	if err != nil {
		return reviewError(err)
	}

	if output == OutputJSON {
		return writeLines(w.st.Out, list)
	}
	t := tabwriter.NewWriter(w.st.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CREATED\tEVENT\tSTATE\tATTEMPTS\tLAST\tNEXT\tID")
	for _, m := range list {
		last, next := "-", "-"
		if n := len(m.Attempts); n > 0 {
			last = cmp.Or(m.Attempts[n-1].Error, strconv.Itoa(m.Attempts[n-1].Status))
		}
		if m.NextAt != nil {
			next = m.NextAt.UTC().Format(time.DateTime)
		}
		printCells(t, m.CreatedAt.UTC().Format(time.DateTime), m.Event, m.State, strconv.Itoa(len(m.Attempts)), last, next,
			m.ID)
	}

	return t.Flush()
}

// Redeliver has a message sent once more.
func (w *Webhooks) Redeliver(ctx context.Context, name, message string) error {
	one, err := w.find(ctx, name)
	if err != nil {
		return err
	}
	if err := w.client.RedeliverWebhookMessage(ctx, one.ID, message); err != nil {
		return reviewError(err)
	}
	w.st.note("The message is sent once more.")

	return nil
}
