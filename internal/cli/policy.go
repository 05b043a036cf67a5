package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// readPolicy reads a policy from a file.
func readPolicy(path string) (policy.Policy, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return policy.Policy{}, &UsageError{Err: err}
	}
	p, err := policy.Parse(data)
	if err != nil {
		return policy.Policy{}, Usagef("%s: %w", path, err)
	}

	return p, nil
}

// checkKnown says which rules that a policy changes are not in the default ruleset,
// as this version has it.
func checkKnown(p policy.Policy) error {
	rules, err := defaults.Load()
	if err != nil {
		return err
	}
	byID := rule.ByID(rules)
	err = p.CheckKnown(func(id string) bool { _, ok := byID[id]; return ok || rule.IsMeta(id) })
	if err != nil {
		return &UsageError{Err: err}
	}

	return nil
}

// ShowPolicy prints the organization's policy as YAML, as ApplyPolicy takes it.
func ShowPolicy(ctx context.Context, st Streams, c config.Client) error {
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	raw, err := client.Policy(ctx)
	if err != nil {
		return reviewError(err)
	}

	p, err := policy.FromJSON(raw)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	_, err = st.Out.Write(text)

	return err
}

// ApplyPolicy makes a file the organization's policy, and says what that changes. A
// dry run only says it.
func ApplyPolicy(ctx context.Context, st Streams, c config.Client, path string, dryRun bool) error {
	p, err := readPolicy(path)
	if err != nil {
		return err
	}
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	raw, err := client.Policy(ctx)
	if err != nil {
		return reviewError(err)
	}
	was, err := policy.FromJSON(raw)
	if err != nil {
		return err
	}
	var answer struct { // of a later version it may stand for keys that are not known here
		ETag string `json:"etag"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	if was.Equal(p) {
		_, err = fmt.Fprintln(st.Out, "The policy is so already.")
		return err
	}

	if dryRun {
		err = checkKnown(p)
	} else {
		body := rule.CompactJSON(struct {
			policy.Policy
			ETag string `json:"etag"`
		}{p, answer.ETag})
		err = reviewError(client.SetPolicy(ctx, body))
	}
	if err != nil {
		return err
	}

	heading := "The policy was changed:"
	if dryRun {
		heading = "The policy would change:"
	}
	fmt.Fprintln(st.Out, heading)
	for _, f := range audit.Diff(was, p) {
		line := fmt.Sprintf("  %s: %q -> %q", f.Name, f.Before, f.After)
		fmt.Fprintln(st.Out, terminal.GuardLine(terminal.Safe(line)))
	}

	return nil
}
