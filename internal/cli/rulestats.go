package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule"
)

// RuleStatsInput is which numbers of rules to show. Empty fields select all.
type RuleStatsInput struct {
	Since, Until string // days; "" for the server's last 30
	Repo         string // `owner/name`
	RuleID       string
	Severity     string // the least
	ByRepository bool
	Limit        int    // at least 1
	Output       string // OutputTable or OutputJSON
}

// maxStats is the most entries on a page of the API.
const maxStats = 1000

// RuleStats shows what rules found, those that found most first.
func RuleStats(ctx context.Context, st Streams, c config.Client, in RuleStatsInput) error {
	switch _, known := rule.ParseSeverity(in.Severity); {
	case in.Limit < 1:
		return Usagef("--limit: must be 1 or more, not %d", in.Limit)
	case in.Output != OutputTable && in.Output != OutputJSON:
		return Usagef("--output: %q is neither %s nor %s", in.Output, OutputTable, OutputJSON)
	case in.Severity != "" && !known:
		return Usagef("--severity: %q is not a severity; use one of %s", in.Severity, rule.SeverityList())
	}

	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	rules, window, err := in.read(ctx, client)
	if err != nil {
		return reviewError(err)
	}

	if in.Output == OutputJSON {
		return writeLines(st.Out, rules)
	}
	if err := in.table(st.Out, rules); err != nil {
		return err
	}
	st.note("%s", terminal.Safe(fmt.Sprintf("From %s to %s (UTC).", window.Since, window.Until)))
	return nil
}

// table writes a row for each rule.
func (in RuleStatsInput) table(w io.Writer, rules []restclient.RuleStats) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(id, repo string, numbers ...any) {
		if in.ByRepository {
			id += "\t" + repo
		}
		fmt.Fprintf(t, "%s\t%v\t%v\t%v\t%v\t%v\n", append([]any{id}, numbers...)...)
	}

	row("RULE", "REPOSITORY", "FOUND", "FIXED", "SUPPRESSED", "FALSE POSITIVE", "WORK (MiB)")
	for _, r := range rules {
		row(terminal.Safe(r.RuleID), terminal.Safe(r.Repo), r.Found, r.Fixed, r.Suppressed, r.Wrong, r.Work)
	}
	return t.Flush()
}

// read asks for as many pages as it takes.
func (in RuleStatsInput) read(
	ctx context.Context, client *restclient.Client,
) (rules []restclient.RuleStats, page restclient.RuleStatsPage, err error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"since": in.Since, "until": in.Until, "repo": in.Repo, "rule_id": in.RuleID, "min_severity": in.Severity,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if in.ByRepository {
		query.Set("by_repository", "true")
	}

	for {
		query.Set("page_size", strconv.Itoa(min(in.Limit-len(rules), maxStats)))
		if page, _, err = client.RuleStats(ctx, query); err != nil {
			return nil, page, err
		}
		rules = append(rules, page.Rules...)
		if page.NextPageToken == "" || len(rules) >= in.Limit {
			return rules, page, nil
		}
		query.Set("page_token", page.NextPageToken)
	}
}
