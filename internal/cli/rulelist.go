package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule"
)

// RuleListInput is which rules on a server to show.
type RuleListInput struct {
	Severity string // the least; "" for all
	Category string // "" for all
	Output   string // text or json
}

// ListRules shows the rules that an organization has on a server.
func ListRules(ctx context.Context, st Streams, c config.Client, in RuleListInput) error {
	least, known := rule.ParseSeverity(cmp.Or(in.Severity, rule.Info.String()))
	switch {
	case !known:
		return Usagef("--severity: %q is not a severity; use one of %s", in.Severity, rule.SeverityList())
	case in.Output != "text" && in.Output != OutputJSON:
		return Usagef("--output: %q is not a format; use text or json", in.Output)
	}

	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	rules, err := client.ExportRules(ctx)
	if err != nil {
		return reviewError(err)
	}
	rules = slices.DeleteFunc(rules, func(r restclient.Rule) bool {
		category, _, _ := strings.Cut(rule.FullID(r.ID), "/")
		severity, _ := rule.ParseSeverity(r.Severity)
		return !severity.AtLeast(least) || in.Category != "" && category != in.Category
	})

	if in.Output == OutputJSON {
		data, err := json.MarshalIndent(map[string]any{"rules": rules}, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(st.Out, terminal.SafeJSON(data))
		return err
	}

	t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tSEVERITY\tCONFIDENCE\tMODE\tREPOSITORY\tCHANGED\tBY")
	for _, r := range rules {
		mode := string(cmp.Or(r.Mode, rule.ModeEnforce))
		if r.Rule().Disabled {
			mode = "off"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Safe(rule.FullID(r.ID)), terminal.Safe(r.Severity),
			terminal.Safe(string(r.Rule().Sureness())),
			terminal.Safe(mode), terminal.Safe(cmp.Or(r.Repo, "all")), r.UpdatedAt.UTC().Format(time.DateTime),
			terminal.Safe(r.UpdatedBy))
	}
	return t.Flush()
}
