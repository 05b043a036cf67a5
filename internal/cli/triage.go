package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
)

// SetTriage decides about findings, and prints the identifier of the change.
func SetTriage(ctx context.Context, st Streams, c config.Client, in restclient.NewDecision) error {
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	id, n, err := client.SetTriage(ctx, in)
	if err != nil {
		return reviewError(err)
	}

	if n == 0 {
		st.note("It is decided so already.")
		return nil
	}
	st.note("%s changed. To undo that within an hour: prwarden findings undo %s",
		terminal.Count(n, "decision"), terminal.Safe(id))
	_, err = fmt.Fprintln(st.Out, terminal.Safe(id))

	return err
}

// UndoTriage puts back what a change replaced.
func UndoTriage(ctx context.Context, st Streams, c config.Client, id string) error {
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	n, err := client.UndoTriage(ctx, id)
	if err != nil {
		return reviewError(err)
	}
	st.note("%s put back.", terminal.Count(n, "decision"))

	return nil
}

// ListTriageInput is which decisions to show. Empty fields select all.
type ListTriageInput struct {
	Repo           string // `owner/name`
	Decision       string
	RuleID         string
	ExpiringBefore string // a day
	Limit          int    // at least 1
	Output         string // OutputTable or OutputJSON
}

// ListTriage shows what is decided about findings, newest first.
func ListTriage(ctx context.Context, st Streams, c config.Client, in ListTriageInput) error {
	switch {
	case in.Limit < 1:
		return Usagef("--limit: must be 1 or more, not %d", in.Limit)
	case in.Output != OutputTable && in.Output != OutputJSON:
		return Usagef("--output: %q is neither %s nor %s", in.Output, OutputTable, OutputJSON)
	}
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	list, err := in.read(ctx, client)
	if err != nil {
		return reviewError(err)
	}

	if in.Output == OutputJSON {
		return writeLines(st.Out, list)
	}
	t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "REPOSITORY\tRULE\tFINGERPRINT\tDECISION\tUNTIL\tBY\tREASON")
	for _, d := range list {
		where := d.Repo
		if d.PRNumber > 0 {
			where += "#" + strconv.Itoa(int(d.PRNumber))
		}
		for _, cell := range []string{
			where, d.RuleID, d.Fingerprint, string(d.Triage.Decision), d.Triage.Until, d.Triage.By,
		} {
			fmt.Fprint(t, terminal.Safe(cell)+"\t")
		}
		fmt.Fprintln(t, terminal.Safe(d.Triage.Reason))
	}

	return t.Flush()
}

// maxDecided is the most decisions on a page of the API.
const maxDecided = 1000

// read asks for as many pages as it takes.
func (in ListTriageInput) read(ctx context.Context, client *restclient.Client) (list []restclient.Decided, err error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"repo": in.Repo, "decision": in.Decision, "rule_id": in.RuleID, "expiring_before": in.ExpiringBefore,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}

	for {
		query.Set("page_size", strconv.Itoa(min(in.Limit-len(list), maxDecided)))
		page, err := client.ListTriage(ctx, query)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Findings...)
		if page.NextPageToken == "" || len(list) >= in.Limit {
			return list, nil
		}
		query.Set("page_token", page.NextPageToken)
	}
}
