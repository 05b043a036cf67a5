package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// TryLastInput is which rules to try on pull requests, and on which.
type TryLastInput struct {
	File   string // a rules file
	Last   int    // pull requests, from 1 to 50
	Repo   string // `owner/name`; "" for all
	Output string // OutputTable or OutputJSON
}

// TryLast has a server try the rules of a file on the pull requests that were
// reviewed last. Whether they match is no failure.
func TryLast(ctx context.Context, st Streams, c config.Client, in TryLastInput) error {
	const most = 50
	switch {
	case in.Last < 1 || in.Last > most:
		return Usagef("--last: must be from 1 to %d, not %d", most, in.Last)
	case in.Output != OutputTable && in.Output != OutputJSON:
		return Usagef("--output: %q is neither %s nor %s", in.Output, OutputTable, OutputJSON)
	}

	asked := restclient.Trial{Last: in.Last, Repo: in.Repo}
	loaded, err := folder.Load(ctx, folder.Sources{File: in.File, NoDefaults: true})
	var mistakes *folder.RulesError
	switch {
	case errors.Is(err, folder.ErrNoRules):
		return Usagef("%s has no rules", terminal.Safe(in.File))
	case errors.As(err, &mistakes):
		return Usagef("the rules file has mistakes, which `prwarden rules check` names all: %s", terminal.Safe(err.Error()))
	case err != nil:
		return &UsageError{Err: err}
	}
	for _, r := range loaded.File.Rules {
		if r.Repo == "" {
			r.Scope = rule.ScopeOrg // a repository's rules file doesn't say whose it is
		}
		asked.Rules = append(asked.Rules, r.Document())
	}

	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	tried, raw, err := client.TryRules(ctx, asked)
	if err != nil {
		return reviewError(err)
	}
	if in.Output == OutputJSON {
		_, err = fmt.Fprintln(st.Out, terminal.SafeJSON(raw))
		return err
	}
	return showTried(st.Out, tried)
}

// showTried shows where rules match, and then how often.
func showTried(w io.Writer, tried restclient.Tried) error {
	for _, pr := range tried.PullRequests {
		name := terminal.Safe(fmt.Sprintf("%s#%d", pr.Repo, pr.PRNumber))
		switch {
		case pr.Failure != nil:
			fmt.Fprintf(w, "%s: not tried: %s\n", name, terminal.Safe(pr.Failure.Message))
			continue
		case pr.Hits == 0:
			continue
		}

		more := ""
		if pr.Truncated {
			more = " or more"
		}
		fmt.Fprintf(w, "%s: %s%s\n", name, terminal.Count(pr.Hits, "hit"), more)
		for _, f := range pr.Findings {
			fmt.Fprintf(w, "  %s\n", terminal.Safe(fmt.Sprintf("%s:%d:%d: %s  %s",
				f.File, f.Line, f.Column, f.RuleID, f.Snippet)))
		}
	}

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tHITS\tPULL REQUESTS\tCOST (µs/MiB)")
	for _, r := range tried.Rules {
		cost := "unknown"
		if r.Cost != nil {
			cost = fmt.Sprint(r.Cost.Microseconds)
		}
		fmt.Fprintf(t, "%s\t%d\t%d of %d\t%s\n",
			terminal.Safe(r.RuleID), r.Hits, r.PullRequests, len(tried.PullRequests), cost)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if tried.Untried > 0 {
		fmt.Fprintf(w, "There was no time for %s more.\n", terminal.Count(tried.Untried, "pull request"))
	}
	return nil
}
